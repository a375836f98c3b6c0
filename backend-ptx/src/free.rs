//! Questions about bodies of the plan dialect: what is inside, which functions are called, which local buffers stay where
//! they were made.

use midend::ir::id::{FunId, Var};
use midend::ir::mem::{Kernel, KernelKind, Mem};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Program, Stm, Vars};
use midend::ir::types::Type;
use midend::ir::walk;
use std::collections::BTreeSet;

/// Whether variables of the type have a value at run time.
pub(crate) const fn has_value(ty: &Type) -> bool {
    !matches!(ty, Type::Cert)
}

/// Calls `f` on every statement of a body, inner ones too.
pub(crate) fn statements<'a>(body: &'a Body<Mem>, f: &mut dyn FnMut(&'a Stm<Mem>)) {
    for stm in &body.stms {
        f(stm);
        bodies(&stm.exp, &mut |inner| statements(inner, f));
    }
}

/// Calls `f` on the bodies directly inside an expression, kernels excepted.
pub(crate) fn bodies<'a>(exp: &'a Exp<Mem>, f: &mut dyn FnMut(&'a Body<Mem>)) {
    match exp {
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
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
pub(crate) fn kernel_bodies(kernel: &Kernel) -> Vec<&Body<Mem>> {
    let mut all = vec![&kernel.body];
    match &kernel.kind {
        KernelKind::Map | KernelKind::Seq => {}
        KernelKind::Red { ops, .. } | KernelKind::Scan { ops, .. } => {
            all.extend(ops.iter().map(|op| &op.lam.body));
        }
        KernelKind::Hist(hists) => all.extend(hists.iter().map(|hist| &hist.op.lam.body)),
    }
    all
}

/// The kernels launched in a program, each with the variables that its arguments are for, ascending.
pub(crate) fn kernels(program: &Program<Mem>) -> Vec<(&Kernel, Vec<Var>)> {
    let mut found = Vec::new();
    for fun in program.funs.iter() {
        statements(&fun.body, &mut |stm| {
            if let Exp::Op(Mem::Launch(kernel)) = &stm.exp {
                found.push((kernel.as_ref(), arguments(&program.vars, &stm.exp)));
            }
        });
    }
    found
}

fn arguments(vars: &Vars, launch: &Exp<Mem>) -> Vec<Var> {
    let mut free = walk::free_in_exp(vars, launch);
    free.retain(|v| has_value(&vars[*v].ty));
    free.sort_unstable();
    free.dedup();
    free
}

/// The functions that bodies call, those that they call in turn included, in ascending order.
pub(crate) fn callees(program: &Program<Mem>, bodies: &[&Body<Mem>]) -> BTreeSet<FunId> {
    fn of(body: &Body<Mem>, found: &mut BTreeSet<FunId>, open: &mut Vec<FunId>) {
        statements(body, &mut |stm| {
            if let Exp::Call { fun, .. } = &stm.exp
                && found.insert(*fun)
            {
                open.push(*fun);
            }
        });
    }
    let (mut found, mut open) = (BTreeSet::new(), Vec::new());
    for body in bodies {
        of(body, &mut found, &mut open);
    }
    while let Some(fun) = open.pop() {
        of(&program.funs[fun].body, &mut found, &mut open);
    }
    found
}

/// The variables that may go on under another name: results of bodies, plain aliases, arguments of calls. A buffer
/// among them may outlive the statement sequence that made it.
pub(crate) fn escaping(body: &Body<Mem>) -> BTreeSet<Var> {
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
