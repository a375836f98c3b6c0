//! Histograms with any operator. The values of a bucket, after what was there before, are a segment of the values sorted by index, whose
//! order is kept; the scan of a segment ends with the value of its bucket.
//!
//! ```text
//! ys = hist o ds is vs   ──►   ks = iota m ++ is;  order = sort ks;  zs = (ds ++ vs)[order]
//!                              ys[b] = (segmented scan o zs)[last of ks[order] = b]
//! ```
//!
//! Indices out of range are sorted behind all buckets. The sort is one by digits of one bit, as scans and scatters.

use super::Derive;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, CmpOp, ScalarOp, UnOp};
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam};
use crate::ir::types::{Dim, ScalarType, Size, Type};

impl Derive<'_> {
    /// A histogram as a segmented scan.
    pub(super) fn segments(
        &mut self,
        binds: &[Var],
        (width, arrays): (Size, &[Var]),
        op: &HistOp<Soac>,
    ) {
        fired("derivatives/histogram-as-scan");
        let (at, values) = arrays.split_at(op.shape.len());
        let mut buckets = Atom::ONE;
        for extent in &op.shape {
            buckets = self.int(BinOp::Mul, buckets, *extent);
        }
        let count = self.int(BinOp::Add, buckets, width);
        let (Some(buckets), Some(count)) = (buckets.as_size(), count.as_size()) else {
            return;
        };
        let keys = self.keys((count, buckets), at, &op.shape);
        let (order, keys) = self.sorted(keys, count, buckets);
        let first = self.tabulate(count, &[Type::Scalar(ScalarType::Bool)], |t, j| {
            let from = t.index(order, &[j]);
            let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
            vec![t.scalar(lt, &[from.into(), buckets.into()])]
        });
        let mut inputs = first;
        for (dest, value) in op.dests.iter().zip(values) {
            let row = self.vars[*value].ty.peel(1).unwrap_or(Type::I64);
            let dest = self.fit((*dest).into(), &Type::array_of(&row, &[buckets]));
            let arrays = dest.as_var().into_iter().chain([*value]).collect();
            let all = self.array_op("all", ArrayOp::Concat { arrays, len: count });
            let sorted = self.tabulate(count, std::slice::from_ref(&row), |t, j| {
                let from = t.index(order, &[j]);
                vec![t.index(all, &[from.into()]).into()]
            });
            inputs.extend(sorted);
        }
        let scanned: Vec<Var> = inputs.iter().map(|v| self.like(*v)).collect();
        let scans = vec![self.segmented(&op.op)];
        self.alone(scanned.clone(), inputs, |arrays, lam| Soac::Screma {
            width: count,
            arrays,
            lam,
            scans,
            reds: Vec::new(),
        });
        let last = self.last_of_segments(keys, count, buckets);
        for (v, scanned) in binds.iter().zip(&scanned[1..]) {
            let row = self.vars[*scanned].ty.peel(1).unwrap_or(Type::I64);
            let made = self.tabulate(buckets, &[row], |t, b| {
                let end = t.index(last, &[b]);
                vec![t.index(*scanned, &[end.into()]).into()]
            });
            let shape = self.vars[*v].ty.shape().to_vec();
            let array = made[0];
            self.push(vec![*v], ArrayOp::Reshape { shape, array }.into());
        }
    }

    /// For each bucket its number, then for each value that of its bucket, or the number of buckets if its index is out of range.
    fn keys(&mut self, (count, buckets): (Size, Size), at: &[Var], shape: &[Size]) -> Var {
        let keys = self.tabulate(count, &[Type::I64], |t, j| {
            let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
            let before = t.scalar(lt, &[j, buckets.into()]);
            let key = t.either(
                before,
                |_| j,
                |t| {
                    let j = t.int(BinOp::Sub, j, buckets);
                    let mut inside = Atom::bool(true);
                    let mut flat = Atom::ZERO;
                    for (v, extent) in at.iter().zip(shape) {
                        let index = t.index(*v, &[j]).into();
                        let fits = t.in_range(index, *extent);
                        let and = ScalarOp::Bin(BinOp::And, ScalarType::Bool);
                        inside = t.scalar(and, &[inside, fits]);
                        flat = t.int(BinOp::Mul, flat, *extent);
                        flat = t.int(BinOp::Add, flat, index);
                    }
                    let select = ScalarOp::Select(ScalarType::I64);
                    t.scalar(select, &[inside, flat, buckets.into()])
                },
            );
            vec![key]
        });
        keys[0]
    }

    /// The order that sorts keys up to `most`, where equal keys keep theirs, and the sorted keys.
    fn sorted(&mut self, keys: Var, count: Size, most: Size) -> (Var, Var) {
        let zeros = ScalarOp::Un(UnOp::Clz, ScalarType::I64);
        let zeros = self.scalar(zeros, &[most.into()]);
        let zeros = match zeros.ty(self.vars).elem() {
            Some(ty) if ty != ScalarType::I64 => {
                self.scalar(ScalarOp::Convert(ty, ScalarType::I64), &[zeros])
            }
            Some(_) | None => zeros,
        };
        let bits = self.int(BinOp::Sub, Atom::i64(64), zeros);
        let from = [self.iota(count), keys];
        let params = from.map(|v| LoopParam {
            var: self.like(v),
            init: v.into(),
        });
        let bit = self.fresh("bit", Type::I64);
        let (result, stms) = self.nested(|t| {
            let low = t.tabulate(count, &[Type::I64], |t, j| {
                let key = t.index(params[1].var, &[j]);
                let digit = t.int(BinOp::Shr, key, bit);
                let digit = t.int(BinOp::And, digit, Atom::ONE);
                vec![t.int(BinOp::Sub, Atom::ONE, digit)]
            });
            let before = t.running_sums(low[0], count);
            let last = t.int(BinOp::Sub, count, Atom::ONE);
            let lows = t.index(before, &[last]);
            let to = t.tabulate(count, &[Type::I64], |t, j| {
                let is_low = t.index(low[0], &[j]);
                let so_far = Atom::Var(t.index(before, &[j]));
                let first = t.int(BinOp::Sub, so_far, Atom::ONE);
                let behind = t.int(BinOp::Sub, j, so_far);
                let behind = t.int(BinOp::Add, lows, behind);
                let eq = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
                let high = t.scalar(eq, &[is_low.into(), Atom::ZERO]);
                let select = ScalarOp::Select(ScalarType::I64);
                vec![t.scalar(select, &[high, behind, first])]
            });
            let moved = params
                .iter()
                .map(|p| t.scattered(to[0], p.var, count, count));
            moved.map(Atom::Var).collect()
        });
        let binds = [self.like(from[0]), self.like(from[1])];
        let form = LoopForm::For {
            index: bit,
            bound: bits,
        };
        let exp = Exp::Loop {
            params: params.to_vec(),
            form,
            body: Body { stms, result },
        };
        self.push(binds.to_vec(), exp);
        (binds[0], binds[1])
    }

    /// Values written at indices of an array with nothing in it yet.
    fn scattered(&mut self, at: Var, values: Var, width: Size, len: Size) -> Var {
        let shape = vec![Dim::Size(len)];
        let elem = ScalarType::I64;
        let array = self.array_op("to", ArrayOp::Scratch { elem, shape });
        let result = self.like(array);
        let dests = vec![ScatterDest { rank: 1, array }];
        self.alone(vec![result], vec![at, values], |arrays, lam| {
            Soac::Scatter {
                width,
                arrays,
                lam,
                dests,
            }
        });
        result
    }

    /// Where the values of each bucket end in the sorted order.
    fn last_of_segments(&mut self, keys: Var, count: Size, buckets: Size) -> Var {
        let ends = self.tabulate(count, &[Type::I64, Type::I64], |t, j| {
            let key = t.index(keys, &[j]);
            let last = t.int(BinOp::Sub, count, Atom::ONE);
            let next = t.int(BinOp::Add, j, Atom::ONE);
            let next = t.int(BinOp::Min, next, last);
            let after = t.index(keys, &[next]);
            let eq = ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64);
            let same = t.scalar(eq, &[key.into(), after.into()]);
            let at_end = t.scalar(eq, &[j, last]);
            let not = ScalarOp::Un(UnOp::Not, ScalarType::Bool);
            let differs = t.scalar(not, &[same]);
            let or = ScalarOp::Bin(BinOp::Or, ScalarType::Bool);
            let ends = t.scalar(or, &[differs, at_end]);
            let select = ScalarOp::Select(ScalarType::I64);
            vec![t.scalar(select, &[ends, key.into(), buckets.into()]), j]
        });
        self.scattered(ends[0], ends[1], count, buckets)
    }

    /// The operator of a scan that starts anew where its first component is true.
    fn segmented(&mut self, op: &Operator<Soac>) -> Operator<Soac> {
        let bool = ScalarType::Bool;
        let lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        let (left, right) = lam.params.split_at(op.neutral.len());
        let flags = [
            self.fresh("f", Type::Scalar(bool)),
            self.fresh("f", Type::Scalar(bool)),
        ];
        let mut params = vec![flags[0]];
        params.extend(left);
        params.push(flags[1]);
        params.extend(right);
        let right = right.to_vec();
        let lam = self.lambda_of(params, |t, _| {
            t.stms.extend(lam.body.stms);
            let or = ScalarOp::Bin(BinOp::Or, bool);
            let mut result = vec![t.scalar(or, &flags.map(Atom::Var))];
            for (own, both) in right.into_iter().zip(lam.body.result) {
                let own = Atom::Var(own);
                result.push(match own.ty(t.vars) {
                    Type::Scalar(ty) => {
                        let args = [flags[1].into(), own, both];
                        t.scalar(ScalarOp::Select(ty), &args)
                    }
                    Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                        t.either(flags[1].into(), |_| own, |_| both)
                    }
                });
            }
            result
        });
        let mut neutral = vec![Atom::bool(false)];
        neutral.extend(&op.neutral);
        Operator {
            comm: false,
            lam,
            neutral,
        }
    }
}
