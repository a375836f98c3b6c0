//! Reductions and scans.
//!
//! ```text
//! y = reduce (+) xs      xs'[i] += y'
//! y = reduce min xs      xs'[i] += y'   for the first i with xs[i] = y
//! y = reduce o xs        xs'[i] += d(l[i] o xs[i])/d xs[i] * (d(p o r[i])/d p at p = l[i] o xs[i]) * y'
//!                        where l and r are what comes before and behind: two scans
//! ys = scan (+) xs       xs' += reverse (scan (+) (reverse ys'))
//! ys = scan o xs         ys[i] = ys[i-1] o xs[i]:   a[i] = ys'[i] + d(ys[i] o xs[i+1])/d ys[i] * a[i+1]
//!                        xs'[i] += d(ys[i-1] o xs[i])/d xs[i] * a[i]
//! ```
//!
//! The adjoints `a` of all prefixes are a linear recurrence from the end: a scan of linear functions, whose coefficients are the partial
//! derivatives of the operator, found by undoing it once for each of its results. Where there are many, or components of several types or
//! arrays among them, a loop computes the recurrence. Products with zeros need no rule of their own.

use super::super::soac::is_sum;
use super::Derive;
use super::histogram::extreme;
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopForm, LoopParam};
use crate::ir::types::{ScalarType, Size, Type};
use crate::math::derivative::literal;

/// The most components that have derivatives of which a scan makes a linear function: one of so many has so many squared coefficients.
const COMPONENTS: usize = 4;

