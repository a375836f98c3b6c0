//! Powers, roots, hypotenuses and scaling by powers of two.

use super::code::Val;
use super::data::special::{CBRT_2, CBRT_SEED};
use super::exp::{exp_pair, exp_short};
use super::format::{Format, single};
use super::log::{log_exact, log_short};
use super::pair::Pair;
use crate::ir::types::ScalarType;

/// x^y as C defines it: e^(y log |x|), with the sign of an odd power. Squares and reciprocals are rounded correctly, so that
/// the pass `simplify` may replace `pow(x, 2)` by `x * x` and `pow(x, -1)` by `1 / x`.
pub fn pow<'c>(x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let a = x.abs();
    let size = if x.ty() == ScalarType::F32 {
        size_short(a, y)
    } else {
        size_double(a, y)
    };
    let whole = y.trunc().eq(y);
    let half = y * 0.5;
    let odd = whole.and(half.trunc().eq(half).fails());
    let negative = x.like(1.0).copysign(x).lt(0.0);
    let signed = size
        .or_if(negative.and(odd), -size)
        .or_if(y.eq(2.0), x * x)
        .or_if(y.eq(-1.0), x.like(1.0).over(x));
    let outside = x.lt(0.0).and(x.gt(f64::NEG_INFINITY)).and(whole.fails());
    let bad = outside.or(x.is_nan()).or(y.is_nan());
    let result = signed.or_if(bad, f64::NAN);
    let unit = a.eq(1.0).and(y.abs().eq(f64::INFINITY));
    result.or_if(x.eq(1.0).or(y.eq(0.0)).or(unit), 1.0)
}

/// The logarithm of a number that may be zero or infinite.
fn extended<'c>(a: Val<'c>, log: Val<'c>) -> Val<'c> {
    log.or_if(a.eq(0.0), f64::NEG_INFINITY)
        .or_if(a.eq(f64::INFINITY), f64::INFINITY)
}

/// a^y of binary32, computed in pairs of binary32.
fn size_short<'c>(a: Val<'c>, y: Val<'c>) -> Val<'c> {
    let format = Format::of(a.ty());
    let (m, k) = format.mantissa(a);
    let log = log_short(k, m - 1.0);
    let exponent = exponent_short(y, Pair::new(extended(a, log.hi), log.lo));
    let far = exponent.hi.abs().lt(120.0).fails();
    let bound = exponent.hi.or_if(exponent.hi.gt(100.0), 100.0);
    let bound = bound.or_if(exponent.hi.lt(-120.0), -120.0);
    let (k, e) = exp_short(Pair::new(bound, exponent.lo.or_if(far, 0.0)));
    format.scale(e, k.value)
}

/// The product of y and a logarithm.
fn exponent_short<'c>(y: Val<'c>, log: Pair<'c>) -> Pair<'c> {
    let product = Pair::product(y, log.hi);
    Pair::new(product.hi, y.fma(log.lo, product.lo))
}

/// Whether x is a positive normal number and x^y far from the ends of the range of normal numbers, and x^y by the same steps,
/// where y is neither 2 nor -1.
pub fn pow_ordinary<'c>(x: Val<'c>, y: Val<'c>) -> (Val<'c>, Val<'c>) {
    let format = Format::of(x.ty());
    let (m, k) = format.mantissa_of_normal(x);
    let exponent = exponent_short(y, log_short(k, m - 1.0));
    let (k, e) = exp_short(exponent);
    let scaled = e.bits() + k.bits.left(format.digits);
    let is_normal = x.ge(f64::from(f32::MIN_POSITIVE)).and(x.lt(f64::INFINITY));
    let is_inside = exponent.hi.abs().le(87.0);
    // 2 and -1 are as far from 1/2.
    let is_series = (y - 0.5).abs().eq(1.5).fails();
    (is_normal.and(is_inside).and(is_series), scaled.float())
}

