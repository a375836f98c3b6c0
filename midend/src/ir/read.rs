//! From text to programs. The form is described in [`super::text`].
//!
//! Every text is either read or refused with a line and column; nesting deeper than [`MAX_DEPTH`] is refused. A text that is
//! read need not be a valid program: whether variables are in scope and types fit is for the verifier. But a
//! variable must be bound exactly once, since only binders have types.

use super::build::clean_name;
use super::id::{FunId, Id, IdVec, SpanId, Var};
use super::scalar::Const;
use super::span::{Place, Spans};
use super::syntax::{Derivative, Fun, Inline, Mode, Param, Program, VarInfo, Vars};
use super::text::Text;
use super::types::Type;
use super::walk::deep;
use crate::hash::HashMap;
use lexer::{Kind, Token};

mod atom;
mod entry;
mod exp;
mod lexer;
mod mem;
mod ops;

/// How deeply bodies and types may be nested in a text.
pub const MAX_DEPTH: usize = 1000;

/// Why a text is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, ReadError>;

/// The program of dialect `D` that the text describes.
pub fn program<D: Text>(text: &str) -> Read<Program<D>> {
    Reader::new(text)?.program()
}

/// The constant that the text is, such as `3i32`, `true` or `f32#nan`.
pub fn constant(text: &str) -> Option<Const> {
    let mut reader = Reader::new(text).ok()?;
    let constant = reader.atom().ok()?.as_const()?;
    (reader.kind() == &Kind::End).then_some(constant)
}

/// The name of the dialect in which the text says it is written, if it says so.
pub fn dialect_name(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default().trim())
        .find(|line| !line.is_empty())?;
    line.split_whitespace().next()
}

