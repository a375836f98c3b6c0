//! The types that array operations give their results.

use super::array::{ArrayOp, SliceDim};
use super::id::Var;
use super::syntax::{Atom, Vars};
use super::types::{ArrayType, Dim, Size, Type};

/// The type of the part of an array of type `array` that `dims` picks; nothing if there are too many.
pub fn slice(array: &Type, dims: &[SliceDim]) -> Option<Type> {
    let Type::Array(array) = array else {
        return None;
    };
    let whole = array.shape.get(dims.len()..)?;
    let mut shape: Vec<Dim> = dims
        .iter()
        .filter_map(|dim| match dim {
            SliceDim::Fix(_) => None,
            SliceDim::Range { len, .. } => Some(Dim::Size(*len)),
        })
        .collect();
    shape.extend(whole);
    Some(of_shape(array, shape))
}

/// The type of the result of an array operation; nothing if its operands do not fit.
pub fn array_op(vars: &Vars, op: &ArrayOp) -> Option<Type> {
    let ty = |v: &Var| vars[*v].ty.clone();
    let array = |v: &Var| match &vars[*v].ty {
        Type::Array(a) => Some(a.clone()),
        Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => None,
    };
    match op {
        ArrayOp::Index { array, indices } => ty(array).peel(indices.len()),
        ArrayOp::Slice { array, dims } => slice(&vars[*array].ty, dims),
        ArrayOp::Update { array, .. } | ArrayOp::Copy(array) => Some(ty(array)),
        ArrayOp::Literal { elems, row } => {
            let len = i64::try_from(elems.len()).ok()?;
            Some(Type::array_of(row, &[Size::Const(len)]))
        }
        ArrayOp::Iota { len, ty, .. } => Some(Type::array_of(&Type::Scalar(*ty), &[*len])),
        ArrayOp::Replicate { shape, value } => Some(Type::shaped(&value.ty(vars), shape)),
        ArrayOp::Scratch { elem, shape } => Some(Type::shaped(&Type::Scalar(*elem), shape)),
        ArrayOp::Concat { arrays, len } => {
            let first = array(arrays.first()?)?;
            let mut shape = first.shape.clone();
            *shape.first_mut()? = Dim::Size(*len);
            Some(of_shape(&first, shape))
        }
        ArrayOp::Rearrange { perm, array: v } => {
            let a = array(v)?;
            let shape: Option<Vec<Dim>> = perm.iter().map(|i| a.shape.get(*i).copied()).collect();
            Some(of_shape(&a, shape?))
        }
        ArrayOp::Manifest { perm: _, array } => Some(ty(array)),
        ArrayOp::Trace(_) | ArrayOp::Stream(_) => None,
        ArrayOp::Reshape { shape, array: v } => Some(of_shape(&array(v)?, shape.clone())),
    }
}

/// The type of an atom's row after `n` indices.
pub fn row(vars: &Vars, a: Atom, n: usize) -> Option<Type> {
    a.ty(vars).peel(n)
}

fn of_shape(array: &ArrayType, shape: Vec<Dim>) -> Type {
    if shape.is_empty() {
        return Type::Scalar(array.elem);
    }
    Type::Array(ArrayType {
        elem: array.elem,
        shape,
    })
}
