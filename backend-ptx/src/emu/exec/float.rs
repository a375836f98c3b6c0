//! Floats: IEEE arithmetic, each operation rounded once, nothing flushed to zero.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the verifier rules out operations that a type does not have"
)]

use super::{File, bin, cmp, tern, un};
use crate::emu::code::{Exec, Op};
use crate::emu::fault::Done;
use crate::emu::run::Cx;
use crate::ptx::Ty;
use crate::ptx::ops::{Binary, Cmp, Unary};
use half::f16;
use midend::math;

/// A float in its register.
pub(super) trait Float: Copy + PartialOrd {
    type Bits: File;
    fn of(bits: Self::Bits) -> Self;
    fn bits(self) -> Self::Bits;
}

macro_rules! float {
    ($ty:ident, $file:ident, |$bits:ident| $of:expr, |$x:ident| $to:expr) => {
        impl Float for $ty {
            type Bits = $file;
            #[inline]
            fn of($bits: $file) -> Self {
                $of
            }
            #[inline]
            fn bits(self) -> $file {
                let $x = self;
                $to
            }
        }
    };
}

float!(f16, u32, |b| Self::from_bits(b as u16), |x| u32::from(
    x.to_bits()
));
float!(f32, u32, |b| Self::from_bits(b), |x| x.to_bits());
float!(f64, u64, |b| Self::from_bits(b), |x| x.to_bits());

#[inline]
fn one<F: Float>(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(F) -> F) -> Done {
    un(cx, op, mask, |a: F::Bits| f(F::of(a)).bits())
}

#[inline]
fn two<F: Float>(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(F, F) -> F) -> Done {
    bin(cx, op, mask, |a: F::Bits, b: F::Bits| {
        f(F::of(a), F::of(b)).bits()
    })
}

/// A number, or zero instead of one that is subnormal.
fn normal(a: f32) -> f32 {
    if a.is_subnormal() { 0.0 } else { a }
}

/// Bits of one operand: signs are changed without looking at the value.
pub(super) fn unary(op: Unary, ty: Ty) -> Exec {
    match (op, ty) {
        (Unary::Neg, Ty::F16) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a ^ 0x8000),
        (Unary::Neg, Ty::F32) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a ^ 1 << 31),
        (Unary::Neg, _) => |cx, op, m| un::<u64, u64>(cx, op, m, |a| a ^ 1 << 63),
        (Unary::Abs, Ty::F16) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a & 0x7fff),
        (Unary::Abs, Ty::F32) => |cx, op, m| un::<u32, u32>(cx, op, m, |a| a & !(1 << 31)),
        (Unary::Abs, _) => |cx, op, m| un::<u64, u64>(cx, op, m, |a| a & !(1 << 63)),
        (Unary::Sqrt, Ty::F32) => |cx, op, m| one::<f32>(cx, op, m, f32::sqrt),
        (Unary::Sqrt, _) => |cx, op, m| one::<f64>(cx, op, m, f64::sqrt),
        (Unary::Rcp, Ty::F32) => |cx, op, m| one::<f32>(cx, op, m, |a| 1.0 / a),
        (Unary::Rcp, _) => |cx, op, m| one::<f64>(cx, op, m, |a| 1.0 / a),
        (Unary::SqrtNear, _) => |cx, op, m| one::<f32>(cx, op, m, f32::sqrt),
        (Unary::Ex2, _) => |cx, op, m| one::<f32>(cx, op, m, |a| normal(normal(a).exp2())),
        (Unary::Lg2, _) => |cx, op, m| one::<f32>(cx, op, m, f32::log2),
        (Unary::Sin, _) => |cx, op, m| one::<f32>(cx, op, m, f32::sin),
        (Unary::Cos, _) => |cx, op, m| one::<f32>(cx, op, m, f32::cos),
        (Unary::Rsqrt, _) => |cx, op, m| one::<f32>(cx, op, m, |a| 1.0 / a.sqrt()),
        _ => |cx, op, m| one::<f32>(cx, op, m, f32::tanh),
    }
}

