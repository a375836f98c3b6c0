//! The exponential function and the hyperbolic functions.
//!
//! x = k ln(2) + r with a whole k and |r| <= ln(2)/2; a polynomial gives e^r; then 2^k scales, in two steps so that
//! results in the range of subnormal numbers are rounded once.

use super::code::Val;
use super::data::exp::{
    EXP_F32, EXP_F64, EXP_SHORT, LN2_F32, LN2_F64, LN2_REST, LN2_SHORT, LOG2_E,
};
use super::format::{Format, Whole, single};
use super::pair::Pair;
use crate::ir::types::ScalarType;

/// e^x.
pub fn exp(x: Val<'_>) -> Val<'_> {
    let format = Format::of(x.ty());
    // Beyond these the result is infinite or zero, and the exponents below stay in range. A NaN stays a NaN.
    let (low, high) = format.pick((-104.0, 89.0), (-746.0, 710.0));
    let x = x.or_if(x.lt(low), low);
    let x = x.or_if(x.gt(high), high);
    if x.ty() == ScalarType::F32 {
        let (k, power) = reduced_short(x);
        return format.scale(power, k.value);
    }
    let k = format.whole(x * LOG2_E);
    let near = k.value.fma(-LN2_F64[0], x);
    let r = k.value.fma(-LN2_F64[1], near);
    let rest = k.value.fma(-LN2_F64[1], near - r);
    let tail = (r * r).fma(r.poly(&EXP_F64), rest);
    format.scale((r + tail) + 1.0, k.value)
}

/// k and e^r for x = k ln(2) + r, of a binary32 in the range where results are finite. The error, 0.85 units in the last place
/// of the power, has room for those of r and of the last sums.
fn reduced_short(x: Val<'_>) -> (Whole<'_>, Val<'_>) {
    let k = Format::of(x.ty()).whole_product(x, LOG2_E);
    let r = k.value.fma(-LN2_F32[1], k.value.fma(-LN2_F32[0], x));
    let slope = r.fma(r.poly(&EXP_F32), 1.0);
    (k, r.fma(slope, 1.0))
}

/// Whether the power of a binary32 is far from the ends of the range of normal numbers, and the power, in which 2^k is added to
/// the exponent.
pub fn exp_ordinary(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let format = Format::of(x.ty());
    let (k, power) = reduced_short(x);
    let scaled = power.bits() + k.bits.left(format.digits);
    (x.abs().le(87.0), scaled.float())
}

/// e^x, off by up to 4 units in the last place: what rounding takes from r is not put back. That of a binary32 is as ever.
pub fn exp_near(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return exp(x);
    }
    let format = Format::of(x.ty());
    let x = x.or_if(x.lt(-746.0), -746.0);
    let x = x.or_if(x.gt(710.0), 710.0);
    let k = format.whole(x * LOG2_E);
    let r = k.value.fma(-LN2_F64[1], k.value.fma(-LN2_F64[0], x));
    let tail = (r * r).fma(r.poly(&EXP_F64), r);
    format.scale(tail + 1.0, k.value)
}

/// k and e^r - 1 for x = k ln(2) + r, of a binary64 in the range where results are finite; as precise as binary32
/// needs.
pub fn reduced_single(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let k = Format::of(x.ty()).whole(x * LOG2_E).value;
    let r = k.fma(-LN2_F64[1], k.fma(-LN2_F64[0], x));
    (k, (r * r).fma(r.poly(&EXP_SHORT), r))
}

/// k and e^r - 1 for x = k ln(2) + r in the range where results are finite.
pub fn reduced_pair(x: Pair<'_>) -> (Val<'_>, Pair<'_>) {
    let k = Format::of(x.hi.ty()).whole(x.hi * LOG2_E).value;
    let near = k.fma(-LN2_F64[0], x.hi);
    let product = Pair::product(k, k.like(LN2_F64[1]));
    let r = Pair::sum(near, -product.hi);
    let rest = k.fma(-LN2_REST, (r.lo - product.lo) + x.lo);
    let r = Pair::fast(r.hi, rest);
    // The square as a pair: its half is the largest of what is added.
    let tail = (r.hi * r.hi * r.hi).fma(r.hi.poly(&EXP_F64[1..]), r.hi.fma(r.lo, r.lo));
    let half = Pair::product(r.hi, r.hi * 0.5);
    let sum = Pair::fast(r.hi, half.hi);
    (k, Pair::fast(sum.hi, sum.lo + (half.lo + tail)))
}

