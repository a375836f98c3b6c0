//! Integers and bits.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the verifier rules out operations that a type does not have"
)]

use super::{bin, cmp, tern, un};
use crate::emu::code::Exec;
use crate::ptx::Ty;
use crate::ptx::ops::{Binary, Cmp, Ternary, Unary};

/// An operation that is the same function for both widths, of words or of doubles.
macro_rules! both {
    ($ty:expr, |$($x:ident),*| $e32:expr, $e64:expr) => {
        if $ty.bytes() == 8 {
            both!(@ u64, $($x),*, $e64)
        } else {
            both!(@ u32, $($x),*, $e32)
        }
    };
    (@ $t:ident, $a:ident, $e:expr) => {
        |cx, op, m| un::<$t, $t>(cx, op, m, |$a| $e)
    };
    (@ $t:ident, $a:ident, $b:ident, $e:expr) => {
        |cx, op, m| bin::<$t, $t, $t>(cx, op, m, |$a, $b| $e)
    };
}

pub(super) fn unary(op: Unary, ty: Ty) -> Exec {
    let wide = ty.bytes() == 8;
    match op {
        Unary::Neg => both!(ty, |a| a.wrapping_neg(), a.wrapping_neg()),
        Unary::Abs => both!(
            ty,
            |a| (a as i32).wrapping_abs() as u32,
            (a as i64).wrapping_abs() as u64
        ),
        Unary::Not => both!(ty, |a| !a, !a),
        Unary::Brev => both!(ty, |a| a.reverse_bits(), a.reverse_bits()),
        Unary::Popc if wide => |cx, op, m| un::<u64, u32>(cx, op, m, |a| a.count_ones()),
        Unary::Popc => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a.count_ones()),
        Unary::Clz if wide => |cx, op, m| un::<u64, u32>(cx, op, m, |a| a.leading_zeros()),
        Unary::Clz => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a.leading_zeros()),
        Unary::Bfind => match ty {
            Ty::S64 => |cx, op, m| {
                un::<u64, u32>(cx, op, m, |a| {
                    highest((a ^ ((a as i64) >> 63) as u64).leading_zeros(), 64)
                })
            },
            Ty::U64 => |cx, op, m| un::<u64, u32>(cx, op, m, |a| highest(a.leading_zeros(), 64)),
            Ty::S32 => |cx, op, m| {
                un::<u32, u32>(cx, op, m, |a| {
                    highest((a ^ ((a as i32) >> 31) as u32).leading_zeros(), 32)
                })
            },
            _ => |cx, op, m| un::<u32, u32>(cx, op, m, |a| highest(a.leading_zeros(), 32)),
        },
        _ => |cx, op, m| un::<u64, u64>(cx, op, m, |a| a),
    }
}

/// The place of the highest bit from the number of zeros before it.
fn highest(zeros: u32, bits: u32) -> u32 {
    (bits - 1).wrapping_sub(zeros)
}

pub(super) fn binary(op: Binary, ty: Ty) -> Exec {
    let (wide, signed) = (ty.bytes() == 8, ty.is_signed());
    match op {
        Binary::Add => both!(ty, |a, b| a.wrapping_add(b), a.wrapping_add(b)),
        Binary::Sub => both!(ty, |a, b| a.wrapping_sub(b), a.wrapping_sub(b)),
        Binary::Mul => both!(ty, |a, b| a.wrapping_mul(b), a.wrapping_mul(b)),
        Binary::And => both!(ty, |a, b| a & b, a & b),
        Binary::Or => both!(ty, |a, b| a | b, a | b),
        Binary::Xor => both!(ty, |a, b| a ^ b, a ^ b),
        Binary::MulHi if signed => both!(
            ty,
            |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        ),
        Binary::MulHi => both!(
            ty,
            |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32,
            ((u128::from(a) * u128::from(b)) >> 64) as u64
        ),
        Binary::MulWide if signed => |cx, op, m| {
            bin::<u32, u32, u64>(cx, op, m, |a, b| {
                (i64::from(a as i32) * i64::from(b as i32)) as u64
            })
        },
        Binary::MulWide => {
            |cx, op, m| bin::<u32, u32, u64>(cx, op, m, |a, b| u64::from(a) * u64::from(b))
        }
        // By zero, the value is unspecified: all ones here.
        Binary::Div if signed => both!(
            ty,
            |a, b| if b == 0 {
                u32::MAX
            } else {
                (a as i32).wrapping_div(b as i32) as u32
            },
            if b == 0 {
                u64::MAX
            } else {
                (a as i64).wrapping_div(b as i64) as u64
            }
        ),
        Binary::Div => both!(
            ty,
            |a, b| a.checked_div(b).unwrap_or(u32::MAX),
            a.checked_div(b).unwrap_or(u64::MAX)
        ),
        Binary::Rem if signed => both!(
            ty,
            |a, b| if b == 0 {
                u32::MAX
            } else {
                (a as i32).wrapping_rem(b as i32) as u32
            },
            if b == 0 {
                u64::MAX
            } else {
                (a as i64).wrapping_rem(b as i64) as u64
            }
        ),
        Binary::Rem => both!(
            ty,
            |a, b| a.checked_rem(b).unwrap_or(u32::MAX),
            a.checked_rem(b).unwrap_or(u64::MAX)
        ),
        Binary::Min if signed => both!(
            ty,
            |a, b| (a as i32).min(b as i32) as u32,
            (a as i64).min(b as i64) as u64
        ),
        Binary::Min => both!(ty, |a, b| a.min(b), a.min(b)),
        Binary::Max if signed => both!(
            ty,
            |a, b| (a as i32).max(b as i32) as u32,
            (a as i64).max(b as i64) as u64
        ),
        Binary::Max => both!(ty, |a, b| a.max(b), a.max(b)),
        // Counts beyond the width give what the width gives.
        Binary::Shl if wide => {
            |cx, op, m| bin::<u64, u32, u64>(cx, op, m, |a, n| a.checked_shl(n).unwrap_or(0))
        }
        Binary::Shl => {
            |cx, op, m| bin::<u32, u32, u32>(cx, op, m, |a, n| a.checked_shl(n).unwrap_or(0))
        }
        _ => match (wide, signed) {
            (true, true) => {
                |cx, op, m| bin::<u64, u32, u64>(cx, op, m, |a, n| ((a as i64) >> n.min(63)) as u64)
            }
            (true, false) => {
                |cx, op, m| bin::<u64, u32, u64>(cx, op, m, |a, n| a.checked_shr(n).unwrap_or(0))
            }
            (false, true) => {
                |cx, op, m| bin::<u32, u32, u32>(cx, op, m, |a, n| ((a as i32) >> n.min(31)) as u32)
            }
            (false, false) => {
                |cx, op, m| bin::<u32, u32, u32>(cx, op, m, |a, n| a.checked_shr(n).unwrap_or(0))
            }
        },
    }
}

