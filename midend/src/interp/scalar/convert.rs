//! Conversions between types: integers wrap, floats to integers truncate and saturate (NaN and the infinities give 0),
//! everything that rounds does so once.

use super::ScalarTrap;
use crate::ir::scalar::Const;
use crate::ir::types::ScalarType;
use crate::math;
use half::f16;

/// The constant as a value of type `to`.
#[inline(always)]
pub fn convert(to: ScalarType, c: Const) -> Const {
    match c {
        Const::I8(x) => from_signed(to, x.into()),
        Const::I16(x) => from_signed(to, x.into()),
        Const::I32(x) => from_signed(to, x.into()),
        Const::I64(x) => from_signed(to, x),
        Const::U8(x) => from_unsigned(to, x.into()),
        Const::U16(x) => from_unsigned(to, x.into()),
        Const::U32(x) => from_unsigned(to, x.into()),
        Const::U64(x) => from_unsigned(to, x),
        Const::F16(x) => from_f64(to, f16::from_bits(x).to_f64()),
        Const::F32(x) => from_f64(to, f32::from_bits(x).into()),
        Const::F64(x) => from_f64(to, f64::from_bits(x)),
        Const::Bool(x) => from_unsigned(to, x.into()),
    }
}

#[inline(always)]
fn from_signed(to: ScalarType, x: i64) -> Const {
    match to {
        ScalarType::I8 => Const::I8(x as i8),
        ScalarType::I16 => Const::I16(x as i16),
        ScalarType::I32 => Const::I32(x as i32),
        ScalarType::I64 => Const::I64(x),
        ScalarType::U8 => Const::U8(x as u8),
        ScalarType::U16 => Const::U16(x as u16),
        ScalarType::U32 => Const::U32(x as u32),
        ScalarType::U64 => Const::U64(x as u64),
        ScalarType::F16 => Const::f16(math::i64_to_f16(x)),
        ScalarType::F32 => Const::f32(x as f32),
        ScalarType::F64 => Const::f64(x as f64),
        ScalarType::Bool => Const::Bool(x != 0),
    }
}

#[inline(always)]
fn from_unsigned(to: ScalarType, x: u64) -> Const {
    match to {
        ScalarType::F16 => Const::f16(math::u64_to_f16(x)),
        ScalarType::F32 => Const::f32(x as f32),
        ScalarType::F64 => Const::f64(x as f64),
        // To integers and truth values only the bits count.
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::Bool => from_signed(to, x as i64),
    }
}

/// Every float is exact in binary64, so this is the conversion from all of them. A negative number gives an unsigned
/// integer the bits that it gives the signed one.
#[inline(always)]
fn from_f64(to: ScalarType, x: f64) -> Const {
    let finite = if x.is_infinite() { 0.0 } else { x };
    let negative = x < 0.0;
    match to {
        ScalarType::I8 => Const::I8(finite as i8),
        ScalarType::I16 => Const::I16(finite as i16),
        ScalarType::I32 => Const::I32(finite as i32),
        ScalarType::I64 => Const::I64(finite as i64),
        ScalarType::U8 if negative => Const::U8(finite as i8 as u8),
        ScalarType::U8 => Const::U8(finite as u8),
        ScalarType::U16 if negative => Const::U16(finite as i16 as u16),
        ScalarType::U16 => Const::U16(finite as u16),
        ScalarType::U32 if negative => Const::U32(finite as i32 as u32),
        ScalarType::U32 => Const::U32(finite as u32),
        ScalarType::U64 if negative => Const::U64(finite as i64 as u64),
        ScalarType::U64 => Const::U64(finite as u64),
        ScalarType::F16 => Const::f16(math::f64_to_f16(x)),
        ScalarType::F32 => Const::f32(x as f32),
        ScalarType::F64 => Const::f64(x),
        ScalarType::Bool => Const::Bool(x != 0.0),
    }
}

/// The bits of a float, of a NaN the canonical one.
pub fn to_bits(c: Const) -> Result<Const, ScalarTrap> {
    let nan = super::is_nan(c);
    match c {
        Const::F16(x) => Ok(Const::U16(if nan { 0x7e00 } else { x })),
        Const::F32(x) => Ok(Const::U32(if nan { 0x7fc0_0000 } else { x })),
        Const::F64(x) => Ok(Const::U64(if nan { 0x7ff8_0000_0000_0000 } else { x })),
        Const::I8(_)
        | Const::I16(_)
        | Const::I32(_)
        | Const::I64(_)
        | Const::U8(_)
        | Const::U16(_)
        | Const::U32(_)
        | Const::U64(_)
        | Const::Bool(_) => Err(ScalarTrap::IllTyped),
    }
}

/// The float of type `to` with these bits.
pub fn from_bits(to: ScalarType, c: Const) -> Result<Const, ScalarTrap> {
    match (to, c) {
        (ScalarType::F16, Const::U16(x)) => Ok(Const::F16(x)),
        (ScalarType::F32, Const::U32(x)) => Ok(Const::F32(x)),
        (ScalarType::F64, Const::U64(x)) => Ok(Const::F64(x)),
        _ => Err(ScalarTrap::IllTyped),
    }
}
