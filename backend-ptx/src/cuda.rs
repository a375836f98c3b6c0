//! NVIDIA GPUs as machines, through their driver; nothing else need be installed.

mod driver;
mod store;

pub use store::{KernelStore, Stored};

use crate::device::{About, Grid, Machine, Place, PtxDevice, TARGET};
use crate::launch::Limits;
use crate::lower::THREADS;
use crate::ptx::{self, print};
use crate::report;
use driver::{Failed, Function, Gpu, STAGED};
use half::f16;
use midend::device::Stop;
use midend::ir::types::ScalarType;
use midend::trap::{MOST_NESTED_CALLS, RunError};
use midend::value::Data;
use midend::with_data;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use store::Key;

/// The deepest nesting of calls, where there is memory.
const DEPTH: u64 = MOST_NESTED_CALLS as u64;
/// The largest stack that the driver gives a thread, in bytes.
const STACK: u64 = 512 << 10;
/// The stacks of all threads take at most this part of the free memory: one of so many, at first and when calls turn out to be deeper.
const FIRST_STACKS: u64 = 32;
const LARGER_STACKS: u64 = 2;
/// Bytes of a frame besides registers and variables: addresses to return to, and alignment.
const FRAME: u32 = 64;

/// Bytes of shared memory that are left to the variables of kernels of which a launch gives blocks the rest.
const OWN_SHARED: u32 = 4 << 10;

/// A GPU as a device.
pub type CudaDevice = PtxDevice<Cuda>;

/// Which GPU, and how it is to be.
#[derive(Clone, Debug, Default)]
pub struct GpuOptions {
    /// The number of the GPU, as the driver counts them, from 0 on.
    pub number: usize,
    /// The most bytes of memory that programs may use at once.
    pub memory: Option<u64>,
    /// Where compiled kernels are kept; nowhere by default.
    pub kernels: Option<KernelStore>,
}

/// A GPU.
#[derive(Debug)]
pub struct Cuda {
    gpu: Arc<Gpu>,
    kernels: Option<KernelStore>,
    /// The kernel that reports what the host waits for, if it could be made ready.
    report: OnceLock<Option<Function>>,
}

/// The text of a kernel, compiled when it is first run: of several versions, few are ever run.
#[derive(Debug)]
pub struct Lazy {
    name: String,
    text: String,
    /// Whether launches say how much shared memory a block has.
    takes_shared: bool,
    /// If functions call themselves, the most bytes of variables of one.
    recursion: Option<u32>,
    function: OnceLock<Compiled>,
}

/// A copy of memory.
#[derive(Debug)]
pub struct Saved {
    gpu: Arc<Gpu>,
    copy: u64,
    original: u64,
    bytes: usize,
}

impl Drop for Saved {
    fn drop(&mut self) {
        self.gpu.free(self.copy);
    }
}

/// A kernel compiled for the GPU.
#[derive(Debug)]
struct Compiled {
    function: Function,
    /// How deep calls may be nested.
    depth: AtomicU64,
}

/// Whether NVIDIA's driver is installed, which costs little to find out: it is not asked whether there is a GPU.
pub fn is_driver_present() -> bool {
    driver::is_present()
}

/// How many GPUs the driver knows; an absent driver is an error that says so.
pub fn count_gpus() -> Result<usize, RunError> {
    Ok(driver::count()?)
}

impl CudaDevice {
    /// A GPU. An absent driver or GPU is an error that says which of them is missing.
    pub fn open(options: GpuOptions) -> Result<Self, RunError> {
        let gpu = Gpu::open(options.number)?;
        if gpu.about.capability < TARGET {
            return Err(RunError::Device(format!(
                "{} has compute capability {}.{}, but kernels need {}.{} at least",
                gpu.about.name,
                gpu.about.capability / 10,
                gpu.about.capability % 10,
                TARGET / 10,
                TARGET % 10
            )));
        }
        let cuda = Cuda {
            gpu: Arc::new(gpu),
            kernels: options.kernels,
            report: OnceLock::new(),
        };
        Self::on(cuda, options.memory)
    }

