//! The array operations as generic passes see them; the dialects that have them delegate to here.

use super::operand::{dim, map_atom, map_dim, map_size, map_ty, map_var, size, ty};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::syntax::Atom;

impl ArrayOp {
    /// Calls `f` on every operand.
    pub fn operands(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Index { array, indices } => {
                f(Atom::Var(*array));
                indices.iter().for_each(|a| f(*a));
            }
            Self::Slice { array, dims } => {
                f(Atom::Var(*array));
                slice(dims, f);
            }
            Self::Update { array, dims, value } => {
                f(Atom::Var(*array));
                slice(dims, f);
                f(*value);
            }
            Self::Literal { elems, row } => {
                elems.iter().for_each(|a| f(*a));
                ty(row, f);
            }
            Self::Iota {
                len,
                start,
                step,
                ty: _,
            } => {
                size(*len, f);
                f(*start);
                f(*step);
            }
            Self::Replicate { shape, value } => {
                shape.iter().for_each(|d| dim(*d, f));
                f(*value);
            }
            Self::Scratch { elem: _, shape } => shape.iter().for_each(|d| dim(*d, f)),
            Self::Copy(array) => f(Atom::Var(*array)),
            Self::Concat { arrays, len } => {
                arrays.iter().for_each(|v| f(Atom::Var(*v)));
                size(*len, f);
            }
            Self::Rearrange { perm: _, array } | Self::Manifest { perm: _, array } => {
                f(Atom::Var(*array));
            }
            Self::Reshape { shape, array } => {
                shape.iter().for_each(|d| dim(*d, f));
                f(Atom::Var(*array));
            }
            Self::Trace(trace) => trace.values.iter().for_each(|a| f(*a)),
            Self::Stream(stream) => stream.args.iter().for_each(|a| f(*a)),
        }
    }

    /// Replaces every operand. Arrays must be replaced by variables.
    pub fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        match self {
            Self::Index { array, indices } => {
                map_var(array, f);
                indices.iter_mut().for_each(|a| map_atom(a, f));
            }
            Self::Slice { array, dims } => {
                map_var(array, f);
                map_slice(dims, f);
            }
            Self::Update { array, dims, value } => {
                map_var(array, f);
                map_slice(dims, f);
                map_atom(value, f);
            }
            Self::Literal { elems, row } => {
                elems.iter_mut().for_each(|a| map_atom(a, f));
                map_ty(row, f);
            }
            Self::Iota {
                len,
                start,
                step,
                ty: _,
            } => {
                map_size(len, f);
                map_atom(start, f);
                map_atom(step, f);
            }
            Self::Replicate { shape, value } => {
                shape.iter_mut().for_each(|d| map_dim(d, f));
                map_atom(value, f);
            }
            Self::Scratch { elem: _, shape } => shape.iter_mut().for_each(|d| map_dim(d, f)),
            Self::Copy(array) => map_var(array, f),
            Self::Concat { arrays, len } => {
                arrays.iter_mut().for_each(|v| map_var(v, f));
                map_size(len, f);
            }
            Self::Rearrange { perm: _, array } | Self::Manifest { perm: _, array } => {
                map_var(array, f);
            }
            Self::Reshape { shape, array } => {
                shape.iter_mut().for_each(|d| map_dim(d, f));
                map_var(array, f);
            }
            Self::Trace(trace) => trace.values.iter_mut().for_each(|a| map_atom(a, f)),
            Self::Stream(stream) => stream.args.iter_mut().for_each(|a| map_atom(a, f)),
        }
    }

    /// The array that the operation consumes, if it consumes one.
    pub const fn consumed(&self) -> Option<Var> {
        match self {
            Self::Update { array, .. } => Some(*array),
            Self::Index { .. }
            | Self::Slice { .. }
            | Self::Literal { .. }
            | Self::Iota { .. }
            | Self::Replicate { .. }
            | Self::Scratch { .. }
            | Self::Copy(_)
            | Self::Concat { .. }
            | Self::Rearrange { .. }
            | Self::Reshape { .. }
            | Self::Manifest { .. }
            | Self::Trace(_)
            | Self::Stream(_) => None,
        }
    }

    /// The array that the result of the operation aliases, if it is not fresh. An index that yields a scalar is said to
    /// alias here; that a scalar aliases nothing is for the caller to see.
    pub const fn aliased(&self) -> Option<Var> {
        match self {
            Self::Index { array, .. }
            | Self::Slice { array, .. }
            | Self::Rearrange { array, .. }
            | Self::Reshape { array, .. } => Some(*array),
            Self::Update { .. }
            | Self::Literal { .. }
            | Self::Iota { .. }
            | Self::Replicate { .. }
            | Self::Scratch { .. }
            | Self::Copy(_)
            | Self::Concat { .. }
            | Self::Manifest { .. }
            | Self::Trace(_)
            | Self::Stream(_) => None,
        }
    }

    /// Whether two equal operations may share their result: whatever makes a fresh array may not, for each may be
    /// consumed on its own, and an update consumes.
    pub const fn is_shareable(&self) -> bool {
        match self {
            Self::Index { .. }
            | Self::Slice { .. }
            | Self::Rearrange { .. }
            | Self::Reshape { .. } => true,
            Self::Update { .. }
            | Self::Literal { .. }
            | Self::Iota { .. }
            | Self::Replicate { .. }
            | Self::Scratch { .. }
            | Self::Copy(_)
            | Self::Concat { .. }
            | Self::Manifest { .. }
            | Self::Trace(_)
            | Self::Stream(_) => false,
        }
    }
}

fn slice(dims: &[SliceDim], f: &mut dyn FnMut(Atom)) {
    for dim in dims {
        match *dim {
            SliceDim::Fix(i) => f(i),
            SliceDim::Range { start, len, stride } => {
                f(start);
                size(len, f);
                f(stride);
            }
        }
    }
}

fn map_slice(dims: &mut [SliceDim], f: &mut dyn FnMut(Atom) -> Atom) {
    for dim in dims {
        match dim {
            SliceDim::Fix(i) => map_atom(i, f),
            SliceDim::Range { start, len, stride } => {
                map_atom(start, f);
                map_size(len, f);
                map_atom(stride, f);
            }
        }
    }
}
