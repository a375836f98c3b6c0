//! Floats: IEEE 754 arithmetic, each operation rounded once, no flush to zero. The functions stand in [`crate::math`].

use super::ScalarTrap;
use crate::ir::scalar::{BinOp, Const, TernOp, UnOp};
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
        pub fn $name(op: UnOp, a: $ty) -> Result<Const, ScalarTrap> {
            Ok(match op {
                $(UnOp::$op => math::$f(a).into(),)*
                UnOp::IsNan => a.is_nan().into(),
                UnOp::IsInf => a.is_infinite().into(),
                UnOp::Not | UnOp::Popcount | UnOp::Clz | UnOp::Ctz => {
                    return Err(ScalarTrap::IllTyped);
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
    Cbrt f16_cbrt f32_cbrt f64_cbrt;
    Floor f16_floor f32_floor f64_floor;
    Ceil f16_ceil f32_ceil f64_ceil;
    Round f16_round f32_round f64_round;
    Trunc f16_trunc f32_trunc f64_trunc;
    Exp f16_exp f32_exp f64_exp;
    Log f16_log f32_log f64_log;
    Log2 f16_log2 f32_log2 f64_log2;
    Log10 f16_log10 f32_log10 f64_log10;
    Log1p f16_log1p f32_log1p f64_log1p;
    Sin f16_sin f32_sin f64_sin;
    Cos f16_cos f32_cos f64_cos;
    Tan f16_tan f32_tan f64_tan;
    Sinpi f16_sinpi f32_sinpi f64_sinpi;
    Cospi f16_cospi f32_cospi f64_cospi;
    Tanpi f16_tanpi f32_tanpi f64_tanpi;
    Asin f16_asin f32_asin f64_asin;
    Acos f16_acos f32_acos f64_acos;
    Atan f16_atan f32_atan f64_atan;
    Asinpi f16_asinpi f32_asinpi f64_asinpi;
    Acospi f16_acospi f32_acospi f64_acospi;
    Atanpi f16_atanpi f32_atanpi f64_atanpi;
    Sinh f16_sinh f32_sinh f64_sinh;
    Cosh f16_cosh f32_cosh f64_cosh;
    Tanh f16_tanh f32_tanh f64_tanh;
    Asinh f16_asinh f32_asinh f64_asinh;
    Acosh f16_acosh f32_acosh f64_acosh;
    Atanh f16_atanh f32_atanh f64_atanh;
    Erf f16_erf f32_erf f64_erf;
    Erfc f16_erfc f32_erfc f64_erfc;
    Gamma f16_gamma f32_gamma f64_gamma;
    Lgamma f16_lgamma f32_lgamma f64_lgamma;
}

macro_rules! binary {
    ($($op:ident $h:ident $s:ident $d:ident;)*) => {
        binary!(@fn bin_f16 f16 $($op $h;)*);
        binary!(@fn bin_f32 f32 $($op $s;)*);
        binary!(@fn bin_f64 f64 $($op $d;)*);
    };
    (@fn $name:ident $ty:ident $($op:ident $f:ident;)*) => {
        /// The value of an operation of two operands.
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
                | BinOp::MulHi => return Err(ScalarTrap::IllTyped),
            };
            Ok(value.into())
        }
    };
}

binary! {
    Mod f16_mod f32_mod f64_mod;
    Pow f16_pow f32_pow f64_pow;
    Min f16_min f32_min f64_min;
    Max f16_max f32_max f64_max;
    Atan2 f16_atan2 f32_atan2 f64_atan2;
    Atan2pi f16_atan2pi f32_atan2pi f64_atan2pi;
    Hypot f16_hypot f32_hypot f64_hypot;
    Copysign f16_copysign f32_copysign f64_copysign;
    Nextafter f16_nextafter f32_nextafter f64_nextafter;
    Ldexp f16_ldexp f32_ldexp f64_ldexp;
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
