//! A map executes its lambda again for each element and undoes it there.
//!
//! ```text
//! ys = map n (xs) \x { S  yield r }    ──►   v', xs' = map n (xs, ys') \(x, y') { S  S'(r' = y')  yield v', x' } reduce (+)
//! ```
//!
//! The adjoint of a scalar `v` from outside is summed over the points, and so is that of an array that a point uses as a whole. Elements that are read by index
//! are pieces; where each point reads the element at its own index, their adjoints are an array. A flat map is undone in the same way: the adjoints of the rows that a point made are a part of the adjoint of all rows.
//! Where only one element of the results has an adjoint ([`super::one_hot`]), only that point is undone.
//!
//! TODO: A point whose use of a whole array depends on a condition adds zeros where it does not hold.

use super::Derive;
use super::pieces::{Leaving, Piece};
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::BinOp;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{Dim, Size, Type};

/// Further inputs: an array, and what an element of it is called.
type More = Vec<(Var, Var)>;

impl Derive<'_> {
    pub(super) fn undo_map(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        lam: &Lambda<Soac>,
    ) {
        if let Some((k, one_hot)) = self.only_one_hot(binds) {
            return self.undo_point(width, (arrays, lam), k, one_hot);
        }
        fired("derivatives/map");
        let mut more: More = Vec::new();
        let mut seeds = Vec::new();
        for v in binds {
            let row = self.taken(*v).and_then(Atom::as_var).and_then(|adjoint| {
                let ty = self.vars[adjoint].ty.peel(1)?;
                let row = self.fresh("seed", ty);
                more.push((adjoint, row));
                Some(Atom::Var(row))
            });
            seeds.push(row);
        }
        let lam = rename::lambda(self.vars, &mut Subst::new(), lam);
        let wrt: Vec<bool> = arrays.iter().map(|v| self.depends((*v).into())).collect();
        self.undo_points(width, arrays, lam, &wrt, more, |_, _| seeds);
    }

    pub(super) fn undo_flat_map(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        lam: &Lambda<Soac>,
        rows: usize,
    ) {
        fired("derivatives/flat-map");
        let [offsets, _, made @ ..] = binds else {
            return;
        };
        let stride = Atom::ONE;
        let dims = vec![SliceDim::Range {
            start: Atom::ZERO,
            len: width,
            stride,
        }];
        let array = *offsets;
        let starts = self.array_op("starts", ArrayOp::Slice { array, dims });
        let start = self.fresh("start", Type::I64);
        let mut more: More = vec![(starts, start)];
        let mut adjoints = Vec::new();
        for (k, v) in made.iter().enumerate() {
            let adjoint = self.taken(*v).and_then(Atom::as_var);
            adjoints.push(adjoint.map(|adjoint| {
                if k < rows {
                    return adjoint;
                }
                let ty = self.vars[adjoint].ty.peel(1).unwrap_or(Type::I64);
                let row = self.fresh("seed", ty);
                more.push((adjoint, row));
                row
            }));
        }
        let lam = rename::lambda(self.vars, &mut Subst::new(), lam);
        let wrt: Vec<bool> = arrays.iter().map(|v| self.depends((*v).into())).collect();
        self.undo_points(width, arrays, lam, &wrt, more, |t, result| {
            let mut seeds = vec![None];
            let len = result[0].as_size().unwrap_or(Size::Const(0));
            let start = start.into();
            for (k, adjoint) in adjoints.into_iter().enumerate() {
                seeds.push(adjoint.map(|array| {
                    if k >= rows {
                        return Atom::Var(array);
                    }
                    let dims = vec![SliceDim::Range { start, len, stride }];
                    t.array_op("rows", ArrayOp::Slice { array, dims }).into()
                }));
            }
            seeds
        });
    }

    /// Undoes a lambda for each point, whose results have these adjoints there, with respect to some of its parameters and to what it reads from outside.
    pub(super) fn undo_points(
        &mut self,
        width: Size,
        arrays: &[Var],
        lam: Lambda<Soac>,
        wrt: &[bool],
        more: More,
        seeds: impl FnOnce(&mut Self, &[Atom]) -> Vec<Option<Atom>>,
    ) {
        let outside = self.set_aside();
        let from = self.back.pieces.len();
        self.back.depth += 1;
        let mut params = lam.params.clone();
        params.extend(more.iter().map(|(_, row)| *row));
        for v in &params {
            self.settle_at(*v);
        }
        for (v, _) in lam.params.iter().zip(wrt).filter(|(_, wrt)| **wrt) {
            self.activate(*v);
        }
        let ((sums, own, Leaving { known, found }), mut stms) = self.nested(|t| {
            let steps = t.execute(lam.body.stms);
            let seeds = seeds(t, &lam.body.result);
            t.unwind(steps, &lam.body.result, &seeds);
            let pieces = t.leaving(from, &params);
            let mut own = Vec::new();
            for (v, _) in lam.params.iter().zip(wrt).filter(|(_, wrt)| **wrt) {
                let ty = t.vars[*v].ty.clone();
                let adjoint = t.taken(*v);
                own.push(adjoint.map(|adjoint| t.fit(adjoint, &ty)));
            }
            let of = std::mem::take(&mut t.back.of);
            let sums = of.into_iter().filter(|(v, _)| !t.is_local(*v));
            let mut sums: Vec<(Var, Atom)> = sums.collect();
            sums.sort_unstable_by_key(|(v, _)| *v);
            (sums, own, pieces)
        });
        self.back.depth -= 1;
        self.take_up(outside);
        let (mut result, mut binds, mut reds) = (Vec::new(), Vec::new(), Vec::new());
        for (v, sum) in &sums {
            let ty = self.vars[*v].ty.clone();
            reds.push(self.addition(&ty));
            result.push(*sum);
            binds.push(self.like(*v));
        }
        let mut elements = Vec::new();
        let mut next = own.into_iter();
        for (array, _) in arrays.iter().zip(wrt).filter(|(_, wrt)| **wrt) {
            if let Some(Some(adjoint)) = next.next() {
                result.push(adjoint);
                let bind = self.like(*array);
                binds.push(bind);
                elements.push((*array, bind));
            }
        }
        let mut arrived = Vec::new();
        let mut in_order = Vec::new();
        let lists = self.lists_of_points(width, (arrays, &more), (&params, &stms), found);
        for piece in known {
            if self.is_at_own_index(&piece, width, arrays, &params) {
                fired("derivatives/elements-in-order");
                let ty = self.value_type(&piece);
                let (value, more) = self.nested(|t| t.fit(piece.value, &ty));
                stms.extend(more);
                result.push(value);
                let bind = self.like(piece.array);
                binds.push(bind);
                in_order.push((piece.array, bind));
                continue;
            }
            let (at, value) = (
                Type::array_of(&Type::I64, &piece.dims),
                self.value_type(&piece),
            );
            let (own, more) = self.nested(|t| {
                let indices = piece.indices.iter().map(|a| t.fit(*a, &at));
                let mut own: Vec<Atom> = indices.collect();
                own.push(t.fit(piece.value, &value));
                own
            });
            stms.extend(more);
            result.extend(own);
            arrived.push(self.bound_piece(piece, &[width], &mut binds));
        }
        if binds.is_empty() {
            lists.into_iter().for_each(|piece| self.arrived(piece));
            return;
        }
        self.back.owned.extend(binds.iter().copied());
        let mut inputs = arrays.to_vec();
        inputs.extend(more.iter().map(|(array, _)| *array));
        let body = Body { stms, result };
        let op = Soac::Screma {
            width,
            arrays: inputs,
            lam: Lambda { params, body },
            scans: Vec::new(),
            reds,
        };
        self.push(binds.clone(), Exp::Op(op));
        for ((v, _), sum) in sums.iter().zip(&binds) {
            self.add((*v).into(), (*sum).into());
        }
        for (array, adjoint) in elements.into_iter().chain(in_order) {
            self.add(array.into(), adjoint.into());
        }
        for piece in arrived.into_iter().chain(lists) {
            self.arrived(piece);
        }
    }

    /// The lists of all points, one after another. A flat map joins those of one length; for each other length there is one more, which computes all
    /// again that it needs.
    fn lists_of_points(
        &mut self,
        width: Size,
        (arrays, more): (&[Var], &More),
        (params, stms): (&[Var], &[Stm<Soac>]),
        found: Vec<Piece>,
    ) -> Vec<Piece> {
        let mut joined = Vec::new();
        let mut rest = found;
        while let Some(count) = rest.first().map(|piece| piece.dims[0]) {
            let (own, others): (Vec<Piece>, Vec<Piece>) =
                rest.into_iter().partition(|piece| piece.dims[0] == count);
            rest = others;
            let mut result = vec![Atom::from(count)];
            for piece in &own {
                result.extend(&piece.indices);
                result.push(piece.value);
            }
            let rows = result.len() - 1;
            let marks = self.int(BinOp::Add, width, Atom::ONE);
            let marks = marks.as_size().unwrap_or(width);
            let offsets = self.fresh("offsets", Type::array_of(&Type::I64, &[marks]));
            let total = self.fresh("total", Type::I64);
            let mut binds = vec![offsets, total];
            for mut piece in own {
                piece.dims = Vec::new();
                joined.push(self.bound_piece(piece, &[Size::Var(total)], &mut binds));
            }
            let mut inputs = arrays.to_vec();
            inputs.extend(more.iter().map(|(array, _)| *array));
            let body = Body {
                stms: stms.to_vec(),
                result,
            };
            let params = params.to_vec();
            let lam = Lambda { params, body };
            let lam = rename::lambda(self.vars, &mut Subst::new(), &lam);
            for v in &binds {
                self.settle_at(*v);
            }
            let op = Soac::FlatMap {
                width,
                arrays: inputs,
                lam,
                rows,
                marks,
            };
            self.push(binds, Exp::Op(op));
        }
        joined
    }

    /// Whether each point of a map adds to the element at its own index of an array that has as many, and is at home outside of the map.
    fn is_at_own_index(&self, piece: &Piece, width: Size, arrays: &[Var], params: &[Var]) -> bool {
        let [Atom::Var(index)] = piece.indices[..] else {
            return false;
        };
        let counts = |array: &Var| self.back.ranges.contains(array);
        let at = params.iter().position(|p| *p == index);
        piece.dims.is_empty()
            && at.and_then(|k| arrays.get(k)).is_some_and(counts)
            && self.vars[piece.array].ty.shape().first() == Some(&Dim::Size(width))
            && self.is_local(piece.array)
    }
}