    /// Whether the GPU is of no use in this process any more: a kernel has failed in such a way that the driver refuses everything from
    /// then on.
    pub fn is_lost(&self) -> bool {
        self.machine().gpu.is_lost()
    }
}

impl From<Failed> for RunError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Absent(why) => Self::Device(why),
            Failed::Memory(bytes) => Self::OutOfMemory {
                bytes,
                limit: None,
                trail: vec![],
            },
            Failed::Driver(why) => Self::Device(format!("the GPU's driver reports: {why}")),
        }
    }
}

impl Cuda {
    fn compiled<'c>(&self, code: &'c Lazy) -> Result<&'c Compiled, RunError> {
        if let Some(compiled) = code.function.get() {
            return Ok(compiled);
        }
        let function = self.function(&code.text, &code.name)?;
        if code.takes_shared {
            self.gpu.allow_shared(&function, self.limits().room)?;
        }
        let depth = match code.recursion {
            Some(locals) => self.make_stack(&function, locals, FIRST_STACKS)?,
            None => DEPTH,
        };
        let depth = AtomicU64::new(depth);
        let compiled = Compiled { function, depth };
        Ok(code.function.get_or_init(|| compiled))
    }

    /// The function of a kernel: kept from before, or compiled.
    fn function(&self, text: &str, name: &str) -> Result<Function, Failed> {
        let Some(kernels) = &self.kernels else {
            return self.gpu.load(text, name);
        };
        let key = Key::of(&[
            env!("CARGO_PKG_VERSION").as_bytes(),
            &self.gpu.about.capability.to_le_bytes(),
            &self.gpu.driver_version()?.to_le_bytes(),
            text.as_bytes(),
        ]);
        let kept = kernels.get(key);
        if let Some(Ok(function)) = kept.map(|image| self.gpu.load_image(&image, name)) {
            return Ok(function);
        }
        let assembled = self.gpu.assemble(text, name);
        if let Ok(image) = assembled
            && let Ok(function) = self.gpu.load_image(&image, name)
        {
            kernels.put(key, &image);
            return Ok(function);
        }
        // What is to be said of the text, it says again.
        self.gpu.load(text, name)
    }

    /// The kernel that reports; without it, the driver is asked for copies.
    fn report(&self) -> Option<&Function> {
        let made = || {
            let text = print::module(&report::module(), TARGET);
            self.function(&text, report::NAME).ok()
        };
        self.report.get_or_init(made).as_ref()
    }

    /// The bytes of some places, one after the other, when all that was asked for is done.
    fn read_small(&self, places: &[(u64, usize)]) -> Result<Vec<u8>, Failed> {
        let bytes: usize = places.iter().map(|(_, bytes)| bytes).sum();
        if bytes <= report::BYTES
            && places.len() <= report::PLACES
            && let Some(function) = self.report()
        {
            return self.gpu.read_reported(function, places);
        }
        self.gpu.read_staged(places)
    }

    /// A failure to get memory tells how much there is.
    fn too_much(&self, why: Failed) -> RunError {
        match why {
            Failed::Memory(bytes) => RunError::OutOfMemory {
                bytes,
                limit: Some(self.gpu.about.memory),
                trail: vec![],
            },
            Failed::Absent(_) | Failed::Driver(_) => why.into(),
        }
    }

    fn read_large(&self, place: Place) -> Result<Data, RunError> {
        let Place { address, elem, len } = place;
        macro_rules! read {
            ($($ty:ident: $elem:ty),*) => {
                match elem {
                    $(ScalarType::$ty => {
                        let mut data = vec![<$elem>::default(); len];
                        self.gpu.read(&mut data, address)?;
                        Data::$ty(data)
                    })*
                    // Not every byte is a truth value.
                    ScalarType::Bool => {
                        let mut bytes = vec![0u8; len];
                        self.gpu.read(&mut bytes, address)?;
                        Data::Bool(bytes.into_iter().map(|byte| byte != 0).collect())
                    }
                }
            };
        }
        Ok(read!(
            I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64,
            F16: f16, F32: f32, F64: f64
        ))
    }

    /// Sets a stack aside for every thread that the GPU holds at once, and says how many frames of the functions that the
    /// kernel calls fit on it. A frame holds at most all registers and the variables. Other processes may be about to do the
    /// same: of what is free, they find most.
    fn make_stack(&self, function: &Function, locals: u32, share: u64) -> Result<u64, RunError> {
        let about = &self.gpu.about;
        let threads = u64::from(about.multiprocessors) * u64::from(about.threads);
        let usage = self.gpu.usage(function)?;
        let (frame, local) = (
            u64::from(4 * usage.registers + locals + FRAME),
            u64::from(usage.local),
        );
        let most = (self.gpu.free_memory()? / share / threads.max(1)).min(STACK);
        let stack = self.gpu.make_stack((local + DEPTH * frame).min(most))?;
        Ok((stack.saturating_sub(local) / frame).min(DEPTH))
    }
}

