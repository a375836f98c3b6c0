//! Inverse circular functions: all are the angle of a point.
//!
//! The angle of (den, num) in the first eighth of a turn is that of a breakpoint c (0, 1/2 or 1) and the arc tangent of
//! (num - c den) / (den + c num), which is at most 1/4.

use super::code::Val;
use super::data::trig::{
    ATAN_F64, ATAN_HALF, ATAN_SHORT, INVERSE_PI, PI, QUARTER_PI, QUARTER_TURN,
};
use super::format::single;
use super::pair::Pair;
use crate::ir::types::ScalarType;

/// The unit of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Radians.
    Radian,
    /// Half turns.
    HalfTurn,
}

impl Unit {
    fn of_pair(self, x: Pair<'_>) -> Val<'_> {
        match self {
            Self::Radian => x.rounded(),
            Self::HalfTurn => {
                // The error of a product of tiny numbers would underflow.
                let tiny = x.hi.lt(1e-250);
                let one = x.hi.like(1.0);
                let up = one.or_if(tiny, 2f64.powi(300));
                let down = one.or_if(tiny, 2f64.powi(-300));
                let product = x.scaled(up).times(Pair::constant(x.hi, INVERSE_PI));
                product.rounded() * down
            }
        }
    }
    fn of_single(self, x: Val<'_>) -> Val<'_> {
        match self {
            Self::Radian => x,
            Self::HalfTurn => x * INVERSE_PI[0],
        }
    }
}

/// The angle between 0 and pi/4 of a point with 0 <= num <= den, den not zero.
fn eighth_pair<'c>(num: Pair<'c>, den: Pair<'c>) -> Pair<'c> {
    let (second, third) = (num.hi.gt(den.hi * 0.25), num.hi.gt(den.hi * 0.75));
    let zero = num.hi.like(0.0);
    let c = zero.or_if(second, 0.5).or_if(third, 1.0);
    let top = num.minus(den.scaled(c));
    let bottom = den.plus(num.scaled(c));
    let t = top.over(bottom);
    let t = Pair::fast(t.hi, t.lo);
    let z = t.hi * t.hi;
    let tail = (t.hi * z).fma(z.poly(&ATAN_F64), t.lo);
    let start = |part: usize| {
        zero.or_if(second, ATAN_HALF[part])
            .or_if(third, QUARTER_PI[part])
    };
    let sum = Pair::fast(start(0), t.hi);
    Pair::fast(sum.hi, sum.lo + (tail + start(1)))
}

/// As above, as precise as binary32 needs.
fn eighth_single<'c>(num: Val<'c>, den: Val<'c>) -> Val<'c> {
    let (second, third) = (num.gt(den * 0.25), num.gt(den * 0.75));
    let zero = num.like(0.0);
    let c = zero.or_if(second, 0.5).or_if(third, 1.0);
    let t = (-c).fma(den, num).over(c.fma(num, den));
    let z = t * t;
    let start = zero.or_if(second, ATAN_HALF[0]).or_if(third, QUARTER_PI[0]);
    (t * z).fma(z.poly(&ATAN_SHORT), t) + start
}

/// The angle of a point in the upper half plane, y >= 0, not both zero. `left` says that x counts as negative.
fn half_plane_pair<'c>(y: Pair<'c>, x: Pair<'c>, left: Option<Val<'c>>) -> Pair<'c> {
    let steep = y.hi.gt(x.hi);
    let angle = eighth_pair(Pair::select(steep, x, y), Pair::select(steep, y, x));
    let other = Pair::constant(y.hi, QUARTER_TURN).minus(angle);
    let angle = Pair::select(steep, other, angle);
    match left {
        Some(left) => Pair::select(left, Pair::constant(y.hi, PI).minus(angle), angle),
        None => angle,
    }
}

/// As above, as precise as binary32 needs.
fn half_plane_single<'c>(y: Val<'c>, x: Val<'c>, left: Option<Val<'c>>) -> Val<'c> {
    let steep = y.gt(x);
    let angle = eighth_single(steep.select(x, y), steep.select(y, x));
    let angle = angle.or_if(steep, angle.like(QUARTER_TURN[0]) - angle);
    match left {
        Some(left) => angle.or_if(left, angle.like(PI[0]) - angle),
        None => angle,
    }
}

