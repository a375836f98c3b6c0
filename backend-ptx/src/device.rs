//! The device that the emulator is: kernels of a plan lowered to PTX, and run on this machine.

mod launch;

use crate::emu::{Memory, Program as Code};
use crate::lower::{self, Entry, Lowered, Site, VALUES};
use crate::ptx::verify::verify;
use crate::ptx::{Module as Text, print};
use midend::analysis::calls::calls;
use midend::analysis::kernels::launched;
use midend::device::{Arg, Device, Properties, Stop, Strided};
use midend::ir::mem::{Extent, Kernel, KernelKind, Mem, MemHist};
use midend::ir::scalar::Const;
use midend::ir::span::Spans;
use midend::ir::syntax::{Atom, Program};
use midend::ir::threshold::ThresholdKind;
use midend::ir::types::{ScalarType, Type};
use midend::trap::RunError;
use midend::value::Data;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The capability that kernels are made for.
const TARGET: u32 = 75;

/// Threads that keep a device busy.
const PARALLELISM: i64 = 1 << 16;

/// How the device is to be.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Decides the order in which warps and blocks have their turns.
    pub seed: u64,
    /// The most lanes times instructions of one launch.
    pub fuel: u64,
    /// The most bytes of memory that programs may use at once.
    pub memory: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            fuel: u64::MAX,
            memory: None,
        }
    }
}

/// The device.
#[derive(Debug)]
pub struct EmuDevice {
    state: Arc<Mutex<State>>,
    options: Options,
}

/// Memory and how much of it is in use.
#[derive(Debug)]
struct State {
    memory: Memory,
    used: u64,
}

/// A counted reference to memory of the device.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Held>);

#[derive(Debug)]
struct Held {
    address: u64,
    elem: ScalarType,
    len: usize,
    state: Arc<Mutex<State>>,
}

