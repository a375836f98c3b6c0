//! Types of array operations.

use super::{Types, Verify};
use crate::ir::array::{ArrayOp, SliceDim, Stream, StreamOp};
use crate::ir::id::Var;
use crate::ir::syntax::Atom;
use crate::ir::types::{Dim, ScalarType, Size, Type, is_ragged};
use crate::ir::typing;

impl<'p, D: Verify> Types<'_, 'p, D> {
    /// Checks an array operation and what it binds.
    pub(super) fn array_op(&mut self, op: &'p ArrayOp, binds: &'p [Var]) {
        if !self.operands_fit(op) {
            return;
        }
        if let ArrayOp::Trace(_) = op {
            return self.binds(binds, &[]);
        }
        if let ArrayOp::Stream(stream) = op {
            return self.stream(stream, binds);
        }
        match typing::array_op(self.vars(), op) {
            Some(ty) if matches!(op, ArrayOp::Index { indices, .. } if !indices.is_empty()) => {
                self.row(&ty, binds);
            }
            Some(ty) => self.binds(binds, &[ty]),
            None => self.fault("the operands do not fit the operation"),
        }
    }

    /// Checks what a step of a sequence binds.
    fn stream(&mut self, stream: &Stream, binds: &'p [Var]) {
        match stream.op {
            StreamOp::Next => {
                if stream.args.len() != 2 {
                    self.fault("needs what came before and what is left");
                }
                self.binds(binds, &[Type::I64]);
            }
            StreamOp::Read => {
                let types: Vec<Type> = binds.iter().map(|&v| self.var(v).clone()).collect();
                if types.first() != Some(&Type::I64) || stream.args.len() != 1 {
                    self.fault("reads without saying how much");
                }
                self.binds(binds, &types);
            }
            StreamOp::Write => self.binds(binds, &[]),
        }
    }

    /// Checks that a row of this type is bound. Along ragged dimensions its lengths are any sizes.
    fn row(&mut self, row: &Type, binds: &[Var]) {
        let mut row = row.clone();
        if let (Type::Array(row), [bind]) = (&mut row, binds) {
            let stated = self.var(*bind).shape().to_vec();
            for (dim, stated) in row.shape.iter_mut().zip(stated) {
                if matches!((*dim, stated), (Dim::Ragged(_), Dim::Size(_))) {
                    *dim = stated;
                }
            }
        }
        if is_ragged(row.shape()) {
            return self.fault("yields a row that is itself ragged");
        }
        self.binds(binds, &[row]);
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
                self.values(std::slice::from_ref(row));
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
            ArrayOp::Trace(trace) => {
                for a in &trace.values {
                    if !matches!(self.atom(*a), Type::Scalar(_) | Type::Array(_)) {
                        self.fault("shows what is no value");
                    }
                }
                true
            }
            ArrayOp::Stream(stream) => {
                match stream.op {
                    StreamOp::Next | StreamOp::Read => {
                        stream.args.iter().for_each(|n| self.index(*n));
                    }
                    StreamOp::Write => {
                        for a in &stream.args {
                            if !matches!(self.atom(*a), Type::Scalar(_) | Type::Array(_)) {
                                self.fault("writes what is no value");
                            }
                        }
                    }
                }
                true
            }
            ArrayOp::Concat { arrays, len } => {
                self.size(*len);
                if arrays.is_empty() {
                    self.fault("concatenates nothing");
                    return false;
                }
                let fits = arrays.iter().all(|v| self.rank_at_least(*v, 1));
                arrays.iter().for_each(|v| self.no_ragged(*v));
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
                let whole = matches!(op, ArrayOp::Manifest { .. }) && perm.is_sorted();
                if !whole {
                    self.no_ragged(*array);
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
        let shape = self.var(array).shape();
        if is_ragged(&shape[dims.len()..]) {
            self.fault("takes a part that is itself ragged");
        }
        let mut fixed = true;
        for (dim, extent) in dims.iter().zip(shape) {
            fixed &= matches!(dim, SliceDim::Fix(_));
            if !fixed && matches!(extent, Dim::Ragged(_)) {
                self.fault("takes a range of a ragged dimension or outside of one");
            }
            match *dim {
                SliceDim::Fix(i) => self.index(i),
                SliceDim::Range { start, len, stride } => {
                    self.index(start);
                    self.size(len);
                    self.index(stride);
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

    fn shape(&mut self, shape: &[Dim]) {
        match shape.first() {
            None => self.fault("is given a shape without dimensions"),
            Some(Dim::Ragged(_)) => {
                self.fault("is given a shape whose outermost dimension is ragged")
            }
            Some(Dim::Size(_)) => {}
        }
        for dim in shape {
            match *dim {
                Dim::Size(size) => self.size(size),
                Dim::Ragged(offsets) => self.offsets(offsets),
            }
        }
    }

    /// Offsets are a vector of `i64`.
    pub(super) fn offsets(&mut self, v: Var) {
        if !self.is_offsets(v) {
            let name = self.cx.name(v);
            self.fault(format!(
                "{name} is named as offsets and is no vector of i64"
            ));
        }
    }

    pub(super) fn is_offsets(&self, v: Var) -> bool {
        matches!(self.var(v), Type::Array(a) if a.rank() == 1 && a.elem == ScalarType::I64)
    }

    /// Checks that no dimension of an array is ragged.
    pub(super) fn no_ragged(&mut self, array: Var) {
        let ty = self.var(array);
        if is_ragged(ty.shape()) {
            let (name, ty) = (self.cx.name(array), self.cx.show(ty));
            self.fault(format!(
                "{name} of type {ty} is ragged, which this cannot be given"
            ));
        }
    }
}
