//! Types of array operations.

use super::{Types, Verify};
use crate::ir::array::{ArrayOp, SliceDim};
use crate::ir::id::Var;
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType, Size, Type};
use crate::ir::typing;

impl<'p, D: Verify> Types<'_, 'p, D> {
    /// Checks an array operation and what it binds.
    pub(super) fn array_op(&mut self, op: &'p ArrayOp, binds: &'p [Var]) {
        if !self.operands_fit(op) {
            return;
        }
        match typing::array_op(self.vars(), op) {
            Some(ty) if matches!(ty.shape().first(), Some(Dim::Ragged(_))) => {
                self.fault("yields an array with a ragged outermost dimension");
            }
            Some(ty) => self.binds(binds, &[ty]),
            None => self.fault("the operands do not fit the operation"),
        }
    }

    /// Checks the operands; yields false if the type of the result is not worth asking for.
    fn operands_fit(&mut self, op: &'p ArrayOp) -> bool {
        match op {
            ArrayOp::Index { array, indices } => {
                indices.iter().for_each(|i| self.index(*i));
                self.rank_at_least(*array, indices.len().max(1))
            }
            ArrayOp::Slice { array, dims } => self.slice(*array, dims),
            ArrayOp::Update { array, dims, value } => {
                if !self.slice(*array, dims) {
                    return false;
                }
                if let Some(part) = typing::slice(self.var(*array), dims) {
                    let found = self.atom(*value);
                    self.fits("the value", &found, &part);
                }
                true
            }
            ArrayOp::Literal { elems, row } => {
                for a in elems {
                    let found = self.atom(*a);
                    self.fits("an element", &found, row);
                }
                matches!(row, Type::Scalar(_) | Type::Array(_))
            }
            ArrayOp::Iota {
                len,
                start,
                step,
                ty,
            } => {
                self.size(*len);
                self.scalar("the start", *start, *ty);
                self.scalar("the step", *step, *ty);
                if *ty == ScalarType::Bool {
                    self.fault("there are no ranges of truth values");
                }
                true
            }
            ArrayOp::Replicate { shape, value } => {
                self.shape(shape);
                let ty = self.atom(*value);
                self.values(std::slice::from_ref(&ty));
                matches!(ty, Type::Scalar(_) | Type::Array(_))
            }
            ArrayOp::Scratch { elem: _, shape } => {
                self.shape(shape);
                true
            }
            ArrayOp::Copy(array) => self.rank_at_least(*array, 1),
            ArrayOp::Concat { arrays, len } => {
                self.size(*len);
                if arrays.is_empty() {
                    self.fault("concatenates nothing");
                    return false;
                }
                let fits = arrays.iter().all(|v| self.rank_at_least(*v, 1));
                let row = self.var(arrays[0]).peel(1);
                for v in &arrays[1..] {
                    if let (Some(row), Some(found)) = (&row, self.var(*v).peel(1)) {
                        self.fits("a row", &found, row);
                    }
                }
                fits
            }
            ArrayOp::Rearrange { perm, array } | ArrayOp::Manifest { perm, array } => {
                let mut seen = perm.clone();
                seen.sort_unstable();
                if !seen.into_iter().eq(0..self.var(*array).rank()) {
                    self.fault("is given no permutation of the dimensions");
                    return false;
                }
                self.rank_at_least(*array, 1)
            }
            ArrayOp::Reshape { shape, array } => {
                self.shape(shape);
                self.rank_at_least(*array, 1)
            }
        }
    }

    fn rank_at_least(&mut self, array: Var, rank: usize) -> bool {
        let ty = self.var(array);
        let fits = ty.is_array() && ty.rank() >= rank;
        if !fits {
            let (name, ty) = (self.cx.name(array), self.cx.show(ty));
            self.fault(format!(
                "{name} of type {ty} has fewer than {rank} dimensions"
            ));
        }
        fits
    }

    fn slice(&mut self, array: Var, dims: &[SliceDim]) -> bool {
        if !self.rank_at_least(array, dims.len()) {
            return false;
        }
        for (dim, extent) in dims.iter().zip(self.var(array).shape()) {
            match *dim {
                SliceDim::Fix(i) => self.index(i),
                SliceDim::Range { start, len, stride } => {
                    self.index(start);
                    self.size(len);
                    self.index(stride);
                    if matches!(extent, Dim::Ragged(_)) {
                        self.fault("takes a range of a ragged dimension");
                    }
                }
            }
        }
        true
    }

    /// An index is an `i64`.
    pub(super) fn index(&mut self, i: Atom) {
        self.scalar("an index", i, ScalarType::I64);
    }

    /// A size is an `i64`. A negative constant is no fault: the check before it always fails.
    pub(super) fn size(&mut self, size: Size) {
        match size {
            Size::Const(_) => {}
            Size::Var(v) => self.scalar("a size", v.into(), ScalarType::I64),
        }
    }

    fn shape(&mut self, shape: &[Size]) {
        if shape.is_empty() {
            self.fault("is given a shape without dimensions");
        }
        shape.iter().for_each(|s| self.size(*s));
    }
}
