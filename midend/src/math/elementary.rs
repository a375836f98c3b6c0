//! Elementary and special functions, from the pure Rust port of musl's library.

use super::half::through;
use half::f16;

macro_rules! unary {
    ($($(#[$doc:meta])* $h:ident $s:ident $d:ident = $f32:path, $f64:path;)*) => {
        $(
            $(#[$doc])*
            pub fn $h(x: f16) -> f16 {
                through($f32(x.to_f32()))
            }
            $(#[$doc])*
            pub fn $s(x: f32) -> f32 {
                $f32(x)
            }
            $(#[$doc])*
            pub fn $d(x: f64) -> f64 {
                $f64(x)
            }
        )*
    };
}

unary! {
    /// Cube root.
    f16_cbrt f32_cbrt f64_cbrt = libm::cbrtf, libm::cbrt;
    /// e^x.
    f16_exp f32_exp f64_exp = libm::expf, libm::exp;
    /// Natural logarithm.
    f16_log f32_log f64_log = libm::logf, libm::log;
    /// Base-2 logarithm.
    f16_log2 f32_log2 f64_log2 = libm::log2f, libm::log2;
    /// Base-10 logarithm.
    f16_log10 f32_log10 f64_log10 = libm::log10f, libm::log10;
    /// log(1 + x).
    f16_log1p f32_log1p f64_log1p = libm::log1pf, libm::log1p;
    /// Sine.
    f16_sin f32_sin f64_sin = libm::sinf, libm::sin;
    /// Cosine.
    f16_cos f32_cos f64_cos = libm::cosf, libm::cos;
    /// Tangent.
    f16_tan f32_tan f64_tan = libm::tanf, libm::tan;
    /// Arc sine.
    f16_asin f32_asin f64_asin = libm::asinf, libm::asin;
    /// Arc cosine.
    f16_acos f32_acos f64_acos = libm::acosf, libm::acos;
    /// Arc tangent.
    f16_atan f32_atan f64_atan = libm::atanf, libm::atan;
    /// Hyperbolic sine.
    f16_sinh f32_sinh f64_sinh = libm::sinhf, libm::sinh;
    /// Hyperbolic cosine.
    f16_cosh f32_cosh f64_cosh = libm::coshf, libm::cosh;
    /// Hyperbolic tangent.
    f16_tanh f32_tanh f64_tanh = libm::tanhf, libm::tanh;
    /// Inverse hyperbolic sine.
    f16_asinh f32_asinh f64_asinh = libm::asinhf, libm::asinh;
    /// Inverse hyperbolic cosine.
    f16_acosh f32_acosh f64_acosh = libm::acoshf, libm::acosh;
    /// Inverse hyperbolic tangent.
    f16_atanh f32_atanh f64_atanh = libm::atanhf, libm::atanh;
    /// Error function.
    f16_erf f32_erf f64_erf = libm::erff, libm::erf;
    /// 1 - erf(x), without cancellation.
    f16_erfc f32_erfc f64_erfc = libm::erfcf, libm::erfc;
    /// Gamma function.
    f16_gamma f32_gamma f64_gamma = libm::tgammaf, libm::tgamma;
    /// Logarithm of the absolute value of the gamma function.
    f16_lgamma f32_lgamma f64_lgamma = libm::lgammaf, libm::lgamma;
}

macro_rules! binary {
    ($($(#[$doc:meta])* $h:ident $s:ident $d:ident = $f32:path, $f64:path;)*) => {
        $(
            $(#[$doc])*
            pub fn $h(x: f16, y: f16) -> f16 {
                through($f32(x.to_f32(), y.to_f32()))
            }
            $(#[$doc])*
            pub fn $s(x: f32, y: f32) -> f32 {
                $f32(x, y)
            }
            $(#[$doc])*
            pub fn $d(x: f64, y: f64) -> f64 {
                $f64(x, y)
            }
        )*
    };
}

binary! {
    /// x^y.
    f16_pow f32_pow f64_pow = libm::powf, libm::pow;
    /// The angle of the point (y, x), arguments in the order of C.
    f16_atan2 f32_atan2 f64_atan2 = libm::atan2f, libm::atan2;
    /// Square root of the sum of squares, without overflow on the way.
    f16_hypot f32_hypot f64_hypot = libm::hypotf, libm::hypot;
}
