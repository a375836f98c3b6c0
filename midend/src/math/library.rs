//! Which operations are functions with a definition in IR, and the definitions, each built at its first use.
//!
//! Functions of binary16 have none of their own: they are those of binary32, rounded.

use super::atan::Unit;
use super::code::{Definition, define};
use super::trig::Circular;
use super::{atan, exp, log, power, special, trig};
use crate::ir::scalar::{BinOp, ScalarOp, UnOp};
use crate::ir::types::ScalarType;
use std::sync::OnceLock;

/// Something about each operation of one or two operands on binary32 and binary64, found when it is first asked for.
pub struct Slots<T: 'static> {
    unary: [[OnceLock<Option<T>>; 2]; UnOp::ALL.len()],
    binary: [[OnceLock<Option<T>>; 2]; BinOp::ALL.len()],
}

impl<T> Slots<T> {
    /// Nothing is known.
    pub const fn new() -> Self {
        Self {
            unary: [const { [const { OnceLock::new() }; 2] }; UnOp::ALL.len()],
            binary: [const { [const { OnceLock::new() }; 2] }; BinOp::ALL.len()],
        }
    }

    /// What is known about an operation, after `find` was asked at the first time.
    pub fn get(&self, op: ScalarOp, find: impl FnOnce() -> Option<T>) -> Option<&T> {
        let format = match op.operand(0) {
            ScalarType::F32 => 0,
            ScalarType::F64 => 1,
            ScalarType::F16
            | ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::Bool => return None,
        };
        let slots = match op {
            ScalarOp::Un(op, _) => &self.unary[op as usize],
            ScalarOp::Bin(op, _) => &self.binary[op as usize],
            ScalarOp::Cmp(..)
            | ScalarOp::Tern(..)
            | ScalarOp::Convert(..)
            | ScalarOp::ToBits(_)
            | ScalarOp::FromBits(_)
            | ScalarOp::Select(_) => return None,
        };
        slots[format].get_or_init(find).as_ref()
    }
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The definition of an operation on binary32 or binary64, if it is a function with one.
pub fn definition(op: ScalarOp) -> Option<&'static Definition> {
    static DEFINITIONS: Slots<Definition> = Slots::new();
    DEFINITIONS.get(op, || build(op))
}

/// The operation that computes this one: that of binary32 for one of binary16, else itself.
pub const fn computed_by(op: ScalarOp) -> ScalarOp {
    match op {
        ScalarOp::Un(op, ScalarType::F16) => ScalarOp::Un(op, ScalarType::F32),
        ScalarOp::Bin(op, ScalarType::F16) => ScalarOp::Bin(op, ScalarType::F32),
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => op,
    }
}

/// Every operation on a type of floats that is a function with a definition (of binary16: with one for binary32), but for those that
/// only stand for others with `--fast-math`.
pub fn functions(ty: ScalarType) -> Vec<ScalarOp> {
    let near = |op: &UnOp| {
        let all = [
            UnOp::SinNear,
            UnOp::CosNear,
            UnOp::ExpNear,
            UnOp::SqrtNear,
            UnOp::RsqrtNear,
        ];
        all.contains(op)
    };
    let unary = UnOp::ALL.iter().filter(|op| !near(op));
    let unary = unary.map(|op| ScalarOp::Un(*op, ty));
    let binary = BinOp::ALL.iter().filter(|op| **op != BinOp::DivNear);
    let binary = binary.map(|op| ScalarOp::Bin(*op, ty));
    unary
        .chain(binary)
        .filter(|op| definition(computed_by(*op)).is_some())
        .collect()
}

/// The largest error of a function in units in the last place. (Of `lgamma` of negative numbers, near whose zeros this
/// cannot be, half a unit in the last place of 4.)
pub fn bound(op: ScalarOp) -> u32 {
    match op {
        ScalarOp::Un(UnOp::Erf | UnOp::Erfc, _) | ScalarOp::Bin(BinOp::Pow, _) => 2,
        ScalarOp::Un(UnOp::Gamma | UnOp::Lgamma, _) => 4,
        ScalarOp::Un(
            UnOp::SinNear | UnOp::CosNear | UnOp::ExpNear | UnOp::SqrtNear | UnOp::RsqrtNear,
            _,
        )
        | ScalarOp::Bin(BinOp::DivNear, _) => 4,
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => 1,
    }
}

