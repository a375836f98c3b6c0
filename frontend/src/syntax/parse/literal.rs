//! Literals: numbers in all their forms, characters, strings.

use super::build::Cx;
use super::token::Kind;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{FloatDigits, FloatType, IntType, Literal, Name};

const INT_TYPES: [IntType; 8] = [
    IntType::I8,
    IntType::I16,
    IntType::I32,
    IntType::I64,
    IntType::U8,
    IntType::U16,
    IntType::U32,
    IntType::U64,
];
const FLOAT_TYPES: [FloatType; 3] = [FloatType::F16, FloatType::F32, FloatType::F64];

impl<'a> Cx<'a> {
    /// The literal that one token is.
    pub(super) fn literal(&mut self, token: usize) -> Literal {
        let span = self.span_of(token, token + 1);
        let text = self.text_of(span);
        match self.kind(token) {
            Kind::TRUE => Literal::Bool(true),
            Kind::FALSE => Literal::Bool(false),
            Kind::STR => Literal::Str(self.string(span)),
            Kind::CHAR => Literal::Char(self.character(span)),
            Kind::FLOAT => float(text, None),
            Kind::SUFFIXED_FLOAT => {
                let found = FLOAT_TYPES.iter().find(|ty| text.ends_with(ty.name()));
                float(&text[..text.len() - 3], found.copied())
            }
            Kind::SUFFIXED_INT => {
                let found = INT_TYPES.iter().find(|ty| text.ends_with(ty.name()));
                let suffix = found.map_or(0, |ty| ty.name().len());
                let end = u32::try_from(suffix).unwrap_or(0);
                let digits = Span {
                    hi: span.hi - end,
                    ..span
                };
                Literal::Int {
                    value: self.integer(digits),
                    suffix: found.copied(),
                }
            }
            _ => match integer(text).filter(|value| u64::try_from(*value).is_ok()) {
                Some(value) => Literal::Int {
                    value,
                    suffix: None,
                },
                None => Literal::Large(large(text)),
            },
        }
    }

    /// The value of digits without a suffix.
    pub(super) fn integer(&mut self, span: Span) -> u128 {
        integer(self.text_of(span)).unwrap_or_else(|| {
            let message = "this number is too large for any type";
            self.error(Diagnostic::error(Code::BadLiteral, span, message));
            0
        })
    }

    /// The bytes of a string literal.
    pub(super) fn string(&mut self, span: Span) -> Vec<u8> {
        let chars = self.unescape(span);
        chars.into_iter().collect::<String>().into_bytes()
    }

    fn character(&mut self, span: Span) -> char {
        match self.unescape(span).first() {
            Some(value) => *value,
            None => {
                let message = "this literal stands for no character";
                self.error(Diagnostic::error(Code::BadLiteral, span, message));
                '\0'
            }
        }
    }

    /// The characters between the quotes.
    fn unescape(&mut self, span: Span) -> Vec<char> {
        let text = self.text_of(span);
        let body = &text[1..text.len() - 1];
        let mut out = Vec::new();
        let mut rest = body;
        while let Some(first) = rest.chars().next() {
            let Some(after) = rest.strip_prefix('\\') else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            };
            match escape(after) {
                Some((value, length)) => {
                    out.extend(value);
                    rest = &after[length..];
                }
                None => {
                    let at = span.lo + u32::try_from(text.len() - 1 - rest.len()).unwrap_or(0);
                    let shown = after.chars().next().unwrap_or('\\');
                    let width = 1 + u32::try_from(shown.len_utf8()).unwrap_or(1);
                    let here = Span::new(self.file, at, at + width);
                    let message = format!("`\\{shown}` is no escape sequence");
                    self.error(
                        Diagnostic::error(Code::BadLiteral, here, message).hint(
                            "a backslash is written `\\\\`; also `\\n`, `\\t`, `\\\"`, `\\65` and `\\x41`",
                        ),
                    );
                    rest = &after[after.chars().next().map_or(0, char::len_utf8)..];
                }
            }
        }
        out
    }
}

