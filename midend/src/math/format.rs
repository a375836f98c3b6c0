//! The formats binary32 and binary64 as definitions see them: exponents, and whole numbers made by adding a number so
//! large that the sum has no binary places.

use super::code::Val;
use crate::ir::types::ScalarType;

/// A binary floating-point format.
#[derive(Clone, Copy)]
pub struct Format {
    single: bool,
    /// Explicit bits of the significand.
    pub digits: u64,
    /// What is added to exponents.
    pub bias: u64,
}

/// A whole number.
#[derive(Clone, Copy)]
pub struct Whole<'c> {
    /// As a float.
    pub value: Val<'c>,
    /// As an unsigned integer of the width of the float whose low bits (all but its upper exponent) are those of the
    /// number.
    pub bits: Val<'c>,
}

impl Format {
    /// The format of a type.
    pub const fn of(ty: ScalarType) -> Self {
        match ty {
            ScalarType::F32 => Self {
                single: true,
                digits: 23,
                bias: 127,
            },
            ScalarType::F64
            | ScalarType::F16
            | ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::Bool => Self {
                single: false,
                digits: 52,
                bias: 1023,
            },
        }
    }

    /// The first for binary32, the second for binary64.
    pub fn pick<T>(self, single: T, double: T) -> T {
        if self.single { single } else { double }
    }

    /// The number that leaves no binary places in what is added to it.
    fn magic(self) -> f64 {
        1.5 * 2f64.powi(self.digits as i32)
    }

    /// The whole number nearest to a float that is far below 2^digits.
    pub fn whole(self, x: Val<'_>) -> Whole<'_> {
        let sum = x + self.magic();
        Whole {
            value: sum - self.magic(),
            bits: sum.bits(),
        }
    }

    /// The whole number nearest to a product that is far below 2^digits.
    pub fn whole_product(self, x: Val<'_>, factor: f64) -> Whole<'_> {
        let sum = x.fma(factor, self.magic());
        Whole {
            value: sum - self.magic(),
            bits: sum.bits(),
        }
    }

    /// 2^k for a whole number in the range of exponents of normal numbers.
    pub fn power(self, k: Whole<'_>) -> Val<'_> {
        let one = self.bias << self.digits;
        (k.bits.left(self.digits) + one).float()
    }

    /// `x` times 2^k for a whole k at most twice as large as exponents are; rounded once.
    pub fn scale<'c>(self, x: Val<'c>, k: Val<'c>) -> Val<'c> {
        let half = self.whole(k * 0.5);
        let other = self.whole(k - half.value);
        x * self.power(half) * self.power(other)
    }

    /// A positive number as m 2^k with m between sqrt(1/2) and sqrt(2) and a whole k.
    pub fn mantissa(self, x: Val<'_>) -> (Val<'_>, Val<'_>) {
        let (least, up) = self.pick((f64::from(f32::MIN_POSITIVE), 24), (f64::MIN_POSITIVE, 54));
        let subnormal = x.lt(least);
        let x = x.or_if(subnormal, x * 2f64.powi(up));
        let (m, e) = self.split(x);
        let bias = self.exponent_of_one();
        let zero = e.like(bias);
        let k = e - zero.or_if(subnormal, bias + f64::from(up));
        (m, k)
    }

    /// The same of a positive normal number.
    pub fn mantissa_of_normal(self, x: Val<'_>) -> (Val<'_>, Val<'_>) {
        let (m, e) = self.split(x);
        (m, e - self.exponent_of_one())
    }

    /// m, and k plus [`Self::exponent_of_one`], of a positive normal number.
    fn split(self, x: Val<'_>) -> (Val<'_>, Val<'_>) {
        let root = self.pick(0x3f35_04f3, 0x3fe6_a09e_667f_3bcd);
        let one = self.bias << self.digits;
        let moved = x.bits() + (one - root);
        let m = (moved.and((1 << self.digits) - 1) + root).float();
        // The exponent as the low bits of a float that has no binary places.
        let large_bits = (self.bias + self.digits) << self.digits;
        (m, moved.right(self.digits).or(large_bits).float())
    }

    fn exponent_of_one(self) -> f64 {
        2f64.powi(self.digits as i32) + self.bias as f64
    }
}

/// A function of a binary32, computed in binary64.
pub fn single<'c>(x: Val<'c>, f: impl FnOnce(Val<'c>) -> Val<'c>) -> Val<'c> {
    f(x.to(ScalarType::F64)).to(ScalarType::F32)
}
