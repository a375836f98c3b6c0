//! The device that the emulator is: kernels of a plan lowered to PTX, and run on this machine.

mod launch;

use crate::bits::{bytes_of, const_of};
use crate::compile::{Kernel, Kernels, compile};
use crate::emu::{Memory, Program as Code};
use midend::device::{Arg, Device, Properties, Stop, Strided};
use midend::ir::mem::Mem;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::threshold::ThresholdKind;
use midend::ir::types::ScalarType;
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
    kernels: Kernels,
    /// The decoded code of the entries of each kernel.
    code: BTreeMap<String, Vec<Code>>,
}

impl Module {
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
        let kernels = compile(program, TARGET)?;
        let decode = |kernel: &Kernel| {
            let entries = kernel.entries().into_iter();
            entries.map(|entry| Code::new(&entry.module)).collect()
        };
        let code = kernels.kernels.iter();
        let code = code.map(|(name, k)| (name.clone(), decode(k))).collect();
        Ok(Module { kernels, code })
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
            .flat_map(|i| bytes_of(data.get(i)))
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
            data.set(i, const_of(held.elem, bytes));
        }
        Ok(data)
    }

    fn load(&self, buffer: &Buffer, index: usize) -> Result<Const, RunError> {
        let place = self.place(buffer, index)?;
        let elem = buffer.0.elem;
        let state = lock(&self.state);
        let bytes = state.memory.read(place, elem.bytes());
        let bytes = bytes.ok_or_else(|| too_long(index, buffer.0.len))?;
        Ok(const_of(elem, bytes))
    }

    fn store(&self, buffer: &Buffer, index: usize, value: Const) -> Result<(), RunError> {
        let place = self.place(buffer, index)?;
        let bytes = bytes_of(value);
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
        launch::launch(self, module, kernel, args, stop)
    }

    fn synchronise(&self) -> Result<(), RunError> {
        Ok(())
    }
}
