//! Kernels of a plan, as back ends and the host see them: which are launched and with what, which functions they call,
//! which local buffers stay where they were made.

use crate::ir::id::{FunId, Var};
use crate::ir::mem::{Kernel, KernelKind, Mem};
use crate::ir::scalar::Const;
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{self, free_in_stm};
use std::collections::{BTreeMap, BTreeSet};

/// Whether variables of the type have a value at run time.
pub const fn has_value(ty: &Type) -> bool {
    !matches!(ty, Type::Cert)
}

/// Calls `f` on every statement of a body of a kernel, inner ones too, also those of kernels that threads share out there.
pub fn statements<'a>(body: &'a Body<Mem>, f: &mut dyn FnMut(&'a Stm<Mem>)) {
    for stm in &body.stms {
        f(stm);
        bodies(&stm.exp, &mut |inner| statements(inner, f));
    }
}

/// Calls `f` on the bodies directly inside an expression, those of kernels included.
pub fn bodies<'a>(exp: &'a Exp<Mem>, f: &mut dyn FnMut(&'a Body<Mem>)) {
    match exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(
            Mem::Alloc { .. }
            | Mem::Free(_)
            | Mem::Apart(_)
            | Mem::Load { .. }
            | Mem::Store { .. }
            | Mem::Copy { .. }
            | Mem::Trace(_)
            | Mem::Stream(_),
        ) => {}
        Exp::Op(Mem::Launch(kernel)) => kernel_bodies(kernel).into_iter().for_each(f),
        Exp::If {
            then, otherwise, ..
        } => {
            f(then);
            f(otherwise);
        }
        Exp::Loop { form, body, .. } => {
            match form {
                LoopForm::For { .. } => {}
                LoopForm::While(cond) => f(cond),
            }
            f(body);
        }
    }
}

/// The bodies of a kernel: its own and those of its operators.
pub fn kernel_bodies(kernel: &Kernel) -> Vec<&Body<Mem>> {
    let mut all = vec![&kernel.body];
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, .. } => all.extend(ops.iter().map(|op| &op.lam.body)),
        KernelKind::Scan { ops, then, .. } => {
            all.extend(ops.iter().map(|op| &op.lam.body));
            all.extend(then.iter().map(|then| &then.body));
        }
        KernelKind::Hist(hists) => all.extend(hists.iter().map(|hist| &hist.op.lam.body)),
    }
    all
}

/// The reduction of what a kernel scans, without what only other results need.
pub fn summed(vars: &Vars, kernel: &Kernel, ops: &[Operator<Mem>]) -> Kernel {
    let mut sum = kernel.clone();
    let arity = ops.iter().map(|op| op.neutral.len()).sum();
    sum.body.result.truncate(arity);
    let mut needed: BTreeSet<Var> = sum.body.result.iter().filter_map(|a| a.as_var()).collect();
    let mut stms = std::mem::take(&mut sum.body.stms);
    while let Some(stm) = stms.pop() {
        let is_check = matches!(stm.exp, Exp::Assert { .. });
        if is_check || stm.binds.iter().any(|v| needed.contains(v)) {
            needed.extend(free_in_stm(vars, &stm));
            sum.body.stms.push(stm);
        }
    }
    sum.body.stms.reverse();
    let (ops, outs) = (ops.to_vec(), Vec::new());
    sum.kind = KernelKind::Red { ops, outs };
    sum
}

/// The kernels launched in a program, each with the variables that its arguments are for, ascending.
pub fn launched(program: &Program<Mem>) -> Vec<(&Kernel, Vec<Var>)> {
    fn walk<'a>(vars: &Vars, body: &'a Body<Mem>, found: &mut Vec<(&'a Kernel, Vec<Var>)>) {
        for stm in &body.stms {
            match &stm.exp {
                Exp::Op(Mem::Launch(kernel)) => {
                    found.push((kernel.as_ref(), arguments(vars, &stm.exp)));
                }
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => bodies(&stm.exp, &mut |inner| walk(vars, inner, found)),
            }
        }
    }
    let mut found = Vec::new();
    for fun in program.funs.iter() {
        walk(&program.vars, &fun.body, &mut found);
    }
    found
}

/// Whether a body launches kernels: those of a kernel are shared out among the threads that work on a point of it.
pub fn shares_out(body: &Body<Mem>) -> bool {
    let mut shares = false;
    statements(body, &mut |stm| {
        shares |= matches!(stm.exp, Exp::Op(Mem::Launch(_)))
    });
    shares
}

/// The version that each kernel is part of, by name. What is launched whatever guards say is version 0; each branch that a
/// guard decides on is a version of its own, without those in it. A version whose guard never chooses it never runs.
pub fn versions(program: &Program<Mem>) -> BTreeMap<&str, usize> {
    let mut found = Versions::default();
    for fun in program.funs.iter() {
        found.body(&fun.body, 0);
    }
    found.kernels
}

