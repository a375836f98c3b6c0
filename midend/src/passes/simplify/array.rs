//! Reads of arrays whose elements are known, and views of views.
//!
//! ```text
//! index (iota n)[i]                 ──►  i
//! index (replicate [n] x)[i]        ──►  x
//! index (literal (a, b))[1]         ──►  b
//! index (index a[i])[j]             ──►  index a[i, j]
//! index (slice a[s : n : 2])[i]     ──►  index a[s + i*2]
//! index (rearrange (1, 0) a)[i, j]  ──►  index a[j, i]
//! rearrange p (rearrange q a)       ──►  rearrange (q after p) a
//! reshape s (reshape t a)           ──►  reshape s a
//! replicate [n] (replicate [m] x)   ──►  replicate [n, m] x, in the flat program
//! slice a[0 : n : 1], a of length n ──►  a
//! slice (slice a[s : n : 2])[t : m : 1] ──► slice a[s + t*2 : m : 2]
//! ```
//!
//! What the inner operation needed certificates for, the new one needs them for too. A view of a copy is left alone:
//! what was copied may have been consumed since.

use super::{Def, Simplify};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::Seg;
use crate::ir::syntax::{Atom, Exp, Stm, VarInfo};
use crate::ir::types::{Dim, ScalarType, Type};

/// What an array operation amounts to.
enum Folded {
    Atom(Atom),
    Op(ArrayOp),
}

