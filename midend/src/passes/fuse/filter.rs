//! Filters as producers: what takes all that a filter keeps goes through all elements itself, and skips those that are not kept.
//!
//! ```text
//! let k, ys = filter n (xs) \(x) { yield p, v }            let s = map n (xs) \(x) { .. yield select(p, f v, 0) } reduce (0) ..
//! let s = map k (ys) \(y) { f y } reduce (0) ..     ──►
//!
//! scatter k (ys) \(y) { yield i, w } into d         ──►   scatter n (xs) \(x) { .. yield select(p, i, -1), w } into d
//! hist k (ys) \(y) { yield i, w } ..                ──►   hist n (xs) \(x) { .. yield select(p, i, -1), w } ..
//! map k (ys) \(y) { f y }                           ──►   filter n (xs) \(x) { .. yield p, f v }
//! filter k (ys) \(y) { yield q, w }                 ──►   filter n (xs) \(x) { .. yield select(p, q, false), w }
//! ```
//!
//! A reduction skips by its neutral element, writes by an index that is out of range. What costs more than a few scalar operations,
//! or could fail, is executed only for what is kept. If the number of what is kept is wanted as well, a
//! reduction counts it. Only for code on scalars: operators inside would be executed under a condition.

use super::parts::{Consumer, Joined, Screma, is_scalar_code};
use super::uses::Uses;
use super::vertical::empty;
use super::{Fuse, add_certs, take};
use crate::analysis::totality::is_total;
use crate::fired::fired;
use crate::ir::id::{SpanId, Var};
use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, VarInfo};
use crate::ir::types::{ScalarType, Size, Type};

/// How many scalar operations may be executed for what is not kept.
const CHEAP: usize = 8;

/// A filter, taken apart.
struct Filter {
    width: Size,
    arrays: Vec<Var>,
    lam: Lambda<Soac>,
}

