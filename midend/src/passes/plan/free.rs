//! Dropping the names of buffers at their last use, in host code.
//!
//! ```text
//! let b = if c { let x = load a 0 .. } else { .. }        let b = if c { let x = load a 0; free a; .. } else { free a; .. }
//! .. nothing reads a ..                            ──►
//! ```

use crate::fired::fired;
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

/// Frees buffers among the bound variables and those that the body binds, unless they are its results: right after their
/// last use, and at once if there is none.
fn body(vars: &Vars, bound: &[Var], body: &mut Body<Mem>) {
    let results: BTreeSet<Var> = body.result.iter().filter_map(|a| a.as_var()).collect();
    let is_buffer = |v: &Var| matches!(vars[*v].ty, Type::Buffer(_)) && !results.contains(v);
    let bound: Vec<Var> = bound.iter().copied().filter(is_buffer).collect();
    let mut own: BTreeSet<Var> = bound.iter().copied().collect();
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
    let unused = bound.into_iter().filter(|v| !last.contains_key(v));
    let unused: Vec<Var> = unused.collect();
    let mut dying: BTreeMap<usize, Vec<Var>> = BTreeMap::new();
    for (v, i) in last {
        dying.entry(i).or_default().push(v);
    }
    let stms = std::mem::take(&mut body.stms);
    body.stms.extend(unused.into_iter().map(free));
    for (i, mut stm) in stms.into_iter().enumerate() {
        let dying = dying.remove(&i).unwrap_or_default();
        let dying = nested(vars, &mut stm, dying);
        body.stms.push(stm);
        body.stms.extend(dying.into_iter().map(free));
    }
}

fn free(var: Var) -> Stm<Mem> {
    fired("plan/free");
    Stm {
        binds: Vec::new(),
        certs: Vec::new(),
        exp: Exp::Op(Mem::Free(var)),
        span: Spans::NONE,
    }
}

/// The bodies inside of a statement that are host code. Of the buffers that die with the statement, those are left that
/// are to be freed after it: each way through a conditional frees the others as soon as it can.
fn nested(vars: &Vars, stm: &mut Stm<Mem>, dying: Vec<Var>) -> Vec<Var> {
    match &mut stm.exp {
        Exp::If {
            then, otherwise, ..
        } => {
            let is_result = |v: &Var| {
                [&*then, &*otherwise]
                    .iter()
                    .any(|b| b.result.contains(&(*v).into()))
            };
            let (after, inside): (Vec<Var>, Vec<Var>) = dying
                .into_iter()
                .partition(|v| stm.binds.contains(v) || is_result(v));
            body(vars, &inside, then);
            body(vars, &inside, otherwise);
            after
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
            dying
        }
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => dying,
    }
}
