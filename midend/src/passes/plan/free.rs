//! Dropping the names of buffers at their last use, in host code.

use crate::ir::id::Var;
use crate::ir::mem::Mem;
use crate::ir::span::Spans;
use crate::ir::syntax::{Body, Exp, Fun, LoopForm, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk::free_in_stm;
use std::collections::{BTreeMap, BTreeSet};

/// Inserts `Free` into the body of a host function.
pub(super) fn insert(vars: &Vars, fun: &mut Fun<Mem>) {
    let params: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
    body(vars, &params, &mut fun.body);
}

/// Frees buffers among the bound variables and those that the body binds, unless they are its results.
fn body(vars: &Vars, bound: &[Var], body: &mut Body<Mem>) {
    for stm in &mut body.stms {
        nested(vars, &mut stm.exp);
    }
    let results: BTreeSet<Var> = body.result.iter().filter_map(|a| a.as_var()).collect();
    let is_buffer = |v: &Var| matches!(vars[*v].ty, Type::Buffer(_)) && !results.contains(v);
    let mut own: BTreeSet<Var> = bound.iter().copied().filter(is_buffer).collect();
    let mut last: BTreeMap<Var, usize> = BTreeMap::new();
    for (i, stm) in body.stms.iter().enumerate() {
        own.extend(stm.binds.iter().copied().filter(is_buffer));
        for v in free_in_stm(vars, stm)
            .into_iter()
            .chain(stm.binds.iter().copied())
        {
            if own.contains(&v) {
                last.insert(v, i);
            }
        }
    }
    let mut dying: BTreeMap<usize, Vec<Var>> = BTreeMap::new();
    for (v, i) in last {
        dying.entry(i).or_default().push(v);
    }
    let stms = std::mem::take(&mut body.stms);
    for (i, stm) in stms.into_iter().enumerate() {
        body.stms.push(stm);
        let dying = dying.remove(&i).unwrap_or_default();
        body.stms.extend(dying.into_iter().map(free));
    }
}

fn free(var: Var) -> Stm<Mem> {
    Stm {
        binds: Vec::new(),
        certs: Vec::new(),
        exp: Exp::Op(Mem::Free(var)),
        span: Spans::NONE,
    }
}

/// The bodies inside of a statement that are host code.
fn nested(vars: &Vars, exp: &mut Exp<Mem>) {
    match exp {
        Exp::If {
            then, otherwise, ..
        } => {
            body(vars, &[], then);
            body(vars, &[], otherwise);
        }
        Exp::Loop {
            params,
            form,
            body: inner,
        } => {
            let params: Vec<Var> = params.iter().map(|p| p.var).collect();
            body(vars, &params, inner);
            if let LoopForm::While(cond) = form {
                body(vars, &[], cond);
            }
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => {}
    }
}
