//! Array operations move elements: their adjoints move back.
//!
//! ```text
//! y = x[i]                  x'[i] += y'                    y = concat a b       a' += first part of y', ..
//! y = x[a..b]               x'[a..b] += y'                 y = [a, b]           a' += y'[0], ..
//! y = copy x                x' += y'                       y = replicate n x    x' += sum y'
//! y = rearrange p x         x' += rearrange p^-1 y'        y = iota a step      a' += sum y', step' += sum (i * y'[i])
//! y = x with [d] = v        v' += y'[d];  x' += y' with [d] = 0
//! ```

use super::Derive;
use crate::ir::array::{ArrayOp, SliceDim, inverse};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::typing;

impl Derive<'_> {
    pub(super) fn undo_array(&mut self, binds: &[Var], op: ArrayOp) {
        let [v] = *binds else { return };
        let Some(adjoint) = self.taken(v) else { return };
        match op {
            ArrayOp::Index { array, indices } => self.add_at(array, &indices, adjoint),
            ArrayOp::Slice { array, dims } => self.add_to_part(array, &dims, adjoint),
            ArrayOp::Copy(array) | ArrayOp::Manifest { array, .. } => {
                self.add(array.into(), adjoint);
            }
            ArrayOp::Rearrange { perm, array } => {
                if let Atom::Var(adjoint) = adjoint {
                    let op = ArrayOp::Rearrange {
                        perm: inverse(&perm),
                        array: adjoint,
                    };
                    let back = self.array_op("adj", op);
                    self.add(array.into(), back.into());
                }
            }
            // Adding fits the shape.
            ArrayOp::Reshape { array, .. } => self.add(array.into(), adjoint),
            ArrayOp::Update { array, dims, value } => {
                self.undo_update(adjoint, array, &dims, value)
            }
            ArrayOp::Literal { elems, .. } => {
                let Atom::Var(adjoint) = adjoint else { return };
                for (i, elem) in elems.into_iter().enumerate() {
                    if self.depends(elem) {
                        let part = self.index(adjoint, &[Atom::i64(i as i64)]);
                        self.add(elem, part.into());
                    }
                }
            }
            ArrayOp::Replicate { shape, value } => {
                let mut sum = adjoint;
                for _ in shape {
                    if let Atom::Var(v) = sum {
                        sum = self.total(v);
                    }
                }
                self.add(value, sum);
            }
            ArrayOp::Concat { arrays, .. } => self.undo_concat(adjoint, arrays),
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => {
                let Atom::Var(adjoint) = adjoint else { return };
                if self.depends(start) {
                    let sum = self.total(adjoint);
                    self.add(start, sum);
                }
                if self.depends(step) {
                    let weighted = self.tabulate(len, &[Type::Scalar(ty)], |t, i| {
                        let x = t.index(adjoint, &[i]);
                        let i = t.scalar(ScalarOp::Convert(ScalarType::I64, ty), &[i]);
                        vec![t.scalar(ScalarOp::Bin(BinOp::Mul, ty), &[x.into(), i])]
                    });
                    let sum = self.total(weighted[0]);
                    self.add(step, sum);
                }
            }
            ArrayOp::Scratch { .. } | ArrayOp::Trace(_) | ArrayOp::Stream(_) => {}
        }
    }

    fn undo_update(&mut self, adjoint: Atom, array: Var, dims: &[SliceDim], value: Atom) {
        let adjoint = self.own(adjoint);
        let Some(ty) = typing::slice(&self.vars[adjoint].ty, dims) else {
            return;
        };
        if self.depends(value) {
            let part = ArrayOp::Slice {
                array: adjoint,
                dims: dims.to_vec(),
            };
            let part = match (&ty, fixed(dims)) {
                (Type::Scalar(_), Some(indices)) => self.index(adjoint, &indices),
                _ => {
                    let part = self.array_op("part", part);
                    self.array_op("part", ArrayOp::Copy(part))
                }
            };
            self.add(value, part.into());
        }
        if self.depends(array.into()) {
            let zero = self.zero_of_type(&ty);
            let op = ArrayOp::Update {
                array: adjoint,
                dims: dims.to_vec(),
                value: zero,
            };
            let rest = self.array_op("adj", op);
            self.back.owned.insert(rest);
            self.add(array.into(), rest.into());
        }
    }

    fn undo_concat(&mut self, adjoint: Atom, arrays: Vec<Var>) {
        let Atom::Var(adjoint) = adjoint else { return };
        let mut start = Atom::ZERO;
        for array in arrays {
            let Some(Dim::Size(len)) = self.vars[array].ty.shape().first().copied() else {
                return;
            };
            if self.depends(array.into()) {
                let stride = Atom::ONE;
                let dims = vec![SliceDim::Range { start, len, stride }];
                let op = ArrayOp::Slice {
                    array: adjoint,
                    dims,
                };
                let part = self.array_op("part", op);
                self.add(array.into(), part.into());
            }
            start = self.int(BinOp::Add, start, len);
        }
    }

    /// An array backwards.
    pub(super) fn reversed(&mut self, array: Var, len: Size) -> Var {
        let start = self.int(BinOp::Sub, len, Atom::ONE);
        let stride = Atom::i64(-1);
        let dims = vec![SliceDim::Range { start, len, stride }];
        self.array_op("reversed", ArrayOp::Slice { array, dims })
    }
}

fn fixed(dims: &[SliceDim]) -> Option<Vec<Atom>> {
    let dims = dims.iter().map(|dim| match dim {
        SliceDim::Fix(i) => Some(*i),
        SliceDim::Range { .. } => None,
    });
    dims.collect()
}
