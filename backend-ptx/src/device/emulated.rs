//! The emulator as a machine.

use super::TARGET;
use super::machine::{About, Grid, Machine, Place};
use crate::emu::{self, FaultKind, Launch, Memory, Program, Snapshot};
use crate::launch::Limits;
use crate::ptx::{self, verify::verify};
use midend::device::Stop;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::trap::{MOST_NESTED_CALLS, RunError};
use midend::value::Data;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Threads that keep it busy, as those of a device do.
const PARALLELISM: u64 = 1 << 16;
/// The most bytes of this machine that arrays take, with their shadows.
const MEMORY: u64 = 1 << 33;
/// The most elements of an array.
const ELEMENTS: usize = 1 << 32;

/// The deepest nesting of calls: less than the emulator itself allows.
const DEPTH: u64 = MOST_NESTED_CALLS as u64;

/// How the emulator is to be.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Decides the order in which warps and blocks have their turns.
    pub seed: u64,
    /// The most lanes times instructions of all launches together.
    pub fuel: u64,
    /// The most bytes of memory that programs may use at once.
    pub memory: Option<u64>,
    /// How deep calls may be nested before the launch is emulated once more: less than promised in tests alone.
    pub depth: u64,
    /// Where the forms of launches change; low, so that small tests see them all.
    pub limits: Limits,
    /// What becomes of kernels before they are loaded: tests plant mistakes by it.
    pub changed: Option<fn(&mut ptx::Module)>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            fuel: u64::MAX,
            memory: None,
            depth: DEPTH,
            limits: Limits {
                wide: 1000,
                tiles: 4,
                ragged: 16,
                resident: 3,
                room: 96 << 10,
            },
            changed: None,
        }
    }
}

/// The emulator, with its memory.
#[derive(Debug)]
pub struct Emulator {
    memory: Mutex<Memory>,
    /// Lanes times instructions so far.
    steps: AtomicU64,
    /// The address of a word; 0 for none. Launches end when it is not zero.
    end: AtomicU64,
    options: Options,
}

/// A kernel, decoded.
#[derive(Debug)]
pub struct Decoded {
    name: String,
    program: Program,
}

impl Emulator {
    pub(crate) fn new(options: Options) -> Self {
        Self {
            memory: Mutex::new(Memory::new()),
            steps: AtomicU64::new(0),
            end: AtomicU64::new(0),
            options,
        }
    }

    /// Has launches end, with blocks that have not run, once this word of 8 bytes is not zero.
    pub(super) fn end_when_set(&self, address: u64) {
        self.end.store(address, Ordering::Relaxed);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A scalar as its bytes in memory.
fn bytes_of(value: Const) -> impl Iterator<Item = u8> {
    let bytes = value.to_slot().to_le_bytes();
    bytes.into_iter().take(value.ty().bytes())
}

fn outside() -> RunError {
    RunError::Device("an access from the host leaves its buffer".to_owned())
}

impl Machine for Emulator {
    const CHECKS: bool = true;
    type Code = Decoded;
    type Saved = Snapshot;

    fn about(&self) -> About {
        About {
            name: format!("emulated GPU, sm_{TARGET}"),
            parallelism: PARALLELISM,
            memory: self.options.memory,
        }
    }

    fn limits(&self) -> Limits {
        self.options.limits
    }

    fn load(&self, module: &ptx::Module, kernel: &str) -> Result<Decoded, RunError> {
        verify(module, TARGET).map_err(|violation| RunError::Internal(violation.to_string()))?;
        let mut module = std::borrow::Cow::Borrowed(module);
        if let Some(change) = self.options.changed {
            change(module.to_mut());
        }
        Ok(Decoded {
            name: kernel.to_owned(),
            program: Program::new(&module),
        })
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<u64, RunError> {
        let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
        let mut memory = self.memory();
        let all = memory
            .held()
            .saturating_add(Memory::cost(elem.bytes() as u32, len));
        if len > ELEMENTS || all > MEMORY {
            return Err(RunError::OutOfMemory {
                bytes,
                limit: Some(MEMORY),
                trail: vec![],
            });
        }
        Ok(memory.alloc(elem.bytes() as u32, len))
    }

    fn free(&self, address: u64) {
        self.memory().free(address);
    }

    fn zero(&self, address: u64, bytes: usize) -> Result<(), RunError> {
        let written = self.memory().write(address, &vec![0; bytes]);
        written.ok_or_else(outside)
    }

    fn write(&self, address: u64, data: &Data) -> Result<(), RunError> {
        let bytes: Vec<u8> = (0..data.len())
            .flat_map(|i| bytes_of(data.get(i)))
            .collect();
        self.memory().write(address, &bytes).ok_or_else(outside)
    }

    fn read<const N: usize>(&self, places: [Place; N]) -> Result<[Data; N], RunError> {
        let memory = self.memory();
        let mut all = places.map(|place| Data::zeros(place.elem, 0));
        for (data, place) in all.iter_mut().zip(places) {
            let bytes = memory.read(place.address, place.bytes());
            *data = place.data(bytes.ok_or_else(outside)?);
        }
        Ok(all)
    }

    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), RunError> {
        self.memory().copy(to, from, bytes).ok_or_else(outside)
    }

    fn save(&self, address: u64, _bytes: usize) -> Result<Snapshot, RunError> {
        self.memory().snapshot(address).ok_or_else(outside)
    }

    fn restore(&self, saved: Snapshot) -> Result<(), RunError> {
        self.memory().restore(saved);
        Ok(())
    }

    fn depth(&self, _code: &Decoded) -> Result<u64, RunError> {
        Ok(self.options.depth)
    }

    fn run(
        &self,
        code: &Decoded,
        grid: Grid,
        slots: &mut [u64],
        stop: &Stop,
    ) -> Result<(), RunError> {
        let params: Vec<u8> = slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        let launch = Launch {
            kernel: &code.name,
            blocks: grid.blocks,
            shared: grid.shared,
            params: &params,
        };
        let steps = self.steps.load(Ordering::Relaxed);
        let options = emu::Options {
            seed: self.options.seed,
            fuel: self.options.fuel.saturating_sub(steps),
            stop: Some(stop),
            end: match self.end.load(Ordering::Relaxed) {
                0 => None,
                address => Some(address),
            },
        };
        let ran = emu::run(&code.program, &mut self.memory(), launch, options);
        let stats = ran.map_err(|fault| match fault.kind {
            FaultKind::Stopped => RunError::Interrupted,
            FaultKind::OutOfFuel => RunError::OutOfFuel,
            FaultKind::Race
            | FaultKind::Undefined
            | FaultKind::OutOfBounds
            | FaultKind::Misaligned
            | FaultKind::Divergence
            | FaultKind::Deadlock
            | FaultKind::StackOverflow
            | FaultKind::BadLaunch => RunError::Internal(fault.to_string()),
        })?;
        self.steps.fetch_add(stats.steps, Ordering::Relaxed);
        Ok(())
    }

    fn is_busy(&self) -> bool {
        false
    }

    fn put_ahead(&self, data: &Data) -> Result<u64, RunError> {
        let address = self.alloc(data.elem(), data.len())?;
        self.write(address, data).map(|()| address)
    }

    fn arrive(&self) -> Result<(), RunError> {
        Ok(())
    }

    fn wait(&self) -> Result<(), RunError> {
        Ok(())
    }
}
