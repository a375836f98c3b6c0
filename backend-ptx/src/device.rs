//! The interface of the plan on top of a machine: buffers, copies, launches.

mod copy;
mod deep;
mod emulated;
mod failures;
mod launch;
mod machine;

pub use emulated::{Emulator, Options};
pub(crate) use machine::Grid;
pub(crate) use machine::Place;
pub use machine::{About, Machine};

use crate::compile::{Kernels, compile};
use crate::copy::CopyKernel;
use failures::{Failures, Sites};
use midend::device::{Arg, Device, Properties, Stop, Strided};
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::threshold::{INFINITE, ROOM, ThresholdKind, rows_shorter_than};
use midend::ir::types::ScalarType;
use midend::trap::RunError;
use midend::value::Data;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The capability that kernels are made for.
pub(crate) const TARGET: u32 = 75;

/// So many times fewer points than threads keep the device busy where they are worked on in tiles.
const TILES: i64 = 8;
/// Rows of so many elements are summed faster by neighbouring threads than by one thread each.
const SHORT: i64 = 128;
/// So many elements are worth a transposition.
const LAYOUT: i64 = 1 << 16;

/// A device that runs PTX.
#[derive(Debug)]
pub struct PtxDevice<M: Machine> {
    shared: Arc<Shared<M>>,
    failures: Failures,
    /// The kernels that copy boxes, as far as they were needed.
    copies: Mutex<BTreeMap<CopyKernel, Arc<M::Code>>>,
}

/// The emulator as a device.
pub type EmuDevice = PtxDevice<Emulator>;

/// The machine, and the bytes of its memory in use.
#[derive(Debug)]
struct Shared<M> {
    machine: M,
    used: AtomicU64,
    limit: Option<u64>,
}

/// A counted reference to memory of the device.
#[derive(Debug)]
pub struct Buffer<M: Machine>(Arc<Held<M>>);

impl<M: Machine> Clone for Buffer<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[derive(Debug)]
struct Held<M: Machine> {
    address: u64,
    elem: ScalarType,
    len: usize,
    shared: Arc<Shared<M>>,
}

impl<M: Machine> Held<M> {
    const fn bytes(&self) -> usize {
        self.len * self.elem.bytes()
    }
}

