//! Labels of array operations.

use super::{Label, Labeller, has_ragged_dims, is_small};
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::walk::{free_in_lambda, free_in_stm};

impl Labeller<'_> {
    pub(super) fn array_op(
        &mut self,
        stm: &Stm<Soac>,
        op: &ArrayOp,
        whole: &HashSet<Var>,
    ) -> Label {
        let mut shared = !stm.binds.iter().any(|&v| has_ragged_dims(&self.vars[v].ty));
        let (mut hot, mut variant) = (false, false);
        stm.exp.operands(&mut |a| {
            if let Atom::Var(v) = a {
                shared &= !self.labels.irregular(v);
                hot |= self.vars[v].ty.is_array() && self.labels.hot(v);
                variant |= self.has_variant_dims(v);
            }
        });
        variant |= stm.binds.iter().any(|&v| self.has_variant_dims(v));
        match op {
            ArrayOp::Index { .. } | ArrayOp::Slice { .. } | ArrayOp::Rearrange { .. } => {
                self.cheap(stm, 1)
            }
            ArrayOp::Iota { .. } | ArrayOp::Replicate { .. } | ArrayOp::Copy(_) if !shared => {
                Label::Seq
            }
            ArrayOp::Iota { .. } if !whole.contains(&stm.binds[0]) => self.cheap(stm, 1),
            ArrayOp::Replicate { shape, .. }
                if shape.len() == 1 && !whole.contains(&stm.binds[0]) =>
            {
                self.cheap(stm, 1)
            }
            ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Scratch { .. } => Label::Fill,
            ArrayOp::Reshape { .. } if shared && !(variant && hot) => Label::View,
            ArrayOp::Update { .. } if shared => Label::Update,
            // Few elements are put together by the point that has them, unless it cannot write them: a part of a ragged array.
            ArrayOp::Concat { .. }
                if shared && (variant || !is_small(&self.vars[stm.binds[0]].ty)) =>
            {
                Label::Fill
            }
            ArrayOp::Reshape { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => Label::Seq,
        }
    }

    /// The arrays made by `iota` or `replicate` in a body that are read otherwise than element by element.
    pub(super) fn read_whole(&self, body: &Body<Soac>) -> HashSet<Var> {
        let mut whole = HashSet::default();
        let spread = body.stms.iter().any(|stm| {
            matches!(
                &stm.exp,
                Exp::Op(Soac::Array(
                    ArrayOp::Iota { .. } | ArrayOp::Replicate { .. }
                ))
            )
        });
        if !spread {
            return whole;
        }
        for stm in &body.stms {
            match &stm.exp {
                Exp::Op(
                    Soac::Screma { lam, .. }
                    | Soac::Hist { lam, .. }
                    | Soac::Scatter { lam, .. }
                    | Soac::Filter { lam, .. }
                    | Soac::FlatMap { lam, .. },
                ) => {
                    whole.extend(free_in_lambda(self.vars, lam));
                    stm.exp.consumed(&mut |v| {
                        whole.insert(v);
                    });
                }
                // Of copies of a row a point would make all for one element.
                Exp::Op(Soac::Array(ArrayOp::Index { indices, .. }))
                    if indices.len() == 1
                        && stm.binds.iter().all(|&v| !self.vars[v].ty.is_array()) => {}
                Exp::Op(_)
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. } => whole.extend(free_in_stm(self.vars, stm)),
            }
        }
        whole.extend(body.result.iter().filter_map(|a| a.as_var()));
        whole
    }
}
