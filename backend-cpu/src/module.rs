//! The kernels of one program. What runs whatever guards say is compiled at once; a version that a guard chooses when it is
//! first chosen, for most are never, and so what only some launches of many points need.

use crate::compile::{self, Code, Compiled, Made};
use crate::emit::Kept;
use crate::emit::kernel::{Role, has_window};
use crate::target::Target;
use cranelift_jit::JITModule;
use midend::analysis::kernels::{bodies, launched, versions};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::span::Spans;
use midend::ir::syntax::{Body, Exp, Program};
use midend::trap::RunError;
use rayon::ThreadPool;
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The kernels of one program, compiled or to be compiled.
pub struct Module {
    kernels: HashMap<String, Slot>,
    pub(crate) spans: Spans,
    target: Target,
    /// Whether running the program takes little stack, whatever its input.
    is_shallow: bool,
    /// What is compiled later is compiled from this; nothing if there is no such thing.
    source: Option<Program<Mem>>,
    /// The code of what was compiled, and what it holds addresses of.
    code: Mutex<Vec<(JITModule, Vec<Kept>)>>,
    /// The kernels with code for wider registers that were compiled, each with why it was not widened, if so.
    widened: Mutex<Vec<(String, Option<String>)>>,
    /// The bits of the vector registers that kernels use, of those that use some.
    vector_bits: Mutex<Vec<(String, u32)>>,
    /// The maps that were compiled and are not executed under a mask, each with the cause.
    remarks: Mutex<Vec<(String, String)>>,
}

/// A kernel.
struct Slot {
    /// The version that it is part of.
    version: usize,
    compiled: OnceLock<Compiled>,
    /// The unit for a part of the buckets.
    window: OnceLock<Code>,
}

/// What is compiled together.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// The kernels of a version.
    Version(usize),
    /// What launches of many points need of a kernel.
    Late(&'a str),
}

impl Module {
    /// The kernels of a program, of which those are compiled that no guard decides on.
    pub(crate) fn new(program: &Program<Mem>, target: &Target) -> Result<Self, RunError> {
        let versions = versions(program);
        let mut has_more = versions.values().any(|&version| version > 0);
        let mut kernels = launched(program).into_iter();
        has_more |= kernels.any(|(kernel, _)| has_window(kernel));
        let slots = versions.into_iter().map(|(name, version)| {
            let (compiled, window) = (OnceLock::new(), OnceLock::new());
            let slot = Slot {
                version,
                compiled,
                window,
            };
            (name.to_owned(), slot)
        });
        let module = Self {
            kernels: slots.collect(),
            spans: program.spans.clone(),
            target: target.clone(),
            is_shallow: is_shallow(program),
            source: has_more.then(|| program.clone()),
            code: Mutex::default(),
            widened: Mutex::default(),
            vector_bits: Mutex::default(),
            remarks: Mutex::default(),
        };
        module.make(program, Part::Version(0))?;
        Ok(module)
    }

    /// A kernel. The first of a version to be asked for has the whole version compiled, on the pool.
    pub(crate) fn kernel(&self, pool: &ThreadPool, name: &str) -> Result<&Compiled, RunError> {
        let slot = self.slot(name)?;
        self.made(pool, &slot.compiled, Part::Version(slot.version))
    }

    /// The unit of a kernel for a part of the buckets. The first to ask for it has it compiled.
    pub(crate) fn window(&self, pool: &ThreadPool, name: &str) -> Result<Code, RunError> {
        let slot = self.slot(name)?;
        self.made(pool, &slot.window, Part::Late(name)).copied()
    }

    fn slot(&self, name: &str) -> Result<&Slot, RunError> {
        let unknown = || RunError::Device(format!("no kernel is called {name}"));
        self.kernels.get(name).ok_or_else(unknown)
    }

