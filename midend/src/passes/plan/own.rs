//! Maps that read of an array only what is at the place where they put something: their results may be put into that array, as each
//! point is through with its element before it writes it, and no other point reads it.
//!
//! ```text
//! let t = segmap (i < m, j < m) {
//!   let r = i + e; let c = j + e
//!   let x = index a[r, c]                       ──►   reads a where an update of a[e.., e..] with t writes
//!   ..
//! }
//! let b = a with [e.., e..] = t
//! ```

use super::Cx;
use super::view::View;
use crate::hash::HashMap;
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, ScalarOp};
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Atom, Body, Exp, Stm};
use crate::ir::types::{ScalarType, Type};
use crate::ir::walk::{all_stms, free_in_stm};

/// What is written: an array, and which part of it.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) array: &'a View,
    pub(super) dims: &'a [SliceDim],
}

impl Cx<'_> {
    /// Whether a statement that makes what is put into a part of an array reads the array only in maps, whose points read it where they
    /// write it, and after which nothing does.
    pub(super) fn reads_own_places(&self, stm: &Stm<Seg>, k: usize, part: Part<'_>) -> bool {
        if !self.touches(stm, part) {
            return true;
        }
        match &stm.exp {
            Exp::Op(Seg::Par(op)) => self.map_reads_own_places(op, part),
            Exp::If {
                then, otherwise, ..
            } => [then, otherwise].into_iter().all(|branch| {
                let made = branch.result[k].as_var();
                let made = made.and_then(|v| self.definitions.definition(&branch.stms, v));
                branch.stms.iter().enumerate().all(|(i, stm)| match made {
                    Some((at, k)) if at == i => self.reads_own_places(stm, k, part),
                    Some(_) | None => !self.touches(stm, part),
                })
            }),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        }
    }

    fn touches(&self, stm: &Stm<Seg>, part: Part<'_>) -> bool {
        let free = free_in_stm(&self.vars, stm);
        free.iter().any(|v| self.is_in(*v, part))
    }

    /// Whether a variable may be in the memory of the array.
    fn is_in(&self, var: Var, part: Part<'_>) -> bool {
        let view = self.views.get(&var);
        view.is_some_and(|view| self.may_alias(view.buffer, part.array.buffer))
    }

    fn map_reads_own_places(&self, op: &SegOp, part: Part<'_>) -> bool {
        let dims = &op.space.dims;
        let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
        let map = matches!(op.kind, SegKind::Map) && op.level == Level::Device;
        let ranges = |dim: &&SliceDim| matches!(dim, SliceDim::Range { .. });
        let whole = part.dims.len() == part.array.strides.len();
        let as_many = part.dims.iter().filter(ranges).count() == dims.len();
        if !(map && whole && as_many && dims.iter().all(regular)) {
            return false;
        }
        let indices: Vec<Var> = dims.iter().map(|(index, _)| *index).collect();
        let sums = sums(&op.body);
        let mut own = true;
        all_stms(&op.body, &mut |stm| {
            own &= match &stm.exp {
                Exp::Op(Seg::Array(ArrayOp::Index {
                    array,
                    indices: read,
                })) => {
                    !self.is_in(*array, part)
                        || self.is_own_place((*array, read), (&indices, &sums), part)
                }
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::If { .. }
                | Exp::Loop { .. } => true,
                Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => false,
            };
            // Of arrays inside of a point nobody knows here where they are.
            own &= stm
                .binds
                .iter()
                .all(|v| matches!(self.vars[*v].ty, Type::Scalar(_) | Type::Cert));
        });
        own
    }

    /// Whether a point reads the element that it writes.
    fn is_own_place(
        &self,
        (array, read): (Var, &[Atom]),
        (indices, sums): (&[Var], &HashMap<Var, [Atom; 2]>),
        part: Part<'_>,
    ) -> bool {
        let same = |view: &View| view.same(part.array) && read.len() == part.dims.len();
        if !self.views.get(&array).is_some_and(same) {
            return false;
        }
        let mut indices = indices.iter();
        read.iter().zip(part.dims).all(|(at, dim)| match *dim {
            SliceDim::Fix(fixed) => self.atom(*at) == self.atom(fixed),
            SliceDim::Range { start, stride, .. } => {
                let Some(index) = indices.next().map(|v| Atom::Var(*v)) else {
                    return false;
                };
                let start = self.atom(start);
                let first = start == Atom::ZERO && *at == index;
                let ahead = at.as_var().and_then(|v| sums.get(&v));
                let ahead = ahead.is_some_and(|[a, b]| {
                    let pairs = [(*a, *b), (*b, *a)];
                    pairs
                        .iter()
                        .any(|(a, b)| *a == index && self.atom(*b) == start)
                });
                stride == Atom::ONE && (first || ahead)
            }
        })
    }
}

/// The operands of the sums of indices in a body.
fn sums(body: &Body<Seg>) -> HashMap<Var, [Atom; 2]> {
    let mut sums = HashMap::default();
    all_stms(body, &mut |stm| {
        if let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args) = &stm.exp {
            sums.insert(stm.binds[0], [args[0], args[1]]);
        }
    });
    sums
}
