//! Logarithms, and the inverse hyperbolic functions, which are logarithms.
//!
//! x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), and log(x) = k ln(2) + log(1 + f).

use super::code::Val;
use super::data::exp::{LN2_F32, LN2_F64, LN2_SHORT};
use super::data::log::{
    LOG_F32, LOG_F64, LOG_SHORT, LOG_TAIL, LOG_TAIL_F32, LOG2_E, LOG10_2, LOG10_E, THIRD, THIRD_F32,
};
use super::format::{Format, single};
use super::pair::Pair;
use crate::ir::types::ScalarType;

/// The natural logarithm.
pub fn log(x: Val<'_>) -> Val<'_> {
    let (m, k) = Format::of(x.ty()).mantissa(x);
    let f = m - 1.0;
    let result = if x.ty() == ScalarType::F32 {
        of_parts(k, f)
    } else {
        // With s = f / (2 + f) log(1+f) is 2 atanh(s) = f - s (f - R), where R = s^2 (2/3 + ...).
        let s = f.over(f + 2.0);
        let z = s * s;
        let half = f * f * 0.5;
        let series = s * z.fma(z.poly(&LOG_F64), half);
        let small = k.fma(LN2_F64[1], series);
        k.fma(LN2_F64[0], f - (half - small))
    };
    outside(x, result)
}

/// Whether a binary32 is a positive normal number, and its logarithm.
pub fn log_ordinary(x: Val<'_>) -> (Val<'_>, Val<'_>) {
    let (m, k) = Format::of(x.ty()).mantissa_of_normal(x);
    let is_normal = x.ge(f64::from(f32::MIN_POSITIVE));
    (is_normal.and(x.lt(f64::INFINITY)), of_parts(k, m - 1.0))
}

/// The logarithm of 2^k (1 + f), of binary32.
fn of_parts<'c>(k: Val<'c>, f: Val<'c>) -> Val<'c> {
    let square = f * f;
    let tail = square * f.fma(f.poly(&LOG_F32), -0.5);
    let small = k.fma(LN2_F32[1], tail);
    k.fma(LN2_F32[0], f + small)
}

/// A logarithm of what is not positive or not finite: of zero minus infinity, of infinity infinity, else a NaN.
fn outside<'c>(x: Val<'c>, inside: Val<'c>) -> Val<'c> {
    let large = x.lt(f64::INFINITY).select(inside, x);
    let small = x.like(f64::NAN).or_if(x.eq(0.0), f64::NEG_INFINITY);
    x.gt(0.0).select(large, small)
}

/// log(1 + f) for 1 + f between sqrt(1/2) and sqrt(2), of a binary64, as precise as binary32 needs.
fn mantissa_single(f: Val<'_>) -> Val<'_> {
    let s = f.over(f + 2.0);
    let z = s * s;
    s.fma(z * z.poly(&LOG_SHORT), s + s)
}

/// The logarithm of a positive binary64, as precise as binary32 needs.
fn log_single(x: Val<'_>) -> Val<'_> {
    let (m, k) = Format::of(x.ty()).mantissa(x);
    k.fma(LN2_F64[0], mantissa_single(m - 1.0))
}

/// k and f, with what it lacks, of a positive number 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2).
fn reduced_pair(x: Pair<'_>) -> (Val<'_>, Pair<'_>) {
    let format = Format::of(x.hi.ty());
    let (m, k) = format.mantissa(x.hi);
    // What is missing of a number so large or small that the exponent needs a bound here does not matter.
    let least = (-k)
        .or_if(k.gt(1000.0), -1000.0)
        .or_if(k.lt(-1000.0), 1000.0);
    let scale = format.power(format.whole(least));
    (k, Pair::sum(m - 1.0, x.lo * scale))
}

/// f / (2 + f) as a number and what it lacks, at most two units in its last place.
fn quotient<'c>(f: Val<'c>, lacks: Option<Val<'c>>) -> Pair<'c> {
    let divisor = Pair::fast(f.like(2.0), f);
    let low = lacks.map_or(divisor.lo, |lacks| divisor.lo + lacks);
    let inverse = f.like(1.0).over(divisor.hi);
    let q = f * inverse;
    let rest = (-q).fma(divisor.hi, f);
    let rest = lacks.map_or(rest, |lacks| rest + lacks);
    Pair::new(q, (-q).fma(low, rest) * inverse)
}

/// log(1 + f), of which the second part need not be small: its rounding is 1/100 of a unit in the last place. What is
/// rounded to a binary64 can do with that.
fn mantissa_near<'c>(f: Val<'c>, lacks: Option<Val<'c>>) -> Pair<'c> {
    let s = quotient(f, lacks);
    let z = s.hi * s.hi;
    let series = z * z.fma(z.poly(&LOG_TAIL), THIRD[0]);
    let two = f.like(2.0);
    Pair::new(s.hi, s.hi.fma(series, s.lo)).scaled(two)
}

/// log(1 + f) to about 65 bits, as powers need.
fn mantissa_pair<'c>(f: Val<'c>, lacks: Option<Val<'c>>) -> Pair<'c> {
    let s = quotient(f, lacks);
    let square = Pair::product(s.hi, s.hi);
    let cross = s.hi * s.lo;
    let z = Pair::new(square.hi, square.lo + (cross + cross));
    // atanh(s) = s + s z (1/3 + z ...); the term in 1/3 as a pair.
    let third = Pair::fast(z.hi.like(THIRD[0]), z.hi * z.hi.poly(&LOG_TAIL));
    let third = Pair::new(third.hi, third.lo + THIRD[1]);
    let series = z.near(third);
    let rest = s.near(series);
    let sum = Pair::fast(s.hi, rest.hi);
    Pair::new(sum.hi, sum.lo + (s.lo + rest.lo)).scaled(f.like(2.0))
}

/// k log(2) and a logarithm.
fn total<'c>(k: Val<'c>, m: Pair<'c>) -> Pair<'c> {
    let product = Pair::product(k, k.like(LN2_F64[0]));
    let low = k.fma(LN2_F64[1], product.lo);
    let sum = Pair::sum(product.hi, m.hi);
    Pair::fast(sum.hi, sum.lo + (low + m.lo))
}

/// The logarithm of 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2), of binary32, to about 32 bits.
pub fn log_short<'c>(k: Val<'c>, f: Val<'c>) -> Pair<'c> {
    let s = quotient(f, None);
    let z = Pair::product(s.hi, s.hi);
    let cube = Pair::product(s.hi, z.hi);
    let cube = Pair::new(cube.hi, s.hi.fma(z.lo, cube.lo));
    // atanh(s) = s + s^3 (1/3 + z ...); the cube's third as a pair.
    let third = Pair::product(cube.hi, f.like(THIRD_F32[0]));
    let low = cube.hi.fma(THIRD_F32[1], third.lo);
    let low = cube.lo.fma(THIRD_F32[0], low);
    let series = (cube.hi * z.hi).fma(z.hi.poly(&LOG_TAIL_F32), low);
    let sum = Pair::fast(s.hi, third.hi);
    let low = sum.lo + (series + z.hi.fma(s.lo, s.lo));
    let log = Pair::new(sum.hi, low).scaled(f.like(2.0));
    let total = Pair::sum(k * LN2_SHORT[0], log.hi);
    Pair::new(total.hi, k.fma(LN2_SHORT[1], log.lo) + total.lo)
}

/// The logarithm of a positive finite number, to about 65 bits.
pub fn log_exact(x: Val<'_>) -> Pair<'_> {
    let (m, k) = Format::of(x.ty()).mantissa(x);
    total(k, mantissa_pair(m - 1.0, None))
}

/// The logarithm of a positive finite number, to about 65 bits.
pub fn log_pair(x: Pair<'_>) -> Pair<'_> {
    let (k, f) = reduced_pair(x);
    total(k, mantissa_pair(f.hi, Some(f.lo)))
}

/// The logarithm of a positive finite number, to about 59 bits.
pub fn log_near(x: Pair<'_>) -> Pair<'_> {
    let (k, f) = reduced_pair(x);
    total(k, mantissa_near(f.hi, Some(f.lo)))
}

/// k and the logarithm of 2^-k x to another base, which is given as the logarithm of e to that base.
fn to_base(x: Val<'_>, base: [f64; 2]) -> (Val<'_>, Pair<'_>) {
    let (m, k) = Format::of(x.ty()).mantissa(x);
    let m = mantissa_near(m - 1.0, None);
    let product = Pair::product(m.hi, x.like(base[0]));
    let rest = m.lo.fma(base[0], m.hi.fma(base[1], product.lo));
    (k, Pair::new(product.hi, rest))
}

/// The logarithm to base 2.
pub fn log2(x: Val<'_>) -> Val<'_> {
    let result = if x.ty() == ScalarType::F32 {
        single(x, |x| {
            let (m, k) = Format::of(x.ty()).mantissa(x);
            mantissa_single(m - 1.0).fma(LOG2_E[0], k)
        })
    } else {
        let (k, m) = to_base(x, LOG2_E);
        let sum = Pair::fast(k, m.hi);
        sum.hi + (sum.lo + m.lo)
    };
    outside(x, result)
}

/// The logarithm to base 10.
pub fn log10(x: Val<'_>) -> Val<'_> {
    let result = if x.ty() == ScalarType::F32 {
        single(x, |x| {
            let (m, k) = Format::of(x.ty()).mantissa(x);
            k.fma(LOG10_2[0], mantissa_single(m - 1.0) * LOG10_E[0])
        })
    } else {
        let (k, m) = to_base(x, LOG10_E);
        let whole = Pair::product(k, x.like(LOG10_2[0]));
        let low = k.fma(LOG10_2[1], whole.lo);
        let sum = Pair::sum(whole.hi, m.hi);
        sum.hi + (sum.lo + (low + m.lo))
    };
    outside(x, result)
}

/// log(1 + x).
pub fn log1p(x: Val<'_>) -> Val<'_> {
    let result = if x.ty() == ScalarType::F32 {
        single(x, log1p_single)
    } else {
        log_near(Pair::sum(x.like(1.0), x)).rounded()
    };
    let tiny = Format::of(x.ty()).pick(1e-9, 1e-18);
    let inside = x.lt(f64::INFINITY).select(result, x);
    let small = x.like(f64::NAN).or_if(x.eq(-1.0), f64::NEG_INFINITY);
    let wide = x.gt(-1.0).select(inside, small);
    wide.or_if(x.abs().lt(tiny), x)
}

/// log(1 + x) of a binary64, as precise as binary32 needs.
fn log1p_single(x: Val<'_>) -> Val<'_> {
    let u = x + 1.0;
    // What 1 + x lacks, relative to it.
    let lost = (x - (u - 1.0)).over(u);
    log_single(u) + lost
}

/// Inverse hyperbolic sine.
pub fn asinh(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let a = x.abs();
            let root = a.fma(a, 1.0).sqrt();
            let result = log1p_single(a + (a * a).over(root + 1.0));
            finite(x, result.copysign(x))
        });
    }
    // log(1 + a + a^2 / (1 + sqrt(1 + a^2))); beyond 2^30 log(2 a).
    let a = x.abs();
    let far = a.gt(1e9);
    let near = a.or_if(far, 1.0);
    let square = Pair::product(near, near);
    let one = Pair::exact(x.like(1.0));
    let root = one.plus(square).sqrt();
    let rest = square.over(one.plus(root));
    let inside = one.plus(Pair::exact(near)).plus(rest);
    let inside = Pair::select(far, Pair::exact(a), inside);
    let log = far_or_near(far, inside);
    let result = finite(x, log.rounded().copysign(x));
    super::exp::small_or_nan(x, result)
}

/// The logarithm of a number, and log(2) more if it is far.
fn far_or_near<'c>(far: Val<'c>, x: Pair<'c>) -> Pair<'c> {
    let log = log_near(x);
    let more = log.plus(Pair::constant(x.hi, LN2_F64));
    Pair::select(far, more, log)
}

/// The result where the operand is finite, else the operand.
fn finite<'c>(x: Val<'c>, result: Val<'c>) -> Val<'c> {
    x.abs().lt(f64::INFINITY).select(result, x)
}

/// Inverse hyperbolic cosine.
pub fn acosh(x: Val<'_>) -> Val<'_> {
    let result = if x.ty() == ScalarType::F32 {
        single(x, |x| {
            let t = x - 1.0;
            log1p_single(t + t.fma(t, t + t).sqrt())
        })
    } else {
        // log(1 + t + sqrt(2 t + t^2)) with t = x - 1, which is exact where it matters.
        let far = x.gt(1e9);
        let near = x.or_if(far, 2.0);
        let t = Pair::sum(near, x.like(-1.0));
        let root = t.times(t).plus(t.scaled(x.like(2.0))).sqrt();
        let inside = Pair::exact(near).plus(root);
        let inside = Pair::select(far, Pair::exact(x), inside);
        far_or_near(far, inside).rounded()
    };
    let inside = x.lt(f64::INFINITY).select(result, x);
    x.ge(1.0).select(inside, f64::NAN)
}

/// Inverse hyperbolic tangent.
pub fn atanh(x: Val<'_>) -> Val<'_> {
    let result = if x.ty() == ScalarType::F32 {
        single(x, |x| {
            let a = x.abs();
            let result = log1p_single((a + a).over(-a + 1.0)) * 0.5;
            result.copysign(x)
        })
    } else {
        let a = x.abs();
        let one = x.like(1.0);
        let quotient = Pair::sum(one, a).over(Pair::sum(one, -a));
        let quotient = Pair::fast(quotient.hi, quotient.lo);
        let log = log_near(quotient).rounded() * 0.5;
        super::exp::small_or_nan(x, log.copysign(x))
    };
    let a = x.abs();
    let edge = x
        .like(f64::NAN)
        .or_if(a.eq(1.0), x.like(f64::INFINITY).copysign(x));
    a.lt(1.0).select(result, edge)
}