    /// What is at a place, on the pool compiled with its part of the program if need be.
    fn made<'a, T>(
        &self,
        pool: &ThreadPool,
        place: &'a OnceLock<T>,
        part: Part<'_>,
    ) -> Result<&'a T, RunError> {
        if let Some(known) = place.get() {
            return Ok(known);
        }
        let missing = || RunError::Device(String::from("a kernel is without code"));
        let program = self.source.as_ref().ok_or_else(missing)?;
        if rayon::current_thread_index().is_some() {
            self.make(program, part)?;
        } else {
            pool.install(|| self.make(program, part))?;
        }
        place.get().ok_or_else(missing)
    }

    /// Whether running the program takes little stack, whatever its input.
    pub(crate) const fn is_shallow(&self) -> bool {
        self.is_shallow
    }

    /// The number of kernels that have been compiled.
    pub fn compiled(&self) -> usize {
        let made = self.kernels.values();
        made.filter(|slot| slot.compiled.get().is_some()).count()
    }

    /// The kernels compiled so far that have code for vector registers of more than 128 bits, by name; with those that would
    /// have it for wider ones than they do comes why not.
    pub fn widened(&self) -> Vec<(String, Option<String>)> {
        let known = self.widened.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// The bits of the widest vector registers in which a kernel works on several points at a time; 0 if it does not.
    pub fn vector_bits(&self, kernel: &str) -> u32 {
        let known = self
            .vector_bits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mine = known.iter().filter(|(name, _)| name == kernel);
        mine.map(|(_, bits)| *bits).max().unwrap_or(0)
    }

    /// Why a map does not work on several points at a time; nothing if it does, or is no map, or was not compiled.
    pub fn scalar_because(&self, kernel: &str) -> Option<String> {
        let known = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut mine = known.iter().filter(|(name, _)| name == kernel);
        let (_, why) = mine.next()?;
        (self.vector_bits(kernel) == 0).then(|| why.clone())
    }

    /// Compiles a part. No lock is held meanwhile: a thread of the pool that waits for others may come here again. Two
    /// threads may both compile a part; then either code is good.
    fn make(&self, program: &Program<Mem>, part: Part<'_>) -> Result<(), RunError> {
        let wanted = |kernel: &Kernel, role: Role| match part {
            Part::Version(version) => {
                let slot = self.kernels.get(&kernel.name);
                !role.is_late() && slot.is_some_and(|slot| slot.version == version)
            }
            Part::Late(name) => role.is_late() && kernel.name == name,
        };
        let Made {
            kernels,
            windows,
            code,
            kept,
            widened,
            vector_bits,
            remarks,
        } = compile::compile(program, &self.target, &wanted)?;
        let mut all = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((code, kept));
        drop(all);
        let mut known = self.widened.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(
            widened
                .into_iter()
                .map(|(name, why)| (name.to_owned(), why)),
        );
        drop(known);
        let mut known = self
            .vector_bits
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        known.extend(vector_bits);
        drop(known);
        let mut known = self.remarks.lock().unwrap_or_else(PoisonError::into_inner);
        known.extend(remarks);
        drop(known);
        for (name, compiled) in kernels {
            if let Some(slot) = self.kernels.get(name) {
                // Somebody else may have been faster.
                let _ = slot.compiled.set(compiled);
            }
        }
        for (name, code) in windows {
            if let Some(slot) = self.kernels.get(name) {
                let _ = slot.window.set(code);
            }
        }
        Ok(())
    }
}

/// How deep statements may be nested for host code to take little stack.
const SHALLOW: usize = 24;

/// Whether functions of a program do not call any, and nest few statements.
fn is_shallow(program: &Program<Mem>) -> bool {
    fn is_flat(body: &Body<Mem>, depth: usize) -> bool {
        let mut flat = depth > 0;
        for stm in &body.stms {
            flat &= !matches!(stm.exp, Exp::Call { .. });
            if flat {
                bodies(&stm.exp, &mut |inner| {
                    flat = flat && is_flat(inner, depth - 1)
                });
            }
        }
        flat
    }
    program.funs.iter().all(|fun| is_flat(&fun.body, SHALLOW))
}

impl Drop for Module {
    fn drop(&mut self) {
        let code = self.code.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (jit, _) in code.drain(..) {
            // SAFETY: launches borrow the module, so none runs, and addresses of code do not leave it.
            unsafe { jit.free_memory() };
        }
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module")
            .field("kernels", &self.kernels.len())
            .finish_non_exhaustive()
    }
}
