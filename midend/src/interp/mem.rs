//! The reference device: it interprets the kernels of plans, and checks what real devices take on trust.
//!
//! Every index is checked for range, every element for having been written before it is read, and the points of a
//! kernel for being independent: no point reads what another one of the same launch writes. What does not hold is
//! reported as [`RunError::Internal`], for it is the compiler's mistake.

mod cells;
mod kernel;

use super::Options;
use super::layout::Layout;
use super::machine::Machine;
use super::value::{Run, Val, internal};
use crate::device::{Arg, Device, Properties, Stop, Strided};
use crate::ir::id::{FunId, Var};
use crate::ir::mem::{Kernel, Mem};
use crate::ir::scalar::Const;
use crate::ir::syntax::{Exp, Program};
use crate::ir::threshold::ThresholdKind;
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk;
use crate::trap::RunError;
use crate::value::Data;
use cells::Cells;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The device.
#[derive(Debug)]
pub struct Reference {
    /// The stamp of the next point; each point of each launch has its own.
    stamp: AtomicU64,
}

impl Default for Reference {
    fn default() -> Self {
        Self {
            stamp: AtomicU64::new(cells::FIRST_POINT),
        }
    }
}

impl Reference {
    /// A device.
    pub fn new() -> Self {
        Self::default()
    }
}

/// Memory of the reference device.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Mutex<Cells>>);

impl Buffer {
    fn new(cells: Cells) -> Self {
        Self(Arc::new(Mutex::new(cells)))
    }

    fn lock(&self) -> MutexGuard<'_, Cells> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The kernels of a program.
#[derive(Debug)]
pub struct Module {
    program: Program<Mem>,
    layout: Arc<Layout>,
    kernels: BTreeMap<String, Compiled>,
}

/// A kernel, where it stands, and the variables that its arguments are for.
#[derive(Debug)]
struct Compiled {
    kernel: Kernel,
    fun: FunId,
    params: Vec<Var>,
}

impl Device for Reference {
    type Buffer = Buffer;
    type Module = Module;

    fn properties(&self) -> Properties {
        Properties {
            name: "reference interpreter".into(),
            parallelism: 1,
            memory: None,
        }
    }

    /// Few, so that both versions of most programs get their turn.
    fn threshold(&self, kind: ThresholdKind) -> i64 {
        match kind {
            ThresholdKind::Outer
            | ThresholdKind::Tiles
            | ThresholdKind::Rows
            | ThresholdKind::Block
            | ThresholdKind::Columns
            | ThresholdKind::Ragged
            | ThresholdKind::Layout
            | ThresholdKind::Arrays
            | ThresholdKind::Alone => 4,
        }
    }

    fn compile(&self, program: &Program<Mem>) -> Result<Module, RunError> {
        let mut kernels = BTreeMap::new();
        for (fun, def) in program.funs.enumerate() {
            walk::all_stms(&def.body, &mut |stm| {
                if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
                    let mut params = walk::free_in_exp(&program.vars, &stm.exp);
                    params.retain(|&v| program.vars[v].ty != Type::Cert);
                    params.sort_unstable();
                    let kernel = (**kernel).clone();
                    let name = kernel.name.clone();
                    kernels.insert(
                        name,
                        Compiled {
                            kernel,
                            fun,
                            params,
                        },
                    );
                }
            });
        }
        Ok(Module {
            program: program.clone(),
            layout: Arc::new(Layout::new(program)),
            kernels,
        })
    }

    fn alloc(&self, elem: ScalarType, len: usize) -> Result<Buffer, RunError> {
        Ok(Buffer::new(Cells::undefined(elem, len).map_err(|e| *e)?))
    }

    fn upload(&self, data: Data) -> Result<Buffer, RunError> {
        Ok(Buffer::new(Cells::defined(data)))
    }

    fn download(&self, buffer: &Buffer, len: usize) -> Result<Data, RunError> {
        buffer.lock().prefix(len).map_err(|e| *e)
    }

    fn load(&self, buffer: &Buffer, index: usize) -> Result<Const, RunError> {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        buffer
            .lock()
            .load(index, cells::HOST, cells::HOST)
            .map_err(|e| *e)
    }

    fn store(&self, buffer: &Buffer, index: usize, value: Const) -> Result<(), RunError> {
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        buffer
            .lock()
            .store(index, value, cells::HOST, cells::HOST)
            .map_err(|e| *e)
    }

    fn copy(
        &self,
        shape: &[i64],
        dst: Strided<'_, Buffer>,
        src: Strided<'_, Buffer>,
    ) -> Result<(), RunError> {
        let same = Arc::ptr_eq(&dst.buffer.0, &src.buffer.0);
        let stamp = (cells::HOST, cells::HOST);
        let boxed = |e: Box<RunError>| *e;
        if same && dst.offset == src.offset && dst.strides == src.strides {
            return Ok(());
        }
        let from = cells::places(shape, src.offset, src.strides).map_err(boxed)?;
        let to = cells::places(shape, dst.offset, dst.strides).map_err(boxed)?;
        if same {
            cells::check_apart(&from, &to).map_err(boxed)?;
        }
        let moved = src.buffer.lock().take(&from, stamp).map_err(boxed)?;
        dst.buffer.lock().put(&to, moved, stamp).map_err(boxed)
    }

    fn launch(
        &self,
        module: &Module,
        kernel: &str,
        args: &[Arg<Buffer>],
        stop: &Stop,
    ) -> Result<(), RunError> {
        self.run(module, kernel, args, stop).map_err(|e| *e)
    }

    fn synchronise(&self) -> Result<(), RunError> {
        Ok(())
    }
}

impl Reference {
    fn run(&self, module: &Module, name: &str, args: &[Arg<Buffer>], stop: &Stop) -> Run<()> {
        let Some(compiled) = module.kernels.get(name) else {
            return internal(format!("there is no kernel `{name}`"));
        };
        if compiled.params.len() != args.len() {
            return internal(format!(
                "kernel `{name}` is launched with a wrong number of arguments"
            ));
        }
        let options = Options {
            stop: Some(stop),
            ..Options::default()
        };
        let mut machine =
            Machine::with_layout(&module.program, Arc::clone(&module.layout), options);
        machine.enter(compiled.fun);
        // A buffer may be passed under several names; each is locked once, for the whole launch.
        let mut locked: Vec<(&Buffer, MutexGuard<'_, Cells>)> = Vec::new();
        for (&var, arg) in compiled.params.iter().zip(args) {
            let value = match arg {
                Arg::Scalar(c) => Val::Scalar(*c),
                Arg::Buffer(buffer) => {
                    let known = locked
                        .iter()
                        .position(|(b, _)| Arc::ptr_eq(&b.0, &buffer.0));
                    Val::Buffer(known.unwrap_or_else(|| {
                        locked.push((buffer, buffer.lock()));
                        locked.len() - 1
                    }))
                }
            };
            machine.set(var, value)?;
        }
        let memory = locked
            .iter_mut()
            .map(|(_, cells)| std::mem::take(&mut **cells));
        let launch = self.stamp.load(Ordering::Relaxed);
        machine.state = kernel::State::new(memory.collect(), launch);
        let result = kernel::execute(&mut machine, &compiled.kernel);
        self.stamp
            .fetch_max(machine.state.next_stamp(), Ordering::Relaxed);
        for ((_, place), cells) in locked.iter_mut().zip(machine.state.into_memory()) {
            **place = cells;
        }
        result
    }
}

#[cfg(test)]
mod tests;
