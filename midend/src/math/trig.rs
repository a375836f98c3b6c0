//! Sine, cosine and tangent, of angles in radians and in half turns.
//!
//! The angle is q quarter turns and a rest r of at most an eighth of a turn, as a pair of numbers; polynomials give
//! sine and cosine of r. Radians are reduced with pi/2 in three pieces (Cody and Waite; with fma every difference is
//! exact); beyond 2^30, which is rare, with as many digits of 2/pi as matter (Payne and Hanek). Where the last digits do not matter,
//! sine and cosine are polynomials of an angle reduced with pi, in the precision of their operands.

use super::code::{Definition, Val, define};
use super::data::trig::{
    COS_F64, COS_SHORT, HALF_PI, HALF_PI_F32, INVERSE_PI, PI, PI_F32, PI_F64, SIN_F64,
    SIN_NEAR_F32, SIN_NEAR_F64, SIN_SHORT, TWO_OVER_PI, TWO_OVER_PI_DIGITS,
};
use super::exp::small_or_nan;
use super::format::{Format, Whole, single};
use super::pair::Pair;
use crate::ir::types::ScalarType;

/// Angles beyond this are reduced in the slow way.
const LARGE: f64 = 1_073_741_824.0;

/// Angles of binary32 beyond this are reduced in binary64, where pi/2 in three pieces of binary32 is too short for the bound of the error.
const LARGE_F32: f64 = 1_048_576.0;

/// One of the three functions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Circular {
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
}

/// An angle: quarter turns, of which the two lowest bits count, and the rest in radians.
struct Angle<'c> {
    quarters: Val<'c>,
    rest: Pair<'c>,
}

