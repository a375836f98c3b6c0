//! A map executes its lambda again for each element and undoes it there.
//!
//! ```text
//! ys = map n (xs) \x { S  yield r }    ──►   v', xs' = map n (xs, ys') \(x, y') { S  S'(r' = y')  yield v', x' } reduce (+)
//! ```
//!
//! The adjoint of a scalar `v` from outside is summed over the points, and so is that of an array that a point uses as a whole. Elements that are read by index
//! are pieces. A flat map is undone in the same way: the adjoints of the rows that a point made are a part of the adjoint of all rows.
//! Where only one element of the results has an adjoint ([`super::one_hot`]), only that point is undone.
//!
//! TODO: A point whose use of a whole array depends on a condition adds zeros where it does not hold.

use super::Derive;
use crate::fired::fired;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Lambda};
use crate::ir::types::{Size, Type};

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
        let ((sums, own, pieces), mut stms) = self.nested(|t| {
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
        for piece in pieces {
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
            return;
        }
        self.back.owned.extend(binds.iter().copied());
        let mut inputs = arrays.to_vec();
        inputs.extend(more.iter().map(|(array, _)| *array));
        let body = crate::ir::syntax::Body { stms, result };
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
        for (array, adjoint) in elements {
            self.add(array.into(), adjoint.into());
        }
        for piece in arrived {
            self.arrived(piece);
        }
    }
}