/// The value of an integer without a suffix, if 128 bits hold it.
fn integer(text: &str) -> Option<u128> {
    let digits = |skip: usize| text[skip..].replace('_', "");
    match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => u128::from_str_radix(&digits(2), 16).ok(),
        [b'0', b'b' | b'B', ..] => u128::from_str_radix(&digits(2), 2).ok(),
        [b'0', b'r' | b'R', ..] => Some(roman(&digits(2))),
        _ => digits(0).parse().ok(),
    }
}

/// The digits of an integer in base 10 or 16.
fn large(text: &str) -> FloatDigits {
    let digits = text.replace('_', "");
    match digits.as_bytes() {
        [b'0', b'b' | b'B', ..] => FloatDigits::from_bits(&digits[2..]),
        [b'0', b'r' | b'R', ..] => FloatDigits(Name::from(roman(&digits[2..]).to_string())),
        _ => FloatDigits(Name::from(digits)),
    }
}

fn float(text: &str, suffix: Option<FloatType>) -> Literal {
    let digits = FloatDigits(Name::from(text.replace('_', "")));
    Literal::Float { digits, suffix }
}

/// Roman numerals are read greedily from the largest sign down, whatever their order.
fn roman(text: &str) -> u128 {
    const SIGNS: [(&str, u128); 13] = [
        ("M", 1000),
        ("CM", 900),
        ("D", 500),
        ("CD", 400),
        ("C", 100),
        ("XC", 90),
        ("L", 50),
        ("XL", 40),
        ("X", 10),
        ("IX", 9),
        ("V", 5),
        ("IV", 4),
        ("I", 1),
    ];
    let mut rest = text;
    let mut total = 0u128;
    'next: while !rest.is_empty() {
        for (sign, value) in SIGNS {
            if let Some(after) = rest.strip_prefix(sign) {
                total += value;
                rest = after;
                continue 'next;
            }
        }
        break;
    }
    total
}

/// The names of the control characters, in order of their codes; `SO` must not hide `SOH`.
const CONTROLS: [&str; 33] = [
    "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR",
    "SO", "SI", "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC",
    "FS", "GS", "RS", "US", "SP",
];

/// What follows a backslash: the character (none for `\&`), and how many bytes it took.
fn escape(text: &str) -> Option<(Option<char>, usize)> {
    let first = text.chars().next()?;
    let simple = match first {
        'a' => Some('\u{7}'),
        'b' => Some('\u{8}'),
        't' => Some('\t'),
        'n' => Some('\n'),
        'v' => Some('\u{b}'),
        'f' => Some('\u{c}'),
        'r' => Some('\r'),
        '\\' | '\'' | '"' => Some(first),
        _ => None,
    };
    if simple.is_some() {
        return Some((simple, 1));
    }
    let coded = |skip: usize, radix: u32| {
        let digits = &text[skip..];
        let length = digits.len() - digits.trim_start_matches(|c: char| c.is_digit(radix)).len();
        let code = u32::from_str_radix(&digits[..length], radix).ok()?;
        Some((Some(char::from_u32(code)?), skip + length))
    };
    match first {
        '&' => Some((None, 1)),
        '0'..='9' => coded(0, 10),
        'x' => coded(1, 16),
        'o' => coded(1, 8),
        '^' => {
            let control = text[1..]
                .chars()
                .next()
                .filter(|c| ('@'..='_').contains(c))?;
            Some((char::from_u32(u32::from(control) - 64), 2))
        }
        _ if text.starts_with("DEL") => Some((Some('\u{7f}'), 3)),
        _ => {
            let names = CONTROLS.iter().enumerate();
            let fitting = names.filter(|(_, name)| text.starts_with(**name));
            let (code, name) = fitting.max_by_key(|(_, name)| name.len())?;
            Some((char::from_u32(u32::try_from(code).ok()?), name.len()))
        }
    }
}