#[derive(Default)]
struct Versions<'a> {
    kernels: BTreeMap<&'a str, usize>,
    guards: BTreeSet<Var>,
    last: usize,
}

impl<'a> Versions<'a> {
    fn body(&mut self, body: &'a Body<Mem>, version: usize) {
        for stm in &body.stms {
            let guarded = match &stm.exp {
                Exp::Guard { .. } => {
                    self.guards.extend(&stm.binds);
                    false
                }
                Exp::If { cond, .. } => cond.as_var().is_some_and(|v| self.guards.contains(&v)),
                Exp::Op(Mem::Launch(kernel)) => {
                    self.kernels.insert(&kernel.name, version);
                    continue;
                }
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. }
                | Exp::Op(_) => false,
            };
            bodies(&stm.exp, &mut |inner| {
                let version = if guarded {
                    self.last += 1;
                    self.last
                } else {
                    version
                };
                self.body(inner, version);
            });
        }
    }
}

/// The variables that the arguments of a launch are for: those free in it that have values, ascending.
pub fn arguments(vars: &Vars, launch: &Exp<Mem>) -> Vec<Var> {
    let mut free = walk::free_in_exp(vars, launch);
    free.retain(|v| has_value(&vars[*v].ty));
    free.sort_unstable();
    free.dedup();
    free
}

/// The functions called in a body.
pub fn callees(body: &Body<Mem>, into: &mut BTreeSet<FunId>) {
    statements(body, &mut |stm| {
        if let Exp::Call { fun, .. } = &stm.exp {
            into.insert(*fun);
        }
    });
}

/// The functions that bodies call, those that they call in turn included, in ascending order.
pub fn called<'a>(
    program: &Program<Mem>,
    bodies: impl IntoIterator<Item = &'a Body<Mem>>,
) -> BTreeSet<FunId> {
    let mut found = BTreeSet::new();
    for body in bodies {
        callees(body, &mut found);
    }
    let mut open: Vec<FunId> = found.iter().copied().collect();
    while let Some(fun) = open.pop() {
        let mut next = BTreeSet::new();
        callees(&program.funs[fun].body, &mut next);
        open.extend(next.into_iter().filter(|f| found.insert(*f)));
    }
    found
}

/// The variables that may go on under another name: results of bodies, plain aliases, arguments of calls. A buffer
/// among them may outlive the statement sequence that made it.
pub fn escaping(body: &Body<Mem>) -> BTreeSet<Var> {
    fn add(into: &mut BTreeSet<Var>, atom: &Atom) {
        if let Atom::Var(v) = atom {
            into.insert(*v);
        }
    }
    fn walk(body: &Body<Mem>, into: &mut BTreeSet<Var>) {
        body.result.iter().for_each(|atom| add(into, atom));
        for stm in &body.stms {
            match &stm.exp {
                Exp::Atom(atom) => add(into, atom),
                Exp::Call { args, .. } => args.iter().for_each(|atom| add(into, atom)),
                Exp::Loop { params, .. } => params.iter().for_each(|param| add(into, &param.init)),
                Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Op(_) => {}
            }
            bodies(&stm.exp, &mut |inner| walk(inner, into));
        }
    }
    let mut into = BTreeSet::new();
    walk(body, &mut into);
    into
}

/// The bytes of a buffer, if they are known and have 32 bits.
pub fn known_bytes(elem: ScalarType, len: Atom) -> Option<u32> {
    match len {
        Atom::Const(Const::I64(len)) => len
            .checked_mul(elem.bytes() as i64)
            .and_then(|bytes| u32::try_from(bytes).ok()),
        Atom::Const(_) | Atom::Var(_) => None,
    }
}

/// How many elements buffers have that are allocated with a constant number of them, by the names that they are given there.
pub fn known_extents(program: &Program<Mem>) -> BTreeMap<Var, i64> {
    let mut extents = BTreeMap::new();
    for fun in program.funs.iter() {
        statements(&fun.body, &mut |stm| {
            if let (Exp::Op(Mem::Alloc { len, .. }), [var]) = (&stm.exp, &stm.binds[..])
                && let Atom::Const(Const::I64(len)) = len
            {
                extents.insert(*var, *len);
            }
        });
    }
    extents
}

/// The local buffers that may live on the stack of a thread: of known size, at most `largest` bytes each and `total` bytes
/// together, and without another name that could outlive the execution of the statement.
pub fn on_stack(bodies: &[&Body<Mem>], largest: u32, total: u32) -> BTreeSet<Var> {
    let mut left = total;
    let mut chosen = BTreeSet::new();
    for body in bodies {
        let escaping = escaping(body);
        statements(body, &mut |stm| {
            if let (Exp::Op(Mem::Alloc { elem, len, .. }), Some(var)) =
                (&stm.exp, stm.binds.first())
                && !escaping.contains(var)
                && let Some(bytes) = known_bytes(*elem, *len)
                && bytes <= largest.min(left)
            {
                left -= bytes;
                chosen.insert(*var);
            }
        });
    }
    chosen
}
