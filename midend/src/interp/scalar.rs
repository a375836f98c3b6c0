//! The definition of every scalar operation for every type (design 4.1). All targets follow it.

pub mod convert;
pub mod float;
pub mod int;
mod library;
pub mod table;

use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::types::ScalarType;
use crate::value::Value;
use half::f16;

/// Why a scalar operation has no value. Programs check for the first two before they execute the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarTrap {
    /// An integer divided by zero.
    DivisionByZero,
    /// An integer to the power of a negative one.
    NegativeExponent,
    /// Operands whose types or number are not those of the operation: the program is not well-formed.
    IllTyped,
}

impl std::fmt::Display for ScalarTrap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DivisionByZero => "division by zero",
            Self::NegativeExponent => "negative exponent",
            Self::IllTyped => "operands of a scalar operation have the wrong types",
        })
    }
}

/// The value of the operation for these operands.
pub fn eval(op: ScalarOp, args: &[Const]) -> Result<Const, ScalarTrap> {
    match (op, args) {
        (ScalarOp::Bin(op, ty), &[a, b]) if a.ty() == ty => bin(op, a, b),
        (ScalarOp::Cmp(op, ty), &[a, b]) if a.ty() == ty => cmp(op, a, b),
        (ScalarOp::Un(op, ty), &[a]) if a.ty() == ty => un(op, a),
        (ScalarOp::Convert(from, to), &[a]) if a.ty() == from => Ok(convert::convert(to, a)),
        (ScalarOp::Tern(op, ty), &[a, b, c]) if a.ty() == ty => tern(op, a, b, c),
        (ScalarOp::Select(ty), &[Const::Bool(c), a, b]) if a.ty() == ty && b.ty() == ty => {
            Ok(if c { a } else { b })
        }
        (ScalarOp::ToBits(ty), &[a]) if a.ty() == ty => convert::to_bits(a),
        (ScalarOp::FromBits(ty), &[a]) => convert::from_bits(ty, a),
        (
            ScalarOp::Bin(..)
            | ScalarOp::Cmp(..)
            | ScalarOp::Un(..)
            | ScalarOp::Convert(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Select(_)
            | ScalarOp::ToBits(_),
            _,
        )
        | (ScalarOp::FromBits(_), _) => Err(ScalarTrap::IllTyped),
    }
}

/// The value of an operation of one operand.
pub fn un(op: UnOp, a: Const) -> Result<Const, ScalarTrap> {
    match a {
        Const::I8(a) => int::un(op, a),
        Const::I16(a) => int::un(op, a),
        Const::I32(a) => int::un(op, a),
        Const::I64(a) => int::un(op, a),
        Const::U8(a) => int::un(op, a),
        Const::U16(a) => int::un(op, a),
        Const::U32(a) => int::un(op, a),
        Const::U64(a) => int::un(op, a),
        Const::F16(a) => float::un_f16(op, f16::from_bits(a)),
        Const::F32(a) => float::un_f32(op, f32::from_bits(a)),
        Const::F64(a) => float::un_f64(op, f64::from_bits(a)),
        Const::Bool(a) if op == UnOp::Not => Ok(Const::Bool(!a)),
        Const::Bool(_) => Err(ScalarTrap::IllTyped),
    }
}

/// The value of an operation of two operands.
pub fn bin(op: BinOp, a: Const, b: Const) -> Result<Const, ScalarTrap> {
    match (a, b) {
        (Const::I64(a), Const::I64(b)) => int::bin(op, a, b),
        (Const::I32(a), Const::I32(b)) => int::bin(op, a, b),
        (Const::F32(a), Const::F32(b)) => float::bin_f32(op, f32::from_bits(a), f32::from_bits(b)),
        (Const::F64(a), Const::F64(b)) => float::bin_f64(op, f64::from_bits(a), f64::from_bits(b)),
        (Const::Bool(a), Const::Bool(b)) => bin_bool(op, a, b),
        (Const::I8(a), Const::I8(b)) => int::bin(op, a, b),
        (Const::I16(a), Const::I16(b)) => int::bin(op, a, b),
        (Const::U8(a), Const::U8(b)) => int::bin(op, a, b),
        (Const::U16(a), Const::U16(b)) => int::bin(op, a, b),
        (Const::U32(a), Const::U32(b)) => int::bin(op, a, b),
        (Const::U64(a), Const::U64(b)) => int::bin(op, a, b),
        (Const::F16(a), Const::F16(b)) => float::bin_f16(op, f16::from_bits(a), f16::from_bits(b)),
        _ => Err(ScalarTrap::IllTyped),
    }
}

fn bin_bool(op: BinOp, a: bool, b: bool) -> Result<Const, ScalarTrap> {
    match op {
        BinOp::And | BinOp::Min => Ok(Const::Bool(a && b)),
        BinOp::Or | BinOp::Max => Ok(Const::Bool(a || b)),
        BinOp::Xor => Ok(Const::Bool(a != b)),
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::Div
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Pow
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::MulHi
        | BinOp::AddSat
        | BinOp::MulSat
        | BinOp::Atan2
        | BinOp::Atan2pi
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp => Err(ScalarTrap::IllTyped),
    }
}

/// The value of an operation of three operands.
pub fn tern(op: TernOp, a: Const, b: Const, c: Const) -> Result<Const, ScalarTrap> {
    match (a, b, c) {
        (Const::F32(a), Const::F32(b), Const::F32(c)) => {
            let [a, b, c] = [a, b, c].map(f32::from_bits);
            float::tern_f32(op, a, b, c)
        }
        (Const::F64(a), Const::F64(b), Const::F64(c)) => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            float::tern_f64(op, a, b, c)
        }
        (Const::F16(a), Const::F16(b), Const::F16(c)) => {
            let [a, b, c] = [a, b, c].map(f16::from_bits);
            float::tern_f16(op, a, b, c)
        }
        // Both operations are a product, whole or its upper half, and a sum.
        _ => {
            let product = match op {
                TernOp::Mad => bin(BinOp::Mul, a, b)?,
                TernOp::MadHi => bin(BinOp::MulHi, a, b)?,
                TernOp::Fma | TernOp::Lerp => return Err(ScalarTrap::IllTyped),
            };
            bin(BinOp::Add, product, c)
        }
    }
}

