//! Types of the operations of the nested dialect, and of the operators that all dialects have.

use super::{Types, Verify};
use crate::ir::id::Var;
use crate::ir::rename::Subst;
use crate::ir::soac::{HistOp, Operator, ScatterDest, Soac};
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType, Size, Type};

impl Verify for Soac {
    fn verify_op<'p>(&'p self, cx: &mut Types<'_, 'p, Self>, binds: &'p [Var]) {
        match self {
            Self::Array(op) => cx.array_op(op, binds),
            Self::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => {
                let rows = cx.rows(*width, arrays);
                let results = cx.lambda(lam, &rows);
                let scanned = cx.operators(&results, scans);
                let reduced = cx.operators(results.get(scanned..).unwrap_or(&[]), reds);
                let array = |ty: &Type| Type::array_of(ty, &[*width]);
                let bound = results.iter().enumerate().map(|(i, ty)| {
                    let is_reduced = (scanned..scanned + reduced).contains(&i);
                    if is_reduced { ty.clone() } else { array(ty) }
                });
                let bound: Vec<Type> = bound.collect();
                cx.values(&results);
                cx.binds(binds, &bound);
            }
            Self::Hist {
                width,
                arrays,
                lam,
                ops,
            } => {
                let rows = cx.rows(*width, arrays);
                let results = cx.lambda(lam, &rows);
                cx.hist(&results, ops, binds);
            }
            Self::Scatter {
                width,
                arrays,
                lam,
                dests,
            } => {
                let rows = cx.rows(*width, arrays);
                let results = cx.lambda(lam, &rows);
                cx.scatter(&results, dests, binds);
            }
            Self::Filter { width, arrays, lam } => {
                let rows = cx.rows(*width, arrays);
                let results = cx.lambda(lam, &rows);
                let Some((keep, kept)) = results.split_first() else {
                    return cx.fault("the lambda of a filter yields nothing");
                };
                cx.fits("the first result", keep, &Type::BOOL);
                cx.values(kept);
                let Some((count, _)) = binds.split_first() else {
                    return cx.fault("a filter binds a number first");
                };
                let arrays = kept
                    .iter()
                    .map(|ty| Type::array_of(ty, &[Size::Var(*count)]));
                let bound: Vec<Type> = std::iter::once(Type::I64).chain(arrays).collect();
                cx.binds(binds, &bound);
            }
            Self::FlatMap {
                width,
                arrays,
                lam,
                rows,
                marks,
            } => {
                let inputs = cx.rows(*width, arrays);
                let results = cx.lambda(lam, &inputs);
                cx.size(*marks);
                let results = (&lam.body.result[..], &results[..]);
                cx.flat_map((*width, *marks), results, *rows, binds);
            }
            Self::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => {
                let rows = cx.rows(*width, arrays);
                cx.accumulation(acc, binds, |cx| cx.lambda(lam, &rows));
            }
            Self::UpdateAcc(update) => cx.update_acc(update, binds),
        }
    }
}

