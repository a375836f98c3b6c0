//! Integers: everything wraps, nothing overflows.

use super::ScalarTrap;
use crate::ir::constant::Scalar;
use crate::ir::scalar::{BinOp, Const, UnOp};

/// An integer type, with the operations whose results depend on width or sign.
pub trait Int: Scalar + Ord {
    /// Zero.
    const ZERO: Self;
    /// Whether the value is below zero.
    fn is_negative(self) -> bool;
    /// 0 - x, wrapping.
    fn neg(self) -> Self;
    /// Bitwise complement.
    fn not(self) -> Self;
    /// Magnitude, wrapping.
    fn abs(self) -> Self;
    /// -1, 0 or 1.
    fn signum(self) -> Self;
    /// Number of set bits.
    fn popcount(self) -> u32;
    /// Number of leading zero bits.
    fn clz(self) -> u32;
    /// Number of trailing zero bits.
    fn ctz(self) -> u32;
    /// Sum, wrapping.
    fn add(self, other: Self) -> Self;
    /// Difference, wrapping.
    fn sub(self, other: Self) -> Self;
    /// Product, wrapping.
    fn mul(self, other: Self) -> Self;
    /// Quotient rounded to zero, wrapping; the divisor is not zero.
    fn quot(self, other: Self) -> Self;
    /// What `quot` leaves; the divisor is not zero.
    fn rem(self, other: Self) -> Self;
    /// Upper half of the double-width product.
    fn mulhi(self, other: Self) -> Self;
    /// Sum, saturating.
    fn add_sat(self, other: Self) -> Self;
    /// Product, saturating.
    fn mul_sat(self, other: Self) -> Self;
    /// Wrapping power by squaring; the exponent is not negative.
    fn pow(self, exponent: Self) -> Self;
    /// Bitwise and.
    fn and(self, other: Self) -> Self;
    /// Bitwise or.
    fn or(self, other: Self) -> Self;
    /// Bitwise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Shift left by the count modulo the width.
    fn shl(self, count: Self) -> Self;
    /// Shift right by the count modulo the width, keeping the sign.
    fn shr(self, count: Self) -> Self;
}

