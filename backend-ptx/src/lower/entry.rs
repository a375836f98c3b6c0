//! Entries: the functions that a kernel calls, the parameters, and the code.

use super::{Entry, FIXED, Fixed, Interface, Lower, Source, THREADS, control, memory};
use crate::ptx::{Builder, Func, FuncId, Kind, Module, Reg, Ty};
use midend::analysis::calls::Calls;
use midend::analysis::kernels::{called, has_value, kernel_bodies};
use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;
use midend::ir::types::Type;
use std::collections::BTreeMap;

/// What an entry is made of.
pub(super) struct Shape<'k> {
    pub(super) name: String,
    pub(super) kernel: &'k Kernel,
    pub(super) args: &'k [Var],
    pub(super) extras: usize,
    /// Whether the code itself looks for a failure of an earlier launch, before it stores anything that is not its own.
    pub(super) skips_itself: bool,
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
        }
    }
}

/// Builds an entry; `code` gets the parameters behind the fixed ones.
pub(super) fn entry(
    source: &mut Source<'_>,
    shape: &Shape<'_>,
    code: impl FnOnce(&mut Lower<'_>, &[Reg]),
) -> Entry {
    let program = source.program;
    let bodies = kernel_bodies(shape.kernel);
    let called = called(program, bodies.iter().copied());
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
    let kind = Kind::Entry {
        threads: THREADS,
        params: 8 * slots as u32,
    };
    let mut lower = Lower::new(
        program,
        &functions,
        source.sites,
        Builder::new(&shape.name, kind),
    );
    lower.on_stack = memory::stacked(&bodies);
    for (i, var) in shape.args.iter().enumerate() {
        lower.argument(*var, 8 * i as u32);
    }
    let first = 8 * shape.args.len() as u32;
    lower.failure = lower.pointer(first + 8 * Fixed::Failure as u32);
    lower.launch = lower.b.param(Ty::U64, first + 8 * Fixed::Launch as u32);
    if !called.is_empty() {
        let depth = lower.b.param(Ty::B32, first + 8 * Fixed::Depth as u32);
        lower.depth = Some(depth);
    }
    let uses_arena = !called.is_empty() || bodies.iter().any(|body| lower.uses_arena(body));
    if uses_arena {
        let arena = lower.pointer(first + 8 * Fixed::Arena as u32);
        let share = lower.b.param(Ty::U64, first + 8 * Fixed::Share as u32);
        lower.interleave(&bodies);
        lower.take_share(arena, share);
    }
    let extras: Vec<Reg> = (0..shape.extras as u32)
        .map(|i| lower.b.param(Ty::U64, first + 8 * (FIXED as u32 + i)))
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
