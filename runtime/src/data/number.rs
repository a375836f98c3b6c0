//! Numbers as text: signs, bases, underscores, suffixes, and the types that they may have.

use frontend::syntax::ast::FloatDigits;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;

/// The constant that a token denotes, in the range of its type. Without a suffix it takes the expected type, or `i32` and `f64` where none is
/// expected. The error says what is wrong with the token.
pub fn parse_number(token: &str, expected: Option<ScalarType>) -> Result<Const, String> {
    parse_token(token, expected, Range::Checked)
}

/// What becomes of an integer that is too large for its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// It is refused.
    Checked,
    /// It is taken modulo two to the width of the type, as in the values that existing test blocks write.
    Wrapping,
}

/// As [`parse_number`], with a choice of what to do with what is out of range.
pub(super) fn parse_token(
    token: &str,
    expected: Option<ScalarType>,
    range: Range,
) -> Result<Const, String> {
    let wanted = |found: Const| match expected {
        Some(ty) if ty != found.ty() => Err(format!(
            "expected a value of type {ty}, found `{token}` of type {}",
            found.ty()
        )),
        Some(_) | None => Ok(found),
    };
    match token {
        "true" => return wanted(Const::Bool(true)),
        "false" => return wanted(Const::Bool(false)),
        _ => {}
    }
    if expected == Some(ScalarType::Bool) {
        return Err(format!("expected `true` or `false`, found `{token}`"));
    }
    let (negative, body) = match token.as_bytes().first() {
        Some(b'-') => (true, &token[1..]),
        Some(b'+') => (false, &token[1..]),
        Some(_) | None => (false, token),
    };
    if let Some(special) = special(negative, body, expected) {
        return wanted(special);
    }
    let parts = split(body).ok_or_else(|| match expected {
        Some(ty) => format!("expected a number of type {ty}, found `{token}`"),
        None => format!("expected a number, found `{token}`"),
    })?;
    wanted(parts.constant(negative, token, expected, range)?)
}

/// `f32.nan`, `-f64.inf` and their like; and bare `nan` and `inf` where a float is expected.
fn special(negative: bool, body: &str, expected: Option<ScalarType>) -> Option<Const> {
    let (ty, name) = match body.split_once('.') {
        Some((ty, name)) => (ScalarType::from_name(ty).filter(|t| t.is_float())?, name),
        None => (expected.filter(|t| t.is_float())?, body),
    };
    let value = match name {
        "nan" => f64::NAN,
        "inf" if negative => f64::NEG_INFINITY,
        "inf" => f64::INFINITY,
        _ => return None,
    };
    Some(float(value, ty))
}

fn float(value: f64, ty: ScalarType) -> Const {
    if ty == ScalarType::F16 {
        Const::f16(half::f16::from_f64(value))
    } else if ty == ScalarType::F32 {
        Const::f32(value as f32)
    } else {
        Const::f64(value)
    }
}

/// A number without its sign, taken apart.
struct Parts<'a> {
    /// The digits, with base prefix, point and exponent.
    text: &'a str,
    /// Whether it has a point or an exponent.
    fractional: bool,
    suffix: Option<ScalarType>,
}

/// Takes a number apart; nothing if it is none.
fn split(body: &str) -> Option<Parts<'_>> {
    let bytes = body.as_bytes();
    let digits = |from: usize, ok: fn(&u8) -> bool| {
        from + bytes[from..]
            .iter()
            .take_while(|b| ok(b) || **b == b'_')
            .count()
    };
    let decimal = |from| digits(from, u8::is_ascii_digit);
    let lower = |i: usize| bytes.get(i).map(u8::to_ascii_lowercase);
    let mut fractional = false;
    let mut end;
    if bytes.first() == Some(&b'0') && lower(1) == Some(b'x') {
        end = digits(2, u8::is_ascii_hexdigit);
        if bytes.get(end) == Some(&b'.') {
            fractional = true;
            end = digits(end + 1, u8::is_ascii_hexdigit);
        }
        if lower(end) == Some(b'p') {
            fractional = true;
            end = exponent(bytes, end, decimal)?;
        } else if fractional {
            return None;
        }
    } else if bytes.first() == Some(&b'0') && lower(1) == Some(b'b') {
        end = digits(2, |b| matches!(b, b'0' | b'1'));
    } else {
        end = decimal(0);
        if bytes.get(end) == Some(&b'.') {
            fractional = true;
            end = decimal(end + 1);
        }
        if lower(end) == Some(b'e') {
            fractional = true;
            end = exponent(bytes, end, decimal)?;
        }
    }
    let text = &body[..end];
    if !text.bytes().any(|b| b.is_ascii_hexdigit()) || text.starts_with('_') {
        return None;
    }
    let suffix = match &body[end..] {
        "" => None,
        name => Some(ScalarType::from_name(name).filter(|t| *t != ScalarType::Bool)?),
    };
    Some(Parts {
        text,
        fractional,
        suffix,
    })
}

