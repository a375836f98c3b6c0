//! Scatter and filter.
//!
//! ```text
//! ys = scatter ds is vs        vs'[j] += ys'[is[j]] where j is the last that writes there;  ds' += ys' with [is[j]] = 0
//! n, ys, at = filter ps xs     xs' += scatter (zeros) at ys'
//! ```

use super::Derive;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Exp};
use crate::ir::types::{ScalarType, Size, Type};

impl Derive<'_> {
    pub(super) fn undo_scatter(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        dests: &[ScatterDest],
    ) {
        fired("derivatives/scatter");
        let ([v], [dest]) = (binds, dests) else {
            return;
        };
        let Some(adjoint) = self.taken(*v) else {
            return;
        };
        let adjoint = self.own(adjoint);
        let (at, values) = arrays.split_at(dest.rank);
        let shape = self.vars[adjoint].ty.shape()[..dest.rank].iter();
        let shape: Vec<Size> = shape.filter_map(|dim| dim.size()).collect();
        if self.depends(values[0].into()) {
            let winner = self.last_writers(width, at, &shape);
            let read = self.read_back(width, at, &shape, adjoint, Some(winner));
            self.add(values[0].into(), read.into());
        }
        if self.depends(dest.array.into()) {
            let Some(row) = self.vars[adjoint].ty.peel(dest.rank) else {
                return;
            };
            let zero = self.zero_of_type(&row);
            let params: Vec<Var> = at.iter().map(|_| self.fresh("i", Type::I64)).collect();
            let lam = self.lambda_of(params, |_, p| {
                p.iter().map(|v| Atom::Var(*v)).chain([zero]).collect()
            });
            let rest = self.like(adjoint);
            let op = Soac::Scatter {
                width,
                arrays: at.to_vec(),
                lam,
                dests: vec![ScatterDest {
                    rank: dest.rank,
                    array: adjoint,
                }],
            };
            self.push(vec![rest], Exp::Op(op));
            self.back.owned.insert(rest);
            self.add(dest.array.into(), rest.into());
        }
    }

    /// For each index the last element that is written there.
    fn last_writers(&mut self, width: Size, at: &[Var], shape: &[Size]) -> Var {
        let max = ScalarOp::Bin(BinOp::Max, ScalarType::I64);
        let none = self.replicate(shape, Atom::i64(-1));
        let params = vec![self.fresh("a", Type::I64), self.fresh("b", Type::I64)];
        let lam = self.lambda_of(params, |t, p| {
            vec![t.scalar(max, &[p[0].into(), p[1].into()])]
        });
        let op = Operator {
            comm: true,
            lam,
            neutral: vec![Atom::i64(-1)],
        };
        let mut arrays = at.to_vec();
        arrays.push(self.iota(width));
        let params: Vec<Var> = arrays.iter().map(|_| self.fresh("i", Type::I64)).collect();
        let lam = self.lambda_of(params, |_, p| p.iter().map(|v| Atom::Var(*v)).collect());
        let last = self.like(none);
        let op = Soac::Hist {
            width,
            arrays,
            lam,
            ops: vec![HistOp {
                shape: shape.to_vec(),
                dests: vec![none],
                op,
            }],
        };
        self.push(vec![last], Exp::Op(op));
        last
    }

    pub(super) fn undo_filter(&mut self, binds: &[Var], arrays: &[Var]) {
        fired("derivatives/filter");
        let [count, kept @ .., indices] = binds else {
            return;
        };
        // The first input says what is kept.
        for (v, array) in kept.iter().zip(&arrays[1..]) {
            let Some(adjoint) = self.taken(*v).and_then(Atom::as_var) else {
                continue;
            };
            if !self.depends((*array).into()) {
                continue;
            }
            let zeros = self.zero_adjoint(*array);
            let (Atom::Var(zeros), Some(row)) = (zeros, self.vars[*array].ty.peel(1)) else {
                continue;
            };
            let params = vec![self.fresh("i", Type::I64), self.fresh("x", row)];
            let lam = self.lambda_of(params, |_, p| vec![p[0].into(), p[1].into()]);
            let back = self.like(*array);
            let op = Soac::Scatter {
                width: Size::Var(*count),
                arrays: vec![*indices, adjoint],
                lam,
                dests: vec![ScatterDest {
                    rank: 1,
                    array: zeros,
                }],
            };
            self.push(vec![back], Exp::Op(op));
            self.back.owned.insert(back);
            self.add((*array).into(), back.into());
        }
    }
}