/// The value of a comparison.
pub fn cmp(op: CmpOp, a: Const, b: Const) -> Result<Const, ScalarTrap> {
    let result = match (a, b) {
        (Const::I64(a), Const::I64(b)) => order(op, a, b),
        (Const::I32(a), Const::I32(b)) => order(op, a, b),
        (Const::I8(a), Const::I8(b)) => order(op, a, b),
        (Const::I16(a), Const::I16(b)) => order(op, a, b),
        (Const::U8(a), Const::U8(b)) => order(op, a, b),
        (Const::U16(a), Const::U16(b)) => order(op, a, b),
        (Const::U32(a), Const::U32(b)) => order(op, a, b),
        (Const::U64(a), Const::U64(b)) => order(op, a, b),
        (Const::F16(a), Const::F16(b)) => order(op, f16::from_bits(a), f16::from_bits(b)),
        (Const::F32(a), Const::F32(b)) => order(op, f32::from_bits(a), f32::from_bits(b)),
        (Const::F64(a), Const::F64(b)) => order(op, f64::from_bits(a), f64::from_bits(b)),
        (Const::Bool(a), Const::Bool(b)) => order(op, a, b),
        _ => return Err(ScalarTrap::IllTyped),
    };
    Ok(Const::Bool(result))
}

/// Whether two values compare so.
#[inline(always)]
pub(crate) fn order<T: PartialOrd>(op: CmpOp, a: T, b: T) -> bool {
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Lt => a < b,
        CmpOp::Le => a <= b,
    }
}

/// Whether two constants are the same value: as bits, except that NaNs are all the same.
pub fn same(a: Const, b: Const) -> bool {
    a == b || (is_nan(a) && is_nan(b) && a.ty() == b.ty())
}

/// Whether two values are the same: of one shape, with the [`same`] elements.
pub fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => same(*a, *b),
        (Value::Array(a), Value::Array(b)) => {
            a.shape == b.shape
                && a.data.len() == b.data.len()
                && (0..a.data.len()).all(|i| same(a.data.get(i), b.data.get(i)))
        }
        (Value::Scalar(_), Value::Array(_)) | (Value::Array(_), Value::Scalar(_)) => false,
    }
}

/// Whether the constant is a NaN.
pub fn is_nan(a: Const) -> bool {
    match a {
        Const::F16(a) => f16::from_bits(a).is_nan(),
        Const::F32(a) => f32::from_bits(a).is_nan(),
        Const::F64(a) => f64::from_bits(a).is_nan(),
        Const::I8(_)
        | Const::I16(_)
        | Const::I32(_)
        | Const::I64(_)
        | Const::U8(_)
        | Const::U16(_)
        | Const::U32(_)
        | Const::U64(_)
        | Const::Bool(_) => false,
    }
}

/// Every operation that exists, in the order of the table.
pub fn all_operations() -> Vec<ScalarOp> {
    let types = ScalarType::ALL;
    let mut ops = Vec::new();
    for &op in UnOp::ALL {
        ops.extend(types.map(|ty| ScalarOp::Un(op, ty)));
    }
    for &op in BinOp::ALL {
        ops.extend(types.map(|ty| ScalarOp::Bin(op, ty)));
    }
    for &op in TernOp::ALL {
        ops.extend(types.map(|ty| ScalarOp::Tern(op, ty)));
    }
    for &op in CmpOp::ALL {
        ops.extend(types.map(|ty| ScalarOp::Cmp(op, ty)));
    }
    for from in types {
        ops.extend(types.map(|to| ScalarOp::Convert(from, to)));
    }
    ops.extend(types.map(ScalarOp::ToBits));
    ops.extend(types.map(ScalarOp::FromBits));
    ops.extend(types.map(ScalarOp::Select));
    ops.retain(|op| op.is_valid());
    ops
}

#[cfg(test)]
mod tests;
