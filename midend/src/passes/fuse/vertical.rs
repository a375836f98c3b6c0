//! Vertical fusion: an operator becomes part of what traverses the arrays that it maps.
//!
//! ```text
//! let s, ys = map n (xs) \(x) { let y = ..; yield x, y } reduce (0) add
//! let t = map n (ys) \(z) { yield z } reduce (1) mul
//! ──►
//! let s, t = map n (xs) \(x) { let y = ..; yield x, y } reduce (0) add reduce (1) mul
//! ```

use super::legal::{MANY, kept, splits_nest};
use super::parts::{Consumer, Screma, traversal};
use super::uses::Uses;
use super::{Fuse, add_certs, take};
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};

/// How a producer and a consumer become one, and which of the arrays that the producer maps are needed elsewhere.
enum Way {
    /// The producer moves down.
    Sinks(Vec<Var>),
    /// The consumer moves up.
    Rises(Vec<Var>),
    /// A copy of the producer does.
    Again,
}

impl Fuse<'_> {
    /// Makes one operator that maps arrays part of statement `at`, which traverses them; where that is then. Nothing if there is none.
    pub(super) fn vertical(
        &mut self,
        body: &mut Body<Soac>,
        uses: &mut Uses,
        at: usize,
        host: bool,
    ) -> Option<usize> {
        let (from, how) = self.producer(body, uses, at, host)?;
        let kept = match how {
            Way::Again => {
                fired("fuse/repeated-map");
                let producer = self.again(&body.stms[from]);
                uses.copied(&producer.binds, (from, at));
                self.merge(producer, &[], &mut body.stms[at]);
                return Some(at);
            }
            Way::Rises(kept) => {
                fired("fuse/vertical-rises");
                let consumer = take(&mut body.stms[at]);
                uses.risen(&body.stms[from].binds, (from, at), &consumer.binds);
                let producer = std::mem::replace(&mut body.stms[from], consumer);
                self.merge(producer, &kept, &mut body.stms[from]);
                return Some(from);
            }
            Way::Sinks(kept) => kept,
        };
        let producer = take(&mut body.stms[from]);
        fired(rule(&producer, &body.stms[at]));
        let folded = Screma::of(&producer).map_or(0, |screma| screma.folded());
        let mut bound = producer.binds[..folded].to_vec();
        bound.extend(&kept);
        uses.moved(&producer.binds, (from, at), &bound);
        self.merge(producer, &kept, &mut body.stms[at]);
        Some(at)
    }

    /// A statement that can be fused with statement `at`, and how.
    fn producer(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        at: usize,
        host: bool,
    ) -> Option<(usize, Way)> {
        let consumer = Consumer::of(&body.stms[at])?;
        let mut other_reads = None;
        uses.binders(consumer.arrays).into_iter().find_map(|from| {
            let producer = &body.stms[from];
            let screma = Screma::of(producer)?;
            let (folded, mapped) = producer.binds.split_at(screma.folded());
            let splits = host && splits_nest(screma.lam, consumer.lam);
            if screma.width != consumer.width || producer.binds.len() > MANY || splits {
                return None;
            }
            let elsewhere = other_reads.get_or_insert_with(|| consumer.other_reads(self.vars));
            if elsewhere.iter().any(|v| producer.binds.contains(v))
                || consumer.arrays.iter().any(|v| folded.contains(v))
            {
                return None;
            }
            let Some(kept) = kept(&producer.binds, mapped, uses, (from, at)) else {
                return self.rises(body, uses, (from, at)).map(|how| (from, how));
            };
            if self.fit(&screma, &kept, &body.stms[at]) {
                return self
                    .can_sink(uses, (from, at))
                    .then_some((from, Way::Sinks(kept)));
            }
            self.repeats(body, uses, from).then_some((from, Way::Again))
        })
    }

    /// Whether a consumer, which one thread executes, moves up to its producer: other statements read that before.
    fn rises(&self, body: &Body<Soac>, uses: &Uses, (from, at): (usize, usize)) -> Option<Way> {
        let (producer, consumer) = (&body.stms[from], &body.stms[at]);
        let screma = Screma::of(producer)?;
        let mapped = producer.binds[screma.folded()..].iter().copied();
        let elsewhere = |v: &Var| uses.is_result(*v) || uses.readers(*v).any(|k| k != at);
        let mut kept: Vec<Var> = mapped.filter(elsewhere).collect();
        kept.sort_unstable();
        let fits = self.sequential
            && Screma::of(consumer).is_some()
            && self.fit(&screma, &kept, consumer)
            && self.can_rise_to(uses, (from, at), &producer.binds);
        fits.then_some(Way::Rises(kept))
    }

    /// Whether there is an operator that does what both do, and is as parallel.
    fn fit(&self, producer: &Screma<'_>, kept: &[Var], consumer: &Stm<Soac>) -> bool {
        let only_consumed = producer.is_map() && kept.is_empty();
        let Some(consumer) = Screma::of(consumer) else {
            return only_consumed;
        };
        let scans = producer.scans.len() + consumer.scans.len();
        let reds = producer.reds.len() + consumer.reds.len();
        let scalars = self.sequential
            || producer.is_of_scalars(self.vars) && consumer.is_of_scalars(self.vars);
        only_consumed || scalars && (producer.is_map() || scans == 0 || reds == 0)
    }

    /// Makes a producer part of the operator that reads it. The mapped arrays `kept` stay results.
    fn merge(&mut self, producer: Stm<Soac>, kept: &[Var], stm: &mut Stm<Soac>) {
        let Exp::Op(Soac::Screma {
            width: _,
            arrays: inputs,
            lam: map,
            scans,
            reds,
        }) = producer.exp
        else {
            return;
        };
        let Some(consumer) = traversal(&mut stm.exp) else {
            return;
        };
        let made: Vec<(Var, Atom)> = producer
            .binds
            .iter()
            .copied()
            .zip(map.body.result.iter().copied())
            .collect();
        let lam = std::mem::replace(consumer.lam, empty());
        let joined = self.join((inputs, map.params), &made, (consumer.arrays, lam));
        let mut stms = map.body.stms;
        stms.extend(joined.second.stms);
        *consumer.arrays = joined.arrays;
        *consumer.lam = Lambda {
            params: joined.params,
            body: Body {
                stms,
                result: joined.second.result,
            },
        };
        let value = |v: &Var| made.iter().find(|(made, _)| made == v).copied();
        self.add_results(&made, (scans, reds), stm);
        for (v, a) in kept.iter().filter_map(value) {
            if let Some(consumer) = traversal(&mut stm.exp) {
                consumer.lam.body.result.push(a);
                stm.binds.push(v);
            }
        }
        add_certs(&mut stm.certs, producer.certs);
    }

    /// Adds operators with their results, which are the first of `made`, before those of a statement.
    pub(super) fn add_results(
        &mut self,
        made: &[(Var, Atom)],
        (scans, reds): (Vec<Operator<Soac>>, Vec<Operator<Soac>>),
        stm: &mut Stm<Soac>,
    ) {
        let Exp::Op(Soac::Screma {
            lam,
            scans: own_scans,
            reds: own_reds,
            ..
        }) = &mut stm.exp
        else {
            return;
        };
        let count =
            |ops: &[Operator<Soac>]| -> usize { ops.iter().map(|op| op.neutral.len()).sum() };
        let (scanned, reduced, before) = (count(&scans), count(&reds), count(own_scans));
        let places = [
            (0, &made[..scanned]),
            (scanned + before, &made[scanned..scanned + reduced]),
        ];
        for (place, results) in places {
            let binds = results.iter().map(|(v, _)| *v);
            stm.binds.splice(place..place, binds);
            let values = results.iter().map(|(_, a)| *a);
            lam.body.result.splice(place..place, values);
        }
        own_scans.splice(0..0, scans);
        own_reds.splice(0..0, reds);
    }
}

