//! Measures the error of the scalar functions in units in the last place: which operands, and against what.
//!
//! Functions of f64 are measured against [`crate::oracle`]; those of f32 and f16 against the f64 functions of the
//! crate `libm`, whose errors do not show there.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "of the types those of floats alone come here"
)]

use crate::oracle::{self, Wide, double::Dd, ulps};
use midend::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use midend::ir::types::ScalarType;
use midend::math::library::{bound, functions};

/// The number formats, narrow to wide.
pub const FORMATS: [ScalarType; 3] = [ScalarType::F16, ScalarType::F32, ScalarType::F64];

/// The operations that are measured, with their bounds: every function with a definition but `ldexp`, which is exact.
pub fn measured() -> Vec<(ScalarOp, f64)> {
    functions(ScalarType::F64)
        .into_iter()
        .filter(|op| !matches!(op, ScalarOp::Bin(BinOp::Ldexp, _)))
        .map(|op| (op, f64::from(bound(op))))
        .collect()
}

/// The name of a function.
pub fn name(op: ScalarOp) -> &'static str {
    match op {
        ScalarOp::Un(op, _) => op.name(),
        ScalarOp::Bin(op, _) => op.name(),
        ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => unreachable!("functions have one operand or two"),
    }
}

/// The same function of another type.
pub fn of_type(op: ScalarOp, ty: ScalarType) -> ScalarOp {
    match UnOp::from_name(name(op)) {
        Some(op) => ScalarOp::Un(op, ty),
        None => ScalarOp::Bin(BinOp::from_name(name(op)).expect("a function"), ty),
    }
}

/// A number of a format.
pub fn constant(ty: ScalarType, x: f64) -> Const {
    match ty {
        ScalarType::F16 => Const::f16(half::f16::from_f64(x)),
        ScalarType::F32 => Const::f32(x as f32),
        _ => Const::f64(x),
    }
}

/// The value of a number.
pub fn value(c: Const) -> f64 {
    match c {
        Const::F16(bits) => half::f16::from_bits(bits).to_f64(),
        Const::F32(bits) => f64::from(f32::from_bits(bits)),
        Const::F64(bits) => f64::from_bits(bits),
        _ => f64::NAN,
    }
}

/// Pseudo-random bits (splitmix64).
#[derive(Clone)]
pub struct Bits(pub u64);

impl Bits {
    /// The next 64.
    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.draw() >> 11) as f64 * 2f64.powi(-53)
    }
}

/// An operand: over all exponents, over those that are not extreme, close to a number where something happens, or in
/// the ranges in which results are neither huge nor tiny.
pub fn operand(bits: &mut Bits, ty: ScalarType) -> f64 {
    const NEAR: [f64; 12] = [
        0.25,
        0.5,
        0.75,
        1.0,
        std::f64::consts::SQRT_2,
        std::f64::consts::FRAC_PI_2,
        2.0,
        std::f64::consts::PI,
        4.0,
        10.0,
        100.0,
        709.0,
    ];
    let sign = if bits.draw() & 1 == 0 { 1.0 } else { -1.0 };
    let x = match bits.draw() % 8 {
        0 => match ty {
            ScalarType::F64 => f64::from_bits(bits.draw()),
            ScalarType::F32 => f64::from(f32::from_bits(bits.draw() as u32)),
            _ => half::f16::from_bits(bits.draw() as u16).to_f64(),
        },
        1 | 2 => 2f64.powi((bits.draw() % 90) as i32 - 60) * (1.0 + bits.unit()),
        3 => {
            let near = NEAR[(bits.draw() % 12) as usize];
            near * (1.0 + (bits.unit() - 0.5) * 2f64.powi(-((bits.draw() % 50) as i32)))
        }
        4 => bits.unit(),
        5 => bits.unit() * 10.0,
        6 => bits.unit() * 100.0,
        _ => bits.unit() * 800.0,
    };
    value(constant(ty, x * sign))
}

/// The second operand for a first one: for powers often such that the result is finite.
pub fn second(op: ScalarOp, x: f64, bits: &mut Bits) -> f64 {
    let ty = op.operand(0);
    if name(op) == "pow" && !bits.draw().is_multiple_of(4) {
        let most = if ty == ScalarType::F64 { 750.0 } else { 110.0 };
        let y = (bits.unit() - 0.5) * 2.0 * most / x.abs().ln();
        let y = if bits.draw().is_multiple_of(4) {
            y.round()
        } else {
            y
        };
        return value(constant(ty, y));
    }
    if bits.draw().is_multiple_of(4) {
        return value(constant(ty, x * (1.0 + (bits.unit() - 0.5) * 0.1)));
    }
    operand(bits, ty)
}

