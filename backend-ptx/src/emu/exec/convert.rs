//! Conversions.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the verifier rules out conversions that there are not"
)]

use super::float::Float;
use super::un;
use crate::emu::code::Exec;
use crate::ptx::Ty;
use crate::ptx::ops::Round;
use half::f16;
use midend::math;

pub(super) fn exec(to: Ty, from: Ty, round: Round) -> Exec {
    match round {
        Round::Exact => exact(to, from),
        Round::Nearest => nearest(to, from),
        Round::IntNearest | Round::IntZero | Round::IntDown | Round::IntUp => {
            if to.is_float() {
                rounded(to, round)
            } else {
                to_int(to, from, round)
            }
        }
    }
}

fn exact(to: Ty, from: Ty) -> Exec {
    match (to, from) {
        (Ty::F32, _) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| f16::of(a).to_f32().bits()),
        (Ty::F64, Ty::F16) => |cx, op, m| un::<u32, u64>(cx, op, m, |a| f16::of(a).to_f64().bits()),
        (Ty::F64, _) => |cx, op, m| un::<u32, u64>(cx, op, m, |a| f64::from(f32::of(a)).bits()),
        (Ty::B16, _) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a & 0xffff),
        (Ty::U64 | Ty::S64, Ty::U64 | Ty::S64) => |cx, op, m| un::<u64, u64>(cx, op, m, |a| a),
        (Ty::U32 | Ty::S32, Ty::U64 | Ty::S64) => {
            |cx, op, m| un::<u64, u32>(cx, op, m, |a| a as u32)
        }
        (Ty::U64 | Ty::S64, from) => match from {
            Ty::U8 => |cx, op, m| un::<u32, u64>(cx, op, m, |a| u64::from(a as u8)),
            Ty::S8 => |cx, op, m| un::<u32, u64>(cx, op, m, |a| a as i8 as u64),
            Ty::U16 | Ty::B16 => |cx, op, m| un::<u32, u64>(cx, op, m, |a| u64::from(a as u16)),
            Ty::S16 => |cx, op, m| un::<u32, u64>(cx, op, m, |a| a as i16 as u64),
            Ty::S32 => |cx, op, m| un::<u32, u64>(cx, op, m, |a| a as i32 as u64),
            _ => |cx, op, m| un::<u32, u64>(cx, op, m, u64::from),
        },
        (_, from) => match from {
            Ty::U8 => |cx, op, m| un::<u32, u32>(cx, op, m, |a| u32::from(a as u8)),
            Ty::S8 => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a as i8 as u32),
            Ty::U16 | Ty::B16 => |cx, op, m| un::<u32, u32>(cx, op, m, |a| u32::from(a as u16)),
            Ty::S16 => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a as i16 as u32),
            _ => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a),
        },
    }
}

fn nearest(to: Ty, from: Ty) -> Exec {
    match (to, from) {
        (Ty::F16, Ty::F32) => {
            |cx, op, m| un::<u32, u32>(cx, op, m, |a| f16::from_f32(f32::of(a)).bits())
        }
        (Ty::F16, Ty::F64) => {
            |cx, op, m| un::<u64, u32>(cx, op, m, |a| math::f64_to_f16(f64::of(a)).bits())
        }
        (Ty::F32, Ty::F64) => |cx, op, m| un::<u64, u32>(cx, op, m, |a| (f64::of(a) as f32).bits()),
        (Ty::F16, Ty::S32) => {
            |cx, op, m| un::<u32, u32>(cx, op, m, |a| math::i64_to_f16(i64::from(a as i32)).bits())
        }
        (Ty::F16, Ty::U32) => {
            |cx, op, m| un::<u32, u32>(cx, op, m, |a| math::i64_to_f16(i64::from(a)).bits())
        }
        (Ty::F16, Ty::S64) => {
            |cx, op, m| un::<u64, u32>(cx, op, m, |a| math::i64_to_f16(a as i64).bits())
        }
        (Ty::F16, _) => |cx, op, m| un::<u64, u32>(cx, op, m, |a| math::u64_to_f16(a).bits()),
        (Ty::F32, Ty::S32) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| (a as i32 as f32).bits()),
        (Ty::F32, Ty::U32) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| (a as f32).bits()),
        (Ty::F32, Ty::S64) => |cx, op, m| un::<u64, u32>(cx, op, m, |a| (a as i64 as f32).bits()),
        (Ty::F32, _) => |cx, op, m| un::<u64, u32>(cx, op, m, |a| (a as f32).bits()),
        (_, Ty::S32) => |cx, op, m| un::<u32, u64>(cx, op, m, |a| f64::from(a as i32).bits()),
        (_, Ty::U32) => |cx, op, m| un::<u32, u64>(cx, op, m, |a| f64::from(a).bits()),
        (_, Ty::S64) => |cx, op, m| un::<u64, u64>(cx, op, m, |a| (a as i64 as f64).bits()),
        _ => |cx, op, m| un::<u64, u64>(cx, op, m, |a| (a as f64).bits()),
    }
}

