//! Histograms of sums.
//!
//! ```text
//! ys = hist (+) ds is vs      ds' += ys';  vs'[j] += ys'[is[j]] where is[j] is in range
//! ```
//!
//! TODO: Other operators need the order of the values of each bucket.

use super::super::soac::is_sum;
use super::Derive;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{HistOp, Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp};
use crate::ir::types::{ScalarType, Size, Type};

impl Derive<'_> {
    pub(super) fn undo_histogram(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        ops: Vec<HistOp<Soac>>,
    ) {
        let Some(op) = ops.into_iter().next() else {
            return;
        };
        let ([v], true) = (binds, is_row_sum(&op.op)) else {
            return self.refuse("a histogram whose operator is not addition");
        };
        fired("derivatives/histogram");
        let Some(adjoint) = self.taken(*v).and_then(Atom::as_var) else {
            return;
        };
        let (at, values) = arrays.split_at(op.shape.len());
        if self.depends(values[0].into()) {
            let read = self.read_back(width, at, &op.shape, adjoint, None);
            self.add(values[0].into(), read.into());
        }
        self.add(op.dests[0].into(), adjoint.into());
    }

    /// What is at these indices of an array, and zeros where an index is out of range or `winner` says that another element was written there.
    pub(super) fn read_back(
        &mut self,
        width: Size,
        at: &[Var],
        shape: &[Size],
        array: Var,
        winner: Option<Var>,
    ) -> Var {
        let row = self.vars[array].ty.peel(shape.len()).unwrap_or(Type::I64);
        let read = self.tabulate(width, std::slice::from_ref(&row), |t, j| {
            let indices: Vec<Atom> = at.iter().map(|v| t.index(*v, &[j]).into()).collect();
            let mut inside = Atom::bool(true);
            let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
            for (index, extent) in indices.iter().zip(shape) {
                let fits = t.in_range(*index, *extent);
                inside = t.scalar(and, &[inside, fits]);
            }
            let (then, stms) = t.nested(|t| {
                let value = t.index(array, &indices);
                let Some(winner) = winner else {
                    return vec![value.into()];
                };
                let written = t.index(winner, &indices);
                let eq = ScalarOp::Cmp(crate::ir::scalar::CmpOp::Eq, ScalarType::I64);
                let own = t.scalar(eq, &[written.into(), j]);
                let (zero, stms) = t.nested(|t| vec![t.zero_of_type(&row)]);
                let result = t.fresh("x", row.clone());
                let exp = Exp::If {
                    cond: own,
                    then: Body {
                        stms: Vec::new(),
                        result: vec![value.into()],
                    },
                    otherwise: Body { stms, result: zero },
                };
                t.push(vec![result], exp);
                vec![result.into()]
            });
            let (zero, zeros) = t.nested(|t| vec![t.zero_of_type(&row)]);
            let result = t.fresh("x", row.clone());
            let exp = Exp::If {
                cond: inside,
                then: Body { stms, result: then },
                otherwise: Body {
                    stms: zeros,
                    result: zero,
                },
            };
            t.push(vec![result], exp);
            vec![result.into()]
        });
        read[0]
    }
}

/// Whether an operator adds floats, or rows of them element by element.
fn is_row_sum(op: &Operator<Soac>) -> bool {
    if is_sum(op) {
        return true;
    }
    let [stm] = &op.lam.body.stms[..] else {
        return false;
    };
    let Exp::Op(Soac::Screma {
        arrays,
        lam,
        scans,
        reds,
        ..
    }) = &stm.exp
    else {
        return false;
    };
    let inner = Operator {
        comm: true,
        lam: lam.clone(),
        neutral: Vec::new(),
    };
    let yields = op.lam.body.result.first().copied() == stm.binds.first().map(|v| Atom::Var(*v));
    scans.is_empty() && reds.is_empty() && yields && *arrays == op.lam.params && is_row_sum(&inner)
}