/// What the results of a function are measured with. It is found once for many operands.
pub struct Judge {
    op: ScalarOp,
    /// Whether an operand is a pole, or its result fixed by a convention.
    special: fn(f64) -> bool,
    /// Whether there is a real value.
    inside: fn(f64) -> bool,
    /// The function in binary64, for narrower formats.
    wide: Reference,
    /// Digits of the format, and the least exponent of a last place.
    format: (i32, i32),
}

/// A function in binary64.
enum Reference {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

impl Judge {
    /// The one for an operation.
    pub fn of(op: ScalarOp) -> Self {
        let name = name(op);
        Self {
            op,
            special: special(name),
            inside: inside(name),
            wide: if op.arity() == 1 {
                Reference::One(wide(name))
            } else {
                Reference::Two(wide2(name))
            },
            format: match op.operand(0) {
                ScalarType::F16 => (11, -24),
                ScalarType::F32 => (24, -149),
                _ => (53, -1074),
            },
        }
    }

    /// The error of a result in units in the last place; nothing where the rules for special operands say what is right,
    /// which are tested elsewhere.
    pub fn error(&self, args: &[f64], result: f64) -> Option<f64> {
        if args.iter().any(|x| *x == 0.0 || !x.is_finite()) || (self.special)(args[0]) {
            return None;
        }
        let (bits, least) = self.format;
        if self.op.operand(0) == ScalarType::F64 {
            return self.error_double(args, result);
        }
        let exact = match (&self.wide, args) {
            (Reference::One(_), [x]) if !(self.inside)(*x) => f64::NAN,
            (Reference::One(f), [x]) => f(*x),
            (Reference::Two(f), [x, y]) => f(*x, *y),
            (Reference::One(_) | Reference::Two(_), _) => return None,
        };
        Some(narrow_ulps(result, exact, bits, least))
    }