impl<M: Machine> Drop for Held<M> {
    fn drop(&mut self) {
        self.shared.machine.free(self.address);
        let bytes = self.bytes() as u64;
        self.shared.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// The kernels of a program, compiled.
#[derive(Debug)]
pub struct Module<M: Machine> {
    kernels: Arc<Kernels>,
    sites: Arc<Sites>,
    /// The code of the entries of each kernel.
    code: BTreeMap<String, Vec<M::Code>>,
}

impl<M: Machine> Module<M> {
    /// The text of every entry, by name.
    pub fn texts(&self, target: u32) -> Vec<(String, String)> {
        self.kernels.texts(target)
    }
}

fn too_long(index: usize, len: usize) -> RunError {
    RunError::Device(format!("element {index} of a buffer of {len}"))
}

impl EmuDevice {
    /// A device without anything in its memory.
    pub fn new(options: Options) -> Result<Self, RunError> {
        Self::on(Emulator::new(options), options.memory)
    }
}

impl<M: Machine> PtxDevice<M> {
    /// A machine as a device, on which programs may use so many bytes of memory at once.
    pub(crate) fn on(machine: M, limit: Option<u64>) -> Result<Self, RunError> {
        Ok(Self {
            failures: Failures::new(&machine)?,
            shared: Arc::new(Shared {
                machine,
                used: AtomicU64::new(0),
                limit,
            }),
            copies: Mutex::default(),
        })
    }

    pub(crate) fn machine(&self) -> &M {
        &self.shared.machine
    }

    /// The most bytes that programs may use.
    fn limit(&self) -> Option<u64> {
        self.shared.limit.or(self.machine().about().memory)
    }

    /// Memory that a machine makes, as far as programs may use it.
    fn hold(
        &self,
        elem: ScalarType,
        len: usize,
        make: impl FnOnce(&M) -> Result<u64, RunError>,
    ) -> Result<Buffer<M>, RunError> {
        let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
        let shared = &self.shared;
        let used = shared.used.fetch_add(bytes, Ordering::Relaxed);
        let fits = shared
            .limit
            .is_none_or(|limit| used.saturating_add(bytes) <= limit);
        let allocated = if fits {
            make(&shared.machine)
        } else {
            Err(RunError::OutOfMemory {
                bytes,
                limit: shared.limit,
                trail: vec![],
            })
        };
        match allocated {
            Ok(address) => Ok(Buffer(Arc::new(Held {
                address,
                elem,
                len,
                shared: Arc::clone(shared),
            }))),
            Err(why) => {
                shared.used.fetch_sub(bytes, Ordering::Relaxed);
                Err(why)
            }
        }
    }

    /// Reads elements of a buffer, unless a check has failed.
    fn read(&self, buffer: &Buffer<M>, address: u64, len: usize) -> Result<Data, RunError> {
        let elem = buffer.0.elem;
        let place = Place { address, elem, len };
        self.failures.read(self.machine(), place)
    }

    /// Waits, and reports a failure of a check.
    fn settle(&self) -> Result<(), RunError> {
        self.failures.settle(self.machine()).map(|_| ())
    }
}

impl<M: Machine> Buffer<M> {
    fn place(&self, index: usize) -> Result<u64, RunError> {
        let held = &self.0;
        if index >= held.len {
            return Err(too_long(index, held.len));
        }
        Ok(held.address + (index * held.elem.bytes()) as u64)
    }
}

/// A device is busy if one in so many of the threads that it holds at once has a point: 8 warps of a multiprocessor hide each
/// other's waits. Measured on an H200, with 270,336 threads at once, each point by a thread beside operators by themselves: 65,536 equations
/// (`rodinia/myocyte`) 56 and 109 ms, 100,000 bodies (`accelerate/nbody`) 17 and 24, 10,000 bodies 1.1 and 0.3, 262,144 sums of sines
/// (`parboil/mri-q`) 2.6 and 2.2.
const OCCUPIED: i64 = 8;

impl<M: Machine> Device for PtxDevice<M> {
    type Buffer = Buffer<M>;
    type Module = Module<M>;

    fn properties(&self) -> Properties {
        let about = self.machine().about();
        Properties {
            name: about.name,
            parallelism: about.parallelism,
            memory: self.limit(),
        }
    }

    fn threshold(&self, kind: ThresholdKind) -> i64 {
        let parallelism = self.machine().about().parallelism as i64;
        match kind {
            ThresholdKind::Outer => parallelism / OCCUPIED,
            ThresholdKind::Columns => parallelism,
            // Long rows are shared out as well as short ones.
            ThresholdKind::Ragged | ThresholdKind::Alone => INFINITE,
            ThresholdKind::Rows => rows_shorter_than(SHORT),
            ThresholdKind::Layout => LAYOUT,
            // Arrays of points are far in any case.
            ThresholdKind::Arrays => 0,
            ThresholdKind::Block => {
                let room = self.machine().limits().room;
                (ROOM as u64).div_ceil(u64::from(room.max(1))) as i64
            }
            ThresholdKind::Tiles => parallelism / TILES,
        }
    }

    fn compile(&self, program: &Program<Mem>) -> Result<Module<M>, RunError> {
        let mut kernels = compile(program, TARGET)?;
        let sites = Arc::new(Sites {
            sites: std::mem::take(&mut kernels.sites),
            spans: std::mem::take(&mut kernels.spans),
        });
        let mut code = BTreeMap::new();
        for (name, kernel) in &kernels.kernels {
            let entries = kernel.entries().into_iter();
            let loaded = entries.map(|entry| self.machine().load(&entry.module, &entry.name));
            code.insert(name.clone(), loaded.collect::<Result<_, _>>()?);
        }
        Ok(Module {
            kernels: Arc::new(kernels),
            sites,
            code,
        })
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<Buffer<M>, RunError> {
        self.hold(elem, len, |machine| machine.alloc(elem, len))
    }

    fn is_busy(&self) -> Option<bool> {
        Some(self.machine().is_busy())
    }

    fn upload_ahead(&self, data: &Data) -> Result<Buffer<M>, RunError> {
        self.hold(data.elem(), data.len(), |machine| machine.put_ahead(data))
    }

    fn arrive(&self) -> Result<(), RunError> {
        self.machine().arrive()
    }

    fn upload(&self, data: Data) -> Result<Buffer<M>, RunError> {
        let buffer = self.alloc(data.elem(), data.len())?;
        self.machine().write(buffer.0.address, &data)?;
        Ok(buffer)
    }

    fn download(&self, buffer: &Buffer<M>, len: usize) -> Result<Data, RunError> {
        let held = &buffer.0;
        if len > held.len {
            return self.settle().and(Err(too_long(len, held.len)));
        }
        self.read(buffer, held.address, len)
    }

    fn load(&self, buffer: &Buffer<M>, index: usize) -> Result<Const, RunError> {
        match buffer.place(index) {
            Ok(address) => Ok(self.read(buffer, address, 1)?.get(0)),
            Err(outside) => self.settle().and(Err(outside)),
        }
    }

    fn store(&self, buffer: &Buffer<M>, index: usize, value: Const) -> Result<(), RunError> {
        let place = buffer.place(index)?;
        let mut data = Data::zeros(buffer.0.elem, 1);
        data.set(0, value);
        self.machine().write(place, &data)
    }

    fn copy(
        &self,
        shape: &[i64],
        dst: Strided<'_, Buffer<M>>,
        src: Strided<'_, Buffer<M>>,
    ) -> Result<(), RunError> {
        self.strided(shape, dst, src)
    }

    fn launch(
        &self,
        module: &Module<M>,
        kernel: &str,
        args: &[Arg<Buffer<M>>],
        stop: &Stop,
    ) -> Result<(), RunError> {
        launch::launch(self, module, kernel, args, stop)
    }

    fn synchronise(&self) -> Result<(), RunError> {
        self.settle()
    }
}
