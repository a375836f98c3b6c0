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
use crate::hash::HashMap;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::scalar::ScalarOp;
use crate::ir::syntax::{Atom, Body, Exp, LoopParam};

/// How many choices deep is looked.
const DEPTH: usize = 8;

impl<D: Dialect> Simplify<'_, D> {
    /// Learns which parameters of a loop are never greater than its counter.
    pub(super) fn places(&mut self, index: Var, params: &[LoopParam], body: &Body<D>) {
        let signed = |v: Var| self.vars[v].ty.elem().filter(|ty| ty.is_signed());
        let Some(ty) = signed(index) else { return };
        let both = params.iter().zip(&body.result).filter(|(p, _)| {
            self.vars[p.var].ty.shape().is_empty()
                && signed(p.var) == Some(ty)
                && not_positive(self.atom(p.init))
        });
        let both: Vec<(Var, Atom)> = both.map(|(p, next)| (p.var, *next)).collect();
        if both.is_empty() {
            return;
        }
        let mut choices = HashMap::default();
        choices_of(body, &mut choices);
        let found: Vec<Var> = both
            .into_iter()
            .filter(|(var, next)| {
                let allowed = [Atom::Var(*var), Atom::Var(index)];
                self.is_one_of(&choices, *next, allowed, DEPTH)
            })
            .map(|(var, _)| var)
            .collect();
        for place in found {
            self.ranges.up_to(place, index.into());
        }
    }

    /// Whether an atom of a body is one of these, or a constant that is not positive, whatever is chosen.
    fn is_one_of(
        &self,
        choices: &Choices<'_, D>,
        atom: Atom,
        allowed: [Atom; 2],
        depth: usize,
    ) -> bool {
        let atom = self.atom(atom);
        if allowed.contains(&atom) || not_positive(atom) {
            return true;
        }
        let (Some(v), Some(depth)) = (atom.as_var(), depth.checked_sub(1)) else {
            return false;
        };
        let Some((exp, at)) = choices.get(&v) else {
            return false;
        };
        let is = |atom: Atom| self.is_one_of(choices, atom, allowed, depth);
        match exp {
            Exp::Atom(a) => is(*a),
            Exp::Scalar(ScalarOp::Select(_), args) => args[1..].iter().all(|a| is(*a)),
            Exp::If {
                then, otherwise, ..
            } => is(then.result[*at]) && is(otherwise.result[*at]),
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }
}

/// What variables of a body are chosen by, and which of the results they are.
type Choices<'a, D> = HashMap<Var, (&'a Exp<D>, usize)>;

/// The choices of a body and of its branches.
fn choices_of<'a, D: Dialect>(body: &'a Body<D>, all: &mut Choices<'a, D>) {
    for stm in &body.stms {
        match &stm.exp {
            Exp::If {
                then, otherwise, ..
            } => {
                choices_of(then, all);
                choices_of(otherwise, all);
            }
            Exp::Atom(_) | Exp::Scalar(ScalarOp::Select(_), _) => {}
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => continue,
        }
        let binds = stm.binds.iter().enumerate();
        all.extend(binds.map(|(at, bind)| (*bind, (&stm.exp, at))));
    }
}

fn not_positive(atom: Atom) -> bool {
    atom.as_const().and_then(integer).is_some_and(|n| n <= 0)
}