/// Arc tangent.
pub fn atan(x: Val<'_>, unit: Unit) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let (num, den) = unit_ratio(x.abs());
            let steep = x.abs().gt(1.0);
            let angle = eighth_single(num, den);
            let angle = angle.or_if(steep, angle.like(QUARTER_TURN[0]) - angle);
            let result = unit.of_single(angle).copysign(x);
            result.or_if(x.is_nan(), x)
        });
    }
    let (num, den) = unit_ratio(x.abs());
    let angle = eighth_pair(Pair::exact(num), Pair::exact(den));
    let other = Pair::constant(x, QUARTER_TURN).minus(angle);
    let angle = Pair::select(x.abs().gt(1.0), other, angle);
    let result = unit.of_pair(angle).copysign(x);
    result.or_if(x.is_nan(), x)
}

/// A quotient of at most one whose arc tangent is that of a, or its complement.
fn unit_ratio(a: Val<'_>) -> (Val<'_>, Val<'_>) {
    let one = a.like(1.0);
    let steep = a.gt(1.0);
    let infinite = a.eq(f64::INFINITY);
    let num = steep.select(one, a).or_if(infinite, 0.0);
    (num, steep.select(a, one).or_if(infinite, 1.0))
}

/// Arc sine.
pub fn asin(x: Val<'_>, unit: Unit) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let root = ((-x + 1.0) * (x + 1.0)).sqrt();
            let angle = half_plane_single(x.abs(), root, None);
            let result = unit.of_single(angle).copysign(x);
            result.or_if(x.abs().le(1.0).fails(), f64::NAN)
        });
    }
    let root = complement(x);
    let angle = half_plane_pair(Pair::exact(x.abs()), root, None);
    let result = unit.of_pair(angle).copysign(x);
    result.or_if(x.abs().le(1.0).fails(), f64::NAN)
}

/// sqrt(1 - x^2).
fn complement(x: Val<'_>) -> Pair<'_> {
    let square = Pair::product(x, x);
    Pair::exact(x.like(1.0)).minus(square).sqrt()
}

/// Arc cosine.
pub fn acos(x: Val<'_>, unit: Unit) -> Val<'_> {
    if x.ty() == ScalarType::F32 {
        return single(x, |x| {
            let root = ((-x + 1.0) * (x + 1.0)).sqrt();
            let angle = half_plane_single(root, x.abs(), Some(x.lt(0.0)));
            let result = unit.of_single(angle);
            result.or_if(x.abs().le(1.0).fails(), f64::NAN)
        });
    }
    let angle = half_plane_pair(complement(x), Pair::exact(x.abs()), Some(x.lt(0.0)));
    let result = unit.of_pair(angle);
    result.or_if(x.abs().le(1.0).fails(), f64::NAN)
}

/// The angle of the point (x, y).
pub fn atan2<'c>(y: Val<'c>, x: Val<'c>, unit: Unit) -> Val<'c> {
    if x.ty() == ScalarType::F32 {
        let (b, a) = (y.to(ScalarType::F64), x.to(ScalarType::F64));
        let (num, den) = ordinary(b, a);
        let angle = half_plane_single(num, den, Some(a.bits().right(63).eq(1)));
        return checked(b, a, unit.of_single(angle)).to(x.ty());
    }
    let (num, den) = ordinary(y, x);
    // Powers of two bring both into a range where quotients are exact enough.
    let large = num.gt(1e300).or(den.gt(1e300));
    let small = num.lt(1e-290).and(den.lt(1e-290));
    let one = x.like(1.0);
    let scale = one
        .or_if(large, 2f64.powi(-10))
        .or_if(small, 2f64.powi(100));
    let (num, den) = (Pair::exact(num * scale), Pair::exact(den * scale));
    let angle = half_plane_pair(num, den, Some(x.bits().right(63).eq(1)));
    checked(y, x, unit.of_pair(angle))
}

/// Magnitudes of the same angle where one or both are infinite or both are zero.
fn ordinary<'c>(y: Val<'c>, x: Val<'c>) -> (Val<'c>, Val<'c>) {
    let (y, x) = (y.abs(), x.abs());
    let (far, wide) = (y.eq(f64::INFINITY), x.eq(f64::INFINITY));
    let either = far.or(wide);
    let one = x.like(1.0);
    let num = y.or_if(either, far.select(one, 0.0));
    let den = x.or_if(either, wide.select(one, 0.0));
    let none = num.eq(0.0).and(den.eq(0.0));
    (num, den.or_if(none, 1.0))
}

/// The sign of y for the angle; a NaN if either is one.
fn checked<'c>(y: Val<'c>, x: Val<'c>, angle: Val<'c>) -> Val<'c> {
    let bad = x.is_nan().or(y.is_nan());
    angle.copysign(y).or_if(bad, f64::NAN)
}
