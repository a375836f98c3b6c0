//! Functions of real numbers to about 90 bits, from their series and from Newton's method: what the accuracy of the
//! scalar functions is measured against. They share no formula and no table with the functions under test.

pub mod double;

use double::{Dd, LN_2, LN_10, ONE, PI, ZERO};

/// A value as a pair times two to the power of an exponent, so that it neither overflows nor loses digits.
#[derive(Clone, Copy, Debug)]
pub struct Wide(pub Dd, pub i32);

impl From<Dd> for Wide {
    fn from(x: Dd) -> Self {
        Self(x, 0)
    }
}

/// The error of `result` in units in the last place of a format with so many bits and this least exponent (of the last
/// place).
pub fn ulps(result: f64, exact: Wide, bits: i32, least: i32) -> f64 {
    let Wide(value, exponent) = exact;
    if result.is_nan() || value.0.is_nan() {
        return if result.is_nan() == value.0.is_nan() {
            0.0
        } else {
            f64::INFINITY
        };
    }
    if value.0 == 0.0 || value.0.is_infinite() {
        return if result == value.0 {
            0.0
        } else {
            f64::INFINITY
        };
    }
    // The largest finite number is followed by 2^(3 - least - bits) as if the exponent had no end.
    let overflow = 3 - least - bits;
    let (result, at) = if result.is_infinite() {
        (1f64.copysign(result), overflow)
    } else {
        (result, 0)
    };
    let magnitude = exponent_of(value.0) + exponent;
    if at == overflow && magnitude >= overflow {
        return if (result > 0.0) == (value.0 > 0.0) {
            0.0
        } else {
            f64::INFINITY
        };
    }
    let place = (magnitude + 1 - bits).max(least);
    let moved = Dd::from(result).scale(at - place);
    let error = moved - value.scale(exponent - place);
    error.0.abs()
}

/// The exponent e with 2^e <= |x| < 2^(e+1), of a normal number.
fn exponent_of(x: f64) -> i32 {
    ((x.to_bits() >> 52) & 0x7ff) as i32 - 1023
}

/// e^x.
pub fn exp(x: Dd) -> Wide {
    let k = (x.0 / LN_2.0).round();
    // The third part of log(2) matters for large k.
    let r = x - LN_2 * k - 5.707_708_438_416_212e-34 * k;
    let r = r / 64.0;
    let mut sum = Dd::series(ONE, |term, n| {
        let next = term * r / n;
        (next, next)
    });
    for _ in 0..6 {
        sum = sum * sum;
    }
    Wide(sum, k as i32)
}

/// The logarithm of a positive number.
pub fn log(x: Dd) -> Dd {
    if (x.0 - 1.0).abs() < 0.1 {
        return log1p(x - 1.0);
    }
    if x.0 > 1e290 {
        return log(x.scale(-64)) + LN_2 * 64.0;
    }
    let up = if x.0 < 1e-290 { 64 } else { 0 };
    let start = (x.0 * 2f64.powi(up)).ln() - f64::from(up) * LN_2.0;
    let Wide(power, k) = exp(Dd::from(start));
    let power = power.scale(k.max(-900));
    let x = if k < -900 { x.scale(-k - 900) } else { x };
    (x - power) / (x + power) * 2.0 + start
}

/// log(1 + x).
pub fn log1p(x: Dd) -> Dd {
    if x.0.abs() < 0.1 {
        return atanh_series(x / (x + 2.0)) * 2.0;
    }
    log(x + 1.0)
}

fn atanh_series(s: Dd) -> Dd {
    let square = s * s;
    Dd::series(s, |power, n| {
        let next = power * square;
        (next, next / (2.0 * n + 1.0))
    })
}