impl Fuse<'_> {
    /// Makes a filter part of statement `at`, which traverses what it keeps; false if there is none.
    pub(super) fn filtered(&mut self, body: &mut Body<Soac>, uses: &mut Uses, at: usize) -> bool {
        let Some((from, kept, counted)) = self.filter_before(body, uses, at) else {
            return false;
        };
        let producer = take(&mut body.stms[from]);
        let stm = &mut body.stms[at];
        let Exp::Op(Soac::Filter { width, arrays, lam }) = producer.exp else {
            return false;
        };
        let count = producer.binds[0];
        let mut bound = kept.clone();
        if counted || is_array_result(stm) {
            bound.push(count);
        }
        uses.moved(&producer.binds, (from, at), &bound);
        let filter = Filter { width, arrays, lam };
        match &stm.exp {
            Exp::Op(Soac::Screma { reds, .. }) if reds.is_empty() => {
                self.filter_map(filter, &producer.binds, &kept, stm);
            }
            Exp::Op(_)
            | Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => {
                let counted = counted.then_some(count);
                self.filter_all(filter, &producer.binds, counted, stm);
            }
        }
        add_certs(&mut stm.certs, producer.certs);
        true
    }

    /// A filter whose results statement `at` traverses, with those that are needed elsewhere, and whether their number is.
    fn filter_before(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        at: usize,
    ) -> Option<(usize, Vec<Var>, bool)> {
        let stm = &body.stms[at];
        let consumer = Consumer::of(stm)?;
        let Size::Var(width) = consumer.width else {
            return None;
        };
        let &[from] = &uses.binders(consumer.arrays)[..] else {
            return None;
        };
        let producer = &body.stms[from];
        let Exp::Op(Soac::Filter { lam, .. }) = &producer.exp else {
            return None;
        };
        let (&count, values) = producer.binds.split_first()?;
        let reads = consumer.other_reads(self.vars);
        let only_kept = count == width
            && consumer.arrays.iter().all(|v| values.contains(v))
            && !reads.iter().any(|v| producer.binds.contains(v));
        let scalar = [lam, consumer.lam]
            .iter()
            .all(|lam| is_scalar_code(lam) && self.yields_scalars(lam));
        if !only_kept || !scalar {
            return None;
        }
        let kept = super::legal::kept(&producer.binds, values, uses, (from, at))?;
        let counted = uses.read_after(count, at);
        let fits = match consumer.soac {
            Soac::Screma { .. } => {
                let screma = Screma::of(stm)?;
                let reduces = screma.scans.is_empty() && screma.folded() == stm.binds.len();
                screma.is_map() || reduces && kept.is_empty() && screma.is_of_scalars(self.vars)
            }
            Soac::Filter { .. } | Soac::Scatter { .. } => kept.is_empty() && !counted,
            Soac::Hist { ops, .. } => {
                let scalars = |op: &Operator<Soac>| {
                    op.lam.params.iter().all(|p| !self.vars[*p].ty.is_array())
                };
                kept.is_empty() && !counted && ops.iter().all(|op| scalars(&op.op))
            }
            Soac::FlatMap { .. } | Soac::WithAcc { .. } | Soac::Array(_) | Soac::UpdateAcc(_) => {
                false
            }
        };
        (fits && self.can_sink(uses, (from, at))).then_some((from, kept, counted))
    }

    /// Whether all results of a lambda are scalars.
    fn yields_scalars(&self, lam: &Lambda<Soac>) -> bool {
        let mut results = lam.body.result.iter();
        results.all(|a| matches!(a.ty(self.vars), Type::Scalar(_)))
    }

    /// The code of both. The second results are what follows from what is kept, else `otherwise`.
    fn join_filter(
        &mut self,
        filter: Filter,
        binds: &[Var],
        (inputs, lam): (&[Var], Lambda<Soac>),
        otherwise: &[Option<Atom>],
        span: SpanId,
    ) -> (Vec<Var>, Lambda<Soac>, Vec<Atom>) {
        let Lambda { params, body } = filter.lam;
        let made: Vec<(Var, Atom)> = binds.iter().copied().zip(body.result.clone()).collect();
        let Joined {
            arrays,
            params,
            second,
        } = self.join((filter.arrays, params), &made, (inputs, lam));
        let keep = body.result[0];
        let mut stms = body.stms;
        let values = self.only_if(keep, second, otherwise, span, &mut stms);
        let body = Body {
            stms,
            result: values,
        };
        let lam = Lambda { params, body };
        (arrays, lam, made.into_iter().map(|(_, a)| a).collect())
    }

    /// The results of a body where a condition holds, and others, or anything, where it does not.
    fn only_if(
        &mut self,
        cond: Atom,
        body: Body<Soac>,
        otherwise: &[Option<Atom>],
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Vec<Atom> {
        let cheap = |stm: &Stm<Soac>| match &stm.exp {
            Exp::Scalar(op, args) => stm.certs.is_empty() && is_total(*op, args),
            Exp::Atom(_) => stm.certs.is_empty(),
            Exp::Op(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => false,
        };
        let zeros = self.zeros(&body.result);
        let types: Vec<Type> = body.result.iter().map(|a| a.ty(self.vars)).collect();
        if body.stms.len() <= CHEAP && body.stms.iter().all(cheap) {
            out.extend(body.stms);
            let both = body.result.iter().zip(otherwise).zip(&types);
            return both
                .map(|((&a, b), ty)| {
                    if let (Some(b), Type::Scalar(ty)) = (*b, ty)
                        && a != b
                    {
                        let op = ScalarOp::Select(*ty);
                        return self.scalar(op, vec![cond, a, b], span, out);
                    }
                    a
                })
                .collect();
        }
        let binds: Vec<Var> = types
            .into_iter()
            .map(|ty| {
                let name = "kept".into();
                self.vars.push(VarInfo { name, ty })
            })
            .collect();
        out.push(Stm {
            binds: binds.clone(),
            certs: Vec::new(),
            exp: Exp::If {
                cond,
                then: body,
                otherwise: Body {
                    stms: Vec::new(),
                    result: otherwise
                        .iter()
                        .zip(zeros)
                        .map(|(a, zero)| a.unwrap_or(zero))
                        .collect(),
                },
            },
            span,
        });
        binds.into_iter().map(Atom::Var).collect()
    }

    /// A map of what is kept: a filter that keeps what the map makes. The results `kept` of the filter stay results.
    fn filter_map(&mut self, filter: Filter, binds: &[Var], kept: &[Var], stm: &mut Stm<Soac>) {
        let Exp::Op(Soac::Screma { arrays, lam, .. }) = &mut stm.exp else {
            return;
        };
        fired("fuse/filter-map");
        let width = filter.width;
        let mapped = std::mem::replace(lam, empty());
        let anything = vec![None; mapped.body.result.len()];
        let inputs = std::mem::take(arrays);
        let traversal = (&inputs[..], mapped);
        let (arrays, mut lam, values) =
            self.join_filter(filter, binds, traversal, &anything, stm.span);
        lam.body.result.insert(0, values[0]);
        for (v, a) in binds.iter().zip(&values) {
            if kept.contains(v) {
                lam.body.result.push(*a);
                stm.binds.push(*v);
            }
        }
        stm.binds.insert(0, binds[0]);
        stm.exp = Exp::Op(Soac::Filter { width, arrays, lam });
    }

    /// What takes all that is kept and makes no array of it: other values for what is not kept.
    fn filter_all(
        &mut self,
        filter: Filter,
        binds: &[Var],
        counted: Option<Var>,
        stm: &mut Stm<Soac>,
    ) {
        let Exp::Op(soac) = &mut stm.exp else { return };
        let Some(otherwise) = Self::when_not_kept(soac) else {
            return;
        };
        let rule = match soac {
            Soac::Hist { .. } => "fuse/filter-hist",
            Soac::Scatter { .. } => "fuse/filter-scatter",
            Soac::Filter { .. } => "fuse/filter-filter",
            Soac::Screma { .. }
            | Soac::FlatMap { .. }
            | Soac::WithAcc { .. }
            | Soac::Array(_)
            | Soac::UpdateAcc(_) => "fuse/filter-reduce",
        };
        let (Soac::Screma {
            width, arrays, lam, ..
        }
        | Soac::Hist {
            width, arrays, lam, ..
        }
        | Soac::Scatter {
            width, arrays, lam, ..
        }
        | Soac::Filter { width, arrays, lam }) = soac
        else {
            return;
        };
        fired(rule);
        *width = filter.width;
        let inputs = std::mem::take(arrays);
        let second = std::mem::replace(lam, empty());
        let (all, joined, values) =
            self.join_filter(filter, binds, (&inputs, second), &otherwise, stm.span);
        (*arrays, *lam) = (all, joined);
        if let Some(count) = counted {
            fired("fuse/filter-reduce-count");
            let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
            let one = self.scalar(one, vec![values[0]], stm.span, &mut lam.body.stms);
            let sum = self.sum(stm.span);
            self.add_results(&[(count, one)], (Vec::new(), vec![sum]), stm);
        }
    }

    /// Results of the lambda of an operator that change nothing, nothing where any do.
    fn when_not_kept(soac: &Soac) -> Option<Vec<Option<Atom>>> {
        let outside = |indices: usize, lam: &Lambda<Soac>| {
            let mut results = vec![None; lam.body.result.len()];
            results[..indices].fill(Some(Atom::i64(-1)));
            results
        };
        match soac {
            Soac::Screma { reds, .. } => {
                let neutral = reds.iter().flat_map(|op| &op.neutral);
                Some(neutral.copied().map(Some).collect())
            }
            Soac::Hist { ops, lam, .. } => {
                Some(outside(ops.iter().map(|op| op.shape.len()).sum(), lam))
            }
            Soac::Scatter { dests, lam, .. } => {
                Some(outside(dests.iter().map(|dest| dest.rank).sum(), lam))
            }
            Soac::Filter { lam, .. } => {
                let mut results = vec![None; lam.body.result.len()];
                results[0] = Some(Atom::bool(false));
                Some(results)
            }
            Soac::FlatMap { .. } | Soac::WithAcc { .. } | Soac::Array(_) | Soac::UpdateAcc(_) => {
                None
            }
        }
    }

    /// A zero of the type of each of some scalars.
    fn zeros(&self, atoms: &[Atom]) -> Vec<Atom> {
        let zero = |a: &Atom| match a.ty(self.vars) {
            Type::Scalar(ty) => Atom::Const(Const::zero(ty)),
            Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => *a,
        };
        atoms.iter().map(zero).collect()
    }

    /// A filter of which only the number of elements is wanted counts them.
    ///
    /// ```text
    /// let k = filter n (xs) \(x) { yield p }  ──►  let k = map n (xs) \(x) { yield i64 p } reduce (0) add
    /// ```
    pub(super) fn count_only(&mut self, stm: &mut Stm<Soac>) {
        let (Exp::Op(Soac::Filter { width, arrays, lam }), [_]) = (&mut stm.exp, &stm.binds[..])
        else {
            return;
        };
        fired("fuse/filter-length");
        let (width, arrays) = (*width, std::mem::take(arrays));
        let mut lam = std::mem::replace(lam, empty());
        let one = ScalarOp::Convert(ScalarType::Bool, ScalarType::I64);
        let keep = lam.body.result[0];
        let one = self.scalar(one, vec![keep], stm.span, &mut lam.body.stms);
        lam.body.result = vec![one];
        let reds = vec![self.sum(stm.span)];
        let scans = Vec::new();
        stm.exp = Exp::Op(Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        });
    }

    /// Addition of `i64`.
    fn sum(&mut self, span: SpanId) -> Operator<Soac> {
        let params: Vec<Var> = ["a", "b"]
            .map(|name| {
                let (name, ty) = (name.into(), Type::I64);
                self.vars.push(VarInfo { name, ty })
            })
            .to_vec();
        let args = params.iter().map(|&p| p.into()).collect();
        let mut stms = Vec::new();
        let add = ScalarOp::Bin(BinOp::Add, ScalarType::I64);
        let result = vec![self.scalar(add, args, span, &mut stms)];
        Operator {
            comm: true,
            lam: Lambda {
                params,
                body: Body { stms, result },
            },
            neutral: vec![Atom::ZERO],
        }
    }

    /// A scalar operation.
    fn scalar(
        &mut self,
        op: ScalarOp,
        args: Vec<Atom>,
        span: SpanId,
        out: &mut Vec<Stm<Soac>>,
    ) -> Atom {
        let v = self.vars.push(VarInfo {
            name: "t".into(),
            ty: Type::Scalar(op.result()),
        });
        out.push(Stm {
            binds: vec![v],
            certs: Vec::new(),
            exp: Exp::Scalar(op, args),
            span,
        });
        v.into()
    }
}

/// Whether a statement makes arrays of as many elements as it traverses: maps and filters do.
fn is_array_result(stm: &Stm<Soac>) -> bool {
    Screma::of(stm).is_some_and(|screma| screma.is_map())
}