/// The name of what becomes one.
fn rule(producer: &Stm<Soac>, consumer: &Stm<Soac>) -> &'static str {
    if let Some(screma) = Screma::of(producer) {
        if !screma.reds.is_empty() {
            return "fuse/reduce-map";
        }
        if !screma.scans.is_empty() {
            return "fuse/scan-map";
        }
    }
    match Consumer::of(consumer).map(|consumer| consumer.soac) {
        Some(Soac::Screma { scans, reds, .. }) => match (scans.is_empty(), reds.is_empty()) {
            (true, true) => "fuse/map-map",
            (true, false) => "fuse/map-reduce",
            (false, _) => "fuse/map-scan",
        },
        Some(Soac::Hist { .. }) => "fuse/map-hist",
        Some(Soac::Scatter { .. }) => "fuse/map-scatter",
        Some(Soac::Filter { .. }) => "fuse/map-filter",
        Some(Soac::FlatMap { .. }) => "fuse/map-flat-map",
        Some(Soac::WithAcc { .. } | Soac::Array(_) | Soac::UpdateAcc(_)) | None => {
            "fuse/map-accumulate"
        }
    }
}

/// What stands for a lambda while it is edited.
pub(super) const fn empty() -> Lambda<Soac> {
    Lambda {
        params: Vec::new(),
        body: Body {
            stms: Vec::new(),
            result: Vec::new(),
        },
    }
}