/// Sine and cosine of an angle of moderate size.
pub fn sin_cos(x: Dd) -> (Dd, Dd) {
    const HALF: [f64; 4] = [
        std::f64::consts::FRAC_PI_2,
        6.123_233_995_736_766e-17,
        -1.497_384_904_859_169_8e-33,
        4.320_574_055_478_346e-50,
    ];
    let k = (x.0 / HALF[0]).round();
    let mut r = x;
    for part in HALF {
        r = r - Dd::product(k, part);
    }
    let square = r * r;
    let sin = Dd::series(r, |term, n| {
        let next = -(term * square) / (2.0 * n * (2.0 * n + 1.0));
        (next, next)
    });
    let cos = Dd::series(ONE, |term, n| {
        let next = -(term * square) / (2.0 * n * (2.0 * n - 1.0));
        (next, next)
    });
    match k.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// Sine and cosine of pi x.
pub fn sin_cos_pi(x: f64) -> (Dd, Dd) {
    let k = (x % 2.0 * 2.0).round();
    let (sin, cos) = sin_cos(PI * (x % 2.0 - k / 2.0));
    match k.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

/// The angle of the point (x, y) with y >= 0.
pub fn angle(y: Dd, x: Dd) -> Dd {
    let start = y.0.atan2(x.0);
    if start < 1e-3 {
        // The tangent itself is small.
        let t = y / x;
        let square = -(t * t);
        return Dd::series(t, |power, n| {
            let next = power * square;
            (next, next / (2.0 * n + 1.0))
        });
    }
    let (sin, cos) = sin_cos(Dd::from(start));
    let tangent = (y * cos - x * sin) / (x * cos + y * sin);
    tangent - tangent * tangent * tangent / 3.0 + start
}

/// sqrt(1 - x^2).
fn complement(x: f64) -> Dd {
    (ONE - Dd::product(x, x)).sqrt()
}

/// (e^x - e^-x) / 2 for small x.
fn sinh_series(x: Dd) -> Dd {
    let square = x * x;
    Dd::series(x, |term, n| {
        let next = term * square / (2.0 * n * (2.0 * n + 1.0));
        (next, next)
    })
}

fn sinh(x: f64) -> Wide {
    if x.abs() < 1.0 {
        return sinh_series(Dd::from(x)).into();
    }
    let Wide(e, k) = exp(Dd::from(x.abs()));
    let value = e - (ONE / e).scale(-2 * k);
    Wide(if x < 0.0 { -value } else { value }, k - 1)
}

fn cosh(x: f64) -> Wide {
    let Wide(e, k) = exp(Dd::from(x.abs()));
    Wide(e + (ONE / e).scale(-2 * k), k - 1)
}

fn tanh(x: f64) -> Dd {
    if x.abs() > 40.0 {
        return Dd::from(1f64.copysign(x));
    }
    let (Wide(s, j), Wide(c, k)) = (sinh(x), cosh(x));
    s.scale(j - k) / c
}

fn asinh(a: f64) -> Dd {
    if a > 1e9 {
        return log(Dd::from(a)) + LN_2;
    }
    let square = Dd::product(a, a);
    log1p(square / ((square + 1.0).sqrt() + 1.0) + a)
}

fn acosh(x: f64) -> Dd {
    if x > 1e9 {
        return log(Dd::from(x)) + LN_2;
    }
    let t = Dd::from(x) - 1.0;
    log1p(t + (t * t + t * 2.0).sqrt())
}

/// erf for 0 <= x < 6, from a series without cancellation.
fn erf_series(x: f64) -> Dd {
    let square = Dd::product(x, x);
    let sum = Dd::series(Dd::from(x), |term, n| {
        let next = term * square * 2.0 / (2.0 * n + 1.0);
        (next, next)
    });
    let Wide(e, k) = exp(-square);
    sum * e.scale(k) * 2.0 / PI.sqrt()
}

/// erfc for x >= 0.
fn erfc(x: f64) -> Wide {
    if x < 2.0 {
        return (ONE - erf_series(x)).into();
    }
    // The continued fraction of Laplace, from far behind.
    let mut fraction = Dd::from(x);
    for n in (1..=160).rev() {
        fraction = Dd::from(x) + Dd::from(f64::from(n) / 2.0) / fraction;
    }
    let Wide(e, k) = exp(-Dd::product(x, x));
    Wide(e / (fraction * PI.sqrt()), k)
}

/// The coefficients of Stirling's series: Bernoulli numbers by 2n (2n - 1).
const STIRLING: [(f64, f64); 15] = [
    (1.0, 12.0),
    (-1.0, 360.0),
    (1.0, 1260.0),
    (-1.0, 1680.0),
    (1.0, 1188.0),
    (-691.0, 360_360.0),
    (1.0, 156.0),
    (-3617.0, 122_400.0),
    (43_867.0, 244_188.0),
    (-174_611.0, 125_400.0),
    (77_683.0, 5796.0),
    (-236_364_091.0, 1_506_960.0),
    (657_931.0, 300.0),
    (-3_392_780_147.0, 93_960.0),
    (1_723_168_255_201.0, 2_492_028.0),
];

/// log(gamma(x + n)) and the product x (x+1) ... (x+n-1), with x + n >= 40.
fn shifted(x: Dd) -> (Dd, Dd) {
    let (mut z, mut product) = (x, ONE);
    while z.0 < 40.0 {
        product = product * z;
        z = z + 1.0;
    }
    let square = ONE / (z * z);
    let mut power = ONE / z;
    let mut sum = ZERO;
    for (above, below) in STIRLING {
        sum = sum + power * above / below;
        power = power * square;
    }
    let half_log_tau = log(PI * 2.0) / 2.0;
    ((z - 0.5) * log(z) - z + half_log_tau + sum, product)
}

fn gamma(x: f64) -> Wide {
    if x >= 0.5 {
        let (log, product) = shifted(Dd::from(x));
        let Wide(e, k) = exp(log);
        return Wide(e / product, k);
    }
    let (log, product) = shifted(ONE - Dd::from(x));
    let Wide(e, k) = exp(-log);
    let (sin, _) = sin_cos_pi(x);
    // A sine of a tiny number must not lose digits on the way.
    let up = if x.abs() < 1e-200 { 400 } else { 0 };
    let sin = if up > 0 {
        PI * (x * 2f64.powi(up))
    } else {
        sin
    };
    Wide(e * product * PI / sin, k + up)
}

fn lgamma(x: f64) -> Dd {
    let (far, product) = shifted(Dd::from(x.abs()));
    let value = far - log(product);
    if x > 0.0 {
        return value;
    }
    let (sin, _) = sin_cos_pi(x);
    log(PI / (sin.abs() * x.abs())) - value
}

/// log(gamma(1 + t)) for tiny t, from its Taylor series: Euler's constant and the zeta function at 2, 3 and 4.
fn lgamma_near_1(t: f64) -> Dd {
    const EULER: Dd = Dd(0.577_215_664_901_532_9, -4.942_915_152_430_645e-18);
    let rest = t
        * (1.644_934_066_848_226_4 / 2.0
            - t * (1.202_056_903_159_594_2 / 3.0 - t * (1.082_323_233_711_138_2 / 4.0)));
    (Dd::from(rest) - EULER) * t
}

fn cbrt(x: f64) -> Dd {
    if x.abs() < 1e-200 {
        return cbrt(x * 2f64.powi(300)).scale(-100);
    }
    let start = Dd::from(x.cbrt());
    start - (start * start * start - x) / (start * start * 3.0)
}

fn hypot(x: f64, y: f64) -> Wide {
    let k = exponent_of(x.abs().max(y.abs())).clamp(-1000, 1000);
    let (x, y) = (Dd::from(x).scale(-k).0, Dd::from(y).scale(-k).0);
    Wide((Dd::product(x, x) + Dd::product(y, y)).sqrt(), k)
}

/// Functions that are odd and not constant at zero.
const LINEAR: [&str; 14] = [
    "sin", "tan", "sinpi", "tanpi", "asin", "atan", "asinpi", "atanpi", "sinh", "tanh", "asinh",
    "atanh", "erf", "log1p",
];

/// A function of one operand, where it has a finite value other than zero that no rule fixes.
pub fn unary(name: &str, x: f64) -> Option<Wide> {
    let d = Dd::from(x);
    let signed = |value: Dd| if x < 0.0 { -value } else { value };
    let a = x.abs();
    // The second halves of pairs must not underflow. These functions are linear so close to zero.
    if a < 1e-200 && LINEAR.contains(&name) {
        let Wide(value, k) = unary(name, x * 2f64.powi(300))?;
        return Some(Wide(value, k - 300));
    }
    Some(match name {
        "exp" => exp(Dd::from(x.clamp(-800.0, 800.0))),
        "log" => log(d).into(),
        "log2" => (log(d) / LN_2).into(),
        "log10" => (log(d) / LN_10).into(),
        "log1p" => log1p(d).into(),
        "sin" | "cos" | "tan" if a > 1e8 => return None,
        "sin" => sin_cos(d).0.into(),
        "cos" => sin_cos(d).1.into(),
        "tan" => (sin_cos(d).0 / sin_cos(d).1).into(),
        "sinpi" => sin_cos_pi(x).0.into(),
        "cospi" => sin_cos_pi(x).1.into(),
        "tanpi" => (sin_cos_pi(x).0 / sin_cos_pi(x).1).into(),
        "asin" => signed(angle(Dd::from(a), complement(x))).into(),
        "acos" => angle(complement(x), d).into(),
        "atan" => signed(angle(Dd::from(a), ONE)).into(),
        "asinpi" => signed(angle(Dd::from(a), complement(x)) / PI).into(),
        "acospi" => (angle(complement(x), d) / PI).into(),
        "atanpi" => signed(angle(Dd::from(a), ONE) / PI).into(),
        "sinh" => sinh(x.clamp(-800.0, 800.0)),
        "cosh" => cosh(x.clamp(-800.0, 800.0)),
        "tanh" => tanh(x).into(),
        "asinh" => signed(asinh(a)).into(),
        "acosh" => acosh(x).into(),
        "atanh" => signed(atanh(a)).into(),
        "erf" if a < 6.0 => signed(erf_series(a)).into(),
        "erf" => Dd::from(1f64.copysign(x)).into(),
        "erfc" if x < 0.0 => {
            (Dd::from(2.0) - erfc(a.min(30.0)).0.scale(erfc(a.min(30.0)).1)).into()
        }
        "erfc" => erfc(x.min(30.0)),
        "gamma" if x < -300.0 => return None,
        "gamma" => gamma(x.min(200.0)),
        "lgamma" if a > 1e300 || x < -1e15 => return None,
        "lgamma" if (x - 1.0).abs() < 1e-8 => lgamma_near_1(x - 1.0).into(),
        "lgamma" if (x - 2.0).abs() < 1e-8 => {
            (log1p(Dd::from(x - 2.0)) + lgamma_near_1(x - 2.0)).into()
        }
        "lgamma" if a < 1e-40 => (-log(Dd::from(a))).into(),
        "lgamma" if a > 1e100 => ((log(d) - 1.0) * x).into(),
        "lgamma" => lgamma(x).into(),
        "cbrt" => cbrt(x).into(),
        _ => return None,
    })
}

fn atanh(a: f64) -> Dd {
    if a < 0.1 {
        return atanh_series(Dd::from(a));
    }
    log((Dd::from(a) + 1.0) / (ONE - Dd::from(a))) / 2.0
}

/// A function of two operands, as above.
pub fn binary(name: &str, x: f64, y: f64) -> Option<Wide> {
    Some(match name {
        "pow" => {
            let exponent = log(Dd::from(x.abs())) * y.clamp(-1e300, 1e300);
            let exponent = if exponent.0.abs() > 800.0 {
                Dd::from(800f64.copysign(exponent.0))
            } else {
                exponent
            };
            let Wide(value, k) = exp(exponent);
            let odd = y % 2.0 != 0.0 && x < 0.0;
            Wide(if odd { -value } else { value }, k)
        }
        "hypot" => hypot(x, y),
        "atan2" | "atan2pi" => {
            let size = exponent_of(x.abs().max(y.abs())).clamp(-1000, 1000);
            let (a, b) = (Dd::from(x.abs()).scale(-size), Dd::from(y).scale(-size));
            // Quotients that nearly vanish lose digits when scaled.
            if b.0 > 0.0 && x.abs() < y * 1e-200 {
                return None;
            }
            let value = angle(a, b);
            let value = if name == "atan2" { value } else { value / PI };
            Wide(if x < 0.0 { -value } else { value }, 0)
        }
        _ => return None,
    })
}
