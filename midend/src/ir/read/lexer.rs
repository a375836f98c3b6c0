//! Text to tokens.

use super::{Read, ReadError};
use crate::ir::text::{is_inside, is_start};

/// A token with its place.
#[derive(Clone, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind<'t>,
    pub(super) line: u32,
    pub(super) column: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind<'t> {
    /// A name or keyword, dots included.
    Word(&'t str),
    /// A number with its suffix.
    Number(&'t str),
    /// `f32#nan`: the type and what follows the mark.
    Bits(&'t str, &'t str),
    /// A string, unescaped.
    Str(String),
    /// Punctuation.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Kind<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(text) | Self::Number(text) => write!(f, "`{text}`"),
            Self::Mark(text) => write!(f, "`{text}`"),
            Self::Bits(ty, bits) => write!(f, "`{ty}#{bits}`"),
            Self::Str(_) => f.write_str("a string"),
            Self::End => f.write_str("the end"),
        }
    }
}

const MARKS: [&str; 20] = [
    "->", "..", "(", ")", "[", "]", "{", "}", "<", ">", ",", ":", "=", "*", "\\", "@", "|", "#",
    "+", "-",
];

/// All tokens of a text, the end last.
pub(super) fn tokens(text: &str) -> Read<Vec<Token<'_>>> {
    let mut lexer = Lexer {
        rest: text,
        line: 1,
        column: 1,
    };
    let mut tokens = Vec::new();
    loop {
        lexer.space();
        let (line, column) = (lexer.line, lexer.column);
        let kind = lexer.token()?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, line, column });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
    column: u32,
}

impl<'t> Lexer<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let c = chars.next()?;
        self.rest = chars.as_str();
        if c == '\n' {
            self.line = self.line.saturating_add(1);
            self.column = 1;
        } else {
            self.column = self.column.saturating_add(1);
        }
        Some(c)
    }

    fn space(&mut self) {
        while let Some(c) = self.peek() {
            if c == ';' {
                while self.peek().is_some_and(|c| c != '\n') {
                    self.bump();
                }
            } else if !c.is_whitespace() {
                return;
            } else {
                self.bump();
            }
        }
    }

    /// The longest start of the rest whose characters pass the test.
    fn take(&mut self, mut test: impl FnMut(char) -> bool) -> &'t str {
        let all = self.rest;
        while self.peek().is_some_and(&mut test) {
            self.bump();
        }
        &all[..all.len() - self.rest.len()]
    }

    fn token(&mut self) -> Read<Kind<'t>> {
        let Some(c) = self.peek() else {
            return Ok(Kind::End);
        };
        let second = self.rest.chars().nth(1);
        if is_start(c) {
            let word = self.take(is_inside);
            if matches!(word, "f16" | "f32" | "f64") && self.peek() == Some('#') {
                self.bump();
                let bits = self.take(|c| c.is_ascii_alphanumeric() || c == '-');
                return Ok(Kind::Bits(word, bits));
            }
            return Ok(Kind::Word(word));
        }
        if c.is_ascii_digit() || (c == '-' && second.is_some_and(|c| c.is_ascii_digit())) {
            return Ok(Kind::Number(self.number()));
        }
        if c == '"' {
            return self.string();
        }
        let Some(mark) = MARKS.iter().find(|m| self.rest.starts_with(**m)) else {
            return Err(self.error("no token starts like this"));
        };
        for _ in mark.chars() {
            self.bump();
        }
        Ok(Kind::Mark(mark))
    }

    /// Sign, digits, fraction, exponent, suffix.
    fn number(&mut self) -> &'t str {
        let all = self.rest;
        self.bump();
        self.take(|c| c.is_ascii_digit());
        let mut ahead = self.rest.chars();
        if ahead.next() == Some('.') && ahead.next().is_some_and(|c| c.is_ascii_digit()) {
            self.bump();
            self.take(|c| c.is_ascii_digit());
        }
        let mut ahead = self.rest.chars();
        if ahead.next() == Some('e') {
            self.bump();
            if ahead.next() == Some('-') {
                self.bump();
            }
        }
        self.take(|c| c.is_ascii_alphanumeric());
        &all[..all.len() - self.rest.len()]
    }

    fn string(&mut self) -> Read<Kind<'t>> {
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return Err(self.error("a string without end")),
                Some('"') => return Ok(Kind::Str(text)),
                Some('\\') => text.push(self.escape()?),
                Some(c) => text.push(c),
            }
        }
    }

    fn escape(&mut self) -> Read<char> {
        match self.bump() {
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('n') => Ok('\n'),
            Some('u') if self.bump() == Some('{') => {
                let hex = self.take(|c| c.is_ascii_hexdigit());
                let c = u32::from_str_radix(hex, 16).ok().and_then(char::from_u32);
                match (c, self.bump()) {
                    (Some(c), Some('}')) => Ok(c),
                    _ => Err(self.error("no character has this number")),
                }
            }
            _ => Err(self.error("there is no such escape")),
        }
    }

    fn error(&self, message: &str) -> ReadError {
        ReadError {
            line: self.line,
            column: self.column,
            message: message.into(),
        }
    }
}
