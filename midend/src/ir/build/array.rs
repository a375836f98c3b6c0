//! Array operations, for the dialects that have them.

use super::{
    ArrayOp, Atom, Builder, Dialect, Dim, Exp, ScalarType, Size, SliceDim, Type, Var, typing,
};

impl<D: Dialect + From<ArrayOp>> Builder<'_, D> {
    /// An array operation; the type of the result follows from it.
    ///
    /// # Panics
    /// If the operands do not fit the operation.
    pub fn array(&mut self, name: &str, op: ArrayOp) -> Var {
        let ty = typing::array_op(self.vars, &op).expect("the operands fit the array operation");
        self.let_(name, ty, Exp::Op(op.into()))
    }

    /// An element or row; the array itself if there are no indices. Bounds are the caller's to check.
    pub fn index(&mut self, name: &str, array: Var, indices: &[Atom]) -> Var {
        if indices.is_empty() {
            return array;
        }
        let indices = indices.to_vec();
        self.array(name, ArrayOp::Index { array, indices })
    }

    /// A part of an array.
    pub fn slice(&mut self, name: &str, array: Var, dims: Vec<SliceDim>) -> Var {
        self.array(name, ArrayOp::Slice { array, dims })
    }

    /// The array with an element or row replaced, in place.
    pub fn update(&mut self, name: &str, array: Var, indices: &[Atom], value: Atom) -> Var {
        let dims = indices.iter().map(|i| SliceDim::Fix(*i)).collect();
        self.array(name, ArrayOp::Update { array, dims, value })
    }

    /// `0, 1, ..` as `i64`.
    pub fn iota(&mut self, len: Size) -> Var {
        let op = ArrayOp::Iota {
            len,
            start: Atom::ZERO,
            step: Atom::ONE,
            ty: ScalarType::I64,
        };
        self.array("iota", op)
    }

    /// A value repeated over new outer dimensions.
    pub fn replicate(&mut self, name: &str, shape: Vec<Size>, value: Atom) -> Var {
        let shape = shape.into_iter().map(Dim::Size).collect();
        self.array(name, ArrayOp::Replicate { shape, value })
    }

    /// An array without defined elements.
    pub fn scratch(&mut self, name: &str, ty: &Type) -> Option<Var> {
        let Type::Array(array) = ty else { return None };
        let (elem, shape) = (array.elem, array.shape.clone());
        Some(self.array(name, ArrayOp::Scratch { elem, shape }))
    }

    /// A fresh copy.
    pub fn copy(&mut self, name: &str, array: Var) -> Var {
        self.array(name, ArrayOp::Copy(array))
    }
}
