//! Floats: IEEE 754 arithmetic, each operation rounded once, no flush to zero. Library
//! functions are evaluated from their definitions in IR.

use super::{ScalarTrap, library};
use crate::ir::scalar::{BinOp, Const, ScalarOp, TernOp, UnOp};
use crate::math;
use half::f16;

macro_rules! unary {
    ($($op:ident $h:ident $s:ident $d:ident;)*) => {
        unary!(@fn un_f16 f16 $($op $h;)*);
        unary!(@fn un_f32 f32 $($op $s;)*);
        unary!(@fn un_f64 f64 $($op $d;)*);
    };
    (@fn $name:ident $ty:ident $($op:ident $f:ident;)*) => {
        /// The value of an operation of one operand.
        #[inline(always)]
        pub fn $name(op: UnOp, a: $ty) -> Result<Const, ScalarTrap> {
            Ok(match op {
                $(UnOp::$op => math::$f(a).into(),)*
                UnOp::IsNan => a.is_nan().into(),
                UnOp::IsInf => a.is_infinite().into(),
                UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => {
                    return Err(ScalarTrap::IllTyped);
                }
                UnOp::Cbrt
                | UnOp::Exp
                | UnOp::Log
                | UnOp::Log2
                | UnOp::Log10
                | UnOp::Log1p
                | UnOp::Sin
                | UnOp::Cos
                | UnOp::Tan
                | UnOp::SinNear
                | UnOp::CosNear
                | UnOp::ExpNear
                | UnOp::SqrtNear
                | UnOp::RsqrtNear
                | UnOp::Sinpi
                | UnOp::Cospi
                | UnOp::Tanpi
                | UnOp::Asin
                | UnOp::Acos
                | UnOp::Atan
                | UnOp::Asinpi
                | UnOp::Acospi
                | UnOp::Atanpi
                | UnOp::Sinh
                | UnOp::Cosh
                | UnOp::Tanh
                | UnOp::Asinh
                | UnOp::Acosh
                | UnOp::Atanh
                | UnOp::Erf
                | UnOp::Erfc
                | UnOp::Gamma
                | UnOp::Lgamma => {
                    return library::function(ScalarOp::Un(op, Const::from(a).ty()), &[a.into()]);
                }
            })
        }
    };
}

unary! {
    Neg f16_neg f32_neg f64_neg;
    Abs f16_abs f32_abs f64_abs;
    Signum f16_signum f32_signum f64_signum;
    Sqrt f16_sqrt f32_sqrt f64_sqrt;
    Rsqrt f16_rsqrt f32_rsqrt f64_rsqrt;
    Floor f16_floor f32_floor f64_floor;
    Ceil f16_ceil f32_ceil f64_ceil;
    Round f16_round f32_round f64_round;
    Trunc f16_trunc f32_trunc f64_trunc;
}

macro_rules! binary {
    ($($op:ident $h:ident $s:ident $d:ident;)*) => {
        binary!(@fn bin_f16 f16 $($op $h;)*);
        binary!(@fn bin_f32 f32 $($op $s;)*);
        binary!(@fn bin_f64 f64 $($op $d;)*);
    };
    (@fn $name:ident $ty:ident $($op:ident $f:ident;)*) => {
        /// The value of an operation of two operands.
        #[inline(always)]
        pub fn $name(op: BinOp, a: $ty, b: $ty) -> Result<Const, ScalarTrap> {
            let value = match op {
                BinOp::Add => a + b,
                BinOp::Sub => a - b,
                BinOp::Mul => a * b,
                BinOp::Div => a / b,
                $(BinOp::$op => math::$f(a, b),)*
                BinOp::Quot
                | BinOp::Rem
                | BinOp::And
                | BinOp::Or
                | BinOp::Xor
                | BinOp::Shl
                | BinOp::Shr
                | BinOp::MulHi
                | BinOp::AddSat
                | BinOp::MulSat => return Err(ScalarTrap::IllTyped),
                BinOp::Pow
                | BinOp::Atan2
                | BinOp::Atan2pi
                | BinOp::Hypot
                | BinOp::DivNear
                | BinOp::Ldexp => {
                    let ty = Const::from(a).ty();
                    return library::function(ScalarOp::Bin(op, ty), &[a.into(), b.into()]);
                }
            };
            Ok(value.into())
        }
    };
}

binary! {
    Mod f16_mod f32_mod f64_mod;
    Min f16_min f32_min f64_min;
    Max f16_max f32_max f64_max;
    Copysign f16_copysign f32_copysign f64_copysign;
    Nextafter f16_nextafter f32_nextafter f64_nextafter;
}

macro_rules! ternary {
    ($($name:ident $ty:ident $fma:ident $mad:ident $lerp:ident;)*) => {
        $(
            /// The value of an operation of three operands.
            pub fn $name(op: TernOp, a: $ty, b: $ty, c: $ty) -> Result<Const, ScalarTrap> {
                let value = match op {
                    TernOp::Fma => math::$fma(a, b, c),
                    TernOp::Mad => math::$mad(a, b, c),
                    TernOp::Lerp => math::$lerp(a, b, c),
                    TernOp::MadHi => return Err(ScalarTrap::IllTyped),
                };
                Ok(value.into())
            }
        )*
    };
}

ternary! {
    tern_f16 f16 f16_fma f16_mad f16_lerp;
    tern_f32 f32 f32_fma f32_mad f32_lerp;
    tern_f64 f64 f64_fma f64_mad f64_lerp;
}
