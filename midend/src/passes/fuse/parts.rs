//! What operators that traverse arrays have in common, and how the inputs of two become those of one.

use super::Fuse;
use crate::ir::id::Var;
use crate::ir::rename::{Subst, substitute};
use crate::ir::soac::{Operator, Soac};
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm, Vars};
use crate::ir::types::Size;
use crate::ir::walk::{all_stms, free_in_lambda};

/// The parts of an operator that traverses arrays, for editing.
pub(super) struct Traversal<'a> {
    pub(super) arrays: &'a mut Vec<Var>,
    pub(super) lam: &'a mut Lambda<Soac>,
}

/// The traversal that an expression is, for editing.
pub(super) fn traversal(exp: &mut Exp<Soac>) -> Option<Traversal<'_>> {
    match exp {
        Exp::Op(
            Soac::Screma { arrays, lam, .. }
            | Soac::Hist { arrays, lam, .. }
            | Soac::Scatter { arrays, lam, .. }
            | Soac::Filter { arrays, lam, .. }
            | Soac::FlatMap { arrays, lam, .. }
            | Soac::WithAcc { arrays, lam, .. },
        ) => Some(Traversal { arrays, lam }),
        Exp::Atom(_)
        | Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(Soac::Array(_) | Soac::UpdateAcc(_)) => None,
    }
}

/// Maps, scans and reductions in one.
#[derive(Clone, Copy)]
pub(super) struct Screma<'a> {
    pub(super) width: Size,
    pub(super) lam: &'a Lambda<Soac>,
    pub(super) scans: &'a [Operator<Soac>],
    pub(super) reds: &'a [Operator<Soac>],
}

impl<'a> Screma<'a> {
    pub(super) fn of(stm: &'a Stm<Soac>) -> Option<Self> {
        match &stm.exp {
            Exp::Op(Soac::Screma {
                width,
                arrays: _,
                lam,
                scans,
                reds,
            }) => Some(Self {
                width: *width,
                lam,
                scans,
                reds,
            }),
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
    /// Whether nothing is scanned or reduced.
    pub(super) const fn is_map(&self) -> bool {
        self.scans.is_empty() && self.reds.is_empty()
    }
    /// How many results are scanned.
    pub(super) fn scanned(&self) -> usize {
        self.scans.iter().map(|op| op.neutral.len()).sum()
    }
    /// How many results are reduced.
    pub(super) fn reduced(&self) -> usize {
        self.reds.iter().map(|op| op.neutral.len()).sum()
    }
    /// How many results are scanned or reduced.
    pub(super) fn folded(&self) -> usize {
        self.scanned() + self.reduced()
    }
    /// Whether all operators are on scalars.
    pub(super) fn is_of_scalars(&self, vars: &Vars) -> bool {
        let params = self
            .scans
            .iter()
            .chain(self.reds)
            .flat_map(|op| &op.lam.params);
        params.into_iter().all(|p| !vars[*p].ty.is_array())
    }
}

/// An operator that traverses arrays.
pub(super) struct Consumer<'a> {
    pub(super) width: Size,
    pub(super) arrays: &'a [Var],
    pub(super) lam: &'a Lambda<Soac>,
    pub(super) soac: &'a Soac,
}

impl<'a> Consumer<'a> {
    pub(super) fn of(stm: &'a Stm<Soac>) -> Option<Self> {
        let Exp::Op(soac) = &stm.exp else { return None };
        let (width, arrays, lam) = match soac {
            Soac::Screma {
                width, arrays, lam, ..
            }
            | Soac::Hist {
                width, arrays, lam, ..
            }
            | Soac::Scatter {
                width, arrays, lam, ..
            }
            | Soac::Filter { width, arrays, lam }
            | Soac::FlatMap {
                width, arrays, lam, ..
            }
            | Soac::WithAcc {
                width, arrays, lam, ..
            } => (width, arrays, lam),
            Soac::Array(_) | Soac::UpdateAcc(_) => return None,
        };
        Some(Self {
            width: *width,
            arrays,
            lam,
            soac,
        })
    }

    /// What it reads besides the arrays that it traverses.
    pub(super) fn other_reads(&self, vars: &Vars) -> Vec<Var> {
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
            Soac::Filter { .. } | Soac::FlatMap { .. } | Soac::Array(_) | Soac::UpdateAcc(_) => {}
        }
        reads
    }
}

/// Whether a lambda holds no operator that traverses arrays, nor calls a function that may.
pub(super) fn is_scalar_code(lam: &Lambda<Soac>) -> bool {
    let mut scalar = true;
    all_stms(&lam.body, &mut |stm| {
        scalar &= match &stm.exp {
            Exp::Op(op) => matches!(op, Soac::Array(_)),
            Exp::Call { .. } => false,
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. } => true,
        };
    });
    scalar
}

/// Two traversals that become one: the first is complete, the second's code is to follow.
pub(super) struct Joined {
    /// The inputs of both.
    pub(super) arrays: Vec<Var>,
    /// A parameter for each.
    pub(super) params: Vec<Var>,
    /// The code of the second, with the values of the first for its parameters.
    pub(super) second: Body<Soac>,
}

impl Fuse<'_> {
    /// Joins the inputs of two traversals: what both read is read once, and what the first makes is not read at all.
    /// `made` are the arrays that the first makes, with the results of its lambda that are their elements.
    pub(super) fn join(
        &mut self,
        (mut arrays, mut params): (Vec<Var>, Vec<Var>),
        made: &[(Var, Atom)],
        (inputs, lam): (&[Var], Lambda<Soac>),
    ) -> Joined {
        let mut subst = Subst::new();
        for (&array, &param) in inputs.iter().zip(&lam.params) {
            let result = made.iter().find(|(made, _)| *made == array);
            let read = arrays.iter().position(|&a| a == array);
            match (result, read) {
                (Some((_, value)), _) => subst.insert(param, *value),
                (None, Some(k)) => subst.insert(param, params[k]),
                (None, None) => {
                    arrays.push(array);
                    params.push(param);
                }
            }
        }
        let mut second = lam.body;
        substitute(self.vars, &subst, &mut second);
        Joined {
            arrays,
            params,
            second,
        }
    }
}