/// To an integer that is a float.
fn rounded(ty: Ty, round: Round) -> Exec {
    macro_rules! table {
        ($t:ident, $file:ident) => {
            match round {
                Round::IntNearest => |cx, op, m| {
                    un::<$file, $file>(cx, op, m, |a| $t::of(a).round_ties_even().bits())
                },
                Round::IntDown => {
                    |cx, op, m| un::<$file, $file>(cx, op, m, |a| $t::of(a).floor().bits())
                }
                Round::IntUp => {
                    |cx, op, m| un::<$file, $file>(cx, op, m, |a| $t::of(a).ceil().bits())
                }
                _ => |cx, op, m| un::<$file, $file>(cx, op, m, |a| $t::of(a).trunc().bits()),
            }
        };
    }
    match ty {
        Ty::F32 => table!(f32, u32),
        _ => table!(f64, u64),
    }
}

/// To an integer: clamped to its range. A NaN gives 0 where both source and destination have at most 32 bits, else the
/// highest bit alone.
fn to_int(to: Ty, from: Ty, round: Round) -> Exec {
    fn turned(x: f64, round: Round) -> f64 {
        match round {
            Round::IntNearest => x.round_ties_even(),
            Round::IntDown => x.floor(),
            Round::IntUp => x.ceil(),
            _ => x.trunc(),
        }
    }
    macro_rules! rounds {
        ($in:ident, $out:ident, |$a:ident| $wide:expr, $int:ident, $nan:expr) => {{
            fn f($a: $in, round: Round) -> $out {
                let x = $wide;
                if x.is_nan() {
                    return $nan;
                }
                turned(x, round) as $int as $out
            }
            match round {
                Round::IntNearest => {
                    |cx, op, m| un::<$in, $out>(cx, op, m, |a| f(a, Round::IntNearest))
                }
                Round::IntDown => |cx, op, m| un::<$in, $out>(cx, op, m, |a| f(a, Round::IntDown)),
                Round::IntUp => |cx, op, m| un::<$in, $out>(cx, op, m, |a| f(a, Round::IntUp)),
                _ => |cx, op, m| un::<$in, $out>(cx, op, m, |a| f(a, Round::IntZero)),
            }
        }};
    }
    macro_rules! sources {
        ($out:ident, $int:ident, $small:expr, $large:expr) => {
            match from {
                Ty::F16 => rounds!(u32, $out, |a| f16::of(a).to_f64(), $int, $small),
                Ty::F32 => rounds!(u32, $out, |a| f64::from(f32::of(a)), $int, $small),
                _ => rounds!(u64, $out, |a| f64::of(a), $int, $large),
            }
        };
    }
    match to {
        Ty::S32 => sources!(u32, i32, 0, 1 << 31),
        Ty::U32 => sources!(u32, u32, 0, 1 << 31),
        Ty::S64 => sources!(u64, i64, 1 << 63, 1 << 63),
        _ => sources!(u64, u64, 1 << 63, 1 << 63),
    }
}
