//! Loops of host code whose outermost points need nothing of each other: what a nest of maps has become with which a loop changed places
//! (rule G7).
//!
//! ```text
//! loop us = xss for k < t {                     each us[i] is computed from us[i] and from what there was before the loop,
//!   vs = segmap (i < n, j < m) { us[i, j] + us[i, m - 1 - j] }
//!   segmap (i < n, j < m) { vs[i, j] * ys[j] }
//! }                                             so all steps of some i may come before all steps of others
//! ```
//!
//! Where all of it is more than a cache holds, a back end does all steps of a few points after one another, while what they hand on is near
//! ([`crate::device::Device::parts`]). Flattening has taken this locality away for the sake of parallelism; where there are more points than processors, it
//! can be had back.

use crate::hash::HashSet;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, Vars};
use crate::ir::types::{Dim, Size};
use crate::ir::walk::deep;

/// The outermost extent of all that such a loop hands on, if it is one.
pub fn apart(
    vars: &Vars,
    params: &[LoopParam],
    form: &LoopForm<Seg>,
    body: &Body<Seg>,
) -> Option<Size> {
    let arrays = || params.iter().filter(|p| vars[p.var].ty.is_array());
    let extent = match vars[arrays().next()?.var].ty.shape().first()? {
        Dim::Size(extent) => *extent,
        Dim::Ragged(_) => return None,
    };
    let mut look = Look {
        vars,
        extent,
        rows: HashSet::default(),
    };
    look.made(arrays().map(|p| p.var))?;
    match form {
        LoopForm::For { .. } => look.host(body)?,
        LoopForm::While(_) => return None,
    }
    Some(extent)
}

struct Look<'a> {
    vars: &'a Vars,
    /// How many points there are.
    extent: Size,
    /// Arrays of which each point has a row of its own: what steps make and hand on.
    rows: HashSet<Var>,
}

impl Look<'_> {
    /// Notes that points have rows of these, if there are as many rows as points.
    fn made(&mut self, arrays: impl IntoIterator<Item = Var>) -> Option<()> {
        for array in arrays {
            let ty = &self.vars[array].ty;
            if !ty.is_array() || ty.shape().first() != Some(&Dim::Size(self.extent)) {
                return None;
            }
            self.rows.insert(array);
        }
        Some(())
    }

    fn is_row(&self, atom: Atom) -> bool {
        atom.as_var().is_some_and(|v| self.rows.contains(&v))
    }

    fn arrays_of<'b>(&'b self, stm: &'b Stm<Seg>) -> impl Iterator<Item = Var> + use<'b> {
        let arrays = stm.binds.iter().copied();
        arrays.filter(|v| self.vars[*v].ty.is_array())
    }

    /// Code outside of kernels: nothing but scalars, and arrays that have a row for each point.
    fn host(&mut self, body: &Body<Seg>) -> Option<()> {
        body.stms.iter().try_for_each(|stm| match &stm.exp {
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => Some(()),
            Exp::Atom(_) => {
                let arrays: Vec<Var> = self.arrays_of(stm).collect();
                self.made(arrays)
            }
            Exp::If {
                then, otherwise, ..
            } => {
                deep(|| self.host(then))?;
                deep(|| self.host(otherwise))?;
                let arrays: Vec<Var> = self.arrays_of(stm).collect();
                self.made(arrays)
            }
            Exp::Loop { params, form, body } => {
                let carried = params.iter().map(|p| p.var);
                let arrays: Vec<Var> = carried
                    .filter(|v| self.vars[*v].ty.is_array())
                    .chain(self.arrays_of(stm))
                    .collect();
                self.made(arrays)?;
                if let LoopForm::While(cond) = form {
                    deep(|| self.host(cond))?;
                }
                deep(|| self.host(body))
            }
            Exp::Op(Seg::Par(op)) => {
                self.kernel(op)?;
                self.made(stm.binds.iter().copied())
            }
            Exp::Op(Seg::Array(op)) => {
                self.array(op)?;
                self.made(stm.binds.iter().copied())
            }
            Exp::Call { .. } | Exp::Op(Seg::UpdateAcc(_)) => None,
        })
    }

    /// An operation on whole arrays, if it leaves rows where they are.
    fn array(&self, op: &ArrayOp) -> Option<()> {
        let fits = match op {
            // Wherever elements are in memory, they have the same indices.
            ArrayOp::Copy(_) | ArrayOp::Scratch { .. } | ArrayOp::Manifest { .. } => true,
            ArrayOp::Rearrange { perm, .. } => perm.first() == Some(&0),
            // Neither has what it makes fewer rows, nor more: so elements stay in theirs.
            ArrayOp::Reshape { .. } => true,
            ArrayOp::Replicate { value, .. } => !self.is_row(*value),
            ArrayOp::Index { .. }
            | ArrayOp::Slice { .. }
            | ArrayOp::Update { .. }
            | ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Concat { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => false,
        };
        fits.then_some(())
    }

    /// A kernel whose points begin with the points of the loop, and read no row but theirs.
    fn kernel(&mut self, op: &SegOp) -> Option<()> {
        let is_regular = |dim: &(Var, SpaceDim)| matches!(dim.1, SpaceDim::Regular(_));
        let (point, first) = *op.space.dims.first()?;
        let fits = op.level == Level::Device
            && matches!(op.kind, SegKind::Map)
            && first == SpaceDim::Regular(self.extent)
            && op.space.dims.iter().all(is_regular);
        if !fits {
            return None;
        }
        self.point(point, &op.body)
    }

    /// What a point does.
    fn point(&mut self, point: Var, body: &Body<Seg>) -> Option<()> {
        for stm in &body.stms {
            let is_own = |atom: Option<&Atom>| atom == Some(&Atom::Var(point));
            let own_row = match &stm.exp {
                Exp::Op(Seg::Array(ArrayOp::Index { indices, .. })) => is_own(indices.first()),
                Exp::Op(Seg::Array(ArrayOp::Slice { dims, .. })) => match dims.first() {
                    Some(SliceDim::Fix(index)) => is_own(Some(index)),
                    Some(SliceDim::Range { .. }) | None => false,
                },
                Exp::Op(Seg::Array(ArrayOp::Rearrange { perm, array }))
                    if self.rows.contains(array) =>
                {
                    self.rows.extend(&stm.binds);
                    perm.first() == Some(&0)
                }
                Exp::Op(_)
                | Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Loop { .. }
                | Exp::Call { .. } => false,
            };
            let mut reads = false;
            stm.exp.operands(&mut |atom| reads |= self.is_row(atom));
            if reads && !own_row {
                return None;
            }
            let mut inside = Some(());
            stm.exp.scopes(&mut |_, body| {
                inside = inside.and_then(|()| deep(|| self.point(point, body)));
            });
            inside?;
        }
        let hands_on = body.result.iter().any(|atom| self.is_row(*atom));
        (!hands_on).then_some(())
    }
}
