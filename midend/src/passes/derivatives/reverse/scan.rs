//! Sums and scans. Reductions with other operators are the last value of a scan.
//!
//! ```text
//! y = reduce (+) xs      xs'[i] += y'
//! ys = scan (+) xs       xs' += reverse (scan (+) (reverse ys'))
//! ys = scan o xs         ys[i] = ys[i-1] o xs[i]:   a[i] = ys'[i] + d(ys[i] o xs[i+1])/d ys[i] * a[i+1]
//!                        xs'[i] += d(ys[i-1] o xs[i])/d xs[i] * a[i]
//! ```
//!
//! The adjoints `a` of all prefixes are a linear recurrence from the end: a scan of linear functions, whose coefficients are the partial
//! derivatives of the operator, found by undoing it once for each of its results. Products with zeros and extremes need no rule of their own.

use super::super::soac::is_sum;
use super::Derive;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Exp, Lambda};
use crate::ir::types::{ScalarType, Size, Type};
use crate::math::derivative::literal;

/// The most floats that an operator may combine: a linear function of so many has so many squared coefficients.
const FLOATS: usize = 4;

impl Derive<'_> {
    pub(super) fn undo_sum(&mut self, binds: &[Var], width: Size, arrays: &[Var]) {
        fired("derivatives/sum");
        for (v, array) in binds.iter().zip(arrays) {
            if let Some(adjoint) = self.taken(*v) {
                let all = self.replicate(&[width], adjoint);
                self.add((*array).into(), all.into());
            }
        }
    }

    pub(super) fn undo_scan(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        op: Operator<Soac>,
    ) {
        if op.neutral.iter().any(|a| self.depends(*a)) {
            return self.refuse("a neutral element that is not constant");
        }
        let seeds: Vec<Option<Var>> = binds.iter().map(|v| self.taken(*v)?.as_var()).collect();
        if let (true, [Some(seed)], [array]) = (is_sum(&op), &seeds[..], arrays) {
            fired("derivatives/scan-of-sums");
            let back = self.reversed(*seed, width);
            let sums = self.running_sums(back, width);
            let sums = self.reversed(sums, width);
            return self.add((*array).into(), sums.into());
        }
        let elems: Vec<Option<ScalarType>> = op
            .neutral
            .iter()
            .map(|a| match a.ty(self.vars) {
                Type::Scalar(elem) => Some(elem),
                Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
            })
            .collect();
        let Some(elems) = elems.into_iter().collect::<Option<Vec<ScalarType>>>() else {
            return self.refuse("a scan or reduction whose operator combines arrays");
        };
        let floats: Vec<usize> = (0..elems.len()).filter(|k| elems[*k].is_float()).collect();
        let same = floats.iter().all(|k| elems[*k] == elems[floats[0]]);
        if floats.len() > FLOATS || !same {
            return self.refuse("a scan or reduction whose operator combines many floats, or floats of several types");
        }
        fired("derivatives/scan");
        let adjoints = self.prefixes(
            width,
            arrays,
            binds,
            &op,
            (&floats, elems[floats[0]]),
            &seeds,
        );
        let types: Vec<Type> = elems.iter().map(|elem| Type::Scalar(*elem)).collect();
        let before = self.tabulate(width, &types, |t, i| {
            let last = t.int(BinOp::Sub, i, Atom::ONE);
            let at = t.int(BinOp::Max, last, Atom::ZERO);
            let held = (0..elems.len()).map(|k| {
                let y = t.index(binds[k], &[at]);
                t.at_first(i, elems[k], op.neutral[k], y.into())
            });
            held.collect()
        });
        let lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        let inputs: Vec<Var> = before.iter().chain(arrays).copied().collect();
        let own = arrays.iter().map(|v| self.depends((*v).into()));
        let wrt: Vec<bool> = std::iter::repeat_n(false, before.len())
            .chain(own)
            .collect();
        let mut more = Vec::new();
        let mut of_results = vec![None; elems.len()];
        for (k, adjoint) in floats.iter().zip(adjoints) {
            let row = self.fresh("seed", types[*k].clone());
            more.push((adjoint, row));
            of_results[*k] = Some(Atom::Var(row));
        }
        self.undo_points(width, &inputs, lam, &wrt, more, |_, _| of_results);
    }

    fn running_sums(&mut self, array: Var, width: Size) -> Var {
        let ty = self.vars[array].ty.clone();
        let row = ty.peel(1).unwrap_or(Type::I64);
        let op = self.addition(&row);
        let param = self.fresh("x", row);
        let lam = self.lambda_of(vec![param], |_, p| vec![p[0].into()]);
        let sums = self.fresh("sums", ty);
        let op = Soac::Screma {
            width,
            arrays: vec![array],
            lam,
            scans: vec![op],
            reds: Vec::new(),
        };
        self.push(vec![sums], Exp::Op(op));
        self.back.owned.insert(sums);
        sums
    }

    /// The adjoints of all prefixes, of those components that are floats.
    fn prefixes(
        &mut self,
        width: Size,
        arrays: &[Var],
        ys: &[Var],
        op: &Operator<Soac>,
        (floats, elem): (&[usize], ScalarType),
        seeds: &[Option<Var>],
    ) -> Vec<Var> {
        let (k, n) = (op.neutral.len(), floats.len());
        let ty = Type::Scalar(elem);
        let zero = Self::float_zero(elem);
        let active = std::mem::take(&mut self.back.active);
        let of = std::mem::take(&mut self.back.of);
        let from = self.back.pieces.len();
        self.back.depth += 1;
        // From the end: the coefficients of each prefix, then what is added.
        let linear = self.tabulate(width, &vec![ty.clone(); n * n + n], |t, back| {
            let last = t.int(BinOp::Sub, width, Atom::ONE);
            let i = t.int(BinOp::Sub, last, back);
            let next = t.int(BinOp::Add, i, Atom::ONE);
            let next = t.int(BinOp::Min, next, last);
            let mut args: Vec<Var> = ys.iter().map(|y| t.index(*y, &[i])).collect();
            args.extend(
                arrays
                    .iter()
                    .map(|x| t.index(*x, &[next]))
                    .collect::<Vec<_>>(),
            );
            let mut rows = vec![zero; n * n];
            for (o, out) in floats.iter().enumerate() {
                let mut subst = Subst::new();
                let mut own = Vec::new();
                for (p, arg) in op.lam.params.iter().zip(&args) {
                    let v = rename::fresh(t.vars, &mut subst, *p);
                    t.push(vec![v], Exp::Atom((*arg).into()));
                    t.settle_at(v);
                    own.push(v);
                }
                t.back.active = floats.iter().map(|f| own[*f]).collect::<HashSet<Var>>();
                t.back.of.clear();
                let body = rename::body(t.vars, &mut subst, &op.lam.body);
                let mut unit = vec![None; k];
                unit[*out] = Some(Atom::Const(literal(elem, 1.0)));
                t.sweep(body.stms, &body.result, &unit);
                for (p, f) in floats.iter().enumerate() {
                    if let Some(partial) = t.taken(own[*f]) {
                        rows[p * n + o] = t.at_first(back, elem, zero, partial);
                    }
                }
            }
            for f in floats {
                rows.push(match seeds[*f] {
                    Some(seed) => t.index(seed, &[i]).into(),
                    None => zero,
                });
            }
            rows
        });
        self.back.depth -= 1;
        self.back.pieces.truncate(from);
        self.back.active = active;
        self.back.of = of;
        let op = self.composition(n, elem);
        let params: Vec<Var> = linear.iter().map(|_| self.fresh("x", ty.clone())).collect();
        let lam = self.lambda_of(params, |_, p| p.iter().map(|v| Atom::Var(*v)).collect());
        let composed: Vec<Var> = linear.iter().map(|v| self.like(*v)).collect();
        let scan = Soac::Screma {
            width,
            arrays: linear,
            lam,
            scans: vec![op],
            reds: Vec::new(),
        };
        self.push(composed.clone(), Exp::Op(scan));
        let sums = composed[n * n..].iter();
        sums.map(|v| self.reversed(*v, width)).collect()
    }

    /// The composition of linear functions of `n` floats, the left one first: coefficients row by row, then what is added.
    fn composition(&mut self, n: usize, elem: ScalarType) -> Operator<Soac> {
        let size = n * n + n;
        let (mul, add) = (
            ScalarOp::Bin(BinOp::Mul, elem),
            ScalarOp::Bin(BinOp::Add, elem),
        );
        let params: Vec<Var> = (0..2 * size)
            .map(|_| self.fresh("m", Type::Scalar(elem)))
            .collect();
        let lam: Lambda<Soac> = self.lambda_of(params, |t, p| {
            let (first, second) = p.split_at(size);
            let mut result = Vec::new();
            for row in 0..n {
                for column in 0..n {
                    let mut sum = None;
                    for k in 0..n {
                        let args = [second[row * n + k].into(), first[k * n + column].into()];
                        let term = t.scalar(mul, &args);
                        sum = Some(sum.map_or(term, |sum| t.scalar(add, &[sum, term])));
                    }
                    result.extend(sum);
                }
            }
            for row in 0..n {
                let mut sum: Atom = second[n * n + row].into();
                for k in 0..n {
                    let args = [second[row * n + k].into(), first[n * n + k].into()];
                    let term = t.scalar(mul, &args);
                    sum = t.scalar(add, &[sum, term]);
                }
                result.push(sum);
            }
            result
        });
        let unit = |i: usize| {
            literal(
                elem,
                if i < n * n && i.is_multiple_of(n + 1) {
                    1.0
                } else {
                    0.0
                },
            )
        };
        Operator {
            comm: false,
            lam,
            neutral: (0..size).map(|i| Atom::Const(unit(i))).collect(),
        }
    }
}
