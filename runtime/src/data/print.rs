//! Values as text, in the form in which they can be read again.

use half::f16;
use midend::ir::scalar::Const;
use midend::value::{ArrayValue, Value};
use std::fmt::Write as _;
use std::io::{self, Write};

/// Text is handed on in pieces of about this many bytes.
const PIECE: usize = 1 << 16;

/// A scalar with its suffix: `1i32`, `0.5f32`, `f64.nan`, `true`. Floats have the fewest digits that read back the same.
pub fn const_text(value: Const) -> String {
    let mut out = String::new();
    push_const(value, &mut out);
    out
}

/// The value as one line of text.
pub fn value_text(value: &Value) -> String {
    let mut out = Vec::new();
    match write_text(value, &mut out) {
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        Err(why) => format!("<{why}>"),
    }
}

/// Writes the value as one line of text, without the line break.
pub fn write_text(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Scalar(c) => out.write_all(const_text(*c).as_bytes()),
        Value::Array(array) if array.data.is_empty() => {
            out.write_all(b"empty(")?;
            for dim in &array.shape {
                write!(out, "[{dim}]")?;
            }
            write!(out, "{})", array.data.elem())
        }
        Value::Array(array) => write_array(array, out),
    }
}

fn write_array(array: &ArrayValue, out: &mut impl Write) -> io::Result<()> {
    // After how many elements each bracket closes, innermost last.
    let mut periods: Vec<usize> = Vec::new();
    let mut period = 1usize;
    for dim in array.shape.iter().rev() {
        period *= usize::try_from(*dim).unwrap_or(0);
        periods.push(period);
    }
    let mut text = String::with_capacity(PIECE + 256);
    for i in 0..array.data.len() {
        let opens = periods.iter().filter(|p| i % **p == 0).count();
        if i > 0 {
            text.push_str(", ");
        }
        text.extend(std::iter::repeat_n('[', opens));
        push_const(array.data.get(i), &mut text);
        let closes = periods.iter().filter(|p| (i + 1) % **p == 0).count();
        text.extend(std::iter::repeat_n(']', closes));
        if text.len() >= PIECE {
            out.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    out.write_all(text.as_bytes())
}

fn push_const(value: Const, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = match value {
        Const::I8(x) => write!(out, "{x}i8"),
        Const::I16(x) => write!(out, "{x}i16"),
        Const::I32(x) => write!(out, "{x}i32"),
        Const::I64(x) => write!(out, "{x}i64"),
        Const::U8(x) => write!(out, "{x}u8"),
        Const::U16(x) => write!(out, "{x}u16"),
        Const::U32(x) => write!(out, "{x}u32"),
        Const::U64(x) => write!(out, "{x}u64"),
        Const::F16(x) => match f16::from_bits(x) {
            x if x.is_finite() => write!(out, "{}f16", shortest_f16(x)),
            x => push_special(f64::from(x), "f16", out),
        },
        Const::F32(x) => match f32::from_bits(x) {
            x if x.is_finite() => write!(out, "{x:?}f32"),
            x => push_special(f64::from(x), "f32", out),
        },
        Const::F64(x) => match f64::from_bits(x) {
            x if x.is_finite() => write!(out, "{x:?}f64"),
            x => push_special(x, "f64", out),
        },
        Const::Bool(x) => write!(out, "{x}"),
    };
}

fn push_special(value: f64, ty: &str, out: &mut String) -> std::fmt::Result {
    if value.is_nan() {
        write!(out, "{ty}.nan")
    } else if value > 0.0 {
        write!(out, "{ty}.inf")
    } else {
        write!(out, "-{ty}.inf")
    }
}

/// The fewest digits that read back as the same binary16: the shortest that do as binary32 are often longer.
fn shortest_f16(value: f16) -> String {
    let exact = f64::from(value);
    for digits in 0..5 {
        let text = format!("{exact:.digits$e}");
        if let Ok(back) = text.parse::<f64>()
            && f16::from_f64(back) == value
        {
            return format!("{back:?}");
        }
    }
    format!("{exact:?}")
}