/// The end of the exponent whose letter stands at `at`; nothing if it has no digits.
fn exponent(bytes: &[u8], at: usize, decimal: impl Fn(usize) -> usize) -> Option<usize> {
    let start = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
    let end = decimal(start.min(bytes.len()));
    (end > start).then_some(end)
}

impl Parts<'_> {
    fn constant(
        &self,
        negative: bool,
        token: &str,
        expected: Option<ScalarType>,
        range: Range,
    ) -> Result<Const, String> {
        let default = if self.fractional {
            ScalarType::F64
        } else {
            ScalarType::I32
        };
        let ty = self.suffix.or(expected).unwrap_or(default);
        if ty.is_float() {
            return Ok(self.float(negative, ty));
        }
        if self.fractional {
            return Err(format!("expected an integer of type {ty}, found `{token}`"));
        }
        let out = || format!("`{token}` is out of the range of {ty}");
        let (magnitude, fits) = self.magnitude();
        if !fits && range == Range::Checked {
            return Err(out());
        }
        let value = if negative { -magnitude } else { magnitude };
        integer(value, ty, range).ok_or_else(out)
    }
    fn float(&self, negative: bool, ty: ScalarType) -> Const {
        let text: String = self.text.chars().filter(|c| *c != '_').collect();
        let prefix = text.get(..2).unwrap_or_default();
        let digits = match prefix {
            "0b" | "0B" => FloatDigits::from_bits(&text[2..]),
            _ => FloatDigits(text.into()),
        };
        if ty == ScalarType::F16 {
            let value = digits.to_f16();
            Const::f16(if negative { -value } else { value })
        } else if ty == ScalarType::F32 {
            let value = digits.to_f32();
            Const::f32(if negative { -value } else { value })
        } else {
            let value = digits.to_f64();
            Const::f64(if negative { -value } else { value })
        }
    }
    /// The integer modulo 2^127, and whether it is that.
    fn magnitude(&self) -> (i128, bool) {
        let (radix, digits) = match self.text.get(..2) {
            Some("0x" | "0X") => (16, &self.text[2..]),
            Some("0b" | "0B") => (2, &self.text[2..]),
            Some(_) | None => (10, self.text),
        };
        let (mut value, mut fits) = (0i128, true);
        for digit in digits.chars().filter_map(|c| c.to_digit(16)) {
            let next = value.checked_mul(radix);
            let next = next.and_then(|value| value.checked_add(i128::from(digit)));
            fits &= next.is_some();
            value = value.wrapping_mul(radix).wrapping_add(i128::from(digit)) & i128::MAX;
        }
        (value, fits)
    }
}

/// The integer as a constant of the type. All bit patterns of the type's width are in range, signed or not, as
/// `-1u8` and `0xffi8` are written in existing data.
fn integer(value: i128, ty: ScalarType, range: Range) -> Option<Const> {
    let bits = ty.bytes() * 8;
    let patterns = -(1i128 << (bits - 1))..(1i128 << bits);
    if range == Range::Checked && !patterns.contains(&value) {
        return None;
    }
    Some(match ty {
        ScalarType::I8 => Const::I8(value as i8),
        ScalarType::I16 => Const::I16(value as i16),
        ScalarType::I32 => Const::I32(value as i32),
        ScalarType::I64 => Const::I64(value as i64),
        ScalarType::U8 => Const::U8(value as u8),
        ScalarType::U16 => Const::U16(value as u16),
        ScalarType::U32 => Const::U32(value as u32),
        ScalarType::U64 => Const::U64(value as u64),
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 | ScalarType::Bool => return None,
    })
}
