//! Horizontal fusion: operators of one width that share an input, neither reading the other, become one.
//!
//! ```text
//! let s = map n (xs) \(x) { yield x } reduce (0) add
//! let t = map n (xs) \(y) { yield y * y } reduce (0) add
//! ──►
//! let s, t = map n (xs) \(x) { yield x, x * x } reduce (0) add reduce (0) add
//! ```
//!
//! The first is executed where the second is, or the second where the first is if that cannot be. Only code on scalars: maps
//! over rows are nests, which are better left perfect. Reductions and scans stay apart, and there is a limit to the number
//! of folds, for each needs memory of a block of threads.

use super::legal::MANY;
use super::parts::{Consumer, is_scalar_code};
use super::uses::Uses;
use super::vertical::empty;
use super::{Fuse, add_certs, take};
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::id::Var;
use crate::ir::soac::{HistOp, Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::Size;

/// How many folds may be fused side by side.
const FOLDS: usize = 8;

/// How many statements the lambdas may have together: more need more registers than there are.
const LONG: usize = 200;

/// With how many operators that read the same array an operator is compared.
const LOOK: usize = 4;

impl Fuse<'_> {
    /// Fuses neighbours of a body.
    pub(super) fn horizontal(&mut self, body: &mut Body<Soac>, uses: &mut Uses, host: bool) {
        let mut readers: HashMap<(Size, Var), Vec<usize>> = HashMap::default();
        for at in 0..body.stms.len() {
            let Some(consumer) = Consumer::of(&body.stms[at]) else {
                continue;
            };
            let width = consumer.width;
            let keys: Vec<(Size, Var)> = consumer.arrays.iter().map(|v| (width, *v)).collect();
            let recent = keys.iter().flat_map(|key| {
                readers
                    .get(key)
                    .into_iter()
                    .flat_map(|all| all.iter().rev().take(LOOK))
            });
            let mut others: Vec<usize> = recent.copied().collect();
            others.sort_unstable();
            others.dedup();
            let mut place = at;
            for from in others.into_iter().rev() {
                if self.neighbours(body, uses, (from, place), host) {
                    place = self.join_neighbours(body, uses, (from, place));
                }
            }
            for key in keys {
                let all = readers.entry(key).or_default();
                all.retain(|at| !super::is_nothing(&body.stms[*at]) && *at != place);
                all.push(place);
            }
        }
    }

    /// Whether two statements can become one.
    fn neighbours(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        (from, at): (usize, usize),
        host: bool,
    ) -> bool {
        let (first, second) = (&body.stms[from], &body.stms[at]);
        let (Some(a), Some(b)) = (Consumer::of(first), Consumer::of(second)) else {
            return false;
        };
        let long = a.lam.body.stms.len() + b.lam.body.stms.len() > LONG
            || first.binds.len() + second.binds.len() > MANY;
        let reads = |v: &Var| uses.free(at).contains(v);
        !long
            && a.width == b.width
            && self.go_together(a.soac, b.soac)
            && (!host || is_scalar_code(a.lam) && is_scalar_code(b.lam))
            && !first.binds.iter().any(reads)
            && (self.sinks(first, uses, (from, at)) || self.can_rise(uses, (from, at)))
    }

    /// Whether the first of two statements can be executed where the second is.
    fn sinks(&self, first: &Stm<Soac>, uses: &Uses, (from, at): (usize, usize)) -> bool {
        let mut binds = first.binds.iter();
        !binds.any(|v| uses.reads_in(*v, from + 1..at)) && self.can_sink(uses, (from, at))
    }

    /// Whether there is an operator that does what two do.
    fn go_together(&self, a: &Soac, b: &Soac) -> bool {
        match (a, b) {
            (
                Soac::Screma {
                    scans: scans_a,
                    reds: reds_a,
                    ..
                },
                Soac::Screma {
                    scans: scans_b,
                    reds: reds_b,
                    ..
                },
            ) => {
                let (scans, reds) = (scans_a.len() + scans_b.len(), reds_a.len() + reds_b.len());
                let mut all = scans_a.iter().chain(reds_a).chain(scans_b).chain(reds_b);
                (scans == 0 || reds == 0)
                    && scans + reds <= FOLDS
                    && all.all(|op| self.is_on_scalars(op))
            }
            (Soac::Hist { ops: a, .. }, Soac::Hist { ops: b, .. }) => {
                let mut all = a.iter().chain(b);
                a.len() + b.len() <= FOLDS && all.all(|op| self.is_on_scalars(&op.op))
            }
            (Soac::Scatter { dests: a, .. }, Soac::Scatter { dests: b, .. }) => {
                a.len() + b.len() <= FOLDS
            }
            (
                Soac::Screma { .. }
                | Soac::Hist { .. }
                | Soac::Scatter { .. }
                | Soac::Filter { .. }
                | Soac::FlatMap { .. }
                | Soac::WithAcc { .. }
                | Soac::Array(_)
                | Soac::UpdateAcc(_),
                _,
            ) => false,
        }
    }

    fn is_on_scalars(&self, op: &Operator<Soac>) -> bool {
        op.lam.params.iter().all(|p| !self.vars[*p].ty.is_array())
    }

    /// Makes one statement of two; its place.
    fn join_neighbours(
        &mut self,
        body: &mut Body<Soac>,
        uses: &mut Uses,
        (from, at): (usize, usize),
    ) -> usize {
        let sinks = self.sinks(&body.stms[from], uses, (from, at));
        if !sinks {
            fired("fuse/horizontal-rises");
        }
        let (gone, place) = if sinks { (from, at) } else { (at, from) };
        let binds = body.stms[gone].binds.clone();
        uses.moved(&binds, (gone, place), &binds);
        let (first, second) = (take(&mut body.stms[from]), take(&mut body.stms[at]));
        body.stms[place] = self.both(first, second);
        place
    }

    /// What two statements that go together do.
    fn both(&mut self, first: Stm<Soac>, mut second: Stm<Soac>) -> Stm<Soac> {
        let (Exp::Op(a), Exp::Op(b)) = (first.exp, &mut second.exp) else {
            return second;
        };
        let results = [&first.binds[..], &second.binds[..]];
        let binds = match (a, b) {
            (
                Soac::Screma {
                    width: _,
                    arrays: inputs,
                    lam: mut own,
                    scans: first_scans,
                    reds: first_reds,
                },
                Soac::Screma {
                    arrays,
                    lam,
                    scans,
                    reds,
                    ..
                },
            ) => {
                let of = [&first_scans, scans]
                    .map(|ops| ops.len())
                    .iter()
                    .sum::<usize>();
                let folds = [&first_reds, reds]
                    .map(|ops| ops.len())
                    .iter()
                    .sum::<usize>();
                fired(match (of, folds) {
                    (0, 0) => "fuse/horizontal-maps",
                    (0, _) => "fuse/horizontal-reductions",
                    (_, _) => "fuse/horizontal-scans",
                });
                let sizes = |scans: &[Operator<Soac>], reds: &[Operator<Soac>]| {
                    let count =
                        |ops: &[Operator<Soac>]| ops.iter().map(|op| op.neutral.len()).sum();
                    [count(scans), count(reds)]
                };
                let parts = [sizes(&first_scans, &first_reds), sizes(scans, reds)];
                let second = std::mem::replace(lam, empty());
                let joined = self.join((inputs, own.params), &[], (arrays, second));
                let values = [&own.body.result[..], &joined.second.result[..]];
                let result = interleave(values, parts);
                own.body.stms.extend(joined.second.stms);
                own.params = joined.params;
                own.body.result = result;
                (*arrays, *lam) = (joined.arrays, own);
                scans.splice(0..0, first_scans);
                reds.splice(0..0, first_reds);
                interleave(results, parts)
            }
            (
                Soac::Hist {
                    width: _,
                    arrays: inputs,
                    lam: own,
                    ops: first_ops,
                },
                Soac::Hist {
                    arrays, lam, ops, ..
                },
            ) => {
                fired("fuse/horizontal-hists");
                let indices = |ops: &[HistOp<Soac>]| [ops.iter().map(|op| op.shape.len()).sum(), 0];
                let parts = [indices(&first_ops), indices(ops)];
                self.join_writes((inputs, own), (arrays, lam), parts);
                ops.splice(0..0, first_ops);
                results.concat()
            }
            (
                Soac::Scatter {
                    width: _,
                    arrays: inputs,
                    lam: own,
                    dests: first_dests,
                },
                Soac::Scatter {
                    arrays, lam, dests, ..
                },
            ) => {
                fired("fuse/horizontal-scatters");
                let parts = [
                    [first_dests.iter().map(|dest| dest.rank).sum(), 0],
                    [dests.iter().map(|dest| dest.rank).sum(), 0],
                ];
                self.join_writes((inputs, own), (arrays, lam), parts);
                dests.splice(0..0, first_dests);
                results.concat()
            }
            (
                Soac::Screma { .. }
                | Soac::Hist { .. }
                | Soac::Scatter { .. }
                | Soac::Filter { .. }
                | Soac::FlatMap { .. }
                | Soac::WithAcc { .. }
                | Soac::Array(_)
                | Soac::UpdateAcc(_),
                _,
            ) => unreachable!("these two do not go together"),
        };
        second.binds = binds;
        add_certs(&mut second.certs, first.certs);
        second
    }

    /// Joins the lambdas of operators that write: first all indices, then all values.
    fn join_writes(
        &mut self,
        (inputs, mut own): (Vec<Var>, crate::ir::syntax::Lambda<Soac>),
        (arrays, lam): (&mut Vec<Var>, &mut crate::ir::syntax::Lambda<Soac>),
        parts: [[usize; 2]; 2],
    ) {
        let second = std::mem::replace(lam, empty());
        let joined = self.join((inputs, own.params), &[], (arrays, second));
        let values: [&[Atom]; 2] = [&own.body.result, &joined.second.result];
        let result = interleave(values, parts);
        own.body.stms.extend(joined.second.stms);
        own.params = joined.params;
        own.body.result = result;
        (*arrays, *lam) = (joined.arrays, own);
    }
}

/// Two lists of three parts each, whose first two have the given lengths, part by part.
fn interleave<T: Copy>([a, b]: [&[T]; 2], parts: [[usize; 2]; 2]) -> Vec<T> {
    let split = |list: &[T], [x, y]: [usize; 2]| -> [Vec<T>; 3] {
        [
            list[..x].to_vec(),
            list[x..x + y].to_vec(),
            list[x + y..].to_vec(),
        ]
    };
    let (a, b) = (split(a, parts[0]), split(b, parts[1]));
    let both = a.into_iter().zip(b);
    both.flat_map(|(a, b)| a.into_iter().chain(b)).collect()
}
