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
use crate::ir::uses::Uses;
use crate::ir::walk::deep;
use std::collections::{BTreeMap, BTreeSet};

/// Inserts `Free` into the body of a host function.
pub(super) fn insert(vars: &Vars, fun: &mut Fun<Mem>) {
    let params: Vec<Var> = fun.params.iter().map(|p| p.var).collect();
    let uses = Uses::of(vars, &fun.body, &|v| is_buffer(vars, v));
    body(vars, &uses, 0, &params, &mut fun.body);
}

fn is_buffer(vars: &Vars, v: Var) -> bool {
    matches!(vars[v].ty, Type::Buffer(_))
}

/// Frees buffers among the bound variables and those that the body binds, unless they are its results: right after their
/// last use, and at once if there is none. The body begins with number `first`; the number after it is returned.
fn body(vars: &Vars, uses: &Uses, first: usize, bound: &[Var], body: &mut Body<Mem>) -> usize {
    let results: BTreeSet<Var> = body.result.iter().filter_map(|a| a.as_var()).collect();
    let is_own = |v: &Var| is_buffer(vars, *v) && !results.contains(v);
    let numbers = uses.numbers(first, body.stms.len());
    let end = numbers[body.stms.len()] + 1;
    let mut last: BTreeMap<Var, usize> = BTreeMap::new();
    let mut unused = Vec::new();
    let used = |v: Var| {
        let number = uses.last(v, first..end)?;
        Some(numbers.partition_point(|n| *n <= number) - 1)
    };
    for v in bound.iter().copied().filter(is_own) {
        match used(v) {
            Some(i) => {
                last.insert(v, i);
            }
            None => unused.push(v),
        }
    }
    for (i, stm) in body.stms.iter().enumerate() {
        for v in stm.binds.iter().copied().filter(is_own) {
            last.insert(v, used(v).unwrap_or(i));
        }
    }
    let mut dying: BTreeMap<usize, Vec<Var>> = BTreeMap::new();
    for (v, i) in last {
        dying.entry(i).or_default().push(v);
    }
    let stms = std::mem::take(&mut body.stms);
    body.stms.extend(unused.into_iter().map(free));
    for (i, mut stm) in stms.into_iter().enumerate() {
        let dying = dying.remove(&i).unwrap_or_default();
        let dying = deep(|| nested(vars, uses, numbers[i] + 1, &mut stm, dying));
        body.stms.push(stm);
        body.stms.extend(dying.into_iter().map(free));
    }
    end
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
fn nested(vars: &Vars, uses: &Uses, first: usize, stm: &mut Stm<Mem>, dying: Vec<Var>) -> Vec<Var> {
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
            let next = body(vars, uses, first, &inside, then);
            body(vars, uses, next, &inside, otherwise);
            after
        }
        Exp::Loop {
            params,
            form,
            body: inner,
        } => {
            let params: Vec<Var> = params.iter().map(|p| p.var).collect();
            let next = match form {
                LoopForm::For { .. } => first,
                LoopForm::While(cond) => body(vars, uses, first, &[], cond),
            };
            body(vars, uses, next, &params, inner);
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
