//! Entries: the functions that a kernel calls, the parameters, and the code.

use super::{FIXED, Fixed, Interface, Lower, Source, THREADS, Value, control, memory, memory_ty};
use crate::ptx::ops::Unary;
use crate::ptx::verify::SHARED;
use crate::ptx::{Address, Builder, Func, FuncId, Kind, Module, Reg, Space, Ty};
use midend::analysis::calls::Calls;
use midend::analysis::kernels::{called, has_value, kernel_bodies};
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Body, Program};
use midend::ir::types::Type;
use std::collections::BTreeMap;

/// The most parameters that a launch hands over; where there are more, it hands over the address of an array of them.
const SLOTS: usize = 512;

/// What an entry is made of.
pub(super) struct Shape<'k> {
    pub(super) name: String,
    pub(super) kernel: &'k Kernel,
    pub(super) args: &'k [Var],
    pub(super) extras: usize,
    /// Whether the code itself looks for a failure of an earlier launch, before it stores anything that is not its own.
    pub(super) skips_itself: bool,
    /// The code in which each thread makes buffers of its own.
    pub(super) bodies: Vec<&'k Body<Mem>>,
}

impl<'k> Shape<'k> {
    /// An entry of a kernel, with so many parameters of its own; `what` tells it from other entries of the kernel.
    pub(super) fn of(kernel: &'k Kernel, args: &'k [Var], what: &str, extras: usize) -> Self {
        Self {
            name: name_of(&kernel.name, what),
            kernel,
            args,
            extras,
            skips_itself: false,
            bodies: kernel_bodies(kernel),
        }
    }
}

/// An entry, ready to be run.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) module: Module,
    /// Parameters after the fixed ones.
    pub(crate) extras: usize,
    /// Whether threads take memory from the arena.
    pub(crate) uses_arena: bool,
    /// Whether its only parameter is the address of an array of all.
    pub(crate) indirect: bool,
}

impl Entry {
    /// Itself, if it does with the shared memory that a block has. Tuples of hundreds of components may need more.
    pub(super) fn fitting(self) -> Option<Self> {
        let fits = |func: &Func| func.shared() <= SHARED;
        self.module.funcs.iter().all(fits).then_some(self)
    }
}

/// Builds an entry; `code` gets the parameters behind the fixed ones.
pub(super) fn entry(
    source: &mut Source<'_>,
    shape: &Shape<'_>,
    code: impl FnOnce(&mut Lower<'_>, &[Reg]),
) -> Entry {
    let program = source.program;
    let bodies = &shape.bodies;
    let called = called(program, kernel_bodies(shape.kernel));
    let functions: BTreeMap<FunId, Interface> = called
        .iter()
        .enumerate()
        .map(|(i, fun)| (*fun, interface(program, source.calls, *fun, i)))
        .collect();
    let mut funcs: Vec<Func> = Vec::new();
    for fun in &called {
        funcs.push(control::function(program, &functions, source.sites, *fun));
    }
    let slots = shape.args.len() + FIXED + shape.extras;
    let indirect = slots > SLOTS;
    let kind = Kind::Entry {
        threads: THREADS,
        params: if indirect { 8 } else { 8 * slots as u32 },
        resident: None,
    };
    let mut lower = Lower::new(
        program,
        &functions,
        source.sites,
        Builder::new(&shape.name, kind),
    );
    lower.on_stack = memory::stacked(bodies);
    lower.slots = indirect.then(|| lower.pointer(0));
    for (i, var) in shape.args.iter().enumerate() {
        lower.argument(*var, 8 * i as u32);
    }
    let first = 8 * shape.args.len() as u32;
    lower.failure = lower.pointer(first + 8 * Fixed::Failure as u32);
    lower.launch = lower.parameter(Ty::U64, first + 8 * Fixed::Launch as u32);
    if !called.is_empty() {
        let depth = lower.parameter(Ty::B32, first + 8 * Fixed::Depth as u32);
        lower.depth = Some(depth);
    }
    let uses_arena = !called.is_empty() || bodies.iter().any(|body| lower.uses_arena(body));
    if uses_arena {
        let arena = lower.pointer(first + 8 * Fixed::Arena as u32);
        let share = lower.parameter(Ty::U64, first + 8 * Fixed::Share as u32);
        // Functions take from the share of a thread in one piece.
        if called.is_empty() {
            lower.interleave(bodies);
        }
        lower.take_share(arena, share);
    }
    let extras: Vec<Reg> = (0..shape.extras as u32)
        .map(|i| lower.parameter(Ty::U64, first + 8 * (FIXED as u32 + i)))
        .collect();
    let end = lower.b.block();
    lower.fail = end;
    if !shape.skips_itself {
        lower.skip_after_failure();
    }
    code(&mut lower, &extras);
    lower.b.begin(end);
    funcs.push(lower.b.finish());
    Entry {
        name: shape.name.clone(),
        module: Module { funcs },
        extras: shape.extras,
        uses_arena,
        indirect,
    }
}

impl Lower<'_> {
    /// An argument of the kernel, from its slot.
    fn argument(&mut self, var: Var, offset: u32) {
        match self.ty(var) {
            Type::Scalar(ty) => {
                let raw = self.parameter(memory_ty(*ty), offset);
                let value = self.loaded(*ty, raw);
                self.bind_scalar(var, value);
            }
            Type::Buffer(_) => {
                let pointer = self.pointer(offset);
                self.bind(var, Value::Global(pointer));
            }
            Type::Array(_) | Type::Acc(_) | Type::Cert => {}
        }
    }

    /// A parameter, from its slot.
    fn parameter(&mut self, ty: Ty, offset: u32) -> Reg {
        match self.slots {
            None => self.b.param(ty, offset),
            Some(base) => {
                let offset = offset as i32;
                self.b.load(Space::Global, ty, Address { base, offset })
            }
        }
    }

    /// A parameter that is a generic address.
    fn pointer(&mut self, offset: u32) -> Reg {
        let generic = self.parameter(Ty::U64, offset);
        self.b.un(Unary::ToGlobal, Ty::U64, generic)
    }
}

fn interface(program: &Program<Mem>, calls: &Calls, fun: FunId, number: usize) -> Interface {
    let results: Vec<Type> = program.funs[fun]
        .results
        .iter()
        .map(|r| program.vars[r.var].ty.clone())
        .filter(has_value)
        .collect();
    Interface {
        id: FuncId(number as u32),
        returns_memory: results.iter().any(|ty| matches!(ty, Type::Buffer(_))),
        results,
        recursive: calls.recursive[fun],
    }
}

/// A name that PTX takes, from one of a kernel.
pub(super) fn name_of(kernel: &str, what: &str) -> String {
    let plain = kernel.chars().map(|c| {
        if c.is_ascii_alphanumeric() || c == '_' {
            c
        } else {
            '_'
        }
    });
    let name: String = plain.collect();
    if what.is_empty() {
        format!("k_{name}")
    } else {
        format!("k_{name}_{what}")
    }
}