impl Machine for Cuda {
    const CHECKS: bool = false;
    type Code = Lazy;
    type Saved = Saved;

    fn about(&self) -> About {
        let about = &self.gpu.about;
        About {
            name: format!("{}, sm_{}", about.name, about.capability),
            parallelism: u64::from(about.multiprocessors) * u64::from(about.threads),
            memory: Some(about.memory),
        }
    }

    fn limits(&self) -> Limits {
        // Four times as many as there are threads at once.
        let about = &self.gpu.about;
        Limits {
            wide: 4 * i64::from(about.multiprocessors) * i64::from(about.threads),
            tiles: i64::from(about.multiprocessors),
            ragged: 256,
            resident: i64::from(about.multiprocessors) * i64::from(about.threads / THREADS),
            room: about.shared.saturating_sub(OWN_SHARED),
        }
    }

    fn load(&self, module: &ptx::Module, kernel: &str) -> Result<Lazy, RunError> {
        Ok(Lazy {
            name: kernel.to_owned(),
            text: print::module(module, TARGET),
            takes_shared: module.funcs.iter().any(|f| f.sized_by_launch().is_some()),
            recursion: recursion(module),
            function: OnceLock::new(),
        })
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<u64, RunError> {
        let bytes = len.checked_mul(elem.bytes());
        let made = bytes.map_or(Err(Failed::Memory(u64::MAX)), |bytes| self.gpu.alloc(bytes));
        made.map_err(|why| self.too_much(why))
    }

    fn free(&self, address: u64) {
        self.gpu.free(address);
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<(), RunError> {
        Ok(self.gpu.zero(address, bytes)?)
    }

    fn write(&self, address: u64, data: &Data) -> Result<(), RunError> {
        Ok(with_data!(data, v => self.gpu.write(address, v))?)
    }

    fn read<const N: usize>(&self, places: [Place; N]) -> Result<[Data; N], RunError> {
        if places.iter().map(Place::bytes).sum::<usize>() <= STAGED {
            let bytes = self.read_small(&places.map(|p| (p.address, p.bytes())))?;
            let mut rest = &bytes[..];
            return Ok(places.map(|place| {
                let (mine, others) = rest.split_at(place.bytes());
                rest = others;
                place.data(mine)
            }));
        }
        let mut all = places.map(|place| Data::zeros(place.elem, 0));
        for (data, place) in all.iter_mut().zip(places) {
            *data = self.read_large(place)?;
        }
        Ok(all)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        Ok(self.gpu.copy(to, from, bytes)?)
    }

    fn save(&self, address: u64, bytes: usize) -> Result<Saved, RunError> {
        let saved = Saved {
            gpu: Arc::clone(&self.gpu),
            copy: self.gpu.alloc(bytes)?,
            original: address,
            bytes,
        };
        self.gpu.copy(saved.copy, address, bytes)?;
        Ok(saved)
    }

    fn restore(&self, saved: Saved) -> Result<(), RunError> {
        Ok(self.gpu.copy(saved.original, saved.copy, saved.bytes)?)
    }

    fn depth(&self, code: &Lazy) -> Result<u64, RunError> {
        Ok(self.compiled(code)?.depth.load(Ordering::Relaxed))
    }

    fn deepen(&self, code: &Lazy) -> Result<bool, RunError> {
        let Some(locals) = code.recursion else {
            return Ok(false);
        };
        let compiled = self.compiled(code)?;
        // What the driver does not give is not there.
        let made = self.make_stack(&compiled.function, locals, LARGER_STACKS);
        Ok(made.is_ok_and(|depth| compiled.depth.fetch_max(depth, Ordering::Relaxed) < depth))
    }

    fn run(
        &self,
        code: &Lazy,
        grid: Grid,
        slots: &mut [u64],
        _stop: &Stop,
    ) -> Result<(), RunError> {
        let function = &self.compiled(code)?.function;
        Ok(self.gpu.launch(function, THREADS, grid, slots)?)
    }

    fn is_busy(&self) -> bool {
        self.gpu.is_busy()
    }

    fn put_ahead(&self, data: &Data) -> Result<u64, RunError> {
        let put = with_data!(data, v => self.gpu.put_ahead(v));
        put.map_err(|why| self.too_much(why))
    }

    fn arrive(&self) -> Result<(), RunError> {
        Ok(self.gpu.arrive()?)
    }

    fn wait(&self) -> Result<(), RunError> {
        Ok(self.gpu.wait()?)
    }
}

/// The most bytes of variables of a function that is called, if one calls itself, perhaps through others.
fn recursion(module: &ptx::Module) -> Option<u32> {
    let locals = |f: &ptx::Func| f.vars.iter().map(|var| var.elem * var.len).sum();
    let called = module.funcs.iter().filter(|f| f.threads().is_none());
    called.map(locals).max().filter(|_| is_recursive(module))
}

/// Whether a function calls itself: taking those away that call none that is left does not take all away.
fn is_recursive(module: &ptx::Module) -> bool {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); module.funcs.len()];
    let mut calls = vec![0usize; module.funcs.len()];
    for (caller, func) in module.funcs.iter().enumerate() {
        for line in func.blocks.iter().flat_map(|block| &block.lines) {
            if let ptx::Inst::Call { fun, .. } = line.inst {
                callers[fun.0 as usize].push(caller);
                calls[caller] += 1;
            }
        }
    }
    let mut free: Vec<usize> = (0..calls.len()).filter(|f| calls[*f] == 0).collect();
    let mut taken = 0;
    while let Some(func) = free.pop() {
        taken += 1;
        for caller in &callers[func] {
            calls[*caller] -= 1;
            if calls[*caller] == 0 {
                free.push(*caller);
            }
        }
    }
    taken < calls.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::{Builder, FuncId, Inst, Kind, Module};

    /// A kernel and functions, each of which calls the functions of these numbers.
    fn module(calls: &[&[u32]]) -> Module {
        let func = |(i, callees): (usize, &&[u32])| {
            let kind = if i == 0 {
                Kind::Entry {
                    threads: 32,
                    params: 8,
                    resident: None,
                }
            } else {
                Kind::Device {
                    params: vec![],
                    results: vec![],
                }
            };
            let mut b = Builder::new(&format!("f{i}"), kind);
            for callee in *callees {
                b.inst(Inst::Call {
                    fun: FuncId(*callee),
                    results: vec![],
                    args: vec![],
                });
            }
            b.finish()
        };
        Module {
            funcs: calls.iter().enumerate().map(func).collect(),
        }
    }

    #[test]
    fn calls_that_come_back_need_a_stack() {
        assert_eq!(recursion(&module(&[&[]])), None);
        assert_eq!(recursion(&module(&[&[1, 2, 2], &[2], &[]])), None);
        assert_eq!(recursion(&module(&[&[1], &[1]])), Some(0));
        assert_eq!(recursion(&module(&[&[1, 3], &[2, 3], &[1], &[]])), Some(0));
    }
}
