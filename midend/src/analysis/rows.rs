//! Whether code reduces rows whose elements lie side by side (thesis 8: which version of a nest is the better one).
//!
//! ```text
//! segred (i < n, j < m) { xss[i, j] } reduce comm (0) (+)               yes
//! segred (i < n, j < m) { xss[i, j] * ys[j] } reduce comm (0) (+)       yes
//! segred (i < n, j < m) { xss[j, i] } reduce comm (0) (+)               no: neighbouring rows have neighbouring elements
//! segred (i < n, j < m) { xs[i] - ys[j] } reduce comm (0) (+)           no: all rows read the same elements
//! ```
//!
//! A processor with vector registers fetches several elements of such a row at once and adds them side by side, as the order of
//! operands is free. If a point goes through its row in a loop, points that are worked on together read far apart.

use super::access::{Along, access};
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, Stm, Vars};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::all_stms;

/// The length of the rows, if a body reduces such rows and all else that it does is short or goes along them, too.
pub fn along_rows(vars: &Vars, body: &Body<Seg>) -> Option<Atom> {
    let mut operations = Vec::new();
    for stm in &body.stms {
        match &stm.exp {
            Exp::Op(Seg::Par(op)) => operations.push(op),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Op(Seg::Array(ArrayOp::Index { .. } | ArrayOp::Rearrange { .. })) => {}
            Exp::Op(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return None,
        }
    }
    let is_reduction = |op: &&&SegOp| matches!(op.kind, SegKind::Red(_));
    let first = *operations.iter().find(is_reduction)?;
    let length = length(first)?;
    let bound_inside = |v: Var| body.stms.iter().any(|stm| stm.binds.contains(&v));
    let rank = first.space.dims.len();
    let fits = |op: &&SegOp| match &op.kind {
        SegKind::Red(_) => self::length(op) == Some(length) && reduces_rows(vars, op),
        SegKind::Map if op.space.dims.len() < rank => is_short(&op.body),
        SegKind::Map => op.space.dims.len() == rank && goes_along(vars, op).is_some(),
        SegKind::Scan(_)
        | SegKind::Filter
        | SegKind::Hist(_)
        | SegKind::Scatter(_)
        | SegKind::WithAcc(_) => false,
    };
    let known = !length.as_var().is_some_and(bound_inside);
    (known && operations.iter().all(fits)).then_some(length)
}

/// The length of the rows, if a body maps along rows of points and all else that it does is to map fewer dimensions, whose results are
/// short beside those.
pub fn maps_rows(body: &Body<Seg>) -> Option<Atom> {
    let mut operations = Vec::new();
    for stm in &body.stms {
        match &stm.exp {
            Exp::Op(Seg::Par(op)) => operations.push(op),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Op(Seg::Array(ArrayOp::Index { .. } | ArrayOp::Rearrange { .. })) => {}
            Exp::Op(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return None,
        }
    }
    let (last, before) = operations.split_last()?;
    let length = length(last)?;
    let rank = last.space.dims.len();
    let fits = |op: &SegOp| {
        let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
        let map = matches!(op.kind, SegKind::Map) && op.level == Level::Device;
        map && op.space.dims.iter().all(regular)
    };
    let fewer = |op: &&SegOp| fits(op) && op.space.dims.len() < rank;
    let bound_inside = |v: Var| body.stms.iter().any(|stm| stm.binds.contains(&v));
    let known = !length.as_var().is_some_and(bound_inside);
    (known && rank > 1 && fits(last) && before.iter().all(fewer)).then_some(length)
}

/// Whether all that a body does is to reduce rows whose lengths differ, with operators whose operands may be exchanged, and what is
/// short: what comes before (where rows begin, checks) and after it for each row.
pub fn reduces_ragged_rows(body: &Body<Seg>) -> bool {
    let mut reduces = false;
    for stm in &body.stms {
        match &stm.exp {
            Exp::Op(Seg::Par(op)) => {
                let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
                let ragged = !op.space.dims.iter().all(regular);
                let short = is_short(&op.body);
                match &op.kind {
                    SegKind::Red(ops) if ragged => {
                        reduces |= op.level == Level::Device;
                        if !short || !ops.iter().all(|op| op.comm && is_short(&op.lam.body)) {
                            return false;
                        }
                    }
                    SegKind::Map | SegKind::Scan(_) | SegKind::Red(_) if !ragged && short => {}
                    SegKind::Map
                    | SegKind::Red(_)
                    | SegKind::Scan(_)
                    | SegKind::Filter
                    | SegKind::Hist(_)
                    | SegKind::Scatter(_)
                    | SegKind::WithAcc(_) => return false,
                }
            }
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Op(Seg::Array(_)) => {}
            Exp::Op(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return false,
        }
    }
    reduces
}

/// Whether all that a body does is to reduce columns, with operators of numbers of one type, and what is short before or after it.
pub fn reduces_columns(vars: &Vars, body: &Body<Seg>) -> bool {
    let mut reduces = false;
    for stm in &body.stms {
        match &stm.exp {
            Exp::Op(Seg::Par(op)) => {
                let rank = op.space.dims.len();
                let short = is_short(&op.body);
                match &op.kind {
                    SegKind::Red(operators) if rank > 1 => {
                        let numbers = |body| Numbers { vars, ty: None }.are(body);
                        let operators = operators.iter().all(|op| numbers(&op.lam.body));
                        if !operators || !goes_across(vars, op) {
                            return false;
                        }
                        reduces = true;
                    }
                    SegKind::Map | SegKind::Red(_) if rank == 1 && short => {}
                    SegKind::Map
                    | SegKind::Red(_)
                    | SegKind::Scan(_)
                    | SegKind::Filter
                    | SegKind::Hist(_)
                    | SegKind::Scatter(_)
                    | SegKind::WithAcc(_) => return false,
                }
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Op(Seg::Array(ArrayOp::Index { .. } | ArrayOp::Rearrange { .. })) => {}
            Exp::Op(_)
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. } => return false,
        }
    }
    reduces
}

/// The extent of the innermost dimension.
fn length(op: &SegOp) -> Option<Atom> {
    match op.space.dims.last()?.1 {
        SpaceDim::Regular(n) => Some(n.into()),
        SpaceDim::Ragged { .. } => None,
    }
}

/// Whether a body has no loop.
fn is_short(body: &Body<Seg>) -> bool {
    let mut short = true;
    all_stms(body, &mut |stm| {
        short &= !matches!(stm.exp, Exp::Loop { .. } | Exp::Call { .. });
    });
    short
}

/// Whether an operation reduces rows of numbers of one type, whose elements lie side by side.
fn reduces_rows(vars: &Vars, op: &SegOp) -> bool {
    let SegKind::Red(operators) = &op.kind else {
        return false;
    };
    let operators = operators
        .iter()
        .all(|op| op.comm && Numbers { vars, ty: None }.are(&op.lam.body));
    operators && goes_along(vars, op) == Some(Rows::Own)
}

/// Whose rows an operation reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rows {
    /// Each row of points reads one of its own.
    Own,
    /// None does.
    Shared,
}

/// Whether an operation computes with numbers of one type whose places stay or move to the next when the innermost index grows,
/// but do not move to the next with the one around it.
fn goes_along(vars: &Vars, op: &SegOp) -> Option<Rows> {
    let dims = &op.space.dims;
    let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
    let ([.., (row, _), (column, _)], true) = (&dims[..], dims.iter().all(regular)) else {
        return None;
    };
    if op.level != Level::Device || !(Numbers { vars, ty: None }).are(&op.body) {
        return None;
    }
    let indices: Vec<Var> = dims.iter().map(|(index, _)| *index).collect();
    let mut rows = Rows::Shared;
    for read in access(vars, &indices, &op.body).reads {
        if !matches!(vars[read.var].ty, Type::Scalar(_)) {
            continue;
        }
        match (read.along(*column), read.along(*row)) {
            (Along::Next, Along::Apart) => rows = Rows::Own,
            (Along::Next, Along::Same)
            | (Along::Same, Along::Same | Along::Apart | Along::Next) => {}
            (Along::Next, Along::Next | Along::Indirect)
            | (Along::Same, Along::Indirect)
            | (Along::Apart | Along::Indirect, _) => return None,
        }
    }
    Some(rows)
}

/// Whether an operation over two dimensions computes with numbers of one type whose places stay or move to the next when the outer
/// index grows, some of them with the inner one, but do not move to the next with that alone.
fn goes_across(vars: &Vars, op: &SegOp) -> bool {
    let dims = &op.space.dims;
    let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
    let ([(column, _), (row, _)], true) = (&dims[..], dims.iter().all(regular)) else {
        return false;
    };
    if op.level != Level::Device || !(Numbers { vars, ty: None }).are(&op.body) {
        return false;
    }
    let indices: Vec<Var> = dims.iter().map(|(index, _)| *index).collect();
    let reads = access(vars, &indices, &op.body).reads;
    let numbers = reads
        .iter()
        .filter(|read| matches!(vars[read.var].ty, Type::Scalar(_)));
    let mut own = false;
    for read in numbers {
        match (read.along(*column), read.along(*row)) {
            (Along::Next, Along::Apart) => own = true,
            (Along::Same, Along::Same | Along::Next | Along::Apart)
            | (Along::Next, Along::Same) => {}
            (Along::Same, Along::Indirect)
            | (Along::Next, Along::Next | Along::Indirect)
            | (Along::Apart | Along::Indirect, _) => return false,
        }
    }
    own
}

/// Numbers of one type, with which vector registers are filled.
struct Numbers<'v> {
    vars: &'v Vars,
    ty: Option<ScalarType>,
}

impl Numbers<'_> {
    /// Whether a body computes with these only, but for indices, and without a choice.
    fn are(&mut self, body: &Body<Seg>) -> bool {
        let mut fit = true;
        for stm in &body.stms {
            fit &= self.fits(stm);
        }
        for result in &body.result {
            fit &= match result.ty(self.vars) {
                Type::Scalar(ty) => self.is_one(ty),
                Type::Array(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => false,
            };
        }
        fit
    }

    fn fits(&mut self, stm: &Stm<Seg>) -> bool {
        match &stm.exp {
            Exp::Atom(_) | Exp::Op(Seg::Array(ArrayOp::Index { .. })) => true,
            Exp::Scalar(op, _) => {
                let same = (0..op.arity()).all(|k| op.operand(k) == op.result());
                same && (op.result() == ScalarType::I64 || self.is_one(op.result()))
            }
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }

    fn is_one(&mut self, ty: ScalarType) -> bool {
        let vectors = !matches!(ty, ScalarType::Bool | ScalarType::F16);
        vectors && *self.ty.get_or_insert(ty) == ty
    }
}
