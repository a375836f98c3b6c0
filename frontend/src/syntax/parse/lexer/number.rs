//! Numbers: in base 2, 10 and 16, in Roman digits, with and without places and types.

use super::{Kind, Lexer, constituent};
use crate::diagnostic::{Code, Diagnostic};

impl Lexer<'_> {
    /// A number, which must not run into a name or another number.
    pub(super) fn whole_number(&mut self) -> Result<(), Diagnostic> {
        let start = self.at;
        let is_field = start > 0 && self.byte(start - 1) == b'.';
        self.number();
        let next = self.byte(self.at);
        let goes_on = constituent(next) && next != b'\''
            || next == b'.' && self.byte(self.at + 1).is_ascii_digit();
        if is_field || !goes_on {
            return Ok(());
        }
        let end = self.run(self.at, |byte| constituent(byte) || byte == b'.');
        let text = &self.text[start..end];
        let message = format!("`{text}` is no number");
        let diagnostic = Diagnostic::error(Code::BadLiteral, self.span(start, end), message);
        Err(match &text.as_bytes()[..2] {
            b"0x" | b"0X" if text.contains('.') => {
                diagnostic.hint("a float in base 16 has an exponent, which `p` begins: `0x1.8p0`")
            }
            b"0b" | b"0B" => diagnostic.hint("a number in base 2 consists of `0` and `1`"),
            _ => diagnostic.hint(
                "a number may end in its type, one of `i8`, `i16`, `i32`, `i64`, `u8`, `u16`, `u32`, `u64`, `f16`, \
                 `f32`, `f64`",
            ),
        })
    }

    fn number(&mut self) {
        let digits = |byte: u8| byte.is_ascii_digit() || byte == b'_';
        let first = self.byte(self.at + 2);
        let radix = match (self.byte(self.at), self.byte(self.at + 1)) {
            (b'0', b'x' | b'X') if first.is_ascii_hexdigit() => return self.hexadecimal(),
            (b'0', b'b' | b'B') if matches!(first, b'0' | b'1') => b"01_".as_slice(),
            (b'0', b'r' | b'R') if roman(first) => b"IVXLCDM_".as_slice(),
            _ => b"".as_slice(),
        };
        if !radix.is_empty() {
            let end = self.run(self.at + 2, |byte| radix.contains(&byte));
            return self.int_suffix(Kind::INT, end);
        }
        let whole = self.run(self.at, digits);
        // After one dot this is a field, `x.0.1`; after two it is the bound of a range.
        let before = |back: usize| self.at >= back && self.byte(self.at - back) == b'.';
        if before(1) && !before(2) {
            return self.int_suffix(Kind::NAT, whole);
        }
        let mut end = whole;
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            end = self.run(end + 1, digits);
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if self.byte(end + 1 + sign).is_ascii_digit() {
                end = self.run(end + 1 + sign, |byte| byte.is_ascii_digit());
            }
        }
        if self.float_suffix(end) {
            self.push(Kind::SUFFIXED_FLOAT, end + 3);
        } else if end > whole {
            self.push(Kind::FLOAT, end);
        } else {
            self.int_suffix(Kind::NAT, whole);
        }
    }

    fn hexadecimal(&mut self) {
        let digits = |byte: u8| byte.is_ascii_hexdigit() || byte == b'_';
        let whole = self.run(self.at + 2, digits);
        if self.byte(whole) == b'.' && self.byte(whole + 1).is_ascii_hexdigit() {
            let fraction = self.run(whole + 1, digits);
            let sign = usize::from(matches!(self.byte(fraction + 1), b'+' | b'-'));
            let exponent = fraction + 1 + sign;
            if matches!(self.byte(fraction), b'p' | b'P') && self.byte(exponent).is_ascii_digit() {
                let end = self.run(exponent, |byte| byte.is_ascii_digit() || byte == b'_');
                return if self.float_suffix(end) {
                    self.push(Kind::SUFFIXED_FLOAT, end + 3);
                } else {
                    self.push(Kind::FLOAT, end);
                };
            }
        }
        self.int_suffix(Kind::INT, whole);
    }

    fn float_suffix(&self, at: usize) -> bool {
        let rest = &self.bytes[at.min(self.bytes.len())..];
        [b"f16", b"f32", b"f64"]
            .iter()
            .any(|suffix| rest.starts_with(*suffix))
    }

    fn int_suffix(&mut self, plain: Kind, end: usize) {
        let suffixes = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"];
        let rest = &self.bytes[end..];
        let suffix = suffixes
            .iter()
            .find(|suffix| rest.starts_with(suffix.as_bytes()));
        match suffix {
            Some(suffix) => self.push(Kind::SUFFIXED_INT, end + suffix.len()),
            None => self.push(plain, end),
        }
    }
}

fn roman(byte: u8) -> bool {
    b"IVXLCDM".contains(&byte)
}
