//! The values of float literals: each conversion rounds the written digits once.

use super::ast::{FloatDigits, FloatType, IntType};
use half::f16;

impl IntType {
    /// The type's name, which is also the literal's suffix.
    pub fn name(self) -> &'static str {
        match self {
            IntType::I8 => "i8",
            IntType::I16 => "i16",
            IntType::I32 => "i32",
            IntType::I64 => "i64",
            IntType::U8 => "u8",
            IntType::U16 => "u16",
            IntType::U32 => "u32",
            IntType::U64 => "u64",
        }
    }
}

impl FloatType {
    /// The type's name, which is also the literal's suffix.
    pub fn name(self) -> &'static str {
        match self {
            FloatType::F16 => "f16",
            FloatType::F32 => "f32",
            FloatType::F64 => "f64",
        }
    }
}

impl FloatDigits {
    /// A number in base 2, without a prefix.
    pub fn from_bits(bits: &str) -> FloatDigits {
        let digit = |four: &[u8]| {
            let value = four
                .iter()
                .fold(0, |value, bit| value * 2 + u32::from(*bit == b'1'));
            char::from_digit(value, 16).unwrap_or('0')
        };
        let mut out: Vec<char> = bits.as_bytes().rchunks(4).map(digit).collect();
        out.extend(['x', '0']);
        FloatDigits(out.into_iter().rev().collect::<String>().into())
    }

    /// The value in `f64`, rounded to nearest even.
    pub fn to_f64(&self) -> f64 {
        match self.hexadecimal() {
            Some(hex) => hex.round(53, -1074),
            None => self.0.parse().unwrap_or(f64::NAN),
        }
    }

    /// The value in `f32`, rounded once to nearest even.
    pub fn to_f32(&self) -> f32 {
        match self.hexadecimal() {
            Some(hex) => hex.round(24, -149) as f32,
            None => self.0.parse().unwrap_or(f32::NAN),
        }
    }

    /// The value in `f16`, rounded once to nearest even.
    pub fn to_f16(&self) -> f16 {
        match self.hexadecimal() {
            Some(hex) => f16::from_f64(hex.round(11, -24)),
            None => f16::from_f64(HexFloat::of(self.to_f64_towards_odd()).round(11, -24)),
        }
    }

    /// The nearest `f64`, but off a tie of `f16` in the direction in which the digits are, so that
    /// rounding it to `f16` rounds the digits.
    fn to_f64_towards_odd(&self) -> f64 {
        let nearest = self.to_f64();
        let text = format!("{nearest:e}");
        if !nearest.is_finite() || same_decimal(&text, &self.0) {
            return nearest;
        }
        // An `f64` with an odd last bit is never a tie of `f16`; the digits are between two neighbours.
        if nearest.to_bits() & 1 == 1 {
            return nearest;
        }
        let exact_is_above = decimal_less(&exact_decimal(nearest), &self.0);
        let bits = nearest.to_bits();
        if exact_is_above {
            f64::from_bits(bits + 1)
        } else if bits == 0 {
            nearest
        } else {
            f64::from_bits(bits - 1)
        }
    }

    fn hexadecimal(&self) -> Option<HexFloat> {
        let text = self.0.strip_prefix("0x").or(self.0.strip_prefix("0X"))?;
        let (mantissa, exponent) = text.split_once(['p', 'P']).unwrap_or((text, "0"));
        let mut hex = HexFloat::default();
        let mut after_point = false;
        for digit in mantissa.chars() {
            match digit.to_digit(16) {
                Some(value) => hex.push(value, after_point),
                None => after_point = true,
            }
        }
        let written: i64 = exponent.parse().unwrap_or_else(|_| {
            if exponent.starts_with('-') {
                -(1 << 40)
            } else {
                1 << 40
            }
        });
        hex.exponent = hex.exponent.saturating_add(written);
        Some(hex)
    }
}

/// `mantissa * 2^exponent`, with bits below the mantissa folded into `sticky`.
#[derive(Default)]
struct HexFloat {
    mantissa: u128,
    exponent: i64,
    sticky: bool,
}

impl HexFloat {
    /// The parts of a non-negative float; infinity becomes a number that is far too large.
    fn of(value: f64) -> HexFloat {
        let bits = value.to_bits();
        let biased = (bits >> 52 & 0x7ff) as i64;
        let fraction = u128::from(bits & ((1 << 52) - 1));
        let hidden = u128::from(biased != 0) << 52;
        HexFloat {
            mantissa: fraction | hidden,
            exponent: biased.max(1) - 1075,
            sticky: false,
        }
    }