/// The state of reading one program.
pub struct Reader<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    vars: Vars,
    /// Variables by the word that they are written as, with the token of their first mention.
    names: HashMap<&'t str, Var>,
    /// For each variable, the token of its first mention and whether it was bound.
    mentions: IdVec<Var, (usize, bool)>,
    funs: HashMap<String, FunId>,
    /// Tokens that name places, to be checked against the table.
    places: Vec<(usize, SpanId)>,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Read<Self> {
        let tokens = lexer::tokens(text)?;
        let mut reader = Self {
            tokens,
            at: 0,
            vars: Vars::new(),
            names: HashMap::default(),
            mentions: IdVec::new(),
            funs: HashMap::default(),
            places: Vec::new(),
            depth: 0,
        };
        reader.name_funs()?;
        Ok(reader)
    }

    /// Finds the names of all functions, so that calls may come before definitions.
    fn name_funs(&mut self) -> Read<()> {
        for i in 1..self.tokens.len() {
            if self.tokens[i - 1].kind != Kind::Word("fun") {
                continue;
            }
            let name = match &self.tokens[i].kind {
                Kind::Word(word) => (*word).to_owned(),
                Kind::Str(name) => name.clone(),
                Kind::Number(_) | Kind::Bits(..) | Kind::Mark(_) | Kind::End => continue,
            };
            let id = FunId::new(self.funs.len());
            if self.funs.insert(name, id).is_some() {
                return Err(self.error_at(i, "a second function of this name"));
            }
        }
        Ok(())
    }

    fn program<D: Text>(mut self) -> Read<Program<D>> {
        if !self.eat_word(D::NAME) {
            return Err(self.error(&format!("expected `{}`, the name of the dialect", D::NAME)));
        }
        let mut funs = IdVec::new();
        while self.eat_word("fun") {
            funs.push(self.fun()?);
        }
        let spans = self.place_table()?;
        if self.kind() != &Kind::End {
            return Err(self.error("expected `fun`, `span` or the end"));
        }
        if let Some((token, _)) = self.mentions.iter().find(|(_, bound)| !bound) {
            return Err(self.error_at(*token, "this variable is bound nowhere"));
        }
        Ok(Program {
            vars: self.vars,
            funs,
            spans,
        })
    }

    fn fun<D: Text>(&mut self) -> Read<Fun<D>> {
        let name = self.name()?;
        let params = self.params()?;
        self.expect("->")?;
        let results = self.params()?;
        let inline = if self.eat_word("inline") {
            Inline::Always
        } else if self.eat_word("noinline") {
            Inline::Never
        } else {
            Inline::Auto
        };
        let derivative = if self.eat_word("derivative") {
            Some(self.derivative()?)
        } else {
            None
        };
        let entry = if self.eat_word("entry") {
            Some(self.entry()?)
        } else {
            None
        };
        let span = self.place()?;
        let body = self.body()?;
        Ok(Fun {
            name,
            entry,
            params,
            results,
            body,
            inline,
            derivative,
            span,
        })
    }

    fn derivative(&mut self) -> Read<Derivative> {
        let mode = if self.eat_word("forward") {
            Mode::Forward
        } else if self.eat_word("reverse") {
            Mode::Reverse
        } else if self.eat_word("custom") {
            Mode::Custom
        } else {
            return Err(self.error("expected `forward`, `reverse` or `custom`"));
        };
        let (first, count) = (self.natural()?, self.natural()?);
        Ok(Derivative { mode, first, count })
    }

    fn params(&mut self) -> Read<Vec<Param>> {
        self.expect("(")?;
        self.list(")", |r| {
            let unique = r.eat("*");
            let var = r.binder()?;
            Ok(Param { var, unique })
        })
    }

    fn place_table(&mut self) -> Read<Spans> {
        let mut places = Vec::new();
        while self.eat_word("span") {
            if self.natural()? != places.len() + 1 {
                return Err(self.error("places are numbered 1, 2, .. in order"));
            }
            let file = self.string()?.into();
            let start = self.line_column()?;
            self.expect("..")?;
            let end = self.line_column()?;
            let inlined_at = if self.eat_word("in") {
                Some(self.place_number()?)
            } else {
                None
            };
            places.push(Place {
                file,
                start,
                end,
                inlined_at,
            });
        }
        for (token, span) in &self.places {
            if span.index() > places.len() || span.index() == 0 {
                return Err(self.error_at(*token, "there is no place of this number"));
            }
        }
        if let Some(i) = cycle(&places) {
            return Err(self.error(&format!("place {} was inlined into itself", i + 1)));
        }
        let mut spans = Spans::new();
        for place in places {
            spans.push(place);
        }
        Ok(spans)
    }

    fn line_column(&mut self) -> Read<(u32, u32)> {
        let line = self.number_u32()?;
        self.expect(":")?;
        Ok((line, self.number_u32()?))
    }

    /// `@1`, or no place.
    fn place(&mut self) -> Read<SpanId> {
        if self.eat("@") {
            self.place_number()
        } else {
            Ok(Spans::NONE)
        }
    }

    fn place_number(&mut self) -> Read<SpanId> {
        let token = self.at;
        let span = SpanId(self.number_u32()?);
        self.places.push((token, span));
        Ok(span)
    }

    fn kind(&self) -> &Kind<'t> {
        &self.tokens[self.at].kind
    }

    fn advance(&mut self) {
        // The last token is the end, which nothing goes past.
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn error(&self, message: &str) -> ReadError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, token: usize, message: &str) -> ReadError {
        let token = &self.tokens[token];
        ReadError {
            line: token.line,
            column: token.column,
            message: format!("{message}, found {}", token.kind),
        }
    }

    fn eat(&mut self, mark: &str) -> bool {
        let found = matches!(self.kind(), Kind::Mark(m) if *m == mark);
        if found {
            self.advance();
        }
        found
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.kind(), Kind::Word(w) if *w == word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &str) -> Read<()> {
        if self.eat(mark) {
            Ok(())
        } else {
            Err(self.error(&format!("expected `{mark}`")))
        }
    }

    fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            Err(self.error(&format!("expected `{word}`")))
        }
    }

    /// Items with commas between them up to the closing mark, whose opening partner was read.
    fn list<T>(&mut self, close: &str, mut f: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut items = Vec::new();
        if self.eat(close) {
            return Ok(items);
        }
        loop {
            items.push(f(self)?);
            if self.eat(close) {
                return Ok(items);
            }
            if !self.eat(",") {
                return Err(self.error(&format!("expected `,` or `{close}`")));
            }
        }
    }

    fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.depth += 1;
        let result = deep(|| f(self));
        self.depth -= 1;
        result
    }

    /// The variable written as `word` at the token at hand, which is passed.
    fn mention(&mut self, word: &'t str) -> Var {
        let token = self.at;
        self.advance();
        if let Some(v) = self.names.get(word) {
            return *v;
        }
        let hint = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let hint = if hint.ends_with('_') && hint.len() > 1 {
            hint
        } else {
            word
        };
        let v = self.vars.push(VarInfo {
            name: clean_name(hint),
            ty: Type::Cert,
        });
        self.mentions.push((token, false));
        self.names.insert(word, v);
        v
    }

    /// A variable with its type.
    fn binder(&mut self) -> Read<Var> {
        let token = self.at;
        let v = self.var()?;
        if std::mem::replace(&mut self.mentions[v].1, true) {
            return Err(self.error_at(token, "this variable is bound a second time"));
        }
        self.expect(":")?;
        let ty = self.ty()?;
        self.vars[v].ty = ty;
        Ok(v)
    }
}

/// A place whose chain of calls comes back to itself.
fn cycle(places: &[Place]) -> Option<usize> {
    let mut good = vec![false; places.len()];
    for start in 0..places.len() {
        let mut trail = Vec::new();
        let mut next = Some(start);
        while let Some(i) = next.filter(|i| !good.get(*i).copied().unwrap_or(true)) {
            if trail.len() > places.len() {
                return Some(start);
            }
            trail.push(i);
            next = places[i].inlined_at.map(|s| s.index().wrapping_sub(1));
        }
        trail.into_iter().for_each(|i| good[i] = true);
    }
    None
}
