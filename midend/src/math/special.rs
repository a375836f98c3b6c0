//! The error functions and the gamma functions.

use super::code::Val;
use super::data::special::{
    ERF_F64, ERF_SHORT, ERFC_F64, ERFC_SHORT, HALF_LOG_TAU, LGAMMA_F64, STIRLING_F64,
};
use super::data::trig::PI;
use super::exp::{exp_pair, reduced_single};
use super::format::{Format, single};
use super::log::{log_near, log_pair};
use super::pair::Pair;
use super::trig::sine_of_half_turns;
use crate::ir::types::ScalarType;

/// erfc(a) for a >= 1/2: e^(-a^2) g(t) / (1 + 2a), where g is smooth in t = (a - 4) / (a + 4) (the variable is that of
/// Shepherd and Laframboise, 1981).
fn tail(a: Val<'_>) -> Val<'_> {
    let a = a.or_if(a.gt(28.0), 28.0);
    let square = Pair::product(a, a);
    let (k, e) = exp_pair(-square);
    let t = (a - 4.0).over(a + 4.0);
    let g = Pair::fast(a.like(ERFC_F64[0]), t * t.poly(&ERFC_F64[1..]));
    let divisor = Pair::sum(a + a, a.like(1.0));
    let value = e.times(g).over(divisor).rounded();
    Format::of(a.ty()).scale(value, k)
}

fn tail_single(a: Val<'_>) -> Val<'_> {
    let a = a.or_if(a.gt(11.0), 11.0);
    let (k, e) = reduced_single(-(a * a));
    let t = (a - 4.0).over(a + 4.0);
    let format = Format::of(a.ty());
    let power = format.power(format.whole(k));
    ((e + 1.0) * power * t.poly(&ERFC_SHORT)).over(a + a + 1.0)
}

/// The error function.
pub fn erf(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let near = x.fma((x * x).poly(&ERF_SHORT), x);
            let far = (-tail_single(x.abs()) + 1.0).copysign(x);
            x.abs().lt(1.0).select(near, far)
        });
    }
    let near = x.fma((x * x).poly(&ERF_F64), x);
    let far = (-tail(x.abs()) + 1.0).copysign(x);
    x.abs().lt(1.0).select(near, far)
}

/// One minus the error function.
pub fn erfc(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let near = (-x).fma((x * x).poly(&ERF_SHORT), -x + 1.0);
            let far = tail_single(x.abs());
            let far = far.or_if(x.lt(0.0), -far + 2.0);
            x.abs().lt(1.0).select(near, far)
        });
    }
    let near = Pair::sum(x.like(1.0), -x);
    let near = near.hi + (-x).fma((x * x).poly(&ERF_F64), near.lo);
    let far = tail(x.abs());
    let far = far.or_if(x.lt(0.0), -far + 2.0);
    x.abs().lt(0.5).select(near, far)
}

/// Where the series of Stirling begins to be good.
const FAR: f64 = 10.0;

/// log(gamma(z)) for z = y + n >= 10, and the product y (y+1) ... (z-1), for 0 < y.
fn stirling(y: Pair<'_>) -> (Pair<'_>, Pair<'_>) {
    let one = Pair::exact(y.hi.like(1.0));
    let (mut z, mut product) = (y, one);
    for _ in 0..10 {
        let near = z.hi.lt(FAR);
        product = Pair::select(near, product.times(z), product);
        z = Pair::select(near, z.plus(one), z);
    }
    let inverse = y.hi.like(1.0).over(z.hi);
    let series = inverse * (inverse * inverse).poly(&STIRLING_F64);
    let log = log_pair(z);
    let half = Pair::exact(y.hi.like(-0.5));
    let constant = Pair::constant(y.hi, HALF_LOG_TAU);
    let main = z.plus(half).times(log).minus(z);
    let main = main.plus(constant).plus(Pair::exact(series));
    // Where so much is left out the logarithm alone counts.
    let huge = Pair::exact(z.hi * (log.hi - 1.0));
    (Pair::select(z.hi.gt(1e20), huge, main), product)
}

/// The gamma function.
pub fn gamma(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, gamma);
    }
    // Below 1/2 by reflection: gamma(x) = pi / (sin(pi x) gamma(1 - x)).
    let left = x.lt(0.5);
    let inside = x.or_if(x.gt(200.0), 200.0).or_if(x.lt(-200.0), -200.0);
    let y = Pair::select(left, Pair::sum(x.like(1.0), -inside), Pair::exact(inside));
    let (log, product) = stirling(y);
    let (k, e) = exp_pair(Pair::select(left, -log, log));
    let sine = sine_of_half_turns(x);
    let reflected = e.times(product).times(Pair::constant(x, PI)).over(sine);
    let value = Pair::select(left, reflected, e.over(product)).rounded();
    let result = Format::of(x.ty()).scale(value, k);
    let pole = x.lt(0.0).and(x.trunc().eq(x));
    let result = result.or_if(pole, f64::NAN);
    let result = result.or_if(x.abs().lt(1e-17), x.like(1.0).over(x));
    // Infinity and NaN.
    x.lt(f64::INFINITY).select(result, x)
}

/// The logarithm of the magnitude of the gamma function.
pub fn lgamma(x: Val<'_>) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, lgamma);
    }
    let a = x.abs();
    let tiny = a.lt(1e-18);
    let (far, product) = stirling(Pair::exact(a.or_if(tiny, 1.0)));
    // Around 1 and 2, where there are zeros: lgamma(2 + t) = t P(t), and lgamma(1 + t) is that less log(1 + t).
    let (around_1, around_2) = (a.ge(0.5).and(a.lt(1.5)), a.ge(1.5).and(a.lt(2.5)));
    let near = around_1.or(around_2);
    let t = a - a.like(2.0).or_if(around_1, 1.0);
    let head = Pair::product(t, t.like(LGAMMA_F64[0]));
    let rest = Pair::fast(head.hi, (t * t).fma(t.poly(&LGAMMA_F64[1..]), head.lo));
    let zero = Pair::exact(a.like(0.0));
    let main = Pair::select(near, rest, far);
    let main = Pair::select(tiny, zero, main);
    // Either this less the logarithm of a divisor, or, for negative x, with pi / (a sin(pi a)) in the divisor, the
    // negative of that.
    let one = Pair::exact(a.like(1.0));
    let divisor = Pair::select(around_2, one, product);
    let divisor = Pair::select(around_1.or(tiny), Pair::exact(a), divisor);
    let sine = sine_of_half_turns(a);
    let negative = x.lt(0.0).and(tiny.fails());
    let sine = Pair::select(sine.hi.lt(0.0), -sine, sine);
    let reflected = divisor.times(Pair::constant(a, PI)).over(sine.by(a));
    let reflected = Pair::fast(reflected.hi, reflected.lo);
    let divisor = Pair::select(negative, reflected, divisor);
    let result = main.minus(log_near(divisor)).rounded();
    let result = result.or_if(negative, -result);
    let large = a.gt(1e20).select(main.hi, result);
    let pole = x.le(0.0).and(x.trunc().eq(x));
    let result = large.or_if(pole.or(a.eq(f64::INFINITY)), f64::INFINITY);
    result.or_if(x.is_nan(), x)
}
