//! Values outside of programs: scalars and regular arrays in host memory.

pub mod entry;
pub mod leaf;

use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use half::f16;

/// A value that goes into a program or comes out of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// One number or truth value.
    Scalar(Const),
    /// An array.
    Array(ArrayValue),
}

/// A regular array in row-major order. The product of the shape is the number of elements.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayValue {
    /// Extents, outermost first, none negative; at least one.
    pub shape: Vec<i64>,
    /// The elements.
    pub data: Data,
}

/// The number of elements of a shape; nothing if an extent is negative, or the product overflows. Where an extent is zero there are none,
/// however large the others are.
pub fn elements(shape: &[i64]) -> Option<usize> {
    if shape.iter().any(|&extent| extent < 0) {
        return None;
    }
    if shape.contains(&0) {
        return Some(0);
    }
    let count = shape.iter().try_fold(1i64, |n, &e| n.checked_mul(e))?;
    usize::try_from(count).ok()
}

/// The elements of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Signed 8-bit integers.
    I8(Vec<i8>),
    /// Signed 16-bit integers.
    I16(Vec<i16>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
    /// Signed 64-bit integers.
    I64(Vec<i64>),
    /// Unsigned 8-bit integers.
    U8(Vec<u8>),
    /// Unsigned 16-bit integers.
    U16(Vec<u16>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Unsigned 64-bit integers.
    U64(Vec<u64>),
    /// Binary16 numbers.
    F16(Vec<f16>),
    /// Binary32 numbers.
    F32(Vec<f32>),
    /// Binary64 numbers.
    F64(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
}

/// Runs `$body` with `$v` bound to the typed vector inside a [`Data`], whatever its type.
#[macro_export]
macro_rules! with_data {
    ($data:expr, $v:ident => $body:expr) => {
        match $data {
            $crate::value::Data::I8($v) => $body,
            $crate::value::Data::I16($v) => $body,
            $crate::value::Data::I32($v) => $body,
            $crate::value::Data::I64($v) => $body,
            $crate::value::Data::U8($v) => $body,
            $crate::value::Data::U16($v) => $body,
            $crate::value::Data::U32($v) => $body,
            $crate::value::Data::U64($v) => $body,
            $crate::value::Data::F16($v) => $body,
            $crate::value::Data::F32($v) => $body,
            $crate::value::Data::F64($v) => $body,
            $crate::value::Data::Bool($v) => $body,
        }
    };
}

impl Data {
    /// `len` elements of value zero (false).
    pub fn zeros(elem: ScalarType, len: usize) -> Self {
        match elem {
            ScalarType::I8 => Self::I8(vec![0; len]),
            ScalarType::I16 => Self::I16(vec![0; len]),
            ScalarType::I32 => Self::I32(vec![0; len]),
            ScalarType::I64 => Self::I64(vec![0; len]),
            ScalarType::U8 => Self::U8(vec![0; len]),
            ScalarType::U16 => Self::U16(vec![0; len]),
            ScalarType::U32 => Self::U32(vec![0; len]),
            ScalarType::U64 => Self::U64(vec![0; len]),
            ScalarType::F16 => Self::F16(vec![f16::ZERO; len]),
            ScalarType::F32 => Self::F32(vec![0.0; len]),
            ScalarType::F64 => Self::F64(vec![0.0; len]),
            ScalarType::Bool => Self::Bool(vec![false; len]),
        }
    }
    /// The number of elements.
    pub fn len(&self) -> usize {
        with_data!(self, v => v.len())
    }
    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The type of the elements.
    pub const fn elem(&self) -> ScalarType {
        match self {
            Self::I8(_) => ScalarType::I8,
            Self::I16(_) => ScalarType::I16,
            Self::I32(_) => ScalarType::I32,
            Self::I64(_) => ScalarType::I64,
            Self::U8(_) => ScalarType::U8,
            Self::U16(_) => ScalarType::U16,
            Self::U32(_) => ScalarType::U32,
            Self::U64(_) => ScalarType::U64,
            Self::F16(_) => ScalarType::F16,
            Self::F32(_) => ScalarType::F32,
            Self::F64(_) => ScalarType::F64,
            Self::Bool(_) => ScalarType::Bool,
        }
    }
    /// The element at `i`, which is in range.
    pub fn get(&self, i: usize) -> Const {
        match self {
            Self::I8(v) => Const::I8(v[i]),
            Self::I16(v) => Const::I16(v[i]),
            Self::I32(v) => Const::I32(v[i]),
            Self::I64(v) => Const::I64(v[i]),
            Self::U8(v) => Const::U8(v[i]),
            Self::U16(v) => Const::U16(v[i]),
            Self::U32(v) => Const::U32(v[i]),
            Self::U64(v) => Const::U64(v[i]),
            Self::F16(v) => Const::f16(v[i]),
            Self::F32(v) => Const::f32(v[i]),
            Self::F64(v) => Const::f64(v[i]),
            Self::Bool(v) => Const::Bool(v[i]),
        }
    }
    /// Replaces the element at `i`, which is in range. A constant of another type is ignored.
    pub fn set(&mut self, i: usize, value: Const) {
        match (self, value) {
            (Self::I8(v), Const::I8(x)) => v[i] = x,
            (Self::I16(v), Const::I16(x)) => v[i] = x,
            (Self::I32(v), Const::I32(x)) => v[i] = x,
            (Self::I64(v), Const::I64(x)) => v[i] = x,
            (Self::U8(v), Const::U8(x)) => v[i] = x,
            (Self::U16(v), Const::U16(x)) => v[i] = x,
            (Self::U32(v), Const::U32(x)) => v[i] = x,
            (Self::U64(v), Const::U64(x)) => v[i] = x,
            (Self::F16(v), Const::F16(x)) => v[i] = f16::from_bits(x),
            (Self::F32(v), Const::F32(x)) => v[i] = f32::from_bits(x),
            (Self::F64(v), Const::F64(x)) => v[i] = f64::from_bits(x),
            (Self::Bool(v), Const::Bool(x)) => v[i] = x,
            _ => {}
        }
    }
}

impl Value {
    /// The type of the value's elements.
    pub const fn elem(&self) -> ScalarType {
        match self {
            Self::Scalar(c) => c.ty(),
            Self::Array(a) => a.data.elem(),
        }
    }
    /// The shape, empty for a scalar.
    pub fn shape(&self) -> &[i64] {
        match self {
            Self::Scalar(_) => &[],
            Self::Array(a) => &a.shape,
        }
    }
}
