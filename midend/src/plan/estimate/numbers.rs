//! Which variables are numbers that a program computes with, and not places in buffers: the arithmetic of places is the compiler's.
//!
//! ```text
//! row = mul i m        a place
//! at = add row j       a place
//! x = load xs[at]
//! y = mul x x          a number
//! store ys[i] = y
//! ```

use crate::hash::HashSet;
use crate::ir::id::Var;
use crate::ir::mem::{Kernel, KernelKind, Mem};
use crate::ir::soac::Operator;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm};
use crate::ir::walk::deep;

/// All those of a plan.
pub(super) fn numbers(plan: &Program<Mem>) -> HashSet<Var> {
    let mut found = HashSet::default();
    for fun in plan.funs.iter() {
        in_body(&fun.body, &mut found);
    }
    found
}

fn add(atoms: &[Atom], found: &mut HashSet<Var>) {
    found.extend(atoms.iter().filter_map(|atom| match atom {
        Atom::Var(v) => Some(*v),
        Atom::Const(_) => None,
    }));
}

/// From the last statement to the first, so that all uses of a variable have been seen before its definition.
fn in_body(body: &Body<Mem>, found: &mut HashSet<Var>) {
    add(&body.result, found);
    for stm in body.stms.iter().rev() {
        in_statement(stm, found);
    }
}

fn in_statement(stm: &Stm<Mem>, found: &mut HashSet<Var>) {
    let is_number = stm.binds.iter().any(|v| found.contains(v));
    match &stm.exp {
        Exp::Scalar(_, args) if is_number => add(args, found),
        Exp::Atom(atom) if is_number => add(&[*atom], found),
        // Checks are of places, mostly.
        Exp::Scalar(..) | Exp::Atom(_) | Exp::Assert { .. } | Exp::Guard { .. } => {}
        Exp::If {
            cond,
            then,
            otherwise,
        } => {
            deep(|| in_body(then, found));
            deep(|| in_body(otherwise, found));
            add(&[*cond], found);
        }
        Exp::Loop { params, form, body } => {
            deep(|| in_body(body, found));
            if let LoopForm::While(cond) = form {
                deep(|| in_body(cond, found));
            }
            let starts: Vec<Atom> = params.iter().map(|param| param.init).collect();
            add(&starts, found);
        }
        Exp::Call { args, .. } => add(args, found),
        Exp::Op(Mem::Store { value, .. }) => add(&[*value], found),
        Exp::Op(Mem::Launch(kernel)) => deep(|| in_kernel(kernel, found)),
        Exp::Op(
            Mem::Alloc { .. } | Mem::Free(_) | Mem::Apart(_) | Mem::Load { .. } | Mem::Copy { .. },
        )
        | Exp::Op(Mem::Trace(_) | Mem::Stream(_)) => {}
    }
}

fn in_kernel(kernel: &Kernel, found: &mut HashSet<Var>) {
    let mut in_operators = |ops: &[Operator<Mem>]| {
        for op in ops {
            in_body(&op.lam.body, found);
        }
    };
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, .. } => in_operators(ops),
        KernelKind::Scan { ops, then, .. } => {
            in_operators(ops);
            if let Some(then) = then {
                in_body(&then.body, found);
            }
        }
        KernelKind::Hist(hists) => {
            for hist in hists {
                in_operators(std::slice::from_ref(&hist.op));
            }
        }
    }
    in_body(&kernel.body, found);
}