macro_rules! int {
    ($($ty:ident $wide:ident |$x:ident| $negative:expr, $abs:expr, $signum:expr;)*) => {
        $(impl Int for $ty {
            const ZERO: Self = 0;
            fn is_negative(self) -> bool {
                let $x = self;
                $negative
            }
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            fn not(self) -> Self {
                !self
            }
            fn abs(self) -> Self {
                let $x = self;
                $abs
            }
            fn signum(self) -> Self {
                let $x = self;
                $signum
            }
            fn popcount(self) -> u32 {
                self.count_ones()
            }
            fn clz(self) -> u32 {
                self.leading_zeros()
            }
            fn ctz(self) -> u32 {
                self.trailing_zeros()
            }
            fn add(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn sub(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn mul(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn quot(self, other: Self) -> Self {
                self.wrapping_div(other)
            }
            fn rem(self, other: Self) -> Self {
                self.wrapping_rem(other)
            }
            fn mulhi(self, other: Self) -> Self {
                ((self as $wide * other as $wide) >> Self::BITS) as Self
            }
            fn add_sat(self, other: Self) -> Self {
                self.saturating_add(other)
            }
            fn mul_sat(self, other: Self) -> Self {
                self.saturating_mul(other)
            }
            fn pow(self, exponent: Self) -> Self {
                let (mut base, mut left, mut result) = (self, exponent, 1 as Self);
                while left != 0 {
                    if left & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    left >>= 1;
                }
                result
            }
            fn and(self, other: Self) -> Self {
                self & other
            }
            fn or(self, other: Self) -> Self {
                self | other
            }
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
            fn shl(self, count: Self) -> Self {
                self.wrapping_shl(count as u32)
            }
            fn shr(self, count: Self) -> Self {
                self.wrapping_shr(count as u32)
            }
        })*
    };
}

int! {
    i8 i16 |x| x < 0, x.wrapping_abs(), i8::signum(x);
    i16 i32 |x| x < 0, x.wrapping_abs(), i16::signum(x);
    i32 i64 |x| x < 0, x.wrapping_abs(), i32::signum(x);
    i64 i128 |x| x < 0, x.wrapping_abs(), i64::signum(x);
    u8 u16 |_x| false, _x, u8::from(_x != 0);
    u16 u32 |_x| false, _x, u16::from(_x != 0);
    u32 u64 |_x| false, _x, u32::from(_x != 0);
    u64 u128 |_x| false, _x, u64::from(_x != 0);
}

/// Quotient rounded down; the divisor is not zero.
#[inline]
fn floor_div<T: Int>(a: T, b: T) -> T {
    let q = a.quot(b);
    if a.rem(b) != T::ZERO && a.is_negative() != b.is_negative() {
        // Adding all ones is subtracting one, in every integer type.
        q.add(T::ZERO.not())
    } else {
        q
    }
}

/// What `floor_div` leaves; the divisor is not zero.
#[inline]
fn floor_mod<T: Int>(a: T, b: T) -> T {
    let r = a.rem(b);
    if r != T::ZERO && r.is_negative() != b.is_negative() {
        r.add(b)
    } else {
        r
    }
}

/// The value of an operation of one operand.
#[inline(always)]
pub fn un<T: Int>(op: UnOp, a: T) -> Result<Const, ScalarTrap> {
    let count = |n: u32| Ok(Const::I32(n as i32));
    match op {
        UnOp::Neg => Ok(a.neg().into()),
        UnOp::Not => Ok(a.not().into()),
        UnOp::Abs => Ok(a.abs().into()),
        UnOp::Signum => Ok(a.signum().into()),
        UnOp::Popcount => count(a.popcount()),
        UnOp::Clz => count(a.clz()),
        UnOp::Ctz => count(a.ctz()),
        UnOp::IsNan
        | UnOp::IsInf
        | UnOp::Sqrt
        | UnOp::Rsqrt
        | UnOp::Cbrt
        | UnOp::Floor
        | UnOp::Ceil
        | UnOp::Round
        | UnOp::Trunc
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
        | UnOp::Lgamma => Err(ScalarTrap::IllTyped),
    }
}

/// The value of an operation of two operands.
#[inline(always)]
pub fn bin<T: Int>(op: BinOp, a: T, b: T) -> Result<Const, ScalarTrap> {
    let nonzero = || {
        if b == T::ZERO {
            Err(ScalarTrap::DivisionByZero)
        } else {
            Ok(())
        }
    };
    let value = match op {
        BinOp::Add => a.add(b),
        BinOp::Sub => a.sub(b),
        BinOp::Mul => a.mul(b),
        BinOp::Div => {
            nonzero()?;
            floor_div(a, b)
        }
        BinOp::Mod => {
            nonzero()?;
            floor_mod(a, b)
        }
        BinOp::Quot => {
            nonzero()?;
            a.quot(b)
        }
        BinOp::Rem => {
            nonzero()?;
            a.rem(b)
        }
        BinOp::Pow if b.is_negative() => return Err(ScalarTrap::NegativeExponent),
        BinOp::Pow => a.pow(b),
        BinOp::And => a.and(b),
        BinOp::Or => a.or(b),
        BinOp::Xor => a.xor(b),
        BinOp::Shl => a.shl(b),
        BinOp::Shr => a.shr(b),
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::MulHi => a.mulhi(b),
        BinOp::AddSat => a.add_sat(b),
        BinOp::MulSat => a.mul_sat(b),
        BinOp::Atan2
        | BinOp::Atan2pi
        | BinOp::Hypot
        | BinOp::DivNear
        | BinOp::Copysign
        | BinOp::Nextafter
        | BinOp::Ldexp => return Err(ScalarTrap::IllTyped),
    };
    Ok(value.into())
}
