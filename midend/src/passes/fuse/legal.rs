//! Whether a map can become part of an operator.

use super::uses::Uses;
use super::{Fuse, is_among};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Body, Exp, Lambda, Stm, Vars};
use crate::ir::types::Size;
use crate::ir::walk::free_in_lambda;

/// How many statements a map may have to be repeated for every point of a second dimension.
const SMALL: usize = 8;

/// How many results a map may have that becomes part of another operator: each may stay a result, which is a stream of
/// memory of its own.
const MANY: usize = 64;

/// A map without reductions and scans.
fn map_of(stm: &Stm<Soac>) -> Option<(Size, &[Var], &Lambda<Soac>)> {
    match &stm.exp {
        Exp::Op(Soac::Screma {
            width,
            arrays,
            lam,
            scans,
            reds,
        }) if scans.is_empty() && reds.is_empty() => Some((*width, arrays, lam)),
        Exp::Op(_)
        | Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => None,
    }
}

impl Fuse<'_> {
    /// A statement that can be fused into statement `at`, and which of its results are needed elsewhere.
    pub(super) fn producer(
        &self,
        body: &Body<Soac>,
        uses: &Uses,
        at: usize,
        host: bool,
    ) -> Option<(usize, Vec<Var>)> {
        let consumer = Consumer::of(&body.stms[at])?;
        uses.binders(consumer.arrays).into_iter().find_map(|from| {
            let producer = &body.stms[from];
            let (width, inputs, lam) = map_of(producer)?;
            let splits = host && splits_nest(lam, consumer.lam);
            if width != consumer.width || producer.binds.len() > MANY || splits {
                return None;
            }
            let elsewhere = consumer.other_reads(self.vars);
            if elsewhere.iter().any(|v| producer.binds.contains(v)) {
                return None;
            }
            let kept = kept(&producer.binds, uses, (from, at), &consumer)?;
            let mut taken = uses.consumed_in(from + 1..at + 1).peekable();
            if taken.peek().is_some() {
                let mut reads = inputs.to_vec();
                reads.extend(free_in_lambda(self.vars, lam));
                if taken.any(|taken| reads.iter().any(|&read| self.aliases.meet(read, taken))) {
                    return None;
                }
            }
            Some((from, kept))
        })
    }
}

/// The results of statement `from` that are needed besides by statement `at`; nothing if that cannot be granted.
fn kept(
    binds: &[Var],
    uses: &Uses,
    (from, at): (usize, usize),
    consumer: &Consumer<'_>,
) -> Option<Vec<Var>> {
    if binds.iter().any(|v| uses.reads_in(*v, from + 1..at)) {
        return None;
    }
    let mut kept: Vec<Var> = binds
        .iter()
        .copied()
        .filter(|v| uses.read_after(*v, at))
        .collect();
    kept.sort_unstable();
    (kept.is_empty() || consumer.maps).then_some(kept)
}

/// An operator that traverses arrays.
struct Consumer<'a> {
    width: Size,
    arrays: &'a [Var],
    lam: &'a Lambda<Soac>,
    /// Whether it can have mapped results.
    maps: bool,
    soac: &'a Soac,
}

impl<'a> Consumer<'a> {
    fn of(stm: &'a Stm<Soac>) -> Option<Self> {
        let Exp::Op(soac) = &stm.exp else { return None };
        let (width, arrays, lam, maps) = match soac {
            Soac::Screma {
                width, arrays, lam, ..
            } => (width, arrays, lam, true),
            Soac::Hist {
                width, arrays, lam, ..
            }
            | Soac::Scatter {
                width, arrays, lam, ..
            }
            | Soac::Filter { width, arrays, lam }
            | Soac::WithAcc {
                width, arrays, lam, ..
            } => (width, arrays, lam, false),
            Soac::Array(_) | Soac::UpdateAcc(_) => return None,
        };
        Some(Self {
            width: *width,
            arrays,
            lam,
            maps,
            soac,
        })
    }

    /// What it reads besides the arrays that it traverses.
    fn other_reads(&self, vars: &Vars) -> Vec<Var> {
        let mut reads = free_in_lambda(vars, self.lam);
        let mut operator = |op: &Operator<Soac>| {
            reads.extend(free_in_lambda(vars, &op.lam));
            reads.extend(op.neutral.iter().filter_map(|a| a.as_var()));
        };
        match self.soac {
            Soac::Screma { scans, reds, .. } => scans.iter().chain(reds).for_each(operator),
            Soac::Hist { ops, .. } => {
                ops.iter().for_each(|op| operator(&op.op));
                reads.extend(ops.iter().flat_map(|op| op.dests.iter().copied()));
            }
            Soac::Scatter { dests, .. } => reads.extend(dests.iter().map(|dest| dest.array)),
            Soac::WithAcc { acc, .. } => {
                acc.op.iter().for_each(operator);
                reads.extend(&acc.dests);
            }
            Soac::Filter { .. } | Soac::Array(_) | Soac::UpdateAcc(_) => {}
        }
        reads
    }
}

/// Whether the consumer is a map that holds but another map, a space of two dimensions, and the producer is not and
/// costs too much to be repeated in the second.
fn splits_nest(producer: &Lambda<Soac>, consumer: &Lambda<Soac>) -> bool {
    let cheap = |stm: &Stm<Soac>| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(Soac::Array(ArrayOp::Index { .. })) => true,
        Exp::Op(_)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. } => false,
    };
    let small = producer.body.stms.len() <= SMALL && producer.body.stms.iter().all(cheap);
    is_nest(consumer) && !is_nest(producer) && !small
}

fn is_nest(lam: &Lambda<Soac>) -> bool {
    lam.body.stms.last().is_some_and(|last| {
        map_of(last).is_some() && lam.body.result.iter().all(|&a| is_among(a, &last.binds))
    })
}
