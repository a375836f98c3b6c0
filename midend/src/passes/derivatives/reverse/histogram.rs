//! Histograms of sums and extremes. Other operators become scans ([`super::segments`]).
//!
//! ```text
//! ys = hist (+) ds is vs      ds' += ys';  vs'[j] += ys'[is[j]] where is[j] is in range
//! ys = hist min ds is vs      w = hist argmin (ds, -1) is (vs, iota);  vs'[j] += ys'[is[j]] where w[is[j]] = j;  ds'[b] += ys'[b] where w[b] = -1
//! ```

use super::super::soac::is_sum;
use super::Derive;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp, UnOp};
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
        let (Some(op), [v]) = (ops.into_iter().next(), binds) else {
            return;
        };
        let Some(adjoint) = self.taken(*v).and_then(Atom::as_var) else {
            return;
        };
        let (at, values) = arrays.split_at(op.shape.len());
        let (value, dest) = (values[0], op.dests[0]);
        let Some(extreme) = extreme(&op.op) else {
            fired("derivatives/histogram");
            if self.depends(value.into()) {
                let read = self.read_back(width, at, &op.shape, adjoint, None);
                self.add(value.into(), read.into());
            }
            return self.add(dest.into(), adjoint.into());
        };
        fired("derivatives/histogram-of-extremes");
        let winner = self.winner((width, at, value), &op, extreme);
        if self.depends(value.into()) {
            let read = self.read_back(width, at, &op.shape, adjoint, Some(winner));
            self.add(value.into(), read.into());
        }
        if self.depends(dest.into()) {
            let mut count = Atom::ONE;
            for extent in &op.shape {
                count = self.int(BinOp::Mul, count, *extent);
            }
            let Some(count) = count.as_size() else { return };
            let elem = Type::Scalar(extreme.1);
            let flat = |t: &mut Self, array: Var, elem: &Type| {
                let ty = Type::array_of(elem, &[count]);
                t.fit(array.into(), &ty).as_var().unwrap_or(array)
            };
            let winner = flat(self, winner, &Type::I64);
            let adjoint = flat(self, adjoint, &elem);
            let kept = self.tabulate(count, std::slice::from_ref(&elem), |t, j| {
                let written = t.index(winner, &[j]);
                let own = t.scalar(
                    ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64),
                    &[written.into(), Atom::i64(-1)],
                );
                let value = t.index(adjoint, &[j]).into();
                let zero = Self::zero(extreme.1);
                vec![t.scalar(ScalarOp::Select(extreme.1), &[own, value, zero])]
            });
            self.add(dest.into(), kept[0].into());
        }
    }

    /// Which value became the extreme of each bucket: the first of equal ones, and -1 for what was there before.
    fn winner(
        &mut self,
        (width, at, value): (Size, &[Var], Var),
        op: &HistOp<Soac>,
        (extreme, ty): (BinOp, ScalarType),
    ) -> Var {
        let copy = self.array_op("copy", ArrayOp::Copy(op.dests[0]));
        let none = self.replicate(&op.shape, Atom::i64(-1));
        let hist = HistOp {
            shape: op.shape.clone(),
            dests: vec![copy, none],
            op: self.first_extreme((extreme, ty), [op.op.neutral[0], Atom::i64(i64::MAX)]),
        };
        let mut inputs = at.to_vec();
        inputs.push(value);
        inputs.push(self.iota(width));
        let binds = vec![self.like(copy), self.like(none)];
        let winner = binds[1];
        self.alone(binds, inputs, |arrays, lam| Soac::Hist {
            width,
            arrays,
            lam,
            ops: vec![hist],
        });
        winner
    }

    /// The operator that takes the minimum or maximum of numbers with their indices: the first of equal ones.
    pub(super) fn first_extreme(
        &mut self,
        (extreme, ty): (BinOp, ScalarType),
        neutral: [Atom; 2],
    ) -> Operator<Soac> {
        let (elem, index) = (Type::Scalar(ty), Type::I64);
        let mut params = Vec::new();
        for _ in 0..2 {
            params.push(self.fresh("x", elem.clone()));
            params.push(self.fresh("i", index.clone()));
        }
        let lam = self.lambda_of(params, |t, p| {
            let [a, i, b, j] = [0, 1, 2, 3].map(|k| Atom::Var(p[k]));
            let bool2 = |op| ScalarOp::Bin(op, ScalarType::Bool);
            let (lt, eq) = (ScalarOp::Cmp(CmpOp::Lt, ty), ScalarOp::Cmp(CmpOp::Eq, ty));
            let [low, high] = if extreme == BinOp::Min {
                [b, a]
            } else {
                [a, b]
            };
            let mut second = t.scalar(lt, &[low, high]);
            let equal = t.scalar(eq, &[a, b]);
            let mut same = equal;
            if ty.is_float() {
                let [x, y] = [a, b].map(|x| t.scalar(ScalarOp::Un(UnOp::IsNan, ty), &[x]));
                let number = t.scalar(ScalarOp::Un(UnOp::Not, ScalarType::Bool), &[y]);
                let only = t.scalar(bool2(BinOp::And), &[x, number]);
                second = t.scalar(bool2(BinOp::Or), &[second, only]);
                let neither = t.scalar(bool2(BinOp::And), &[x, y]);
                same = t.scalar(bool2(BinOp::Or), &[equal, neither]);
            }
            let before = t.scalar(ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64), &[j, i]);
            let earlier = t.scalar(bool2(BinOp::And), &[same, before]);
            second = t.scalar(bool2(BinOp::Or), &[second, earlier]);
            vec![
                t.scalar(ScalarOp::Select(ty), &[second, b, a]),
                t.scalar(ScalarOp::Select(ScalarType::I64), &[second, j, i]),
            ]
        });
        Operator {
            comm: true,
            lam,
            neutral: neutral.to_vec(),
        }
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
                let eq = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
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

/// If an operator takes the minimum or maximum of two numbers: which, and their type.
pub(super) fn extreme(op: &Operator<Soac>) -> Option<(BinOp, ScalarType)> {
    let ([stm], [a, b]) = (&op.lam.body.stms[..], &op.lam.params[..]) else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(bin @ (BinOp::Min | BinOp::Max), ty), args) = &stm.exp else {
        return None;
    };
    let [x, y] = [Atom::Var(*a), Atom::Var(*b)];
    let yields = op.lam.body.result.first().copied() == stm.binds.first().map(|v| Atom::Var(*v));
    let takes = args[..] == [x, y] || args[..] == [y, x];
    (takes && yields && *ty != ScalarType::Bool).then_some((*bin, *ty))
}

/// Whether an operator adds numbers, or rows of them element by element.
pub(in super::super) fn is_row_sum(op: &Operator<Soac>) -> bool {
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