    fn error_double(&self, args: &[f64], result: f64) -> Option<f64> {
        let (op, (bits, least)) = (self.op, self.format);
        let exact = match args {
            [x] if !(self.inside)(*x) => Dd::from(f64::NAN).into(),
            [x] => oracle::unary(name(op), *x)?,
            [x, y] if name(op) != "pow" || *x > 0.0 || y.fract() == 0.0 => {
                oracle::binary(name(op), *x, *y)?
            }
            _ => Dd::from(f64::NAN).into(),
        };
        let error = ulps(result, exact, bits, least);
        // Between two poles the logarithm of the gamma function has zeros, of which nothing is promised but a small
        // absolute error.
        if name(op) == "lgamma" && args[0] < 0.0 {
            return Some(error.min(ulps(result + 4.0, plus(exact, 4.0), bits, least)));
        }
        Some(error)
    }
}

/// [`ulps`] of a format that is narrower than binary64, the exact value rounded to that.
fn narrow_ulps(result: f64, exact: f64, bits: i32, least: i32) -> f64 {
    let exponent = ((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let near_overflow = exponent + 1 >= 3 - least - bits;
    if near_overflow || exact == 0.0 || !exact.is_finite() || !result.is_finite() {
        return ulps(result, Dd::from(exact).into(), bits, least);
    }
    let place = (exponent + 1 - bits).max(least);
    (result - exact).abs() * f64::from_bits(((1023 - place) as u64) << 52)
}

fn plus(x: Wide, y: f64) -> Wide {
    Wide(x.0.scale(x.1) + y, 0)
}

/// Tells poles, and values fixed by a convention.
fn special(name: &str) -> fn(f64) -> bool {
    match name {
        "sinpi" | "cospi" | "tanpi" => |x| (2.0 * x).fract() == 0.0,
        "log1p" => |x| x == -1.0,
        "atanh" => |x| x.abs() == 1.0,
        "lgamma" => |x| x == 1.0 || x == 2.0 || (x < 0.0 && x.fract() == 0.0),
        _ => |_| false,
    }
}

/// Tells where a function has a real value.
fn inside(name: &str) -> fn(f64) -> bool {
    match name {
        "log" | "log2" | "log10" => |x| x > 0.0,
        "log1p" => |x| x > -1.0,
        "asin" | "acos" | "asinpi" | "acospi" => |x| x.abs() <= 1.0,
        "acosh" => |x| x >= 1.0,
        "atanh" => |x| x.abs() < 1.0,
        "gamma" => |x| x > 0.0 || x.fract() != 0.0,
        _ => |_| true,
    }
}

/// Functions in binary64.
fn wide(name: &str) -> fn(f64) -> f64 {
    match name {
        "exp" => libm::exp,
        "log" => libm::log,
        "log2" => libm::log2,
        "log10" => libm::log10,
        "log1p" => libm::log1p,
        "sin" => libm::sin,
        "cos" => libm::cos,
        "tan" => libm::tan,
        "sinpi" => wide_sinpi,
        "cospi" => wide_cospi,
        "tanpi" => |x| wide_sinpi(x) / wide_cospi(x),
        "asin" => libm::asin,
        "acos" => libm::acos,
        "atan" => libm::atan,
        "asinpi" => |x| libm::asin(x) / std::f64::consts::PI,
        "acospi" => |x| libm::acos(x) / std::f64::consts::PI,
        "atanpi" => |x| libm::atan(x) / std::f64::consts::PI,
        "sinh" => libm::sinh,
        "cosh" => libm::cosh,
        "tanh" => libm::tanh,
        "asinh" => libm::asinh,
        "acosh" => libm::acosh,
        "atanh" => libm::atanh,
        "erf" => libm::erf,
        "erfc" => libm::erfc,
        "gamma" => libm::tgamma,
        "lgamma" => wide_lgamma,
        "cbrt" => libm::cbrt,
        _ => unreachable!("no function {name}"),
    }
}

/// The nearest zero is at a whole number, from where the rest is exact.
fn wide_sinpi(x: f64) -> f64 {
    let k = x.round();
    let value = libm::sin((x - k) * std::f64::consts::PI);
    if k % 2.0 == 0.0 { value } else { -value }
}

/// The nearest zero is at a half, from where the rest is exact.
fn wide_cospi(x: f64) -> f64 {
    let k = (x.abs() - 0.5).round();
    let value = -libm::sin((x.abs() - 0.5 - k) * std::f64::consts::PI);
    if k % 2.0 == 0.0 { value } else { -value }
}

/// Near the zeros of negative numbers binary64 is too coarse.
fn wide_lgamma(x: f64) -> f64 {
    let value = libm::lgamma(x);
    if x < 0.0 && x > -200.0 && value.abs() < 0.01 {
        return oracle::unary("lgamma", x).map_or(f64::NAN, |Wide(v, _)| v.0);
    }
    value
}

fn wide2(name: &str) -> fn(f64, f64) -> f64 {
    match name {
        "pow" => libm::pow,
        "hypot" => libm::hypot,
        "atan2" => libm::atan2,
        "atan2pi" => |x, y| libm::atan2(x, y) / std::f64::consts::PI,
        _ => unreachable!("no function {name}"),
    }
}

/// A program with two entry points for each function: one that works in lanes, and one where a branch stands in the
/// way of that.
pub fn program(ops: &[ScalarOp]) -> String {
    let mut text = String::new();
    for op in ops {
        let (name, ty) = (name(*op), op.operand(0).name());
        let function = match name {
            "pow" => format!("({ty}.**)"),
            "ldexp" => format!("(\\x y -> {ty}.ldexp x (i32.{ty} y))"),
            _ => format!("{ty}.{name}"),
        };
        let alone = |args: &str| format!("if {ty}.isnan x then {ty}.nan else {function} {args}");
        text += &if op.arity() == 1 {
            format!(
                "entry lanes_{name} (xs: []{ty}) = map {function} xs\n\
                 entry alone_{name} (xs: []{ty}) = map (\\x -> {}) xs\n",
                alone("x")
            )
        } else {
            format!(
                "entry lanes_{name} [n] (xs: [n]{ty}) (ys: [n]{ty}) = map2 {function} xs ys\n\
                 entry alone_{name} [n] (xs: [n]{ty}) (ys: [n]{ty}) = map2 (\\x y -> {}) xs ys\n",
                alone("x y")
            )
        };
    }
    text
}

/// A row of the page about scalar functions.
pub struct Row {
    /// The function.
    pub name: String,
    /// The stated bound of its error.
    pub bound: u32,
    /// The errors measured, narrow formats first.
    pub errors: Vec<f64>,
}

/// The rows of the page.
pub fn page_rows(page: &str) -> Vec<Row> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .filter_map(|line| {
            let mut cells = line.split('|').map(|cell| cell.trim().trim_matches('`'));
            Some(Row {
                name: cells.next()?.to_owned(),
                bound: cells.next()?.parse().ok()?,
                errors: cells.filter_map(|cell| cell.parse().ok()).collect(),
            })
        })
        .collect()
}