impl Held {
    const fn bytes(&self) -> usize {
        self.len * self.elem.bytes()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        state.memory.free(self.address);
        state.used -= self.bytes() as u64;
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The kernels of a program, compiled.
#[derive(Debug)]
pub struct Module {
    kernels: BTreeMap<String, Compiled>,
    sites: Vec<Site>,
    spans: Spans,
}

/// A kernel, and what launching it needs to know.
#[derive(Debug)]
struct Compiled {
    args: Vec<Type>,
    space: Vec<Dimension>,
    /// Whether the segments of the innermost dimension differ in length.
    has_ragged_rows: bool,
    lowered: Lowered,
    /// The decoded code of every entry, in the order of [`entries`].
    code: Vec<Code>,
    /// The types of the tuple of operators.
    tuple: Vec<ScalarType>,
    /// Of each histogram: its buckets, and arguments and types of its destinations.
    hists: Vec<Histogram>,
}

/// The number of buckets, and for each destination the argument that it is and its type.
type Histogram = (Scalar, Vec<(usize, ScalarType)>);

/// A scalar at launch.
#[derive(Clone, Copy, Debug)]
enum Scalar {
    Const(Const),
    Argument(usize),
}

/// The extent of a dimension at launch: a number, or the argument that holds the offsets of its rows.
#[derive(Clone, Copy, Debug)]
enum Dimension {
    Regular(Scalar),
    Ragged(usize),
}

/// The entries of a kernel.
fn entries(lowered: &Lowered) -> Vec<&Entry> {
    match lowered {
        Lowered::Map(entry) | Lowered::Seq(entry) | Lowered::Atomic(entry) => vec![entry],
        Lowered::Red { small, large } | Lowered::Scan { small, large } => vec![small, large],
        Lowered::Copies { fill, work, merge } => vec![fill, work, merge],
    }
}

impl Module {
    /// The text of every entry, by name.
    pub fn texts(&self, target: u32) -> Vec<(String, String)> {
        let all = self.kernels.values().flat_map(|k| entries(&k.lowered));
        all.map(|e| (e.name.clone(), print::module(&e.module, target)))
            .collect()
    }
}

fn too_long(index: usize, len: usize) -> RunError {
    RunError::Device(format!("element {index} of a buffer of {len}"))
}

fn check(module: &Text) -> Result<Code, RunError> {
    verify(module, TARGET).map_err(|violation| RunError::Internal(violation.to_string()))?;
    Ok(Code::new(module))
}

impl EmuDevice {
    /// A device without anything in its memory.
    pub fn new(options: Options) -> Self {
        let state = State {
            memory: Memory::new(),
            used: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
            options,
        }
    }

    fn place(&self, buffer: &Buffer, index: usize) -> Result<u64, RunError> {
        let held = &buffer.0;
        if index >= held.len {
            return Err(too_long(index, held.len));
        }
        Ok(held.address + (index * held.elem.bytes()) as u64)
    }
}

fn compile(program: &Program<Mem>) -> Result<Module, RunError> {
    let mut sites = Vec::new();
    let calls = calls(program);
    let mut kernels = BTreeMap::new();
    for (kernel, args) in launched(program) {
        let mut source = lower::Source {
            program,
            calls: &calls,
            sites: &mut sites,
        };
        let lowered = lower::kernel(&mut source, kernel, &args);
        let code = entries(&lowered)
            .into_iter()
            .map(|entry| check(&entry.module))
            .collect::<Result<_, _>>()?;
        let compiled = describe(program, kernel, &args, lowered, code);
        kernels.insert(kernel.name.clone(), compiled);
    }
    Ok(Module {
        kernels,
        sites,
        spans: program.spans.clone(),
    })
}

fn describe(
    program: &Program<Mem>,
    kernel: &Kernel,
    args: &[midend::ir::id::Var],
    lowered: Lowered,
    code: Vec<Code>,
) -> Compiled {
    let index = |v: &midend::ir::id::Var| {
        args.binary_search(v)
            .expect("what a kernel uses is among its arguments")
    };
    let scalar = |atom: &Atom| match atom {
        Atom::Const(c) => Scalar::Const(*c),
        Atom::Var(v) => Scalar::Argument(index(v)),
    };
    let elem = |v: &midend::ir::id::Var| program.vars[*v].ty.elem().unwrap_or(ScalarType::I64);
    let (tuple, hists): (Vec<ScalarType>, &[MemHist]) = match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => (vec![], &[]),
        KernelKind::Red { outs, .. } | KernelKind::Scan { outs, .. } => {
            (outs.iter().map(elem).collect(), &[])
        }
        KernelKind::Hist(hists) => (vec![], hists),
    };
    Compiled {
        args: args.iter().map(|v| program.vars[*v].ty.clone()).collect(),
        space: kernel
            .space
            .iter()
            .map(|(_, extent)| match extent {
                Extent::Regular(n) => Dimension::Regular(scalar(n)),
                Extent::Ragged { offsets, .. } => Dimension::Ragged(index(offsets)),
            })
            .collect(),
        has_ragged_rows: kernel.has_ragged_rows(),
        lowered,
        code,
        tuple,
        hists: hists
            .iter()
            .map(|h| {
                let dests = h.dests.iter().map(|d| (index(d), elem(d))).collect();
                (scalar(&h.buckets), dests)
            })
            .collect(),
    }
}

impl Device for EmuDevice {
    type Buffer = Buffer;
    type Module = Module;

    fn properties(&self) -> Properties {
        Properties {
            name: format!("emulated GPU, sm_{TARGET}"),
            parallelism: PARALLELISM.unsigned_abs(),
            memory: self.options.memory,
        }
    }

    fn threshold(&self, kind: ThresholdKind) -> i64 {
        match kind {
            ThresholdKind::Outer => PARALLELISM,
        }
    }

