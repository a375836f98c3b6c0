//! Branch fusion: conditionals on one condition become one.
//!
//! ```text
//! let x = if c { a } else { b }              let x, z = if c { a  d } else { b  e }
//! let y = f(x)                      ──►      let y = f(x)
//! let z = if c { d } else { e }
//! ```
//!
//! What the branches compute alike meets then: elements are read once, checks are made once, and the adjoint of an element that both read is one. A
//! conditional moves up to an earlier one of the same body if all that it reads is there, and if it computes scalars alone: arrays would live
//! longer. It moves before what stands between, whose checks may fail after its own then.
//!
//! Inlined functions, records of functions and pull arrays are full of such conditionals.

use super::Simplify;
use crate::fired::fired;
use crate::hash::HashMap;
use crate::ir::dialect::Dialect;
use crate::ir::id::Var;
use crate::ir::syntax::{Atom, Exp, Stm, Vars};
use crate::ir::types::Type;
use crate::ir::walk::{self, all_stms};

/// The conditionals of a body.
pub(super) struct Branches {
    /// Where the statements stand that bind variables.
    bound_at: HashMap<Var, usize>,
    /// Conditionals by the variable of their condition, which is not bound yet, and then by what it is replaced by.
    waiting: HashMap<Var, Vec<usize>>,
    known: HashMap<Atom, Vec<usize>>,
}

impl<D: Dialect> Simplify<'_, D> {
    /// Nothing if no two conditionals can become one.
    pub(super) fn branches_of(&self, stms: &[Stm<D>]) -> Option<Branches> {
        if !self.rules.branches || !D::IS_PURE {
            return None;
        }
        let conditionals = stms.iter().enumerate().filter_map(|(at, stm)| {
            let cond = condition(stm)?;
            Some((at, cond))
        });
        let conditionals: Vec<(usize, Var)> = conditionals.collect();
        if conditionals.len() < 2 {
            return None;
        }
        let mut branches = Branches {
            bound_at: HashMap::default(),
            waiting: HashMap::default(),
            known: HashMap::default(),
        };
        for (at, stm) in stms.iter().enumerate() {
            branches.bound_at.extend(stm.binds.iter().map(|v| (*v, at)));
        }
        for (at, cond) in conditionals {
            if branches.bound_at.contains_key(&cond) {
                branches.waiting.entry(cond).or_default().push(at);
            } else {
                let cond = self.subst.atom(cond.into());
                branches.known.entry(cond).or_default().push(at);
            }
        }
        Some(branches)
    }

    /// Notes that variables are bound, and by what they are replaced.
    pub(super) fn bound(&self, branches: &mut Branches, vars: &[Var]) {
        for v in vars {
            if let Some(waiting) = branches.waiting.remove(v) {
                let cond = self.subst.atom((*v).into());
                branches.known.entry(cond).or_default().extend(waiting);
            }
        }
    }

    /// Appends to the branches of a conditional those of later ones on the same condition.
    pub(super) fn fuse_branches(
        &self,
        branches: &mut Branches,
        at: usize,
        stm: &mut Stm<D>,
        stms: &mut [Option<Stm<D>>],
    ) {
        let Some(cond) = condition(stm) else { return };
        let cond = self.subst.atom(cond.into());
        let Some(same) = branches.known.get_mut(&cond) else {
            return;
        };
        same.retain(|k| {
            let Some(other) = stms[*k].take().filter(|_| *k > at) else {
                return *k > at;
            };
            let free = walk::free_in_stm(self.vars, &other);
            let there = |v: &Var| branches.bound_at.get(v).is_none_or(|k| *k < at);
            if free.iter().all(there) && is_scalar(self.vars, &other) {
                fired("branches/one-condition");
                append(stm, other);
                return false;
            }
            stms[*k] = Some(other);
            true
        });
    }
}

/// The condition of a conditional that computes something. One that does not is a selection.
fn condition<D>(stm: &Stm<D>) -> Option<Var> {
    let Exp::If {
        cond,
        then,
        otherwise,
    } = &stm.exp
    else {
        return None;
    };
    let computes = !then.stms.is_empty() || !otherwise.stms.is_empty();
    cond.as_var().filter(|_| computes)
}

/// Whether a conditional makes and consumes no arrays.
fn is_scalar<D: Dialect>(vars: &Vars, stm: &Stm<D>) -> bool {
    let mut scalar = true;
    let mut visit = |stm: &Stm<D>| {
        let numbers = |v: &Var| matches!(vars[*v].ty, Type::Scalar(_) | Type::Cert);
        scalar &= match &stm.exp {
            Exp::Op(op) => op.as_array().is_some_and(|op| op.is_shareable()),
            Exp::Call { .. } | Exp::Guard { .. } => false,
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => stm.binds.iter().all(numbers),
        };
    };
    visit(stm);
    stm.exp
        .scopes(&mut |_, body| all_stms(body, &mut |stm| visit(stm)));
    scalar
}

/// Appends the branches of a conditional to those of another one.
fn append<D>(to: &mut Stm<D>, stm: Stm<D>) {
    to.binds.extend(stm.binds);
    for cert in stm.certs {
        if !to.certs.contains(&cert) {
            to.certs.push(cert);
        }
    }
    if let (
        Exp::If {
            then, otherwise, ..
        },
        Exp::If {
            then: more,
            otherwise: rest,
            ..
        },
    ) = (&mut to.exp, stm.exp)
    {
        for (body, more) in [(then, more), (otherwise, rest)] {
            body.stms.extend(more.stms);
            body.result.extend(more.result);
        }
    }
}