impl Derive<'_> {
    pub(super) fn undo_reduction(
        &mut self,
        binds: &[Var],
        width: Size,
        arrays: &[Var],
        op: &Operator<Soac>,
    ) {
        if is_sum(op) {
            fired("derivatives/sum");
            if let ([v], [array]) = (binds, arrays)
                && let Some(adjoint) = self.taken(*v)
            {
                let all = self.replicate(&[width], adjoint);
                self.add((*array).into(), all.into());
            }
            return;
        }
        if op.neutral.iter().any(|a| self.depends(*a)) {
            return self.refuse("a neutral element that is not constant");
        }
        if let ([v], [array], Some(of)) = (binds, arrays, extreme(op)) {
            return self.undo_extreme(*v, (width, *array), of, op.neutral[0]);
        }
        fired("derivatives/reduction");
        let seeds: Vec<Option<Atom>> = binds.iter().map(|v| self.taken(*v)).collect();
        for v in seeds.iter().flatten().filter_map(|a| a.as_var()) {
            // Each point reads it.
            self.back.owned.remove(&v);
        }
        let mut flipped = op.clone();
        flipped.lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        flipped.lam.params.rotate_left(op.neutral.len());
        let left = self.scanned(width, arrays, op);
        let back: Vec<Var> = arrays.iter().map(|v| self.reversed(*v, width)).collect();
        let right = self.scanned(width, &back, &flipped);
        let types: Vec<Type> = op.neutral.iter().map(|a| a.ty(self.vars)).collect();
        let mut both = types.clone();
        both.extend(types.clone());
        let around = self.tabulate(width, &both, |t, i| {
            let last = t.int(BinOp::Sub, width, Atom::ONE);
            let behind = t.int(BinOp::Sub, last, i);
            let mut held = t.shifted(i, &left, &op.neutral);
            held.extend(t.shifted(behind, &right, &op.neutral));
            held
        });
        let (before, behind) = around.split_at(types.len());
        let lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        let inputs: Vec<Var> = before.iter().chain(arrays).copied().collect();
        let own = arrays.iter().map(|v| self.depends((*v).into()));
        let wrt: Vec<bool> = vec![false; before.len()].into_iter().chain(own).collect();
        let mut more = Vec::new();
        for (array, ty) in behind.iter().zip(&types) {
            more.push((*array, self.fresh("behind", ty.clone())));
        }
        let rest: Vec<Atom> = more.iter().map(|(_, row)| Atom::Var(*row)).collect();
        self.undo_points(width, &inputs, lam, &wrt, more, |t, prefix| {
            let args: Vec<Atom> = prefix.iter().chain(&rest).copied().collect();
            let smooth = t.smooth(&op.neutral);
            let of = t.undone(&op.lam, &args, &smooth, &seeds);
            let mut of_prefix = vec![None; args.len() / 2];
            for (k, adjoint) in smooth.into_iter().zip(of) {
                of_prefix[k] = adjoint;
            }
            of_prefix
        });
    }

    /// The components of an operator that have derivatives.
    fn smooth(&self, neutral: &[Atom]) -> Vec<usize> {
        let all = neutral.iter().enumerate();
        let smooth = all.filter(|(_, a)| {
            let elem = a.ty(self.vars).elem();
            elem.is_some_and(|elem| self.differentiable_type(elem))
        });
        smooth.map(|(k, _)| k).collect()
    }

    /// What a scan has at the index before.
    fn shifted(&mut self, i: Atom, scanned: &[Var], neutral: &[Atom]) -> Vec<Atom> {
        let last = self.int(BinOp::Sub, i, Atom::ONE);
        let at = self.int(BinOp::Max, last, Atom::ZERO);
        let mut held = Vec::new();
        for (array, neutral) in scanned.iter().zip(neutral) {
            let value = self.index(*array, &[at]).into();
            held.push(self.at_first(i, *neutral, value));
        }
        held
    }

    fn scanned(&mut self, width: Size, arrays: &[Var], op: &Operator<Soac>) -> Vec<Var> {
        let made: Vec<Var> = arrays.iter().map(|v| self.like(*v)).collect();
        let mut op = op.clone();
        op.lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        op.comm = false;
        self.alone(made.clone(), arrays.to_vec(), |arrays, lam| Soac::Screma {
            width,
            arrays,
            lam,
            scans: vec![op],
            reds: Vec::new(),
        });
        made
    }

    /// The adjoints of some arguments of a lambda whose results have these, where nothing else has any.
    fn undone(
        &mut self,
        lam: &Lambda<Soac>,
        args: &[Atom],
        wrt: &[usize],
        seeds: &[Option<Atom>],
    ) -> Vec<Option<Atom>> {
        let active = std::mem::take(&mut self.back.active);
        let outside = self.set_aside();
        let from = self.back.pieces.len();
        let mut subst = Subst::new();
        let mut own = Vec::new();
        for (p, arg) in lam.params.iter().zip(args) {
            let v = rename::fresh(self.vars, &mut subst, *p);
            self.push(vec![v], Exp::Atom(*arg));
            self.settle_at(v);
            own.push(v);
        }
        self.back.active = wrt.iter().map(|k| own[*k]).collect::<HashSet<Var>>();
        let body = rename::body(self.vars, &mut subst, &lam.body);
        self.sweep(body.stms, &body.result, seeds);
        let adjoints = wrt.iter().map(|k| self.taken(own[*k])).collect();
        self.back.pieces.truncate(from);
        self.back.active = active;
        self.take_up(outside);
        adjoints
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
        let smooth = self.smooth(&op.neutral);
        let types: Vec<Type> = op.neutral.iter().map(|a| a.ty(self.vars)).collect();
        let first = types[smooth[0]].clone();
        let linear = match first {
            Type::Scalar(elem) if smooth.iter().all(|k| types[*k] == first) => Some(elem),
            Type::Scalar(_) | Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
        };
        let adjoints = match linear {
            Some(elem) if smooth.len() <= COMPONENTS => {
                fired("derivatives/scan");
                self.prefixes(width, arrays, binds, &op, (&smooth, elem), &seeds)
            }
            Some(_) | None => {
                fired("derivatives/scan-in-order");
                self.prefixes_in_order(width, arrays, binds, &op, (&smooth, &types), &seeds)
            }
        };
        let before = self.tabulate(width, &types, |t, i| t.shifted(i, binds, &op.neutral));
        let lam = rename::lambda(self.vars, &mut Subst::new(), &op.lam);
        let inputs: Vec<Var> = before.iter().chain(arrays).copied().collect();
        let own = arrays.iter().map(|v| self.depends((*v).into()));
        let wrt: Vec<bool> = std::iter::repeat_n(false, before.len())
            .chain(own)
            .collect();
        let mut more = Vec::new();
        let mut of_results = vec![None; types.len()];
        for (k, adjoint) in smooth.iter().zip(adjoints) {
            let row = self.fresh("seed", types[*k].clone());
            more.push((adjoint, row));
            of_results[*k] = Some(Atom::Var(row));
        }
        self.undo_points(width, &inputs, lam, &wrt, more, |_, _| of_results);
    }

    pub(super) fn running_sums(&mut self, array: Var, width: Size) -> Var {
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

    /// The adjoints of all prefixes, of those components that have derivatives.
    fn prefixes(
        &mut self,
        width: Size,
        arrays: &[Var],
        ys: &[Var],
        op: &Operator<Soac>,
        (smooth, elem): (&[usize], ScalarType),
        seeds: &[Option<Var>],
    ) -> Vec<Var> {
        let (k, n) = (op.neutral.len(), smooth.len());
        let ty = Type::Scalar(elem);
        let zero = Self::zero(elem);
        self.back.depth += 1;
        // From the end: the coefficients of each prefix, then what is added.
        let linear = self.tabulate(width, &vec![ty.clone(); n * n + n], |t, back| {
            let last = t.int(BinOp::Sub, width, Atom::ONE);
            let i = t.int(BinOp::Sub, last, back);
            let next = t.int(BinOp::Add, i, Atom::ONE);
            let next = t.int(BinOp::Min, next, last);
            let mut args: Vec<Atom> = ys.iter().map(|y| t.index(*y, &[i]).into()).collect();
            args.extend(
                arrays
                    .iter()
                    .map(|x| Atom::Var(t.index(*x, &[next])))
                    .collect::<Vec<_>>(),
            );
            let mut rows = vec![zero; n * n];
            for (o, out) in smooth.iter().enumerate() {
                let mut unit = vec![None; k];
                unit[*out] = Some(Atom::Const(literal(elem, 1.0)));
                let partials = t.undone(&op.lam, &args, smooth, &unit);
                for (p, partial) in partials.into_iter().enumerate() {
                    if let Some(partial) = partial {
                        rows[p * n + o] = t.at_first(back, zero, partial);
                    }
                }
            }
            for f in smooth {
                rows.push(match seeds[*f] {
                    Some(seed) => t.index(seed, &[i]).into(),
                    None => zero,
                });
            }
            rows
        });
        self.back.depth -= 1;
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

    /// The adjoints of all prefixes, sequentially.
    fn prefixes_in_order(
        &mut self,
        width: Size,
        arrays: &[Var],
        ys: &[Var],
        op: &Operator<Soac>,
        (smooth, types): (&[usize], &[Type]),
        seeds: &[Option<Var>],
    ) -> Vec<Var> {
        let mut params: Vec<LoopParam> = Vec::new();
        for k in smooth {
            let var = self.fresh("a", types[*k].clone());
            let init = self.zero_of_type(&types[*k]);
            params.push(LoopParam { var, init });
        }
        for k in smooth {
            let ty = Type::array_of(&types[*k], &[width]);
            let Type::Array(array) = ty.clone() else {
                continue;
            };
            let scratch = ArrayOp::Scratch {
                elem: array.elem,
                shape: array.shape,
            };
            let init = self.array_op("as", scratch).into();
            let var = self.fresh("as", ty);
            params.push(LoopParam { var, init });
        }
        let step = self.fresh("i", Type::I64);
        let (sums, kept) = params.split_at(smooth.len());
        let (result, stms) = self.nested(|t| {
            let last = t.int(BinOp::Sub, width, Atom::ONE);
            let i = t.int(BinOp::Sub, last, step);
            let mut of_prefix = vec![None; op.neutral.len()];
            let mut written = Vec::new();
            for (k, (sum, into)) in smooth.iter().zip(sums.iter().zip(kept)) {
                let mut adjoint = Atom::Var(sum.var);
                if let Some(seed) = seeds[*k] {
                    let own = t.index(seed, &[i]).into();
                    adjoint = t.plus(adjoint, own);
                }
                of_prefix[*k] = Some(adjoint);
                written.push(t.written(into.var, i, adjoint));
            }
            let mut args = t.shifted(i, ys, &op.neutral);
            for x in arrays {
                args.push(t.index(*x, &[i]).into());
            }
            let before = t.undone(&op.lam, &args, smooth, &of_prefix);
            let mut result = Vec::new();
            for (k, adjoint) in smooth.iter().zip(before) {
                result.push(match adjoint {
                    Some(adjoint) => t.fit(adjoint, &types[*k]),
                    None => t.zero_of_type(&types[*k]),
                });
            }
            result.extend(written);
            result
        });
        let binds: Vec<Var> = params.iter().map(|p| self.like(p.var)).collect();
        let form = LoopForm::For {
            index: step,
            bound: width.into(),
        };
        let exp = Exp::Loop {
            params,
            form,
            body: Body { stms, result },
        };
        self.push(binds.clone(), exp);
        binds[smooth.len()..].to_vec()
    }

    /// The composition of linear functions of `n` numbers, the left one first: coefficients row by row, then what is added.
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
