//! What scalar operations cost, counted in additions.

use crate::ir::scalar::{BinOp, ScalarOp, TernOp, UnOp};

/// A division, a root.
const SLOW: f64 = 8.0;
/// A function that is a polynomial.
const FUNCTION: f64 = 24.0;

/// How many additions take as long.
pub(crate) fn of(op: ScalarOp) -> f64 {
    match op {
        ScalarOp::Un(op, _) => unary(op),
        ScalarOp::Bin(op, _) => binary(op),
        ScalarOp::Tern(TernOp::Fma | TernOp::Mad | TernOp::MadHi | TernOp::Lerp, _) => 2.0,
        ScalarOp::Cmp(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => 1.0,
    }
}

fn binary(op: BinOp) -> f64 {
    match op {
        BinOp::Add
        | BinOp::Sub
        | BinOp::Mul
        | BinOp::And
        | BinOp::Or
        | BinOp::Xor
        | BinOp::Shl
        | BinOp::Shr
        | BinOp::Min
        | BinOp::Max
        | BinOp::MulHi
        | BinOp::AddSat
        | BinOp::MulSat
        | BinOp::Copysign => 1.0,
        BinOp::Div
        | BinOp::Mod
        | BinOp::Quot
        | BinOp::Rem
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Nextafter
        | BinOp::Ldexp => SLOW,
        BinOp::Pow | BinOp::Atan2 | BinOp::Atan2pi => FUNCTION,
    }
}

fn unary(op: UnOp) -> f64 {
    match op {
        UnOp::Neg
        | UnOp::Not
        | UnOp::Abs
        | UnOp::Signum
        | UnOp::Popcount
        | UnOp::Clz
        | UnOp::Ctz
        | UnOp::IsNan
        | UnOp::IsInf
        | UnOp::Floor
        | UnOp::Ceil
        | UnOp::Round
        | UnOp::Trunc => 1.0,
        UnOp::Sqrt | UnOp::SqrtNear | UnOp::Rsqrt | UnOp::RsqrtNear | UnOp::Cbrt => SLOW,
        UnOp::Exp
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
        | UnOp::Lgamma => FUNCTION,
    }
}
