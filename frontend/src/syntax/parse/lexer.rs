//! Text to tokens: longest match, as Futhark's lexer has it. Also the cheap checks that need no grammar:
//! characters, literals' outer form, balanced brackets, nesting depth.

mod number;

use super::token::{Kind, Token};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::syntax::ast::Doc;

/// Brackets nested deeper than this are refused.
pub(super) const MAX_BRACKETS: usize = 1500;

/// The tokens of a text.
pub(super) struct Lexed {
    pub(super) tokens: Vec<Token>,
    /// One letter for each token: what the grammar reads.
    pub(super) letters: String,
    /// Documentation comments, each with the index of the token that follows it.
    pub(super) docs: Vec<(usize, Doc)>,
    /// Every line that is a comment, in order.
    pub(super) comments: Vec<Comment>,
}

/// A comment, from its `--` to the end of its line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Comment {
    /// The index of the token that follows it.
    pub(super) before: usize,
    pub(super) lo: u32,
    pub(super) hi: u32,
    /// Whether it is a line of documentation.
    pub(super) doc: bool,
    /// Whether that documents the file as a whole.
    pub(super) of_file: bool,
}

/// Splits a text into tokens.
pub(super) fn lex(file: FileId, text: &str) -> Result<Lexed, Diagnostic> {
    let mut lexer = Lexer {
        file,
        text,
        bytes: text.as_bytes(),
        at: 0,
        out: Lexed {
            tokens: Vec::with_capacity(text.len() / 4),
            letters: String::with_capacity(text.len() / 4),
            docs: Vec::new(),
            comments: Vec::new(),
        },
        open: Vec::new(),
        plain_until: 0,
    };
    if text.starts_with('\u{feff}') {
        lexer.at = '\u{feff}'.len_utf8();
    }
    while lexer.skip_blanks() {
        lexer.token()?;
    }
    match lexer.open.pop() {
        Some(open) => Err(lexer.unclosed(open)),
        None => Ok(lexer.out),
    }
}

struct Lexer<'a> {
    file: FileId,
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    out: Lexed,
    open: Vec<Token>,
    /// Up to here no qualified operator begins: a long path is searched for one only once.
    plain_until: usize,
}

fn constituent(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'\''
}

fn operator(byte: u8) -> bool {
    b"+-*/%=!><|&^.".contains(&byte)
}

