//! Whether an operator can be moved to another one.

use super::parts::Screma;
use super::uses::Uses;
use super::{Fuse, is_among};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Exp, Lambda, Stm};

/// How many statements a map may have to be repeated for every point of a second dimension.
const SMALL: usize = 8;

/// How many results an operator may have that becomes part of another one: each may stay a result, which is a stream of
/// memory of its own.
pub(super) const MANY: usize = 64;

impl Fuse<'_> {
    /// Whether statement `from` could be executed where statement `at` is, and as part of it: nothing from there on
    /// consumes what it reads.
    pub(super) fn can_sink(&self, uses: &Uses, (from, at): (usize, usize)) -> bool {
        let taken = uses.consumed_in(from + 1..at + 1).collect();
        !self.aliases.meet_any(taken, self.arrays(uses.free(from)))
    }

    /// Whether statement `at` could be executed where statement `from` is: all that it reads is there, and it consumes
    /// nothing that comes from outside of it.
    pub(super) fn can_rise(&self, uses: &Uses, (from, at): (usize, usize)) -> bool {
        self.can_rise_to(uses, (from, at), &[])
    }

    /// The same, where the first statement makes some of what the second reads, and becomes one with it.
    pub(super) fn can_rise_to(
        &self,
        uses: &Uses,
        (from, at): (usize, usize),
        made: &[Var],
    ) -> bool {
        let reads = uses.free(at);
        let taken = uses.consumed_in(at..at + 1).collect();
        let is_there = |v: &Var| made.contains(v) || uses.is_bound_before(*v, from);
        reads.iter().all(is_there) && !self.aliases.meet_any(taken, self.arrays(reads))
    }

    /// The arrays among variables: scalars are read once and for all.
    fn arrays(&self, vars: &[Var]) -> Vec<Var> {
        let arrays = vars.iter().filter(|v| self.vars[**v].ty.is_consumable());
        arrays.copied().collect()
    }
}

/// The mapped results of statement `from` that are needed besides by statement `at`; nothing if some are needed before it.
pub(super) fn kept(
    binds: &[Var],
    mapped: &[Var],
    uses: &Uses,
    (from, at): (usize, usize),
) -> Option<Vec<Var>> {
    if binds.iter().any(|v| uses.reads_in(*v, from + 1..at)) {
        return None;
    }
    let mut kept: Vec<Var> = mapped
        .iter()
        .copied()
        .filter(|v| uses.read_after(*v, at))
        .collect();
    kept.sort_unstable();
    Some(kept)
}

/// Whether the consumer is a map that holds but another map, a space of two dimensions, and the producer is not and
/// costs too much to be repeated in the second.
pub(super) fn splits_nest(producer: &Lambda<Soac>, consumer: &Lambda<Soac>) -> bool {
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

/// Whether a lambda is but a map.
pub(super) fn is_nest(lam: &Lambda<Soac>) -> bool {
    lam.body.stms.last().is_some_and(|last| {
        Screma::of(last).is_some_and(|inner| inner.is_map())
            && lam.body.result.iter().all(|&a| is_among(a, &last.binds))
    })
}