    fn compile(&self, program: &Program<Mem>) -> Result<Module, RunError> {
        compile(program)
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<Buffer, RunError> {
        let mut state = lock(&self.state);
        let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
        // The shadow of an element takes 16 bytes more.
        let limit = self.options.memory.unwrap_or(1 << 34);
        if state.used.saturating_add(bytes) > limit || len > 1 << 32 {
            return Err(RunError::OutOfMemory {
                bytes,
                limit: self.options.memory,
                trail: vec![],
            });
        }
        state.used += bytes;
        let address = state.memory.alloc(elem.bytes() as u32, len);
        Ok(Buffer(Arc::new(Held {
            address,
            elem,
            len,
            state: Arc::clone(&self.state),
        })))
    }

    fn upload(&self, data: Data) -> Result<Buffer, RunError> {
        let buffer = self.alloc(data.elem(), data.len())?;
        let bytes: Vec<u8> = (0..data.len())
            .flat_map(|i| launch::bytes_of(data.get(i)))
            .collect();
        let written = lock(&self.state).memory.write(buffer.0.address, &bytes);
        written.ok_or_else(|| too_long(data.len(), buffer.0.len))?;
        Ok(buffer)
    }

    fn download(&self, buffer: &Buffer, len: usize) -> Result<Data, RunError> {
        let held = &buffer.0;
        let state = lock(&self.state);
        let size = held.elem.bytes();
        let bytes = state.memory.read(held.address, len * size);
        let bytes = bytes.ok_or_else(|| too_long(len, held.len))?;
        let mut data = Data::zeros(held.elem, len);
        for (i, bytes) in bytes.chunks_exact(size).enumerate() {
            data.set(i, launch::const_of(held.elem, bytes));
        }
        Ok(data)
    }

    fn load(&self, buffer: &Buffer, index: usize) -> Result<Const, RunError> {
        let place = self.place(buffer, index)?;
        let elem = buffer.0.elem;
        let state = lock(&self.state);
        let bytes = state.memory.read(place, elem.bytes());
        let bytes = bytes.ok_or_else(|| too_long(index, buffer.0.len))?;
        Ok(launch::const_of(elem, bytes))
    }

    fn store(&self, buffer: &Buffer, index: usize, value: Const) -> Result<(), RunError> {
        let place = self.place(buffer, index)?;
        let bytes = launch::bytes_of(value);
        let written = lock(&self.state).memory.write(place, &bytes);
        written.ok_or_else(|| too_long(index, buffer.0.len))
    }

    fn copy(
        &self,
        shape: &[i64],
        dst: Strided<'_, Buffer>,
        src: Strided<'_, Buffer>,
    ) -> Result<(), RunError> {
        let size = dst.buffer.0.elem.bytes() as i64;
        let mut state = lock(&self.state);
        let mut index = vec![0; shape.len()];
        if shape.iter().any(|n| *n <= 0) {
            return Ok(());
        }
        let at = |side: &Strided<'_, Buffer>, index: &[i64]| {
            let steps = index.iter().zip(side.strides).map(|(i, s)| i * s);
            let offset = side.offset + steps.sum::<i64>();
            side.buffer.0.address.wrapping_add_signed(offset * size)
        };
        loop {
            let (to, from) = (at(&dst, &index), at(&src, &index));
            let copied = state.memory.copy(to, from, size as u32);
            copied.ok_or_else(|| RunError::Device("a copy leaves its buffers".to_owned()))?;
            let Some(dim) = (0..shape.len()).rev().find(|d| index[*d] + 1 < shape[*d]) else {
                return Ok(());
            };
            index[dim] += 1;
            index[dim + 1..].fill(0);
        }
    }

    fn launch(
        &self,
        module: &Module,
        kernel: &str,
        args: &[Arg<Buffer>],
        stop: &Stop,
    ) -> Result<(), RunError> {
        let compiled = module
            .kernels
            .get(kernel)
            .ok_or_else(|| RunError::Device(format!("no kernel is called {kernel}")))?;
        launch::launch(self, module, compiled, args, stop)
    }

    fn synchronise(&self) -> Result<(), RunError> {
        Ok(())
    }
}

/// Bytes of the failure word and the values behind it.
const FAILURE_BYTES: usize = 8 * (1 + VALUES);