impl Lexer<'_> {
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn span(&self, lo: usize, hi: usize) -> Span {
        let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span::new(self.file, place(lo), place(hi))
    }

    /// The end of the run of bytes from `at` on that satisfy a condition.
    fn run(&self, mut at: usize, condition: impl Fn(u8) -> bool) -> usize {
        while at < self.bytes.len() && condition(self.bytes[at]) {
            at += 1;
        }
        at
    }

    /// Skips to the next token; false at the end of the text.
    fn skip_blanks(&mut self) -> bool {
        loop {
            let blank = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
            self.at = self.run(self.at, blank);
            if !self.bytes[self.at..].starts_with(b"--") {
                return self.at < self.bytes.len();
            }
            let end = self.run(self.at, |byte| byte != b'\n');
            if self.bytes[self.at..].starts_with(b"-- |") {
                self.doc(end);
            } else {
                self.comment(self.at, end, false);
                self.at = end;
            }
        }
    }

    fn comment(&mut self, lo: usize, hi: usize, doc: bool) {
        let span = self.span(lo, hi);
        let before = self.out.tokens.len();
        self.out.comments.push(Comment {
            before,
            lo: span.lo,
            hi: span.hi,
            doc,
            of_file: doc && before == 0 && self.out.docs.is_empty(),
        });
    }

    /// Reads a documentation comment whose first line ends at `end`.
    fn doc(&mut self, mut end: usize) {
        let lo = self.at;
        let mut text = self.text[lo + 4..end].trim_end_matches('\r').to_string();
        self.comment(lo, end, true);
        loop {
            let line = self.run(end + 1, |byte| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c));
            if end >= self.bytes.len() || !self.bytes[line..].starts_with(b"--") {
                break;
            }
            end = self.run(line, |byte| byte != b'\n');
            text.push('\n');
            text.push_str(self.text[line + 2..end].trim_end_matches('\r'));
            self.comment(line, end, true);
        }
        let span = self.span(lo, end);
        self.out
            .docs
            .push((self.out.tokens.len(), Doc { text, span }));
        self.at = end;
    }

    fn push(&mut self, kind: Kind, end: usize) {
        let span = self.span(self.at, end);
        self.out.tokens.push(Token {
            kind,
            lo: span.lo,
            hi: span.hi,
        });
        self.out.letters.push(char::from(kind.0));
        self.at = end;
    }

    fn token(&mut self) -> Result<(), Diagnostic> {
        let next = self.byte(self.at + 1);
        match self.byte(self.at) {
            byte if byte.is_ascii_alphabetic() => self.word(),
            b'_' if next.is_ascii_alphanumeric() => self.word(),
            byte if byte.is_ascii_digit() => self.whole_number()?,
            b'_' => self.push(Kind::UNDERSCORE, self.at + 1),
            b'"' => self.string()?,
            b'\'' => self.apostrophe(),
            b'#' => self.hash()?,
            b'?' if self.bytes[self.at..].starts_with(b"???") => self.push(Kind::HOLE, self.at + 3),
            b'.' => self.dots(),
            byte if operator(byte) => {
                let end = self.run(self.at, operator);
                self.push(operator_kind(&self.bytes[self.at..end]), end);
            }
            b':' if next == b'>' => self.push(Kind::COLON_GT, self.at + 2),
            byte => self.punctuation(byte)?,
        }
        Ok(())
    }

    fn punctuation(&mut self, byte: u8) -> Result<(), Diagnostic> {
        let kind = match byte {
            b'(' => Kind::LPAR,
            b'[' if self.indexes() => Kind::INDEX_BRACKET,
            b'[' => Kind::LBRACKET,
            b'{' => Kind::LCURLY,
            b')' => Kind::RPAR,
            b']' => Kind::RBRACKET,
            b'}' => Kind::RCURLY,
            b',' => Kind::COMMA,
            b'?' => Kind::QUESTION,
            b':' => Kind::COLON,
            b'\\' => Kind::BACKSLASH,
            b'~' => Kind::TILDE,
            b'`' => Kind::TICK,
            _ => return Err(self.bad_character()),
        };
        match byte {
            b'(' | b'[' | b'{' => self.opened(kind, self.at + 1)?,
            b')' | b']' | b'}' => self.closed(kind)?,
            _ => {}
        }
        self.push(kind, self.at + 1);
        Ok(())
    }

    /// Whether a `[` here indexes what stands right before it, without a blank.
    fn indexes(&self) -> bool {
        let Some(last) = self.out.tokens.last() else {
            return false;
        };
        let byte = self.byte(self.at.wrapping_sub(1));
        last.hi as usize == self.at
            && !last.kind.is_keyword()
            && (constituent(byte) || byte == b')' || byte == b']')
    }

    fn opened(&mut self, kind: Kind, end: usize) -> Result<(), Diagnostic> {
        let span = self.span(self.at, end);
        if self.open.len() >= MAX_BRACKETS {
            let message = format!("more than {MAX_BRACKETS} brackets are open here");
            return Err(Diagnostic::error(Code::TooDeep, span, message)
                .label("nested too deeply")
                .hint("give inner parts names with `let`"));
        }
        self.open.push(Token {
            kind,
            lo: span.lo,
            hi: span.hi,
        });
        Ok(())
    }

    fn closed(&mut self, kind: Kind) -> Result<(), Diagnostic> {
        let here = self.span(self.at, self.at + 1);
        let Some(open) = self.open.pop() else {
            let message = format!("{} closes nothing", kind.describe());
            return Err(Diagnostic::error(Code::UnbalancedBracket, here, message)
                .label("no bracket is open here"));
        };
        let partner = partner(open.kind);
        if partner == kind {
            return Ok(());
        }
        let (opener, closer) = (open.kind.describe(), kind.describe());
        let message = format!("{opener} is closed by {closer}");
        let diagnostic = Diagnostic::error(Code::UnbalancedBracket, here, message)
            .label(format!("expected {}", partner.describe()))
            .also(
                Span::new(self.file, open.lo, open.hi),
                format!("this {opener} is open"),
            );
        Err(diagnostic)
    }

    fn unclosed(&self, open: Token) -> Diagnostic {
        let span = Span::new(self.file, open.lo, open.hi);
        let message = format!("{} is never closed", open.kind.describe());
        let end = self.text.trim_end().len().max(open.hi as usize);
        Diagnostic::error(Code::UnbalancedBracket, span, message)
            .label("opened here")
            .also(
                self.span(end, end),
                format!("the file ends without {}", partner(open.kind).describe()),
            )
    }

    fn bad_character(&self) -> Diagnostic {
        let found = self.text[self.at..].chars().next().unwrap_or(' ');
        let span = self.span(self.at, self.at + found.len_utf8());
        let shown = if found.is_control() {
            format!("U+{:04X}", u32::from(found))
        } else {
            format!("`{found}`")
        };
        let message = format!("{shown} has no meaning here");
        let diagnostic =
            Diagnostic::error(Code::UnexpectedToken, span, message).label("unexpected character");
        match found {
            '“' | '”' | '„' => {
                diagnostic.hint("strings are written between straight quotes, `\"`")
            }
            '‘' | '’' => diagnostic.hint("characters are written between straight quotes, `'`"),
            '−' | '–' | '—' => diagnostic.hint("minus is written `-`"),
            '→' => diagnostic.hint("the arrow is written `->`"),
            'λ' => diagnostic.hint("an anonymous function is written `\\x -> ...`"),
            ';' => diagnostic
                .hint("nothing ends in a semicolon; bindings are chained with `let ... in`"),
            '$' => diagnostic.hint("application is written `f <| x`, or with parentheses"),
            _ if found.is_alphabetic() => {
                diagnostic.note("names consist of ASCII letters, digits, `_` and `'`")
            }
            _ => diagnostic,
        }
    }

    /// A name, a keyword or a qualified operator.
    fn word(&mut self) {
        let end = self.run(self.at + 1, constituent);
        let mut qualified = end;
        while self.at >= self.plain_until && self.byte(qualified) == b'.' {
            let next = self.byte(qualified + 1);
            if next != b'.' && operator(next) {
                let end = self.run(qualified + 1, operator);
                return self.push(Kind::QUAL_OP, end);
            }
            let underscored = next == b'_' && self.byte(qualified + 2).is_ascii_alphanumeric();
            if !next.is_ascii_alphabetic() && !underscored {
                break;
            }
            qualified = self.run(qualified + 2, constituent);
        }
        self.plain_until = self.plain_until.max(qualified);
        let kind = Kind::keyword(&self.text[self.at..end]).unwrap_or(Kind::ID);
        self.push(kind, end);
    }

    fn string(&mut self) -> Result<(), Diagnostic> {
        let mut end = self.at + 1;
        loop {
            let escaped = self.byte(end) == b'\\';
            let shown = end + usize::from(escaped);
            if shown >= self.bytes.len() || self.bytes[shown] < b' ' {
                break;
            }
            if !escaped && self.bytes[end] == b'"' {
                self.push(Kind::STR, end + 1);
                return Ok(());
            }
            end = shown + 1;
        }
        let tab = self.byte(end) == b'\t';
        let end = end.min(self.bytes.len());
        let diagnostic = if tab {
            let span = self.span(end, end + 1);
            Diagnostic::error(
                Code::BadLiteral,
                span,
                "a string may not contain a tab character",
            )
            .hint("write `\\t`")
        } else {
            let span = self.span(self.at, end);
            Diagnostic::error(
                Code::BadLiteral,
                span,
                "this string does not end on its line",
            )
            .hint("close it with `\"`; a line break is written `\\n`")
        };
        Err(diagnostic)
    }

    /// A character literal, or the mark of a type parameter.
    fn apostrophe(&mut self) {
        if let Some(end) = self.char_end() {
            return self.push(Kind::CHAR, end);
        }
        match self.byte(self.at + 1) {
            b'^' => self.push(Kind::APOSTROPHE_HAT, self.at + 2),
            b'~' => self.push(Kind::APOSTROPHE_TILDE, self.at + 2),
            _ => self.push(Kind::APOSTROPHE, self.at + 1),
        }
    }

    fn char_end(&self) -> Option<usize> {
        let mut rest = self.text[self.at + 1..].char_indices();
        let (_, first) = rest.next()?;
        if first == '\'' || first.is_control() {
            return None;
        }
        let mut end = self.at + 1 + first.len_utf8();
        if first == '\\' {
            let (_, escaped) = rest.next()?;
            if escaped.is_control() {
                return None;
            }
            end += escaped.len_utf8();
            if escaped.is_ascii_digit() {
                end = self.run(end, |byte| byte.is_ascii_digit());
            }
        }
        (self.byte(end) == b'\'').then_some(end + 1)
    }

    fn hash(&mut self) -> Result<(), Diagnostic> {
        let next = self.byte(self.at + 1);
        let underscored = next == b'_' && self.byte(self.at + 2).is_ascii_alphanumeric();
        if next == b'[' {
            self.opened(Kind::HASH_BRACKET, self.at + 2)?;
            self.push(Kind::HASH_BRACKET, self.at + 2);
        } else if next.is_ascii_alphabetic() || underscored {
            let end = self.run(self.at + 2, constituent);
            self.push(Kind::CONSTR, end);
        } else {
            return Err(self.bad_character());
        }
        Ok(())
    }

    fn dots(&mut self) {
        let rest = &self.bytes[self.at..];
        if rest.starts_with(b"...") {
            self.push(Kind::DOTS3, self.at + 3);
        } else if rest.starts_with(b"..<") {
            self.push(Kind::DOTS_LESS, self.at + 3);
        } else if rest.starts_with(b"..>") {
            self.push(Kind::DOTS_GREATER, self.at + 3);
        } else if rest.starts_with(b"..") {
            self.push(Kind::DOTS2, self.at + 2);
        } else {
            self.push(Kind::DOT, self.at + 1);
        }
    }
}

fn partner(open: Kind) -> Kind {
    match open {
        Kind::LPAR => Kind::RPAR,
        Kind::LCURLY => Kind::RCURLY,
        _ => Kind::RBRACKET,
    }
}

fn operator_kind(text: &[u8]) -> Kind {
    match text {
        b"=" => Kind::EQ,
        b"->" => Kind::ARROW,
        b"*" => Kind::STAR,
        b"-" => Kind::MINUS,
        b"!" => Kind::BANG,
        b"<" => Kind::LESS,
        b"^" => Kind::HAT,
        b"|" => Kind::PIPE,
        _ => Kind::OP,
    }
}
