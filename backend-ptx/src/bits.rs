//! Scalars as the 8 bytes that parameters of kernels are, and as their bytes in memory.

use crate::lower::bits_of;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;

/// A scalar in 8 bytes, the low ones as in memory.
pub(crate) const fn slot_of(value: Const) -> u64 {
    bits_of(value)
}

/// A scalar as its bytes in memory.
pub(crate) fn bytes_of(value: Const) -> Vec<u8> {
    slot_of(value).to_le_bytes()[..value.ty().bytes()].to_vec()
}

/// The scalar with these bytes.
pub(crate) fn const_of(ty: ScalarType, bytes: &[u8]) -> Const {
    let mut all = [0; 8];
    all[..ty.bytes()].copy_from_slice(&bytes[..ty.bytes()]);
    scalar_of(ty, u64::from_le_bytes(all))
}

/// The scalar in 8 bytes.
pub(crate) const fn scalar_of(ty: ScalarType, slot: u64) -> Const {
    match ty {
        ScalarType::I8 => Const::I8(slot as i8),
        ScalarType::I16 => Const::I16(slot as i16),
        ScalarType::I32 => Const::I32(slot as i32),
        ScalarType::I64 => Const::I64(slot as i64),
        ScalarType::U8 => Const::U8(slot as u8),
        ScalarType::U16 => Const::U16(slot as u16),
        ScalarType::U32 => Const::U32(slot as u32),
        ScalarType::U64 => Const::U64(slot),
        ScalarType::F16 => Const::F16(slot as u16),
        ScalarType::F32 => Const::F32(slot as u32),
        ScalarType::F64 => Const::F64(slot),
        ScalarType::Bool => Const::Bool(slot as u8 != 0),
    }
}
