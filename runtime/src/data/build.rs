//! Growing an array element by element.

use midend::ir::scalar::Const;
use midend::value::{Data, Value};

/// Appends a constant. A constant of another type is ignored; callers convert before they push.
pub(super) fn push(data: &mut Data, value: Const) {
    match (data, value) {
        (Data::I8(v), Const::I8(x)) => v.push(x),
        (Data::I16(v), Const::I16(x)) => v.push(x),
        (Data::I32(v), Const::I32(x)) => v.push(x),
        (Data::I64(v), Const::I64(x)) => v.push(x),
        (Data::U8(v), Const::U8(x)) => v.push(x),
        (Data::U16(v), Const::U16(x)) => v.push(x),
        (Data::U32(v), Const::U32(x)) => v.push(x),
        (Data::U64(v), Const::U64(x)) => v.push(x),
        (Data::F16(v), Const::F16(x)) => v.push(half::f16::from_bits(x)),
        (Data::F32(v), Const::F32(x)) => v.push(f32::from_bits(x)),
        (Data::F64(v), Const::F64(x)) => v.push(f64::from_bits(x)),
        (Data::Bool(v), Const::Bool(x)) => v.push(x),
        (data, value) => debug_assert_eq!(data.elem(), value.ty(), "converted before the push"),
    }
}

/// The number of elements that a shape asks for, if it is a shape: no negative extent, and no overflow in the product, which is zero if
/// an extent is, whatever the others are.
pub(super) fn elements(shape: &[i64]) -> Option<usize> {
    midend::value::elements(shape)
}

/// Appends all elements of a value of the same element type.
pub(crate) fn append(data: &mut Data, value: &Value) {
    match value {
        Value::Scalar(c) => push(data, *c),
        Value::Array(array) => (0..array.data.len()).for_each(|i| push(data, array.data.get(i))),
    }
}
