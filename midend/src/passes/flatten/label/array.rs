//! Labels of array operations.

use super::{Label, Labeller, has_ragged_dims};
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Stm};

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
            // A part of a ragged array is written by all of its points.
            ArrayOp::Concat { .. } if shared && variant => Label::Fill,
            ArrayOp::Reshape { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_) => Label::Seq,
        }
    }
}