impl<'p, D: Verify> Types<'_, 'p, D> {
    /// Checks the results of the lambda of a flat map, with their types, and what it binds.
    fn flat_map(
        &mut self,
        (width, marks): (Size, Size),
        (results, types): (&[Atom], &[Type]),
        rows: usize,
        binds: &'p [Var],
    ) {
        if let (Size::Const(n), Size::Const(m)) = (width, marks)
            && m != n + 1
        {
            self.fault("a flat map has one more offset than elements");
        }
        let (Some(&length), true) = (results.first(), results.len() > rows) else {
            return self.count("results of the lambda", results.len(), rows + 1);
        };
        self.fits("the length of a row", &types[0], &Type::I64);
        let length = Size::of(length);
        let (own, further) = types[1..].split_at(rows);
        self.values(&types[1..]);
        let Some(&total) = binds.get(1) else {
            return self.count("results", binds.len(), types.len() + 1);
        };
        let mut bound = vec![Type::array_of(&Type::I64, &[marks]), Type::I64];
        for ty in own {
            let row = ty.peel(1).unwrap_or(Type::I64);
            self.fits("a row", ty, &Type::array_of(&row, &[length]));
            bound.push(Type::array_of(&row, &[Size::Var(total)]));
        }
        bound.extend(further.iter().map(|ty| Type::array_of(ty, &[width])));
        self.binds(binds, &bound);
    }

    /// The types of the rows of arrays of one length.
    fn rows(&mut self, width: Size, arrays: &[Var]) -> Vec<Type> {
        self.size(width);
        arrays
            .iter()
            .filter_map(|v| {
                self.no_ragged(*v);
                let ty = self.var(*v);
                match ty.shape().first() {
                    Some(Dim::Size(n)) if self.sizes.equal(*n, width) => {}
                    Some(_) | None => {
                        let (name, ty) = (self.cx.name(*v), self.cx.show(ty));
                        self.fault(format!(
                            "{name} of type {ty} has not the length of the operation"
                        ));
                    }
                }
                ty.peel(1)
            })
            .collect()
    }

    /// Checks that these are scalars or arrays that can be rows of others.
    pub(super) fn values(&mut self, types: &[Type]) {
        for ty in types {
            match ty {
                Type::Array(a) if a.is_ragged() => {
                    self.fault("a ragged array is a row of another one");
                }
                Type::Scalar(_) | Type::Array(_) => {}
                Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                    self.fault("what must be a scalar or an array is neither")
                }
            }
        }
    }

    /// Checks operators on the first of these values, one operator after another; yields how many values they take.
    pub(super) fn operators(&mut self, values: &[Type], ops: &'p [Operator<D>]) -> usize {
        let mut taken = 0;
        for op in ops {
            let k = op.neutral.len();
            match values.get(taken..taken + k) {
                Some(values) => self.operator(op, values),
                None => self.fault("there are fewer results than the operators take"),
            }
            taken += k;
        }
        taken.min(values.len())
    }

    pub(super) fn operator(&mut self, op: &'p Operator<D>, values: &[Type]) {
        self.atoms("neutral element", &op.neutral, values);
        let params: Vec<Type> = values.iter().chain(values).cloned().collect();
        self.lambda(&op.lam, &params);
        self.results(&op.lam.body, values, &Subst::new());
    }

    /// Checks histograms whose buckets and values are these results.
    pub(super) fn hist(&mut self, results: &[Type], ops: &'p [HistOp<D>], binds: &'p [Var]) {
        let indices: usize = ops.iter().map(|op| op.shape.len()).sum();
        let values: usize = ops.iter().map(|op| op.dests.len()).sum();
        if results.len() != indices + values {
            return self.count("results of the body", results.len(), indices + values);
        }
        for ty in &results[..indices] {
            self.fits("a bucket index", ty, &Type::I64);
        }
        let mut at = indices;
        for op in ops {
            let row = &results[at..at + op.dests.len()];
            at += op.dests.len();
            op.shape.iter().for_each(|n| self.size(*n));
            if op.shape.is_empty() {
                self.fault("a histogram has no dimensions");
            }
            for (dest, ty) in op.dests.iter().zip(row) {
                self.no_ragged(*dest);
                let found = self.var(*dest);
                self.fits("a destination", found, &Type::array_of(ty, &op.shape));
            }
            if op.op.neutral.len() == row.len() {
                self.operator(&op.op, row);
            } else {
                self.count("neutral elements", op.op.neutral.len(), row.len());
            }
        }
        let dests = ops.iter().flat_map(|op| &op.dests);
        let bound: Vec<Type> = dests.map(|v| self.var(*v).clone()).collect();
        self.binds(binds, &bound);
    }

    /// Checks writes whose indices and values are these results.
    pub(super) fn scatter(&mut self, results: &[Type], dests: &'p [ScatterDest], binds: &'p [Var]) {
        let indices: usize = dests.iter().map(|dest| dest.rank).sum();
        if results.len() != indices + dests.len() {
            return self.count("results of the body", results.len(), indices + dests.len());
        }
        for ty in &results[..indices] {
            self.fits("an index", ty, &Type::Scalar(ScalarType::I64));
        }
        for (dest, value) in dests.iter().zip(&results[indices..]) {
            self.no_ragged(dest.array);
            match self.var(dest.array).peel(dest.rank) {
                Some(part) if dest.rank > 0 => self.fits("a value", value, &part),
                Some(_) | None => self.fault("the rank does not fit the destination"),
            }
        }
        let bound: Vec<Type> = dests.iter().map(|d| self.var(d.array).clone()).collect();
        self.binds(binds, &bound);
    }
}