/// e^x for a pair in the range where results are finite, as 2^k times a pair.
pub fn exp_pair(x: Pair<'_>) -> (Val<'_>, Pair<'_>) {
    let (k, t) = reduced_pair(x);
    let sum = Pair::fast(t.hi.like(1.0), t.hi);
    (k, Pair::fast(sum.hi, sum.lo + t.lo))
}

/// k and e^r for x = k ln(2) + r, of a pair of binary32 up to 120: the error is that of rounding and a sixth of an ulp.
pub fn exp_short(x: Pair<'_>) -> (Whole<'_>, Val<'_>) {
    let k = Format::of(x.hi.ty()).whole_product(x.hi, LOG2_E);
    // The first difference is exact.
    let rest = k.value.fma(-LN2_SHORT[0], x.hi);
    let r = Pair::fast(rest, k.value.fma(-LN2_SHORT[1], x.lo));
    let tail = (r.hi * r.hi).fma(r.hi.poly(&EXP_SHORT), r.lo);
    let sum = Pair::fast(r.hi.like(1.0), r.hi);
    (k, sum.hi + (tail + sum.lo))
}

/// 2^k for a whole k in the range of normal exponents.
fn power(k: Val<'_>) -> Val<'_> {
    let format = Format::of(k.ty());
    format.power(format.whole(k))
}

/// The least argument from which on hyperbolic functions overflow, and more than that.
const LARGE: f64 = 710.6;

/// (e^x - 1) / 4 for 0 <= x <= 710.6.
fn quarter_pair(x: Val<'_>) -> Pair<'_> {
    let (k, t) = reduced_pair(Pair::exact(x));
    let scale = power(k - 2.0);
    Pair::sum(scale, x.like(-0.25)).plus(t.scaled(scale))
}

/// Hyperbolic sine.
pub fn sinh(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let a = x.abs();
            let (k, t) = reduced_single(a.or_if(a.gt(100.0), 100.0));
            let scale = power(k);
            let e = scale.fma(t, scale - 1.0);
            ((e + e.over(e + 1.0)) * 0.5).copysign(x)
        });
    }
    let a = x.abs();
    let e = quarter_pair(a.or_if(a.gt(LARGE), LARGE));
    let one = x.like(1.0);
    let whole = Pair::sum(one, e.hi * 4.0);
    let whole = Pair::fast(whole.hi, e.lo.fma(4.0, whole.lo));
    let back = e.over(whole);
    let back = Pair::select(whole.hi.lt(1e300), back, Pair::exact(x.like(0.0)));
    let result = e.plus(back).rounded() * 2.0;
    small_or_nan(x, result.copysign(x))
}

/// A function that is almost the identity for small arguments, and its value for a NaN.
pub fn small_or_nan<'c>(x: Val<'c>, result: Val<'c>) -> Val<'c> {
    x.abs().ge(1e-9).select(result, x)
}

/// Hyperbolic cosine.
pub fn cosh(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let a = x.abs();
            let (k, t) = reduced_single(a.or_if(a.gt(100.0), 100.0));
            let e = power(k) * (t + 1.0);
            (e + e.like(1.0).over(e)) * 0.5
        });
    }
    let a = x.abs();
    let (k, e) = exp_pair(Pair::exact(a.or_if(a.gt(LARGE), LARGE)));
    let e = e.scaled(power(k - 2.0));
    let back = Pair::exact(x.like(0.0625)).over(e);
    e.plus(back).rounded() * 2.0
}

/// Hyperbolic tangent.
pub fn tanh(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let a = x.abs();
            let (k, t) = reduced_single(a.or_if(a.gt(20.0), 20.0) * 2.0);
            let scale = power(k);
            let e = scale.fma(t, scale - 1.0);
            e.over(e + 2.0).copysign(x)
        });
    }
    let a = x.abs();
    let a = a.or_if(a.gt(24.0), 24.0);
    let (k, t) = reduced_pair(Pair::exact(a * 2.0));
    let scale = power(k);
    let e = Pair::sum(scale, x.like(-1.0)).plus(t.scaled(scale));
    let sum = Pair::sum(x.like(2.0), e.hi);
    let sum = Pair::fast(sum.hi, sum.lo + e.lo);
    small_or_nan(x, e.over(sum).rounded().copysign(x))
}