impl Circular {
    /// The function of an angle in radians.
    pub fn of_radians(self, x: Val<'_>) -> Val<'_> {
        let ty = x.ty();
        if ty == ScalarType::F32 && self != Self::Tan {
            return self.of_short_radians(x);
        }
        if ty == ScalarType::F32 {
            return self.of_single_radians(x);
        }
        x.code().rare(x.abs().gt(LARGE), self.of_large_radians(ty));
        let k = Format::of(ty).whole(x * TWO_OVER_PI);
        let near = k.value.fma(-HALF_PI[0], x);
        let product = Pair::product(k.value, x.like(HALF_PI[1]));
        let rest = Pair::sum(near, -product.hi);
        let low = k.value.fma(-HALF_PI[2], rest.lo - product.lo);
        let result = self.of_angle(Angle {
            quarters: k.bits,
            rest: Pair::fast(rest.hi, low),
        });
        self.near_zero(x, result)
    }

    /// The function of a binary32, computed in binary64.
    fn of_single_radians(self, x: Val<'_>) -> Val<'_> {
        let ty = x.ty();
        x.code().rare(x.abs().gt(LARGE), self.of_large_radians(ty));
        let result = single(x, |x| {
            let k = Format::of(x.ty()).whole(x * TWO_OVER_PI);
            let r = k.value.fma(-HALF_PI[1], k.value.fma(-HALF_PI[0], x));
            self.of_angle_single(k.bits, r)
        });
        match self {
            Self::Sin | Self::Tan => result.or_if(x.eq(0.0), x),
            Self::Cos => result,
        }
    }

    /// Sine or cosine of a binary32, computed in binary32: GPUs convert to binary64 at an eighth of the speed. The error is below 0.95 ulp.
    fn of_short_radians(self, x: Val<'_>) -> Val<'_> {
        let far = define(x.ty(), |[x]| self.of_single_radians(x));
        x.code().rare(x.abs().gt(LARGE_F32), far);
        let k = Format::of(x.ty()).whole_product(x, TWO_OVER_PI);
        // The first difference is exact. What rounding takes from the second one is in `low`.
        let first = k.value.fma(-HALF_PI_F32[0], x);
        let product = Pair::product(k.value, x.like(HALF_PI_F32[1]));
        let r = first - product.hi;
        let low = (first - r) - product.hi - product.lo;
        let low = k.value.fma(-HALF_PI_F32[2], low);
        let z = r * r;
        let sin = (r * z).fma(z.poly(&SIN_SHORT), low) + r;
        let half = z * 0.5;
        let start = -half + 1.0;
        let lost = (-start + 1.0) - half;
        let cos = (z * z).fma(z.poly(&COS_SHORT), (-r).fma(low, lost)) + start;
        match self {
            // Of zero it is that zero.
            Self::Sin => turned(k.bits, sin, cos).or_if(x.eq(0.0), x),
            Self::Cos | Self::Tan => turned(k.bits + 1, sin, cos),
        }
    }

    /// Sine and tangent of tiny angles are the angles.
    fn near_zero<'c>(self, x: Val<'c>, result: Val<'c>) -> Val<'c> {
        match self {
            Self::Sin | Self::Tan => small_or_nan(x, result),
            Self::Cos => result,
        }
    }

    /// Says that angles that are too large for a reduction in three pieces of their own precision are rare.
    fn far(self, x: Val<'_>) {
        let large = Format::of(x.ty()).pick(LARGE_NEAR, LARGE);
        x.code()
            .rare(x.abs().gt(large), self.of_large_radians(x.ty()));
    }

    fn of_large_radians(self, ty: ScalarType) -> Definition {
        define(ty, |[x]| {
            let wide = x.to(ScalarType::F64);
            let angle = if ty == ScalarType::F32 {
                reduce_large_single(wide)
            } else {
                reduce_large(wide)
            };
            let result = self.of_angle(angle).to(ty);
            x.abs().lt(f64::INFINITY).select(result, f64::NAN)
        })
    }

    /// The function of an angle in half turns.
    pub fn of_half_turns(self, x: Val<'_>) -> Val<'_> {
        if x.ty() == ScalarType::F32 {
            return single(x, |x| {
                let (k, rest) = half_turns(x);
                let result = self.of_angle_single(k.bits, rest * PI[0]);
                self.exact(x, k, rest, result)
            });
        }
        let (k, rest) = half_turns(x);
        let product = Pair::product(rest, x.like(PI[0]));
        let radians = Pair::fast(product.hi, rest.fma(PI[1], product.lo));
        let angle = Angle {
            quarters: k.bits,
            rest: radians,
        };
        let result = self.of_angle(angle);
        let result = match self {
            Self::Sin | Self::Tan => x.abs().lt(1e-9).select(times_pi(x), result),
            Self::Cos => result,
        };
        self.exact(x, k, rest, result)
    }

    /// Whole quarter turns, where the sign of zero is a convention: that of x for the sine, plus for the cosine, and
    /// the quotient of these for the tangent.
    fn exact<'c>(self, x: Val<'c>, k: Whole<'c>, rest: Val<'c>, result: Val<'c>) -> Val<'c> {
        let none = rest.eq(0.0);
        let odd = k.bits.and(1).eq(1);
        let second = k.bits.and(2).eq(2);
        match self {
            Self::Sin => result.or_if(none.and(odd.fails()), x.like(0.0).copysign(x)),
            Self::Cos => result.or_if(none.and(odd), 0.0),
            Self::Tan => {
                let zero = x.like(0.0).copysign(x);
                let zero = zero.or_if(second, -zero);
                let pole = x.like(f64::INFINITY);
                let pole = pole.or_if(second, f64::NEG_INFINITY);
                let one = x.like(1.0).copysign(rest);
                let one = one.or_if(odd, -one);
                let result = result.or_if(rest.abs().eq(0.25), one);
                result.or_if(none, odd.select(pole, zero))
            }
        }
    }

    /// The function of a reduced angle.
    fn of_angle(self, angle: Angle<'_>) -> Val<'_> {
        let (sin, cos) = (sin_pair(angle.rest), cos_pair(angle.rest));
        let q = angle.quarters;
        match self {
            Self::Sin => turned(q, sin.rounded(), cos.rounded()),
            Self::Cos => turned(q + 1, sin.rounded(), cos.rounded()),
            Self::Tan => {
                let odd = q.and(1).eq(1);
                let top = Pair::select(odd, -cos, sin);
                let bottom = Pair::select(odd, sin, cos);
                let (top, bottom) = (Pair::fast(top.hi, top.lo), Pair::fast(bottom.hi, bottom.lo));
                top.over(bottom).rounded()
            }
        }
    }

    /// The function of a reduced angle, as precise as binary32 needs.
    fn of_angle_single<'c>(self, q: Val<'c>, r: Val<'c>) -> Val<'c> {
        let z = r * r;
        let sin = (r * z).fma(z.poly(&SIN_SHORT), r);
        let cos = (z * z).fma(z.poly(&COS_SHORT), z.fma(-0.5, 1.0));
        match self {
            Self::Sin => turned(q, sin, cos),
            Self::Cos => turned(q + 1, sin, cos),
            Self::Tan => {
                let odd = q.and(1).eq(1);
                odd.select(-cos, sin).over(odd.select(sin, cos))
            }
        }
    }
}

/// Angles of binary32 beyond this are reduced in the slow way where speed counts for more than the last digits.
const LARGE_NEAR: f64 = 262_144.0;

/// The sine of an angle in radians, off by up to 4 units in the last place: that of what is left of it beside k half turns, at
/// most a quarter turn, by a polynomial in its own precision; for odd k with the other sign.
pub fn sin_near(x: [Val<'_>; 1]) -> Val<'_> {
    let x = x[0];
    let format = Format::of(x.ty());
    Circular::Sin.far(x);
    let k = format.whole(x * INVERSE_PI[0]);
    let result = near(x, k.value, k.bits);
    // Of zero it is that zero.
    result.or_if(x.eq(0.0), x)
}

/// The cosine, with the same error: cos x = sin (x + pi/2) is, but for its sign, the sine of x - (k - 1/2) pi.
pub fn cos_near(x: [Val<'_>; 1]) -> Val<'_> {
    let x = x[0];
    let format = Format::of(x.ty());
    Circular::Cos.far(x);
    let k = format.whole(x.fma(INVERSE_PI[0], 0.5));
    near(x, k.value - 0.5, k.bits)
}

/// The sine of x less so many half turns, with the other sign if the lowest of the bits is 1.
fn near<'c>(x: Val<'c>, half_turns: Val<'c>, bits: Val<'c>) -> Val<'c> {
    let format = Format::of(x.ty());
    // The first difference is exact, the others are rounded once.
    let pi = format.pick(PI_F32, PI_F64);
    let r = pi.iter().fold(x, |rest, pi| half_turns.fma(-pi, rest));
    let z = r * r;
    let p = if x.ty() == ScalarType::F32 {
        z.poly(&SIN_NEAR_F32)
    } else {
        z.poly(&SIN_NEAR_F64)
    };
    let sine = (r * z).fma(p, r);
    let sign = bits.left(format.pick(31, 63));
    sine.bits().xor(sign).float()
}

/// pi x for small x, moved to where the error of the product does not underflow.
fn times_pi(x: Val<'_>) -> Val<'_> {
    let up = x * 2f64.powi(300);
    let product = Pair::product(up, x.like(PI[0]));
    (product.hi + up.fma(PI[1], product.lo)) * 2f64.powi(-300)
}

/// The sine of an angle from sine and cosine of its rest.
fn turned<'c>(quarters: Val<'c>, sin: Val<'c>, cos: Val<'c>) -> Val<'c> {
    let value = quarters.and(1).eq(1).select(cos, sin);
    let top = if sin.ty() == ScalarType::F32 { 30 } else { 62 };
    let sign = quarters.and(2).left(top);
    value.bits().xor(sign).float()
}

fn sin_pair(r: Pair<'_>) -> Pair<'_> {
    let z = r.hi * r.hi;
    let cube = z * r.hi;
    // The derivative of the polynomial does not matter, that of sine is cos = 1 - z/2.
    let low = (z * -0.5).fma(r.lo, r.lo);
    Pair::new(r.hi, cube.fma(z.poly(&SIN_F64), low))
}

fn cos_pair(r: Pair<'_>) -> Pair<'_> {
    let z = Pair::product(r.hi, r.hi);
    let one = r.hi.like(1.0);
    let head = Pair::fast(one, z.hi * -0.5);
    let low = z.lo.fma(-0.5, head.lo);
    let low = (-r.hi).fma(r.lo, low);
    let tail = (z.hi * z.hi).fma(z.hi.poly(&COS_F64), low);
    Pair::new(head.hi, tail)
}

/// The sine of half turns that are neither whole nor far from zero, as a pair.
pub fn sine_of_half_turns(x: Val<'_>) -> Pair<'_> {
    let (k, rest) = half_turns(x);
    let radians = Pair::product(rest, x.like(PI[0]));
    let radians = Pair::fast(radians.hi, rest.fma(PI[1], radians.lo));
    let odd = k.bits.and(1).eq(1);
    let value = Pair::select(odd, cos_pair(radians), sin_pair(radians));
    let value = Pair::fast(value.hi, value.lo);
    Pair::select(k.bits.and(2).eq(2), -value, value)
}

/// Quarter turns and what is left of half turns, at most 1/4; both exact.
fn half_turns(x: Val<'_>) -> (Whole<'_>, Val<'_>) {
    let turns = (x * 0.5).round();
    let inside = turns.fma(-2.0, x);
    let k = Format::of(x.ty()).whole(inside * 2.0);
    (k, k.value.fma(-0.5, inside))
}

/// How many exponents share a window of digits of 2/pi.
const WINDOW: i32 = 144;
/// The least exponent for which the digits before the second window make nothing but multiples of 4.
const FIRST: i32 = 54;
/// The digits of a window: down to what matters in the worst case, where an angle of 53 bits comes to a whole number
/// of quarter turns and 2^-62 of one.
const DIGITS: usize = 14;
/// The digits for numbers of binary32: 128 before the point, 29 of the smallest rest there is, and 35 of it.
const DIGITS_SINGLE: usize = 8;

/// Reduces a finite angle above 2^29: x 2/pi modulo 4, as products of x with digits of 2/pi. Digits that make multiples
/// of 4 vanish by taking every product modulo 4, digits far behind are left out.
fn reduce_large(x: Val<'_>) -> Angle<'_> {
    let windows: Vec<(i32, Val<'_>)> = (1..=(1023 - FIRST) / WINDOW)
        .map(|w| (w, x.abs().ge(2f64.powi(w * WINDOW + FIRST))))
        .collect();
    let mut scaled = x;
    for (w, inside) in &windows {
        scaled = scaled.or_if(*inside, x * 2f64.powi(-w * WINDOW));
    }
    // Each half of x times a digit is exact.
    let high = scaled.bits().and(!0x7ff_ffff).float();
    let halves = [high, scaled - high];
    let products = (0..DIGITS).flat_map(|i| {
        let mut chosen = x.like(digit(0, i));
        for (w, inside) in &windows {
            chosen = chosen.or_if(*inside, digit(*w, i));
        }
        halves.map(|half| half * chosen)
    });
    quarters_and_rest(x, products)
}

/// The same for an angle that is a number of binary32: one window is enough, and a product with a digit is exact.
fn reduce_large_single(x: Val<'_>) -> Angle<'_> {
    let products = (0..DIGITS_SINGLE).map(|i| x * digit(0, i));
    quarters_and_rest(x, products)
}

/// The `i`th digit of 2/pi in a window.
fn digit(window: i32, i: usize) -> f64 {
    let place = window as usize * (WINDOW as usize / 24) + i;
    f64::from(TWO_OVER_PI_DIGITS[place]) * 2f64.powi(-24 * (i as i32 + 1))
}

/// The angle of so many quarter turns as the products sum to.
fn quarters_and_rest<'c>(x: Val<'c>, products: impl Iterator<Item = Val<'c>>) -> Angle<'c> {
    let mut sum = [x.like(0.0); 3];
    for product in products {
        let fours = (product * 0.25).round();
        sum = add_exactly(sum, fours.fma(-4.0, product));
    }
    let format = Format::of(x.ty());
    let all = Pair::sum(sum[0], sum[1]);
    let quarters = format.whole(all.hi);
    let rest = Pair::sum(all.hi - quarters.value, all.lo);
    let rest = Pair::fast(rest.hi, rest.lo + sum[2]);
    let half_pi = Pair::constant(x, [HALF_PI[0], HALF_PI[1]]);
    Angle {
        quarters: quarters.bits,
        rest: rest.times(half_pi),
    }
}

/// A sum in three parts and one number more.
fn add_exactly<'c>(sum: [Val<'c>; 3], x: Val<'c>) -> [Val<'c>; 3] {
    let first = Pair::sum(sum[0], x);
    let second = Pair::sum(sum[1], first.lo);
    [first.hi, second.hi, sum[2] + second.lo]
}
