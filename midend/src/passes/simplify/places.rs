//! Numbers that loops carry and that are never greater than their counter: they begin at zero or below, and each step leaves them,
//! or makes them the counter or such a constant. So where the first of equal elements is wanted, nothing is asked of places:
//!
//! ```text
//! loop (at = 0, least = x) for i < n {              loop (at = 0, least = x) for i < n {
//!   let a = y < least                                 let a = y < least
//!   let b = y == least
//!   let c = lt.i64(i, at)                    ──►
//!   let d = and.bool(b, c)
//!   let e = or.bool(a, d)
//!   yield select(e, i, at), select(e, y, least)       yield select(a, i, at), select(a, y, least)
//! ```

use super::Simplify;
use crate::analysis::ranges::integer;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::ScalarOp;
use crate::ir::syntax::{Atom, Body, Exp, LoopParam, Stm};

/// How many choices deep is looked.
const DEPTH: usize = 8;

impl<D: Dialect> Simplify<'_, D> {
    /// Learns which parameters of a loop are never greater than its counter.
    pub(super) fn places(&mut self, index: Var, params: &[LoopParam], body: &Body<D>) {
        let signed = |v: Var| self.vars[v].ty.elem().filter(|ty| ty.is_signed());
        let Some(ty) = signed(index) else { return };
        let found: Vec<Var> = params
            .iter()
            .zip(&body.result)
            .filter(|(p, next)| {
                let allowed = [Atom::Var(p.var), Atom::Var(index)];
                self.vars[p.var].ty.shape().is_empty()
                    && signed(p.var) == Some(ty)
                    && not_positive(self.atom(p.init))
                    && self.is_one_of(&body.stms, **next, allowed, DEPTH)
            })
            .map(|(p, _)| p.var)
            .collect();
        for place in found {
            self.ranges.up_to(place, index.into());
        }
    }

    /// Whether an atom of a body is one of these, or a constant that is not positive, whatever is chosen.
    fn is_one_of(&self, stms: &[Stm<D>], atom: Atom, allowed: [Atom; 2], depth: usize) -> bool {
        let atom = self.atom(atom);
        if allowed.contains(&atom) || not_positive(atom) {
            return true;
        }
        let (Some(v), Some(depth)) = (atom.as_var(), depth.checked_sub(1)) else {
            return false;
        };
        let bound = stms.iter().rev().find_map(|stm| {
            let at = stm.binds.iter().position(|bind| *bind == v)?;
            Some((stm, at))
        });
        let Some((stm, at)) = bound else { return false };
        match &stm.exp {
            Exp::Atom(a) => self.is_one_of(stms, *a, allowed, depth),
            Exp::Scalar(ScalarOp::Select(_), args) => args[1..]
                .iter()
                .all(|a| self.is_one_of(stms, *a, allowed, depth)),
            Exp::If {
                then, otherwise, ..
            } => [then, otherwise]
                .iter()
                .all(|branch| self.is_one_of(&branch.stms, branch.result[at], allowed, depth)),
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }
}

fn not_positive(atom: Atom) -> bool {
    atom.as_const().and_then(integer).is_some_and(|n| n <= 0)
}