pub(super) fn binary(op: Binary, ty: Ty) -> Exec {
    macro_rules! table {
        ($t:ident, $min:ident, $max:ident) => {
            match op {
                Binary::Add => |cx, op, m| two::<$t>(cx, op, m, |a, b| a + b),
                Binary::Sub => |cx, op, m| two::<$t>(cx, op, m, |a, b| a - b),
                Binary::Mul => |cx, op, m| two::<$t>(cx, op, m, |a, b| a * b),
                Binary::Div | Binary::DivNear => |cx, op, m| two::<$t>(cx, op, m, |a, b| a / b),
                Binary::Min => |cx, op, m| two::<$t>(cx, op, m, math::$min),
                Binary::Max => |cx, op, m| two::<$t>(cx, op, m, math::$max),
                _ => |cx, op, m| two::<$t>(cx, op, m, |a, b| b.copysign(a)),
            }
        };
    }
    match ty {
        Ty::F16 => table!(f16, f16_min, f16_max),
        Ty::F32 => table!(f32, f32_min, f32_max),
        _ => table!(f64, f64_min, f64_max),
    }
}

pub(super) fn fma(ty: Ty) -> Exec {
    match ty {
        Ty::F16 => |cx, op, m| {
            tern::<u32, u32, u32, u32>(cx, op, m, |a, b, c| {
                math::f16_fma(f16::of(a), f16::of(b), f16::of(c)).bits()
            })
        },
        Ty::F32 => |cx, op, m| {
            tern::<u32, u32, u32, u32>(cx, op, m, |a, b, c| {
                f32::of(a).mul_add(f32::of(b), f32::of(c)).bits()
            })
        },
        _ => |cx, op, m| {
            tern::<u64, u64, u64, u64>(cx, op, m, |a, b, c| {
                f64::of(a).mul_add(f64::of(b), f64::of(c)).bits()
            })
        },
    }
}

pub(super) fn compare(op: Cmp, ty: Ty) -> Exec {
    #[inline]
    fn of<F: Float>(cx: &mut Cx<'_>, op: &Op, mask: u32, f: impl Fn(F, F) -> bool) -> Done {
        cmp(cx, op, mask, |a: F::Bits, b: F::Bits| f(F::of(a), F::of(b)))
    }
    macro_rules! table {
        ($t:ident) => {
            match op {
                Cmp::Eq => |cx, op, m| of::<$t>(cx, op, m, |a, b| a == b),
                Cmp::Ne => |cx, op, m| {
                    of::<$t>(cx, op, m, |a, b| {
                        a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne)
                    })
                },
                Cmp::Lt => |cx, op, m| of::<$t>(cx, op, m, |a, b| a < b),
                Cmp::Le => |cx, op, m| of::<$t>(cx, op, m, |a, b| a <= b),
                Cmp::Gt => |cx, op, m| of::<$t>(cx, op, m, |a, b| a > b),
                Cmp::Ge => |cx, op, m| of::<$t>(cx, op, m, |a, b| a >= b),
                Cmp::Neu => |cx, op, m| of::<$t>(cx, op, m, |a, b| a != b),
                Cmp::Ltu => |cx, op, m| {
                    of::<$t>(cx, op, m, |a, b| {
                        a.partial_cmp(&b).is_none_or(std::cmp::Ordering::is_lt)
                    })
                },
                Cmp::Num => |cx, op, m| of::<$t>(cx, op, m, |a, b| !a.is_nan() && !b.is_nan()),
                Cmp::Nan => |cx, op, m| of::<$t>(cx, op, m, |a, b| a.is_nan() || b.is_nan()),
            }
        };
    }
    match ty {
        Ty::F16 => table!(f16),
        Ty::F32 => table!(f32),
        _ => table!(f64),
    }
}
