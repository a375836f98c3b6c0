//! The table of scalar operations as a page of documentation, `docs/scalar-operations.md`.

use super::{ScalarTrap, eval};
use crate::interp::message::number;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use crate::ir::types::ScalarType;
use std::fmt::Write;

/// The page.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    section(&mut page, "One operand", UnOp::ALL, |op| {
        (op.name(), op.meaning(), types(|ty| op.accepts(ty)))
    });
    section(&mut page, "Two operands", BinOp::ALL, |op| {
        (op.name(), op.meaning(), types(|ty| op.accepts(ty)))
    });
    section(&mut page, "Three operands", TernOp::ALL, |op| {
        (op.name(), op.meaning(), types(|ty| op.accepts(ty)))
    });
    section(&mut page, "Comparisons", CmpOp::ALL, |op| {
        (op.name(), op.meaning(), types(|_| true))
    });
    page.push_str(CONVERSIONS);
    page.push_str("\n## At the corners\n\nWhat the interpreter computes for operands that decide a question.\n\n");
    page.push_str("| operation | operands | result |\n|---|---|---|\n");
    for (op, args) in corners() {
        corner(&mut page, op, &args);
    }
    page
}

fn section<T: Copy>(
    page: &mut String,
    title: &str,
    ops: &[T],
    row: impl Fn(T) -> (&'static str, &'static str, String),
) {
    let _ = write!(
        page,
        "\n## {title}\n\n| name | types | meaning |\n|---|---|---|\n"
    );
    for &op in ops {
        let (name, meaning, types) = row(op);
        let _ = writeln!(
            page,
            "| `{name}` | {types} |{} |",
            meaning.replace('|', "\\|")
        );
    }
}

/// The types for which a condition holds, by class where it holds for the whole class.
fn types(accepts: impl Fn(ScalarType) -> bool) -> String {
    type Class = (&'static str, fn(ScalarType) -> bool);
    let classes: [Class; 3] = [
        ("integers", ScalarType::is_integer),
        ("floats", ScalarType::is_float),
        ("bool", |ty| ty == ScalarType::Bool),
    ];
    let of = |(name, class): &Class| {
        let all = ScalarType::ALL
            .into_iter()
            .filter(|&ty| class(ty))
            .all(&accepts);
        all.then_some(*name)
    };
    classes.iter().filter_map(of).collect::<Vec<_>>().join(", ")
}

fn corner(page: &mut String, op: &str, args: &[Const]) {
    let Ok(operation) = op.parse::<ScalarOp>() else {
        return;
    };
    let result = match eval(operation, args) {
        Ok(value) => number(value),
        Err(trap @ (ScalarTrap::DivisionByZero | ScalarTrap::NegativeExponent)) => {
            format!("error: {trap}")
        }
        Err(ScalarTrap::IllTyped) => return,
    };
    let args: Vec<String> = args.iter().map(|&c| number(c)).collect();
    let _ = writeln!(page, "| `{op}` | {} | {result} |", args.join(", "));
}

/// Operations at operands where languages and machines differ.
pub(super) fn corners() -> Vec<(&'static str, Vec<Const>)> {
    let mut all: Vec<(&'static str, Vec<Const>)> = Vec::new();
    for op in ["div.i32", "mod.i32", "quot.i32", "rem.i32"] {
        for (a, b) in [(-7, 2), (7, -2), (i32::MIN, -1), (1, 0)] {
            all.push((op, vec![Const::I32(a), Const::I32(b)]));
        }
    }
    all.push(("abs.i8", vec![Const::I8(-128)]));
    all.push(("pow.i32", vec![Const::I32(2), Const::I32(31)]));
    all.push(("pow.i32", vec![Const::I32(2), Const::I32(-1)]));
    all.push(("shl.i32", vec![Const::I32(1), Const::I32(33)]));
    all.push(("shr.i32", vec![Const::I32(-8), Const::I32(1)]));
    all.push(("shr.u32", vec![Const::U32(0x8000_0000), Const::U32(31)]));
    let (nan, inf) = (f64::NAN, f64::INFINITY);
    for op in ["min.f64", "max.f64"] {
        for (a, b) in [(nan, 1.0), (1.0, nan), (0.0, -0.0), (-0.0, 0.0)] {
            all.push((op, vec![Const::f64(a), Const::f64(b)]));
        }
    }
    for (a, b) in [(-7.0, 3.0), (7.0, -3.0), (6.0, -3.0), (1.0, 0.0)] {
        all.push(("mod.f64", vec![Const::f64(a), Const::f64(b)]));
    }
    for op in ["round.f64", "signum.f64", "sinpi.f64"] {
        for a in [0.5, 1.5, -0.0, nan] {
            all.push((op, vec![Const::f64(a)]));
        }
    }
    for a in [-2.9, 1e300, -1e300, nan] {
        all.push(("convert.f64.i32", vec![Const::f64(a)]));
        all.push(("convert.f64.u8", vec![Const::f64(a)]));
    }
    for a in [-0.0, inf, nan] {
        all.push(("convert.f64.bool", vec![Const::f64(a)]));
    }
    all.push(("convert.i32.i8", vec![Const::I32(300)]));
    all.push(("convert.i8.u64", vec![Const::I8(-1)]));
    all.push(("convert.i64.f32", vec![Const::I64(16_777_217)]));
    all.push(("convert.i64.f16", vec![Const::I64(2049)]));
    all.push(("tobits.f32", vec![Const::F32(0xffc1_2345)]));
    all
}

const INTRODUCTION: &str = "\
# Scalar operations

Every scalar operation of the intermediate languages, for every type, as all targets compute it. This page is printed
from the table in `midend/src/ir/scalar.rs` and from the interpreter, and a test keeps it in step
(`ARRC_BLESS=1 cargo test -p arrc-midend` rewrites it).

An operation is written with the type of its operands, as in `add.i32`. The types are the integers `i8 i16 i32 i64 u8
u16 u32 u64`, the floats `f16 f32 f64`, and `bool`.

- Integer arithmetic wraps around. Division by zero and negative exponents are errors that a program checks for before.
- Float arithmetic is that of IEEE 754, each operation rounded once to nearest even, without flushing to zero.
  Arithmetic of `f16` is correctly rounded to `f16` at each operation.
- A NaN that results is some NaN: its sign and payload are not specified.
";

const CONVERSIONS: &str = "
## Conversions and the rest

| name | meaning |
|---|---|
| `convert.A.B` | From type A to type B. Integers wrap. Float to integer truncates and saturates, NaN and the infinities give 0; a negative float gives an unsigned type the bits that it gives the signed one. Integer to float and float to float round once to nearest even. To `bool` is \"not zero\" (a NaN is not zero); `bool` is 0 or 1. |
| `tobits.F` | The bits of a float as the unsigned integer of its width; every NaN as the positive quiet NaN without payload. |
| `frombits.F` | The float with the bits of an unsigned integer. |
| `select.T` | The first of two values if a `bool` holds, else the second; both are evaluated. |
";
