//! Conversions to binary16 that round once, and the arithmetic of binary16 that needs care.

use half::f16;

/// The nearest binary32, but with a last bit of one if the value lies between two of them. Rounding the result to a
/// format at least two bits narrower gives what rounding `x` directly would.
fn f32_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    if x.is_nan() || back == x || near.to_bits() & 1 == 1 {
        return near;
    }
    // One step towards x: up in magnitude if the rounding went below it. An infinity steps down to the largest number.
    let bits = near.to_bits();
    if back.abs() < x.abs() {
        f32::from_bits(bits + 1)
    } else {
        f32::from_bits(bits - 1)
    }
}

/// `x` rounded once to binary16.
pub fn f64_to_f16(x: f64) -> f16 {
    f16::from_f32(f32_to_odd(x))
}

/// `x` rounded once to binary16. (Every integer below the overflow threshold is exact in binary64.)
pub fn i64_to_f16(x: i64) -> f16 {
    f64_to_f16(x as f64)
}

/// `x` rounded once to binary16.
pub fn u64_to_f16(x: u64) -> f16 {
    f64_to_f16(x as f64)
}

/// `a * b + c` rounded once.
pub fn f16_fma(a: f16, b: f16, c: f16) -> f16 {
    // The product is exact in binary64. The sum is rounded to odd there, so that the second rounding is harmless.
    let (p, c) = (a.to_f64() * b.to_f64(), c.to_f64());
    let sum = p + c;
    if !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return f64_to_f16(sum);
    }
    let part = sum - p;
    let error = (p - (sum - part)) + (c - part);
    let bits = sum.to_bits();
    let odd = if error == 0.0 {
        sum
    } else if (error > 0.0) == (sum > 0.0) {
        f64::from_bits(bits + 1)
    } else {
        f64::from_bits(bits - 1)
    };
    f64_to_f16(odd)
}

/// The next number from `x` towards `y`.
pub fn f16_nextafter(x: f16, y: f16) -> f16 {
    if x.is_nan() || y.is_nan() {
        return f16::NAN;
    }
    if x == y {
        return y;
    }
    if x == f16::ZERO {
        let tiny = f16::from_bits(1);
        return if y > x { tiny } else { -tiny };
    }
    let away = (y > x) == (x > f16::ZERO);
    let bits = x.to_bits();
    f16::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// The result of an operation that binary32 computes so well that rounding it to binary16 is the only error that counts.
pub(super) fn through(x: f32) -> f16 {
    f16::from_f32(x)
}