impl<D: Dialect> Simplify<'_, D> {
    /// Simplifies the array operation of a statement in place, or yields the atom that it amounts to.
    pub(super) fn fold_array(
        &mut self,
        v: Var,
        stm: &mut Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Option<Atom> {
        // Each round looks through one more operation.
        for _ in 0..16 {
            let Exp::Op(op) = &stm.exp else { return None };
            let op = op.as_array()?.clone();
            let (folded, certs) = self.fold_once(v, &op, stm, out)?;
            for cert in certs {
                if !stm.certs.contains(&cert) {
                    stm.certs.push(cert);
                }
            }
            match folded {
                Folded::Atom(a) => {
                    // A scalar that is known needs no array, and so none of the checks of reading it.
                    if matches!(op, ArrayOp::Index { .. }) {
                        stm.certs.clear();
                    }
                    return Some(a);
                }
                Folded::Op(new) => {
                    if let Exp::Op(op) = &mut stm.exp {
                        *op.as_array_mut()? = new;
                    }
                }
            }
        }
        None
    }

    fn fold_once(
        &mut self,
        v: Var,
        op: &ArrayOp,
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Option<(Folded, Vec<Var>)> {
        match op {
            ArrayOp::Index { array, indices } => {
                if self.is_long_way(*array, indices) {
                    return None;
                }
                let (inner, certs) = self.array_def(*array)?;
                Some((self.index_of(&inner, indices, stm, out)?, certs))
            }
            ArrayOp::Slice { array, dims } => {
                let whole = dims.iter().zip(self.vars[*array].ty.shape()).all(|(dim, extent)| {
                    matches!(dim, SliceDim::Range { start: Atom::ZERO, len, stride: Atom::ONE } if *extent == Dim::Size(*len))
                });
                if whole {
                    fired("fold/whole-slice");
                    return Some((Folded::Atom((*array).into()), Vec::new()));
                }
                let (inner, certs) = self.array_def(*array)?;
                Some((self.slice_of(&inner, dims, stm, out)?, certs))
            }
            ArrayOp::Rearrange { perm, array } => {
                if perm.iter().copied().eq(0..perm.len()) {
                    fired("fold/no-rearrangement");
                    return Some((Folded::Atom((*array).into()), Vec::new()));
                }
                let (inner, certs) = self.array_def(*array)?;
                let ArrayOp::Rearrange { perm: first, array } = inner else {
                    return None;
                };
                let perm = perm
                    .iter()
                    .map(|i| first.get(*i).copied())
                    .collect::<Option<_>>()?;
                fired("fold/rearrange-of-rearrange");
                Some((Folded::Op(ArrayOp::Rearrange { perm, array }), certs))
            }
            ArrayOp::Reshape { shape, array } => {
                if self.vars[*array].ty == self.vars[v].ty {
                    fired("fold/no-reshape");
                    return Some((Folded::Atom((*array).into()), Vec::new()));
                }
                let (inner, certs) = self.array_def(*array)?;
                let ArrayOp::Reshape { shape: _, array } = inner else {
                    return None;
                };
                let shape = shape.clone();
                fired("fold/reshape-of-reshape");
                Some((Folded::Op(ArrayOp::Reshape { shape, array }), certs))
            }
            // Before, rows that are all the same are of use to who looks for them.
            ArrayOp::Replicate { shape, value } if D::NAME == Seg::NAME => {
                let (inner, certs) = self.array_def(value.as_var()?)?;
                let ArrayOp::Replicate { shape: row, value } = inner else {
                    return None;
                };
                let shape = [&shape[..], &row].concat();
                let is_regular = shape.iter().all(|dim| matches!(dim, Dim::Size(_)));
                is_regular.then(|| {
                    fired("fold/replicate-of-replicate");
                    (Folded::Op(ArrayOp::Replicate { shape, value }), certs)
                })
            }
            // Nothing was written that a copy could read.
            ArrayOp::Copy(array) => {
                let (inner, certs) = self.array_def(*array)?;
                let ArrayOp::Scratch { elem, shape } = inner else {
                    return None;
                };
                fired("fold/copy-of-scratch");
                Some((Folded::Op(ArrayOp::Scratch { elem, shape }), certs))
            }
            ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        }
    }

    /// Whether the array is a literal and the index is not known: nothing comes of it, and literals are long.
    fn is_long_way(&self, array: Var, indices: &[Atom]) -> bool {
        let Some(Exp::Op(op)) = self.defs.get(&array).map(|def| &def.exp) else {
            return false;
        };
        let literal = matches!(op.as_array(), Some(ArrayOp::Literal { .. }));
        literal && indices.first().is_none_or(|i| i.as_i64().is_none())
    }

    /// The array operation that made an array, with its certificates.
    fn array_def(&self, array: Var) -> Option<(ArrayOp, Vec<Var>)> {
        let Def { exp, certs } = self.defs.get(&array)?;
        let Exp::Op(op) = exp else { return None };
        Some((op.as_array()?.clone(), certs.clone()))
    }

    /// An index of the result of an operation.
    fn index_of(
        &mut self,
        inner: &ArrayOp,
        indices: &[Atom],
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Option<Folded> {
        match inner {
            ArrayOp::Iota {
                len: _,
                start,
                step,
                ty,
            } => {
                fired("fold/index-of-iota");
                let index = self.convert(indices[0], *ty, stm, out);
                let elem = self.along(*ty, (*start, *step), index, stm, out);
                Some(Folded::Atom(elem))
            }
            ArrayOp::Replicate { shape, value } if indices.len() == shape.len() => {
                matches!(value.ty(self.vars), Type::Scalar(_)).then(|| {
                    fired("fold/index-of-replicate");
                    Folded::Atom(*value)
                })
            }
            ArrayOp::Literal { elems, row } => {
                let i = usize::try_from(indices[0].as_i64()?).ok()?;
                let scalar = indices.len() == 1 && matches!(row, Type::Scalar(_));
                let elem = *elems.get(i)?;
                scalar.then(|| {
                    fired("fold/index-of-literal");
                    Folded::Atom(elem)
                })
            }
            ArrayOp::Index {
                array,
                indices: first,
            } => {
                fired("fold/index-of-index");
                let indices = first.iter().chain(indices).copied().collect();
                let array = *array;
                Some(Folded::Op(ArrayOp::Index { array, indices }))
            }
            ArrayOp::Slice { array, dims } => {
                let indices = self.index_of_slice(dims, indices, stm, out)?;
                fired("fold/index-of-slice");
                let array = *array;
                Some(Folded::Op(ArrayOp::Index { array, indices }))
            }
            ArrayOp::Rearrange { perm, array } if indices.len() == perm.len() => {
                let mut inner = vec![Atom::ZERO; perm.len()];
                for (to, i) in perm.iter().zip(indices) {
                    *inner.get_mut(*to)? = *i;
                }
                fired("fold/index-of-rearrange");
                let (array, indices) = (*array, inner);
                Some(Folded::Op(ArrayOp::Index { array, indices }))
            }
            ArrayOp::Reshape { shape, array } => {
                // A reshape that keeps the number of dimensions but one is a change of names of sizes.
                let rank = self.vars[*array].ty.rank();
                (rank == 1 && shape.len() == 1).then(|| {
                    fired("fold/index-of-reshape");
                    let (array, indices) = (*array, indices.to_vec());
                    Folded::Op(ArrayOp::Index { array, indices })
                })
            }
            ArrayOp::Replicate { .. }
            | ArrayOp::Rearrange { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => None,
        }
    }

    /// A slice of a slice, both along the outermost dimension.
    fn slice_of(
        &mut self,
        inner: &ArrayOp,
        dims: &[SliceDim],
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Option<Folded> {
        let ArrayOp::Slice { array, dims: first } = inner else {
            return None;
        };
        let (
            &[
                SliceDim::Range {
                    start: from,
                    stride: by,
                    len: _,
                },
            ],
            &[SliceDim::Range { start, len, stride }],
        ) = (&first[..], dims)
        else {
            return None;
        };
        fired("fold/slice-of-slice");
        let start = self.along(ScalarType::I64, (from, by), start, stm, out);
        let op = ScalarOp::Bin(BinOp::Mul, ScalarType::I64);
        let stride = self.emit(op, vec![stride, by], stm, out);
        let dims = vec![SliceDim::Range { start, len, stride }];
        let array = *array;
        Some(Folded::Op(ArrayOp::Slice { array, dims }))
    }

    /// The indices of the array for indices of its slice; nothing if too few are given.
    fn index_of_slice(
        &mut self,
        dims: &[SliceDim],
        indices: &[Atom],
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Option<Vec<Atom>> {
        let ranges = dims
            .iter()
            .filter(|dim| matches!(dim, SliceDim::Range { .. }))
            .count();
        if indices.len() < ranges {
            return None;
        }
        let mut rest = indices.iter();
        let mut all = Vec::new();
        for dim in dims {
            all.push(match *dim {
                SliceDim::Fix(i) => i,
                SliceDim::Range {
                    start,
                    len: _,
                    stride,
                } => self.along(ScalarType::I64, (start, stride), *rest.next()?, stm, out),
            });
        }
        all.extend(rest);
        Some(all)
    }

    /// The element of `start, start + step, ..` at an index, all of one type.
    fn along(
        &mut self,
        ty: ScalarType,
        (start, step): (Atom, Atom),
        index: Atom,
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Atom {
        let mul = ScalarOp::Bin(BinOp::Mul, ty);
        let distance = self.emit(mul, vec![index, step], stm, out);
        let add = ScalarOp::Bin(BinOp::Add, ty);
        self.emit(add, vec![start, distance], stm, out)
    }

    /// An index as a number of another type.
    fn convert(
        &mut self,
        index: Atom,
        ty: ScalarType,
        stm: &Stm<D>,
        out: &mut Vec<Stm<D>>,
    ) -> Atom {
        if ty == ScalarType::I64 {
            return index;
        }
        let op = ScalarOp::Convert(ScalarType::I64, ty);
        self.emit(op, vec![index], stm, out)
    }

    /// A scalar operation, as a statement before the one at hand if it is not trivial.
    fn emit(&mut self, op: ScalarOp, args: Vec<Atom>, stm: &Stm<D>, out: &mut Vec<Stm<D>>) -> Atom {
        let name = if let ScalarOp::Bin(op, _) = op {
            op.name()
        } else {
            "convert"
        };
        let v = self.vars.push(VarInfo {
            name: name.into(),
            ty: Type::Scalar(op.result()),
        });
        let new = Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp: Exp::Scalar(op, args),
            span: stm.span,
        };
        self.scalar(v, new, out);
        self.atom(v.into())
    }
}