fn build(op: ScalarOp) -> Option<Definition> {
    match op {
        ScalarOp::Un(op, ty) => unary(op, ty),
        ScalarOp::Bin(op, ty) => binary(op, ty),
        ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => None,
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "a table of those operators that are functions"
)]
fn unary(op: UnOp, ty: ScalarType) -> Option<Definition> {
    let of_single = ty == ScalarType::F32;
    Some(match op {
        UnOp::Exp if of_single => {
            define(ty, |[x]| exp::exp(x)).with_branch(ty, |[x]| exp::exp_ordinary(x))
        }
        UnOp::Log if of_single => {
            define(ty, |[x]| log::log(x)).with_branch(ty, |[x]| log::log_ordinary(x))
        }
        UnOp::Exp => define(ty, |[x]| exp::exp(x)),
        UnOp::Sinh => define(ty, |[x]| exp::sinh(x)),
        UnOp::Cosh => define(ty, |[x]| exp::cosh(x)),
        UnOp::Tanh => define(ty, |[x]| exp::tanh(x)),
        UnOp::Log => define(ty, |[x]| log::log(x)),
        UnOp::Log2 => define(ty, |[x]| log::log2(x)),
        UnOp::Log10 => define(ty, |[x]| log::log10(x)),
        UnOp::Log1p => define(ty, |[x]| log::log1p(x)),
        UnOp::Asinh => define(ty, |[x]| log::asinh(x)),
        UnOp::Acosh => define(ty, |[x]| log::acosh(x)),
        UnOp::Atanh => define(ty, |[x]| log::atanh(x)),
        UnOp::Sin => define(ty, |[x]| Circular::Sin.of_radians(x)),
        UnOp::Cos => define(ty, |[x]| Circular::Cos.of_radians(x)),
        UnOp::Tan => define(ty, |[x]| Circular::Tan.of_radians(x)),
        UnOp::SinNear => define(ty, trig::sin_near),
        UnOp::CosNear => define(ty, trig::cos_near),
        UnOp::ExpNear => define(ty, |[x]| exp::exp_near(x)),
        UnOp::SqrtNear => define(ty, |[x]| x.sqrt()),
        UnOp::RsqrtNear => define(ty, |[x]| x.like(1.0).over(x.sqrt())),
        UnOp::Sinpi => define(ty, |[x]| Circular::Sin.of_half_turns(x)),
        UnOp::Cospi => define(ty, |[x]| Circular::Cos.of_half_turns(x)),
        UnOp::Tanpi => define(ty, |[x]| Circular::Tan.of_half_turns(x)),
        UnOp::Asin => define(ty, |[x]| atan::asin(x, Unit::Radian)),
        UnOp::Acos => define(ty, |[x]| atan::acos(x, Unit::Radian)),
        UnOp::Atan => define(ty, |[x]| atan::atan(x, Unit::Radian)),
        UnOp::Asinpi => define(ty, |[x]| atan::asin(x, Unit::HalfTurn)),
        UnOp::Acospi => define(ty, |[x]| atan::acos(x, Unit::HalfTurn)),
        UnOp::Atanpi => define(ty, |[x]| atan::atan(x, Unit::HalfTurn)),
        UnOp::Cbrt => define(ty, |[x]| power::cbrt(x)),
        UnOp::Erf => define(ty, |[x]| special::erf(x)),
        UnOp::Erfc => define(ty, |[x]| special::erfc(x)),
        UnOp::Gamma => define(ty, |[x]| special::gamma(x)),
        UnOp::Lgamma => define(ty, |[x]| special::lgamma(x)),
        _ => return None,
    })
}

#[expect(clippy::wildcard_enum_match_arm, reason = "as above")]
fn binary(op: BinOp, ty: ScalarType) -> Option<Definition> {
    Some(match op {
        BinOp::Pow if ty == ScalarType::F32 => define(ty, |[x, y]| power::pow(x, y))
            .with_branch(ty, |[x, y]| power::pow_ordinary(x, y)),
        BinOp::Pow => define(ty, |[x, y]| power::pow(x, y)),
        BinOp::Hypot => define(ty, |[x, y]| power::hypot(x, y)),
        BinOp::DivNear => define(ty, |[x, y]| x.over(y)),
        BinOp::Ldexp => define(ty, |[x, n]| power::ldexp(x, n)),
        BinOp::Atan2 => define(ty, |[y, x]| atan::atan2(y, x, Unit::Radian)),
        BinOp::Atan2pi => define(ty, |[y, x]| atan::atan2(y, x, Unit::HalfTurn)),
        _ => return None,
    })
}
