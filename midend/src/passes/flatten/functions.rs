//! Functions and their versions: as host code, as sequential code for one point, and as host code for many points at once.

use super::{Cx, Mode};
use crate::analysis::calls::spread;
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, IdVec};
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Body, Exp, Fun, LoopForm, Param};

/// A version of a function for calls inside of parallel operations.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Version {
    /// For one point.
    Sequential(FunId),
    /// For many points at once, of which these parameters are the same for all.
    Lifted(FunId, Vec<bool>),
}

/// Which functions hold parallel operators or show values, directly or through calls: they are others in parallel code.
pub(super) fn parallel_functions(funs: &IdVec<FunId, Fun<Soac>>) -> Vec<bool> {
    spread(funs, |id, facts| is_parallel(&funs[id].body, facts))
}

/// Whether the body holds parallel operators or shows values, given which functions do.
fn is_parallel(body: &Body<Soac>, funs: &[bool]) -> bool {
    body.stms.iter().any(|stm| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Op(Soac::UpdateAcc(_)) => false,
        Exp::Op(Soac::Array(op)) => matches!(op, ArrayOp::Trace(_) | ArrayOp::Stream(_)),
        // Only the host chooses.
        Exp::Guard { .. } => true,
        Exp::If {
            then, otherwise, ..
        } => is_parallel(then, funs) || is_parallel(otherwise, funs),
        Exp::Loop { form, body, .. } => {
            is_parallel(body, funs)
                || match form {
                    LoopForm::For { .. } => false,
                    LoopForm::While(cond) => is_parallel(cond, funs),
                }
        }
        Exp::Call { fun, .. } => funs[fun.0 as usize],
        Exp::Op(
            Soac::Screma { .. }
            | Soac::Hist { .. }
            | Soac::Scatter { .. }
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::WithAcc { .. },
        ) => true,
    })
}

impl<'p> Cx<'p> {
    pub(super) fn host_function(&mut self, fun: &'p Fun<Soac>) -> Fun<Seg> {
        let entry = fun.entry.as_ref().map(|entry| &entry.name);
        self.function.clone_from(entry.unwrap_or(&fun.name));
        self.function_span = fun.span;
        Fun {
            name: fun.name.clone(),
            entry: fun.entry.clone(),
            params: fun.params.clone(),
            results: fun.results.clone(),
            body: self.body(&fun.body, Mode::Host),
            inline: fun.inline,
            derivative: fun.derivative,
            span: fun.span,
        }
    }

    pub(super) fn sequential_function(&mut self, fun: &'p Fun<Soac>) -> Fun<Seg> {
        let rename = |cx: &mut Self, params: &[Param]| {
            let renamed = params.iter().map(|p| Param {
                var: cx.bind(p.var, Mode::Seq),
                unique: p.unique,
            });
            renamed.collect::<Vec<_>>()
        };
        let params = rename(self, &fun.params);
        let body = self.body(&fun.body, Mode::Seq);
        Fun {
            name: format!("{}_seq", fun.name),
            entry: None,
            params,
            results: rename(self, &fun.results),
            body,
            inline: fun.inline,
            derivative: fun.derivative,
            span: fun.span,
        }
    }

    /// The function to call for `fun` from code of this mode.
    pub(super) fn callee(&mut self, fun: FunId, mode: Mode) -> FunId {
        if mode == Mode::Host || !self.parallel[fun.0 as usize] {
            return fun;
        }
        self.version(Version::Sequential(fun))
    }

    /// The function that is a version of another.
    pub(super) fn version(&mut self, version: Version) -> FunId {
        let known = self.pending.iter().position(|other| *other == version);
        let number = known.unwrap_or(self.pending.len());
        if known.is_none() {
            self.pending.push(version);
        }
        let id = self.source.len() + number;
        FunId(u32::try_from(id).expect("fewer than 2^32 functions"))
    }
}
