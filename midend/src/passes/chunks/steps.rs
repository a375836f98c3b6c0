//! What loops over chunks are made of.

use crate::analysis::aliases::consumed;
use crate::hash::HashSet;
use crate::ir::array::{ArrayOp, Stream, StreamOp};
use crate::ir::id::{FunId, IdVec};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, LoopParam, Stm};
use crate::ir::walk::all_stms;
use std::collections::BTreeSet;

/// A loop over chunks.
pub(super) struct Walk<'p> {
    pub(super) params: &'p [LoopParam],
    pub(super) form: &'p LoopForm<Soac>,
    pub(super) body: &'p Body<Soac>,
    /// Which parameters are how many elements came before, and whether there are more.
    pub(super) place: usize,
    pub(super) more: usize,
}

impl<'p> Walk<'p> {
    pub(super) fn of(stm: &'p Stm<Soac>) -> Option<Self> {
        let Exp::Loop { params, form, body } = &stm.exp else {
            return None;
        };
        let LoopForm::While(cond) = form else {
            return None;
        };
        let is = |a: Atom| params.iter().position(|p| Atom::Var(p.var) == a);
        let more = match &cond.result[..] {
            [more] if cond.stms.is_empty() => is(*more)?,
            _ => return None,
        };
        let next = body.stms.iter().filter_map(|stm| step(&stm.exp));
        let next = next.filter(|step| step.op == StreamOp::Next);
        let mut places = next.filter_map(|step| step.args.first().copied());
        let (place, None) = (is(places.next()?)?, places.next()) else {
            return None;
        };
        Some(Self {
            params,
            form,
            body,
            place,
            more,
        })
    }

    /// What decides on the steps: the parameters for it, by their numbers.
    pub(super) const fn control(&self) -> [usize; 2] {
        [self.place, self.more]
    }
}

/// Whether two loops can use what one of them computes: everything but what writes, shows, or makes an array in order that it
/// be written over.
pub(super) fn can_be_shared(stm: &Stm<Soac>, funs: &IdVec<FunId, Fun<Soac>>) -> bool {
    let mut can = true;
    consumed(stm, funs, &mut |_| can = false);
    let mut look = |exp: &Exp<Soac>, inside: bool| match exp {
        Exp::Op(Soac::Array(op)) => match op {
            ArrayOp::Trace(_) => can = false,
            ArrayOp::Stream(stream) => {
                can &= !inside && stream.op != StreamOp::Write;
            }
            ArrayOp::Scratch { .. } | ArrayOp::Copy(_) | ArrayOp::Update { .. } => can &= inside,
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Reshape { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. } => {}
        },
        Exp::Op(Soac::UpdateAcc(_) | Soac::WithAcc { .. }) | Exp::Call { .. } => can = false,
        Exp::Op(
            Soac::Screma { .. }
            | Soac::Filter { .. }
            | Soac::FlatMap { .. }
            | Soac::Hist { .. }
            | Soac::Scatter { .. },
        )
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. } => {}
    };
    look(&stm.exp, false);
    stm.exp
        .scopes(&mut |_, body| all_stms(body, &mut |stm| look(&stm.exp, true)));
    can
}

/// The step of a sequence that an expression is.
pub(super) fn step(exp: &Exp<Soac>) -> Option<&Stream> {
    if let Exp::Op(Soac::Array(ArrayOp::Stream(stream))) = exp {
        Some(stream)
    } else {
        None
    }
}

/// The sequences from outside that a body reads, in the functions that it calls, too.
pub(super) fn reads(body: &Body<Soac>, funs: &IdVec<FunId, Fun<Soac>>) -> BTreeSet<u32> {
    let (mut found, mut seen) = (BTreeSet::new(), HashSet::default());
    let mut todo = Vec::new();
    let mut look = |body: &Body<Soac>, todo: &mut Vec<FunId>| {
        all_stms(body, &mut |stm| match &stm.exp {
            Exp::Call { fun, args: _ } => todo.push(*fun),
            exp @ (Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }) => {
                let read = step(exp).filter(|s| s.op == StreamOp::Read);
                found.extend(read.map(|s| s.stream));
            }
        });
    };
    look(body, &mut todo);
    while let Some(fun) = todo.pop() {
        if seen.insert(fun) {
            look(&funs[fun].body, &mut todo);
        }
    }
    found
}

/// Whether an expression makes the numbers of elements: that costs nothing.
pub(super) const fn is_iota(exp: &Exp<Soac>) -> bool {
    matches!(exp, Exp::Op(Soac::Array(ArrayOp::Iota { .. })))
}
