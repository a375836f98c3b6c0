//! The nested dialect as generic passes see it.

use super::Dialect;
use super::operand::{
    accumulation, accumulation_scopes, accumulation_scopes_mut, dests, hists, map_accumulation,
    map_dests, map_hists, map_operators, map_size, map_update_acc, map_var, operator_scopes,
    operator_scopes_mut, operators, size, update_acc,
};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp};

impl From<ArrayOp> for Soac {
    fn from(op: ArrayOp) -> Self {
        Self::Array(op)
    }
}

impl From<ArrayOp> for Exp<Soac> {
    fn from(op: ArrayOp) -> Self {
        Self::Op(Soac::Array(op))
    }
}

impl Dialect for Soac {
    const NAME: &'static str = "nested";
    const IS_PURE: bool = true;

    fn operands(&self, f: &mut dyn FnMut(Atom)) {
        let inputs = |width: &_, arrays: &[Var], f: &mut dyn FnMut(Atom)| {
            size(*width, f);
            arrays.iter().for_each(|v| f(Atom::Var(*v)));
        };
        match self {
            Self::Array(op) => op.operands(f),
            Self::Screma {
                width,
                arrays,
                lam: _,
                scans,
                reds,
            } => {
                inputs(width, arrays, f);
                operators(scans, f);
                operators(reds, f);
            }
            Self::Hist {
                width,
                arrays,
                lam: _,
                ops,
            } => {
                inputs(width, arrays, f);
                hists(ops, f);
            }
            Self::Scatter {
                width,
                arrays,
                lam: _,
                dests: to,
            } => {
                inputs(width, arrays, f);
                dests(to, f);
            }
            Self::Filter {
                width,
                arrays,
                lam: _,
            } => inputs(width, arrays, f),
            Self::FlatMap {
                width,
                arrays,
                lam: _,
                rows: _,
                marks,
            } => {
                inputs(width, arrays, f);
                size(*marks, f);
            }
            Self::WithAcc {
                width,
                arrays,
                lam: _,
                acc,
            } => {
                inputs(width, arrays, f);
                accumulation(acc, f);
            }
            Self::UpdateAcc(update) => update_acc(update, f),
        }
    }

    fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        let inputs = |width: &mut _, arrays: &mut [Var], f: &mut dyn FnMut(Atom) -> Atom| {
            map_size(width, f);
            arrays.iter_mut().for_each(|v| map_var(v, f));
        };
        match self {
            Self::Array(op) => op.map_operands(f),
            Self::Screma {
                width,
                arrays,
                lam: _,
                scans,
                reds,
            } => {
                inputs(width, arrays, f);
                map_operators(scans, f);
                map_operators(reds, f);
            }
            Self::Hist {
                width,
                arrays,
                lam: _,
                ops,
            } => {
                inputs(width, arrays, f);
                map_hists(ops, f);
            }
            Self::Scatter {
                width,
                arrays,
                lam: _,
                dests,
            } => {
                inputs(width, arrays, f);
                map_dests(dests, f);
            }
            Self::Filter {
                width,
                arrays,
                lam: _,
            } => inputs(width, arrays, f),
            Self::FlatMap {
                width,
                arrays,
                lam: _,
                rows: _,
                marks,
            } => {
                inputs(width, arrays, f);
                map_size(marks, f);
            }
            Self::WithAcc {
                width,
                arrays,
                lam: _,
                acc,
            } => {
                inputs(width, arrays, f);
                map_accumulation(acc, f);
            }
            Self::UpdateAcc(update) => map_update_acc(update, f),
        }
    }

    fn consumed(&self, f: &mut dyn FnMut(Var)) {
        match self {
            Self::Array(op) => op.consumed().into_iter().for_each(f),
            Self::Screma { .. } | Self::Filter { .. } | Self::FlatMap { .. } => {}
            Self::Hist { ops, .. } => ops.iter().flat_map(|op| &op.dests).for_each(|v| f(*v)),
            Self::Scatter { dests, .. } => dests.iter().for_each(|d| f(d.array)),
            Self::WithAcc { acc, .. } => acc.dests.iter().for_each(|v| f(*v)),
            Self::UpdateAcc(update) => update.accs.iter().for_each(|v| f(*v)),
        }
    }

    fn aliased(&self) -> Option<Var> {
        match self {
            Self::Array(op) => op.aliased(),
            Self::Screma { .. }
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::Filter { .. }
            | Self::FlatMap { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => None,
        }
    }

    fn scopes<'a>(&'a self, f: &mut dyn FnMut(&[Var], &'a Body<Self>)) {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => {}
            Self::Screma {
                lam, scans, reds, ..
            } => {
                f(&lam.params, &lam.body);
                operator_scopes(scans.iter().chain(reds), f);
            }
            Self::Hist { lam, ops, .. } => {
                f(&lam.params, &lam.body);
                operator_scopes(ops.iter().map(|op| &op.op), f);
            }
            Self::Scatter { lam, .. } | Self::Filter { lam, .. } | Self::FlatMap { lam, .. } => {
                f(&lam.params, &lam.body)
            }
            Self::WithAcc { lam, acc, .. } => accumulation_scopes(acc, &lam.params, &lam.body, f),
        }
    }

    fn scopes_mut(&mut self, f: &mut dyn FnMut(&mut [Var], &mut Body<Self>)) {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => {}
            Self::Screma {
                lam, scans, reds, ..
            } => {
                f(&mut lam.params, &mut lam.body);
                operator_scopes_mut(scans.iter_mut().chain(reds), f);
            }
            Self::Hist { lam, ops, .. } => {
                f(&mut lam.params, &mut lam.body);
                operator_scopes_mut(ops.iter_mut().map(|op| &mut op.op), f);
            }
            Self::Scatter { lam, .. } | Self::Filter { lam, .. } | Self::FlatMap { lam, .. } => {
                f(&mut lam.params, &mut lam.body);
            }
            Self::WithAcc { lam, acc, .. } => {
                accumulation_scopes_mut(acc, &mut lam.params, &mut lam.body, f);
            }
        }
    }

    fn as_array(&self) -> Option<&ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Screma { .. }
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::Filter { .. }
            | Self::FlatMap { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => None,
        }
    }

    fn as_array_mut(&mut self) -> Option<&mut ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Screma { .. }
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::Filter { .. }
            | Self::FlatMap { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => None,
        }
    }

    fn index_bounds(&self, _f: &mut dyn FnMut(Var, Atom)) {}

    fn elements(&self, f: &mut dyn FnMut(Var, Var)) {
        match self {
            Self::Array(_) | Self::UpdateAcc(_) => {}
            Self::Screma { arrays, lam, .. }
            | Self::Hist { arrays, lam, .. }
            | Self::Scatter { arrays, lam, .. }
            | Self::Filter { arrays, lam, .. }
            | Self::FlatMap { arrays, lam, .. }
            | Self::WithAcc { arrays, lam, .. } => {
                lam.params.iter().zip(arrays).for_each(|(p, a)| f(*p, *a));
            }
        }
    }

    fn has_effect(&self) -> bool {
        matches!(self, Self::Array(ArrayOp::Trace(_) | ArrayOp::Stream(_)))
    }

    fn is_shareable(&self) -> bool {
        match self {
            Self::Array(op) => op.is_shareable(),
            Self::Screma { .. }
            | Self::Hist { .. }
            | Self::Scatter { .. }
            | Self::Filter { .. }
            | Self::FlatMap { .. }
            | Self::WithAcc { .. }
            | Self::UpdateAcc(_) => false,
        }
    }
}
