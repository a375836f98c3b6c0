//! Arithmetic whose corner cases differ between languages and machines: minima, remainders, signs, scaling.

use super::half::through;
use half::f16;

macro_rules! arith {
    ($ty:ident, $min:ident, $max:ident, $modulo:ident, $rem:ident, $signum:ident, $mad:ident, $lerp:ident) => {
        /// IEEE 754 minimumNumber: a NaN loses against a number, -0 is less than +0.
        pub fn $min(a: $ty, b: $ty) -> $ty {
            if a.is_nan() {
                b
            } else if b.is_nan() || a < b || (a == b && a.is_sign_negative()) {
                a
            } else {
                b
            }
        }
        /// IEEE 754 maximumNumber: a NaN loses against a number, +0 is greater than -0.
        pub fn $max(a: $ty, b: $ty) -> $ty {
            if a.is_nan() {
                b
            } else if b.is_nan() || a > b || (a == b && a.is_sign_positive()) {
                a
            } else {
                b
            }
        }
        /// What is left of `a` after taking multiples of `b`, with the sign of `a`; exact.
        pub fn $rem(a: $ty, b: $ty) -> $ty {
            a % b
        }
        /// What is left of `a` after taking multiples of `b`, with the sign of `b`.
        pub fn $modulo(a: $ty, b: $ty) -> $ty {
            let r = a % b;
            if r.is_nan() {
                r
            } else if r == $ty::from(0u8) {
                r.copysign(b)
            } else if r.is_sign_negative() != b.is_sign_negative() {
                r + b
            } else {
                r
            }
        }
        /// -1 or 1 by the sign; zeros and NaN stay.
        pub fn $signum(a: $ty) -> $ty {
            if a.is_nan() || a == $ty::from(0u8) {
                a
            } else {
                $ty::from(1u8).copysign(a)
            }
        }
        /// `a * b + c`, rounded after each step.
        pub fn $mad(a: $ty, b: $ty, c: $ty) -> $ty {
            a * b + c
        }
        /// `a + (b - a) * c`, rounded after each step.
        pub fn $lerp(a: $ty, b: $ty, c: $ty) -> $ty {
            a + (b - a) * c
        }
    };
}

arith!(
    f16, f16_min, f16_max, f16_mod, f16_rem, f16_signum, f16_mad, f16_lerp
);
arith!(
    f32, f32_min, f32_max, f32_mod, f32_rem, f32_signum, f32_mad, f32_lerp
);
arith!(
    f64, f64_min, f64_max, f64_mod, f64_rem, f64_signum, f64_mad, f64_lerp
);

macro_rules! each {
    ($($(#[$doc:meta])* $h:ident $s:ident $d:ident = |$x:ident| $body:expr;)*) => {
        $(
            $(#[$doc])*
            pub fn $h(x: f16) -> f16 {
                let $x = x.to_f32();
                through($body)
            }
            $(#[$doc])*
            pub fn $s($x: f32) -> f32 {
                $body
            }
            $(#[$doc])*
            pub fn $d($x: f64) -> f64 {
                $body
            }
        )*
    };
}

each! {
    /// The magnitude.
    f16_abs f32_abs f64_abs = |x| x.abs();
    /// The other sign, also of zeros.
    f16_neg f32_neg f64_neg = |x| -x;
    /// Largest integer not above.
    f16_floor f32_floor f64_floor = |x| x.floor();
    /// Smallest integer not below.
    f16_ceil f32_ceil f64_ceil = |x| x.ceil();
    /// Integer part.
    f16_trunc f32_trunc f64_trunc = |x| x.trunc();
    /// Nearest integer, ties to even.
    f16_round f32_round f64_round = |x| x.round_ties_even();
    /// Square root, correctly rounded.
    f16_sqrt f32_sqrt f64_sqrt = |x| x.sqrt();
    /// One over the square root, each step rounded (of binary16: both steps in binary32).
    f16_rsqrt f32_rsqrt f64_rsqrt = |x| 1.0 / x.sqrt();
}

/// `a * b + c` rounded once.
pub fn f32_fma(a: f32, b: f32, c: f32) -> f32 {
    a.mul_add(b, c)
}

/// `a * b + c` rounded once.
pub fn f64_fma(a: f64, b: f64, c: f64) -> f64 {
    a.mul_add(b, c)
}

/// The magnitude of `a` with the sign of `b`.
pub fn f16_copysign(a: f16, b: f16) -> f16 {
    a.copysign(b)
}

/// The magnitude of `a` with the sign of `b`.
pub fn f32_copysign(a: f32, b: f32) -> f32 {
    a.copysign(b)
}

/// The magnitude of `a` with the sign of `b`.
pub fn f64_copysign(a: f64, b: f64) -> f64 {
    a.copysign(b)
}

/// The next number from `x` towards `y`.
pub fn f32_nextafter(x: f32, y: f32) -> f32 {
    libm::nextafterf(x, y)
}

/// The next number from `x` towards `y`.
pub fn f64_nextafter(x: f64, y: f64) -> f64 {
    libm::nextafter(x, y)
}
