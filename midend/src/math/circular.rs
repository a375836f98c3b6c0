//! Circular functions that measure angles in half turns. The argument is reduced exactly before pi comes in, so that
//! whole and half turns give exact results.

use super::half::through;
use half::f16;
use std::f64::consts::PI;

/// What binary64 lacks of pi.
const PI_LOW: f64 = 1.224_646_799_147_353_2e-16;

/// `x` modulo 2 as a number of quarter turns and the rest in [-1/4, 1/4].
fn reduce(x: f64) -> (i32, f64) {
    let r = x % 2.0;
    let quarters = (r * 2.0).round_ties_even();
    (quarters as i32 & 3, r - quarters / 2.0)
}

/// pi times `r`, as the nearest number and what it lacks.
fn times_pi(r: f64) -> (f64, f64) {
    let high = PI * r;
    (high, libm::fma(PI, r, -high) + PI_LOW * r)
}

fn sin_rest(r: f64) -> f64 {
    let (high, low) = times_pi(r);
    libm::sin(high) + low * libm::cos(high)
}

fn cos_rest(r: f64) -> f64 {
    let (high, low) = times_pi(r);
    libm::cos(high) - low * libm::sin(high)
}

/// Sine of pi x. Whole numbers give a zero with the sign of x.
pub fn f64_sinpi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (quarters, r) = reduce(x);
    let y = match quarters {
        0 => sin_rest(r),
        1 => cos_rest(r),
        2 => -sin_rest(r),
        3 => -cos_rest(r),
        4.. | ..0 => unreachable!("masked to two bits"),
    };
    if y == 0.0 { 0.0f64.copysign(x) } else { y }
}

/// Cosine of pi x. Halves give +0.
pub fn f64_cospi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (quarters, r) = reduce(x.abs());
    let y = match quarters {
        0 => cos_rest(r),
        1 => -sin_rest(r),
        2 => -cos_rest(r),
        3 => sin_rest(r),
        4.. | ..0 => unreachable!("masked to two bits"),
    };
    if y == 0.0 { 0.0 } else { y }
}

/// Tangent of pi x.
pub fn f64_tanpi(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (quarters, r) = reduce(x);
    let (sin, cos) = (sin_rest(r), cos_rest(r));
    match quarters & 1 {
        0 if r == 0.0 => {
            // At odd whole numbers the zero has the other sign, as the cosine there is -1.
            let zero = 0.0f64.copysign(x);
            if quarters == 0 { zero } else { -zero }
        }
        // Odd eighths of a turn give one exactly, which the quotient may miss.
        0 if r.abs() == 0.25 => 1.0f64.copysign(r),
        _ if r.abs() == 0.25 => -1.0f64.copysign(r),
        0 => sin / cos,
        _ if r == 0.0 => {
            if quarters == 1 {
                f64::INFINITY
            } else {
                f64::NEG_INFINITY
            }
        }
        _ => -cos / sin,
    }
}

/// Arc sine over pi.
pub fn f64_asinpi(x: f64) -> f64 {
    libm::asin(x) / PI
}

/// Arc cosine over pi.
pub fn f64_acospi(x: f64) -> f64 {
    libm::acos(x) / PI
}

/// Arc tangent over pi.
pub fn f64_atanpi(x: f64) -> f64 {
    libm::atan(x) / PI
}

/// The angle of the point (y, x) over pi.
pub fn f64_atan2pi(y: f64, x: f64) -> f64 {
    libm::atan2(y, x) / PI
}

macro_rules! narrow {
    ($($(#[$doc:meta])* $h:ident $s:ident = $d:ident;)*) => {
        $(
            $(#[$doc])*
            pub fn $h(x: f16) -> f16 {
                through($s(x.to_f32()))
            }
            $(#[$doc])*
            pub fn $s(x: f32) -> f32 {
                $d(f64::from(x)) as f32
            }
        )*
    };
}

narrow! {
    /// Sine of pi x.
    f16_sinpi f32_sinpi = f64_sinpi;
    /// Cosine of pi x.
    f16_cospi f32_cospi = f64_cospi;
    /// Tangent of pi x.
    f16_tanpi f32_tanpi = f64_tanpi;
    /// Arc sine over pi.
    f16_asinpi f32_asinpi = f64_asinpi;
    /// Arc cosine over pi.
    f16_acospi f32_acospi = f64_acospi;
    /// Arc tangent over pi.
    f16_atanpi f32_atanpi = f64_atanpi;
}

/// The angle of the point (y, x) over pi.
pub fn f16_atan2pi(y: f16, x: f16) -> f16 {
    through(f32_atan2pi(y.to_f32(), x.to_f32()))
}

/// The angle of the point (y, x) over pi.
pub fn f32_atan2pi(y: f32, x: f32) -> f32 {
    f64_atan2pi(f64::from(y), f64::from(x)) as f32
}
