//! Versions of the same code (rule E1): all of a nest at once, what is inside being sequential, if that is enough
//! parallelism; else what is inside is parallel too.
//!
//! ```text
//! map (\xs -> reduce (+) 0 xs) xss
//! ──►
//! g = guard outer "main:1" n
//! if g { segmap (i < n) { loop acc = 0 for j < m do acc + xss[i, j] } } else { segred (i < n, j < m) { xss[i, j] } (+) }
//! ```
//!
//! Where operators hand on to one another what a block of threads has room for, there is a third version, which is tried first
//! ([`super::block`]).

use super::context::Axis;
use super::work::LAUNCH_OF_THREAD;
use super::{Cx, bin, int};
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::scalar::BinOp;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Lambda, Stm};
use crate::ir::threshold::{LITTLE_WORK, Threshold, ThresholdKind};
use crate::ir::types::Type;
use crate::ir::walk::all_stms;

/// Code may grow by versions to this many statements, or to four times its size if that is more.
pub(super) const GROWTH: usize = 4_000;

/// Makes the code of a version, which binds the variables.
type Version<'v, 'c> = &'v mut dyn FnMut(&mut Cx<'c>, &[Var], &mut Vec<Stm<Seg>>);

impl<'c> Cx<'c> {
    /// Two versions of an operator over a context, of which a guard chooses one; only the first where the code has
    /// grown too much.
    pub(super) fn versions(
        &mut self,
        context: &[Axis],
        lam: &Lambda<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
        plain: Version<'_, 'c>,
        split: Version<'_, 'c>,
    ) {
        if !self.affords(lam) {
            fired("flatten/e1-over-budget");
            return plain(self, binds, out);
        }
        fired("flatten/e1-versions");
        let threshold = self.threshold(ThresholdKind::Outer);
        self.enough_points((context, lam, threshold), binds, out, plain, split);
    }

    /// The same with a further version before these two, in which blocks work on points.
    pub(super) fn versions_by_blocks(
        &mut self,
        context: &[Axis],
        lam: &Lambda<Soac>,
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
        block: Version<'_, 'c>,
        (plain, split): (Version<'_, 'c>, Version<'_, 'c>),
    ) {
        let mut start = Vec::new();
        let worth = self.worth_blocks(context, lam, &mut start);
        let Some(worth) = worth.filter(|_| self.affords(lam)) else {
            return self.versions(context, lam, binds, out, plain, split);
        };
        if !self.affords(lam) {
            fired("flatten/e1-over-budget");
            return plain(self, binds, out);
        }
        fired("flatten/e1-block-version");
        out.extend(start);
        let outer = self.threshold(ThresholdKind::Outer);
        let threshold = Threshold {
            place: outer.place.clone(),
            kind: ThresholdKind::Block,
        };
        self.choose(
            (threshold, worth),
            binds,
            out,
            block,
            &mut |cx, binds, out| {
                cx.enough_points((context, lam, outer.clone()), binds, out, plain, split);
            },
        );
    }

    /// Whether the code of a lambda may be there once more.
    pub(super) fn affords(&mut self, lam: &Lambda<Soac>) -> bool {
        let mut size = 0;
        all_stms(&lam.body, &mut |_| size += 1);
        let affords = size <= self.budget;
        if affords {
            self.budget -= size;
        }
        affords
    }

    /// A choice by the number of points of a context; the first version, too, where the operators of the second do less work than it takes to launch
    /// kernels for them.
    fn enough_points(
        &mut self,
        (context, lam, threshold): (&[Axis], &Lambda<Soac>, Threshold),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
        plain: Version<'_, 'c>,
        split: Version<'_, 'c>,
    ) {
        let mut measure = self.points(context, out);
        if !self.asynchronous {
            let work = self.work_of_point(lam);
            if work.fixed <= LAUNCH_OF_THREAD && !work.guessed {
                let work = self.amount(work, out);
                let all = self.scalar(out, "work", bin(BinOp::MulSat), vec![work, measure]);
                let some = self.scalar(out, "work", bin(BinOp::Max), vec![all, int(1)]);
                let args = vec![int(LAUNCH_OF_THREAD), some];
                let worth = self.scalar(out, "worth", bin(BinOp::Quot), args);
                let enough = self.scalar(
                    out,
                    "worth",
                    bin(BinOp::MulSat),
                    vec![worth, int(LITTLE_WORK)],
                );
                measure = self.scalar(out, "measure", bin(BinOp::Max), vec![measure, enough]);
            }
        }
        self.choose((threshold, measure), binds, out, plain, split);
    }

    /// A guard and the two versions that it chooses from.
    fn choose(
        &mut self,
        (threshold, measure): (Threshold, Atom),
        binds: &[Var],
        out: &mut Vec<Stm<Seg>>,
        plain: Version<'_, 'c>,
        split: Version<'_, 'c>,
    ) {
        let guard = Exp::Guard { threshold, measure };
        let cond = self.emit(out, "enough", Type::BOOL, guard).into();
        let mut branch = |version: Version<'_, 'c>| {
            let types: Vec<Type> = binds.iter().map(|&b| self.vars[b].ty.clone()).collect();
            let fresh = |(&b, ty)| {
                let name = self.vars[b].name.clone();
                self.fresh(&name, ty)
            };
            let inner: Vec<Var> = binds.iter().zip(types).map(fresh).collect();
            self.block(|cx, stms| {
                version(cx, &inner, stms);
                inner.into_iter().map(Atom::Var).collect()
            })
        };
        let then = branch(plain);
        let otherwise = branch(split);
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.push(out, binds.to_vec(), exp);
    }

    /// A threshold with a name of its own, after the function and line at hand.
    pub(super) fn threshold(&mut self, kind: ThresholdKind) -> Threshold {
        let function = (&*self.function, self.function_span);
        self.names
            .threshold(kind, function, (self.spans, self.span))
    }
}