    fn push(&mut self, digit: u32, after_point: bool) {
        if self.mantissa >> 120 == 0 {
            self.mantissa = self.mantissa << 4 | u128::from(digit);
            if after_point {
                self.exponent -= 4;
            }
        } else {
            self.sticky |= digit != 0;
            if !after_point {
                self.exponent += 4;
            }
        }
    }

    /// The value rounded to `precision` bits and to multiples of `2^least`; the range of exponents is left to
    /// the conversion into the narrower type, which saturates to infinity exactly.
    fn round(&self, precision: i64, least: i64) -> f64 {
        if self.mantissa == 0 {
            return 0.0;
        }
        let width = 128 - i64::from(self.mantissa.leading_zeros());
        let drop = (width - precision).max(least.saturating_sub(self.exponent));
        let (mut kept, exponent) = if drop <= 0 {
            (self.mantissa, self.exponent)
        } else if drop > 127 {
            return 0.0;
        } else {
            (self.mantissa >> drop, self.exponent.saturating_add(drop))
        };
        if drop > 0 {
            let rest = self.mantissa & ((1 << drop) - 1);
            let half = 1u128 << (drop - 1);
            let above = rest > half || rest == half && (self.sticky || kept & 1 == 1);
            kept += u128::from(above);
        }
        scale(kept as f64, exponent)
    }
}

/// `value * 2^exponent` for a result that is exact or out of range.
fn scale(mut value: f64, mut exponent: i64) -> f64 {
    exponent = exponent.clamp(-5000, 5000);
    while exponent > 0 {
        let step = exponent.min(1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    while exponent < 0 {
        let step = exponent.max(-1000);
        value *= 2f64.powi(step as i32);
        exponent -= step;
    }
    value
}

/// Every digit of a float: at most 1074 after the point.
fn exact_decimal(value: f64) -> String {
    format!("{value:.1074}")
}

fn same_decimal(a: &str, b: &str) -> bool {
    let (a, b) = (Decimal::read(a), Decimal::read(b));
    a.digits == b.digits && a.point == b.point
}

fn decimal_less(a: &str, b: &str) -> bool {
    let (a, b) = (Decimal::read(a), Decimal::read(b));
    if a.digits.is_empty() || b.digits.is_empty() {
        return a.digits.is_empty() && !b.digits.is_empty();
    }
    (a.point, a.digits) < (b.point, b.digits)
}

/// A non-negative decimal in a normal form: `0.d1 d2 d3.. * 10^point` without zeros at either end.
struct Decimal {
    digits: String,
    point: i64,
}

impl Decimal {
    fn read(text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let exponent: i64 = exponent.parse().unwrap_or(0);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let leading = all.len() - all.trim_start_matches('0').len();
        let digits = all.trim_matches('0').to_string();
        let point = whole.len() as i64 - leading as i64 + exponent;
        let point = if digits.is_empty() { 0 } else { point };
        Decimal { digits, point }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> FloatDigits {
        FloatDigits(text.into())
    }

    #[test]
    fn decimal_digits_round_once() {
        assert_eq!(digits("0.1").to_f64(), 0.1);
        assert_eq!(digits("0.1").to_f32(), 0.1f32);
        // Just above the tie between 2048 and 2050: through f64 alone this would round to even, 2048.
        let above = digits("2049.00000000000000000000000000000000001");
        assert_eq!(above.to_f16(), f16::from_f32(2050.0));
        assert_eq!(digits("2049").to_f16(), f16::from_f32(2048.0));
        let below = digits("2050.99999999999999999999999999999999999");
        assert_eq!(below.to_f16(), f16::from_f32(2050.0));
        assert_eq!(digits("1e400").to_f64(), f64::INFINITY);
        assert_eq!(digits("65520").to_f16(), f16::INFINITY);
        assert_eq!(digits("65519.99999999999999999999999").to_f16(), f16::MAX);
    }

    #[test]
    fn hexadecimal_digits_round_once() {
        assert_eq!(digits("0x1.8p1").to_f64(), 3.0);
        assert_eq!(digits("0x1.000001p0").to_f32(), 1.0);
        assert_eq!(digits("0x1.0000011p0").to_f32(), 1.0 + f32::EPSILON);
        assert_eq!(digits("0x1.0p-149").to_f32(), f32::from_bits(1));
        assert_eq!(digits("0x1.0p-150").to_f32(), 0.0);
        assert_eq!(digits("0x1.8p-150").to_f32(), f32::from_bits(1));
        assert_eq!(digits("0x1.0p99999999999999999999").to_f64(), f64::INFINITY);
        assert_eq!(digits("0x0.0p5").to_f64(), 0.0);
    }
}