fn size_double<'c>(a: Val<'c>, y: Val<'c>) -> Val<'c> {
    let log = log_exact(a);
    let hi = extended(a, log.hi);
    let product = y * hi;
    let rest = y.fma(hi, -product) + y * log.lo;
    let far = product.abs().lt(800.0).fails();
    let bound = product.or_if(product.gt(800.0), 800.0);
    let bound = bound.or_if(product.lt(-800.0), -800.0);
    let exponent = Pair::fast(bound, rest.or_if(far, 0.0));
    let (k, e) = exp_pair(exponent);
    Format::of(a.ty()).scale(e.rounded(), k)
}

/// Cube root: a polynomial, a step of Halley's method, and for binary64 one of Newton's with the exact residue.
pub fn cbrt(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let (root, _, scale) = halley(x.abs());
            ordinary(x, root * scale)
        });
    }
    let (root, m, scale) = halley(x.abs());
    let square = Pair::product(root, root);
    let residue = (-root).fma(square.hi, m) - root * square.lo;
    let root = root + residue.over(square.hi * 3.0);
    ordinary(x, root * scale)
}

/// The result with the sign of x, or x where it is zero or not finite.
fn ordinary<'c>(x: Val<'c>, result: Val<'c>) -> Val<'c> {
    let a = x.abs();
    let inside = a.gt(0.0).and(a.lt(f64::INFINITY));
    inside.select(result.copysign(x), x)
}

/// The cube root to 49 bits of a number between 1/4 and 4, that number, and the scale to the root of `a`.
fn halley(a: Val<'_>) -> (Val<'_>, Val<'_>, Val<'_>) {
    let format = Format::of(a.ty());
    let (m, k) = format.mantissa(a);
    let third = format.whole(k * (1.0 / 3.0));
    let left = third.value.fma(-3.0, k);
    let one = a.like(1.0);
    let (more, less) = (left.gt(0.0), left.lt(0.0));
    let seed = m.poly(&CBRT_SEED) * one.or_if(more, CBRT_2[0]).or_if(less, CBRT_2[1]);
    let m = m * one.or_if(more, 2.0).or_if(less, 0.5);
    let cube = seed * seed * seed;
    let root = seed * (cube + m * 2.0).over(cube * 2.0 + m);
    (root, m, format.power(third))
}

/// Square root of the sum of squares.
pub fn hypot<'c>(x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let (a, b) = (x.abs(), y.abs());
    let result = if x.ty() == ScalarType::F32 {
        let (a, b) = (a.to(ScalarType::F64), b.to(ScalarType::F64));
        a.fma(a, b * b).sqrt().to(ScalarType::F32)
    } else {
        let large = a.gt(1e150).or(b.gt(1e150));
        let small = a.lt(1e-140).and(b.lt(1e-140));
        let one = x.like(1.0);
        let down = one
            .or_if(large, 2f64.powi(-600))
            .or_if(small, 2f64.powi(600));
        let up = one
            .or_if(large, 2f64.powi(600))
            .or_if(small, 2f64.powi(-600));
        let (a, b) = (a * down, b * down);
        let sum = Pair::product(a, a).plus(Pair::product(b, b));
        sum.sqrt().rounded() * up
    };
    let infinite = a.eq(f64::INFINITY).or(b.eq(f64::INFINITY));
    result.or_if(infinite, f64::INFINITY)
}

/// x times two to the power of n without its binary places, rounded once.
pub fn ldexp<'c>(x: Val<'c>, n: Val<'c>) -> Val<'c> {
    let format = Format::of(x.ty());
    let (most, step) = format.pick((127, 126 - 24), (1023, 1022 - 53));
    let mut n = n.or_if(n.is_nan(), 0.0).trunc();
    let mut x = x;
    // Steps down leave room for all digits, so that only the last product rounds.
    for _ in 0..2 {
        let (low, high) = (n.lt(f64::from(1 - most)), n.gt(f64::from(most)));
        x = x
            .or_if(low, x * 2f64.powi(-step))
            .or_if(high, x * 2f64.powi(most));
        n = n
            .or_if(low, n + f64::from(step))
            .or_if(high, n - f64::from(most));
    }
    let n = n.or_if(n.lt(f64::from(1 - most)), f64::from(1 - most));
    let n = n.or_if(n.gt(f64::from(most)), f64::from(most));
    x * format.power(format.whole(n))
}
