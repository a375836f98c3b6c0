//! Array operations are linear in their elements: the tangent is the same operation on tangents.

use super::Derive;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::Const;
use crate::ir::syntax::{Atom, Exp};

impl Derive<'_> {
    pub(super) fn array(&mut self, binds: Vec<Var>, op: ArrayOp) {
        self.push(binds.clone(), op.clone().into());
        let [v] = binds[..] else { return };
        if !self.differentiable(v) {
            return;
        }
        let tangent = match op {
            ArrayOp::Index { array, indices } => self
                .array_tangent(array)
                .map(|array| ArrayOp::Index { array, indices }),
            ArrayOp::Slice { array, dims } => self
                .array_tangent(array)
                .map(|array| ArrayOp::Slice { array, dims }),
            ArrayOp::Copy(array) => self.array_tangent(array).map(ArrayOp::Copy),
            ArrayOp::Rearrange { perm, array } => self
                .array_tangent(array)
                .map(|array| ArrayOp::Rearrange { perm, array }),
            ArrayOp::Reshape { shape, array } => self
                .array_tangent(array)
                .map(|array| ArrayOp::Reshape { shape, array }),
            ArrayOp::Manifest { perm, array } => self
                .array_tangent(array)
                .map(|array| ArrayOp::Manifest { perm, array }),
            ArrayOp::Replicate { shape, value } => self
                .tangent_of(value)
                .map(|value| ArrayOp::Replicate { shape, value }),
            ArrayOp::Update { array, dims, value } => {
                if self.array_tangent(array).is_none() && self.tangent_of(value).is_none() {
                    return;
                }
                let value = self.tangent_or_zero(value);
                let array = self.tangent_or_zero(array.into());
                array
                    .as_var()
                    .map(|array| ArrayOp::Update { array, dims, value })
            }
            ArrayOp::Literal { elems, row } => {
                if elems.iter().all(|a| self.tangent_of(*a).is_none()) {
                    return;
                }
                let elems = elems.into_iter().map(|a| self.tangent_or_zero(a));
                let elems = elems.collect();
                Some(ArrayOp::Literal { elems, row })
            }
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => {
                let zero = Atom::Const(Const::zero(ty));
                let (start, step) = (self.tangent_of(start), self.tangent_of(step));
                (start.is_some() || step.is_some()).then(|| ArrayOp::Iota {
                    len,
                    start: start.unwrap_or(zero),
                    step: step.unwrap_or(zero),
                    ty,
                })
            }
            ArrayOp::Concat { arrays, len } => {
                if arrays.iter().all(|a| self.array_tangent(*a).is_none()) {
                    return;
                }
                let arrays = arrays.into_iter();
                let arrays = arrays.filter_map(|a| self.tangent_or_zero(a.into()).as_var());
                let arrays = arrays.collect();
                Some(ArrayOp::Concat { arrays, len })
            }
            ArrayOp::Scratch { .. } | ArrayOp::Trace(_) | ArrayOp::Stream(_) => None,
        };
        if let Some(op) = tangent {
            let tangent = self.new_tangent(v);
            self.push(vec![tangent], Exp::from(op));
        }
    }
}
