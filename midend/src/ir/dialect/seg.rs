//! The flat dialect as generic passes see it.

use super::Dialect;
use super::operand::{
    accumulation, accumulation_scopes, accumulation_scopes_mut, dests, hists, map_accumulation,
    map_dests, map_hists, map_operators, map_size, map_update_acc, map_var, operator_scopes,
    operator_scopes_mut, operators, size, update_acc,
};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegSpace, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp};
use crate::ir::types::Dim;
use crate::ir::walk::all_stms;

impl From<ArrayOp> for Seg {
    fn from(op: ArrayOp) -> Self {
        Self::Array(op)
    }
}

impl From<ArrayOp> for Exp<Seg> {
    fn from(op: ArrayOp) -> Self {
        Self::Op(Seg::Array(op))
    }
}

impl SpaceDim {
    /// The dimension of an array over the space.
    pub const fn as_dim(self) -> Dim {
        match self {
            Self::Regular(n) => Dim::Size(n),
            Self::Ragged { offsets } => Dim::Ragged(offsets),
        }
    }
}

impl SegSpace {
    /// The index variables, outermost first.
    pub fn indices(&self) -> Vec<Var> {
        self.dims.iter().map(|(v, _)| *v).collect()
    }

    /// Calls `f` on every extent that is a variable, and on every offsets vector.
    pub fn extents(&self, f: &mut dyn FnMut(Atom)) {
        for (_, dim) in &self.dims {
            match *dim {
                SpaceDim::Regular(n) => size(n, f),
                SpaceDim::Ragged { offsets } => f(Atom::Var(offsets)),
            }
        }
    }
}

/// Whether a block of threads works on each point of an operation with this body: it holds operations that these share out.
pub fn is_by_blocks(body: &Body<Seg>) -> bool {
    let mut shared = false;
    all_stms(body, &mut |stm| {
        shared |= matches!(&stm.exp, Exp::Op(Seg::Par(op)) if op.level == Level::Block);
    });
    shared
}

impl Dialect for Seg {
    const NAME: &'static str = "flat";
    const IS_PURE: bool = true;

    fn operands(&self, f: &mut dyn FnMut(Atom)) {
        let op = match self {
            Self::Array(op) => return op.operands(f),
            Self::UpdateAcc(update) => return update_acc(update, f),
            Self::Par(op) => op,
        };
        op.space.extents(f);
        match &op.kind {
            SegKind::Map | SegKind::Filter => {}
            SegKind::Red(ops) | SegKind::Scan(ops) => operators(ops, f),
            SegKind::Hist(ops) => hists(ops, f),
            SegKind::Scatter(to) => dests(to, f),
            SegKind::WithAcc(acc) => accumulation(acc, f),
        }
    }

    fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        let op = match self {
            Self::Array(op) => return op.map_operands(f),
            Self::UpdateAcc(update) => return map_update_acc(update, f),
            Self::Par(op) => op,
        };
        for (_, dim) in &mut op.space.dims {
            match dim {
                SpaceDim::Regular(n) => map_size(n, f),
                SpaceDim::Ragged { offsets } => map_var(offsets, f),
            }
        }
        match &mut op.kind {
            SegKind::Map | SegKind::Filter => {}
            SegKind::Red(ops) | SegKind::Scan(ops) => map_operators(ops, f),
            SegKind::Hist(ops) => map_hists(ops, f),
            SegKind::Scatter(dests) => map_dests(dests, f),
            SegKind::WithAcc(acc) => map_accumulation(acc, f),
        }
    }

    fn consumed(&self, f: &mut dyn FnMut(Var)) {
        match self {
            Self::Array(op) => op.consumed().into_iter().for_each(f),
            Self::Par(op) => match &op.kind {
                SegKind::Map | SegKind::Filter | SegKind::Red(_) | SegKind::Scan(_) => {}
                SegKind::Hist(ops) => ops.iter().flat_map(|op| &op.dests).for_each(|v| f(*v)),
                SegKind::Scatter(dests) => dests.iter().for_each(|d| f(d.array)),
                SegKind::WithAcc(acc) => acc.dests.iter().for_each(|v| f(*v)),
            },
            Self::UpdateAcc(update) => update.accs.iter().for_each(|v| f(*v)),
        }
    }

    fn aliased(&self) -> Option<Var> {
        match self {
            Self::Array(op) => op.aliased(),
            Self::Par(_) | Self::UpdateAcc(_) => None,
        }
    }

    fn scopes<'a>(&'a self, f: &mut dyn FnMut(&[Var], &'a Body<Self>)) {
        let op = match self {
            Self::Array(_) | Self::UpdateAcc(_) => return,
            Self::Par(op) => op,
        };
        if let SegKind::WithAcc(acc) = &op.kind {
            return accumulation_scopes(acc, &op.space.indices(), &op.body, f);
        }
        f(&op.space.indices(), &op.body);
        match &op.kind {
            SegKind::Map | SegKind::Filter | SegKind::Scatter(_) | SegKind::WithAcc(_) => {}
            SegKind::Red(ops) | SegKind::Scan(ops) => operator_scopes(ops, f),
            SegKind::Hist(ops) => operator_scopes(ops.iter().map(|op| &op.op), f),
        }
    }

    fn scopes_mut(&mut self, f: &mut dyn FnMut(&mut [Var], &mut Body<Self>)) {
        let op = match self {
            Self::Array(_) | Self::UpdateAcc(_) => return,
            Self::Par(op) => op,
        };
        let mut indices = op.space.indices();
        match &mut op.kind {
            SegKind::WithAcc(acc) => {
                accumulation_scopes_mut(acc, &mut indices, &mut op.body, f);
            }
            SegKind::Map
            | SegKind::Red(_)
            | SegKind::Scan(_)
            | SegKind::Hist(_)
            | SegKind::Filter
            | SegKind::Scatter(_) => f(&mut indices, &mut op.body),
        }
        for (dim, index) in op.space.dims.iter_mut().zip(indices) {
            dim.0 = index;
        }
        match &mut op.kind {
            SegKind::Map | SegKind::Filter | SegKind::Scatter(_) | SegKind::WithAcc(_) => {}
            SegKind::Red(ops) | SegKind::Scan(ops) => operator_scopes_mut(ops, f),
            SegKind::Hist(ops) => operator_scopes_mut(ops.iter_mut().map(|op| &mut op.op), f),
        }
    }

    fn as_array(&self) -> Option<&ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Par(_) | Self::UpdateAcc(_) => None,
        }
    }

    fn as_array_mut(&mut self) -> Option<&mut ArrayOp> {
        match self {
            Self::Array(op) => Some(op),
            Self::Par(_) | Self::UpdateAcc(_) => None,
        }
    }

    fn index_bounds(&self, f: &mut dyn FnMut(Var, Atom)) {
        let Self::Par(op) = self else { return };
        for (index, dim) in &op.space.dims {
            match *dim {
                SpaceDim::Regular(n) => f(*index, n.into()),
                SpaceDim::Ragged { .. } => {}
            }
        }
    }

    fn elements(&self, _f: &mut dyn FnMut(Var, Var)) {}

    fn has_effect(&self) -> bool {
        matches!(self, Self::Array(ArrayOp::Trace(_) | ArrayOp::Stream(_)))
    }

    fn is_shareable(&self) -> bool {
        match self {
            Self::Array(op) => op.is_shareable(),
            Self::Par(_) | Self::UpdateAcc(_) => false,
        }
    }
}