pub(super) fn ternary(op: Ternary, ty: Ty) -> Exec {
    match op {
        Ternary::Mad if ty.bytes() == 8 => |cx, op, m| {
            tern::<u64, u64, u64, u64>(cx, op, m, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        },
        Ternary::Mad => |cx, op, m| {
            tern::<u32, u32, u32, u32>(cx, op, m, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        },
        Ternary::MadWide if ty.is_signed() => |cx, op, m| {
            tern::<u32, u32, u64, u64>(cx, op, m, |a, b, c| {
                ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c)
            })
        },
        Ternary::MadWide => |cx, op, m| {
            tern::<u32, u32, u64, u64>(cx, op, m, |a, b, c| {
                (u64::from(a) * u64::from(b)).wrapping_add(c)
            })
        },
        Ternary::ShfLeft => |cx, op, m| {
            tern::<u32, u32, u32, u32>(cx, op, m, |a, b, n| {
                (((u64::from(b) << 32 | u64::from(a)) << (n & 31)) >> 32) as u32
            })
        },
        Ternary::ShfRight => |cx, op, m| {
            tern::<u32, u32, u32, u32>(cx, op, m, |a, b, n| {
                ((u64::from(b) << 32 | u64::from(a)) >> (n & 31)) as u32
            })
        },
        Ternary::Prmt => |cx, op, m| tern::<u32, u32, u32, u32>(cx, op, m, permute),
        _ => match (ty.bytes() == 8, ty.is_signed()) {
            (true, true) => |cx, op, m| {
                tern::<u64, u32, u32, u64>(cx, op, m, |a, p, n| field(a, p, n, 64, true))
            },
            (true, false) => |cx, op, m| {
                tern::<u64, u32, u32, u64>(cx, op, m, |a, p, n| field(a, p, n, 64, false))
            },
            (false, true) => |cx, op, m| {
                tern::<u32, u32, u32, u32>(cx, op, m, |a, p, n| {
                    field(a.into(), p, n, 32, true) as u32
                })
            },
            (false, false) => |cx, op, m| {
                tern::<u32, u32, u32, u32>(cx, op, m, |a, p, n| {
                    field(a.into(), p, n, 32, false) as u32
                })
            },
        },
    }
}

/// Four bytes of b:a by the nibbles of a selector; the highest bit of a nibble asks for the sign of the byte.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let all = (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
    let bytes: [u8; 4] = std::array::from_fn(|i| {
        let nibble = selector >> (4 * i) & 15;
        let byte = all[(nibble & 7) as usize];
        if nibble & 8 != 0 {
            ((byte as i8) >> 7) as u8
        } else {
            byte
        }
    });
    u32::from_le_bytes(bytes)
}

/// The field of `count` bits at `place`, extended.
fn field(a: u64, place: u32, count: u32, bits: u32, signed: bool) -> u64 {
    let (place, count) = (place & 255, count & 255);
    let top = bits - 1;
    let sign = if !signed || count == 0 {
        0
    } else {
        a >> (place + count - 1).min(top) & 1
    };
    let mut value = 0;
    for i in 0..bits {
        let bit = if i < count && place + i < bits {
            a >> (place + i) & 1
        } else {
            sign
        };
        value |= bit << i;
    }
    value
}

pub(super) fn compare(op: Cmp, ty: Ty) -> Exec {
    macro_rules! table {
        ($file:ident, $t:ident) => {
            match op {
                Cmp::Eq => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| a == b),
                Cmp::Ne => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| a != b),
                Cmp::Lt => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| (a as $t) < (b as $t)),
                Cmp::Le => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| (a as $t) <= (b as $t)),
                Cmp::Gt => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| (a as $t) > (b as $t)),
                _ => |cx, op, m| cmp::<$file>(cx, op, m, |a, b| (a as $t) >= (b as $t)),
            }
        };
    }
    match ty {
        Ty::S64 => table!(u64, i64),
        Ty::U64 | Ty::B64 => table!(u64, u64),
        Ty::S32 => table!(u32, i32),
        _ => table!(u32, u32),
    }
}
