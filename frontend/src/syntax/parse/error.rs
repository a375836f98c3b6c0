//! Says in words what the grammar did not find, and what was probably meant.

use super::grammar::{Grammar, Rule};
use super::lexer::Lexed;
use super::token::{KINDS, Kind, Token};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use pest::Parser;
use pest::error::{Error, InputLocation};
use std::collections::BTreeSet;
use std::sync::Mutex;

/// The library collects what it expected only when told to, by a switch for the whole process.
static DETAIL: Mutex<()> = Mutex::new(());

/// More alternatives than this are not listed.
const MAX_LISTED: usize = 5;

/// The first error of each top-level declaration, up to a few.
pub(super) fn explain_all(
    file: FileId,
    text: &str,
    lexed: &Lexed,
    rule: Rule,
    failure: &Error<Rule>,
) -> Vec<Diagnostic> {
    const MAX_ERRORS: usize = 8;
    let mut start = 0;
    let mut at = place(failure);
    let mut errors = vec![explain(file, text, lexed, rule, start, failure)];
    if rule != Rule::program || too_deep(failure) {
        return errors;
    }
    while let Some(next) = next_declaration(text, &lexed.tokens, start, at) {
        let Err(failure) = Grammar::parse(Rule::program, &lexed.letters[next..]) else {
            break;
        };
        if errors.len() >= MAX_ERRORS || too_deep(&failure) {
            break;
        }
        start = next;
        at = start + place(&failure);
        errors.push(explain(file, text, lexed, rule, start, &failure));
    }
    errors
}

/// The first token after `at` that opens a declaration at the left margin, outside all brackets.
fn next_declaration(text: &str, tokens: &[Token], start: usize, at: usize) -> Option<usize> {
    let mut depth = 0usize;
    for (index, token) in tokens.iter().enumerate().skip(start) {
        match token.kind {
            Kind::LPAR | Kind::LBRACKET | Kind::LCURLY => depth += 1,
            Kind::INDEX_BRACKET | Kind::HASH_BRACKET => depth += 1,
            Kind::RPAR | Kind::RBRACKET | Kind::RCURLY => depth = depth.saturating_sub(1),
            Kind::DEF | Kind::LET | Kind::ENTRY | Kind::TYPE | Kind::MODULE | Kind::LOCAL => {
                let margin = text[..token.lo as usize].ends_with('\n');
                if index > at && depth == 0 && margin {
                    return Some(index);
                }
            }
            _ => {}
        }
    }
    None
}

fn place(failure: &Error<Rule>) -> usize {
    match failure.location {
        InputLocation::Pos(at) | InputLocation::Span((at, _)) => at,
    }
}

/// Whether the parser gave up for want of stack.
fn too_deep(failure: &Error<Rule>) -> bool {
    matches!(
        failure.variant,
        pest::error::ErrorVariant::CustomError { .. }
    )
}

/// One failure in words; `start` is the token at which the parse began.
fn explain(
    file: FileId,
    text: &str,
    lexed: &Lexed,
    rule: Rule,
    start: usize,
    failure: &Error<Rule>,
) -> Diagnostic {
    if too_deep(failure) {
        let at = start + place(failure);
        let span = Found {
            file,
            text,
            lexed,
            at,
        }
        .span();
        let message = "expressions or types are nested too deeply here";
        return Diagnostic::error(Code::TooDeep, span, message)
            .hint("split it into several definitions");
    }
    let (offset, expected) = expected_kinds(&lexed.letters[start..], rule, place(failure));
    let at = start + offset;
    let found = Found {
        file,
        text,
        lexed,
        at,
    };
    let wanted = match found.kind_back(1) {
        Some(Kind::DEF | Kind::ENTRY) => String::from("a name"),
        _ => list(&phrases(&expected)),
    };
    let message = format!("expected {wanted}, found {}", found.describe());
    let diagnostic = Diagnostic::error(Code::UnexpectedToken, found.span(), message)
        .label(format!("expected {wanted}"));
    found.add_hints(&expected, diagnostic)
}

/// Parses again to learn which tokens could have followed, and where.
fn expected_kinds(letters: &str, rule: Rule, at: usize) -> (usize, BTreeSet<u8>) {
    let guard = DETAIL.lock();
    pest::set_error_detail(true);
    let attempts = match Grammar::parse(rule, letters) {
        Ok(_) => None,
        Err(failure) => failure.parse_attempts(),
    };
    pest::set_error_detail(false);
    drop(guard);
    let mut kinds = BTreeSet::new();
    let Some(attempts) = attempts else {
        return (at, kinds);
    };
    for token in attempts.expected_tokens() {
        // The library does not export the type of these, only their text.
        let text = token.to_string();
        match text.as_bytes() {
            [letter] => kinds.insert(*letter),
            [_, b'.', b'.', _] => kinds.insert(ATOM),
            _ => kinds.insert(END),
        };
    }
    (attempts.max_position, kinds)
}

/// Stands for the start of any atom in a set of expected letters.
const ATOM: u8 = 0;
/// Stands for the end of the file in a set of expected letters.
const END: u8 = 1;

/// What a set of expected letters means, the most telling first.
fn phrases(expected: &BTreeSet<u8>) -> Vec<&'static str> {
    let has = |kind: Kind| expected.contains(&kind.0);
    let mut rest: BTreeSet<u8> = expected.clone();
    let mut phrases = Vec::new();
    let mut drop_all = |letters: &[u8]| rest.retain(|letter| !letters.contains(letter));
    let expression = has(Kind::IF) && has(Kind::LOOP);
    if has(Kind::DEF) {
        if has(Kind::OP) && has(Kind::TICK) {
            phrases.push("an operator");
        }
        phrases.push("a declaration");
        drop_all(b"DLRYXPMK#");
    } else if has(Kind::VAL) {
        phrases.push("a specification");
        drop_all(b"VYXJ#");
    } else if expression {
        phrases.push("an expression");
        drop_all(b"ILOBA#\\!-xcshnikfgtuplrb");
    } else if has(Kind::QUESTION) {
        phrases.push("a type");
        drop_all(b"?*lp@rxb");
    } else if has(Kind::STAR) && has(Kind::LCURLY) && !has(Kind::OP) {
        phrases.push("a type");
        drop_all(b"*lp@rxb");
    } else if has(Kind::UNDERSCORE) {
        phrases.push(if has(Kind::HASH_BRACKET) {
            "a pattern"
        } else {
            "a parameter"
        });
        drop_all(b"_xprbcnikfgtu#-");
    }
    let telling: Vec<&'static str> = KINDS
        .iter()
        .filter(|(kind, _)| rest.contains(&kind.0) && !continues(*kind, expected))
        .map(|(_, text)| *text)
        .collect();
    for text in telling {
        if !phrases.contains(&text) {
            phrases.push(text);
        }
    }
    if rest.contains(&END) && phrases.len() < 2 {
        phrases.push("the end of the file");
    }
    if phrases.is_empty() && expected.contains(&ATOM) {
        phrases.push("an expression");
    }
    if phrases.is_empty() && has(Kind::OP) {
        phrases.push("an operator");
    }
    phrases
}

/// Whether a token merely carries on what is complete without it, so that it is not worth a mention.
fn continues(kind: Kind, expected: &BTreeSet<u8>) -> bool {
    let after_operand = expected.contains(&Kind::OP.0) && expected.contains(&Kind::TICK.0);
    match kind.0 {
        b'.' | b'@' => expected.len() > 1,
        b'0' | b'1' | b'*' | b'^' | b'|' | b'<' | b'-' | b'`' => after_operand,
        b'2' | b'3' | b'4' | b'5' | b'W' | b';' => after_operand,
        b':' | b'\\' | b'[' => after_operand && expected.contains(&ATOM),
        b'\'' | b'&' | b'$' => true,
        _ => false,
    }
}

fn list(phrases: &[&str]) -> String {
    match phrases {
        [] => String::from("something else"),
        [one] => (*one).to_string(),
        [start @ .., last] if phrases.len() <= MAX_LISTED => {
            format!("{} or {last}", start.join(", "))
        }
        _ => format!("one of {}", phrases[..MAX_LISTED].join(", ")),
    }
}

/// The token at which the parse failed, or the end of the file.
struct Found<'a> {
    file: FileId,
    text: &'a str,
    lexed: &'a Lexed,
    at: usize,
}

impl Found<'_> {
    fn token(&self, at: usize) -> Option<Token> {
        self.lexed.tokens.get(at).copied()
    }

    fn kind_back(&self, back: usize) -> Option<Kind> {
        let at = self.at.checked_sub(back)?;
        self.token(at).map(|token| token.kind)
    }

    fn span_at(&self, at: usize) -> Span {
        match self.token(at) {
            Some(token) => Span::new(self.file, token.lo, token.hi),
            None => {
                let end = self.lexed.tokens.last().map_or(0, |token| token.hi);
                Span::new(self.file, end, end)
            }
        }
    }

    fn span(&self) -> Span {
        self.span_at(self.at)
    }

    fn spelling(&self) -> &str {
        let span = self.span();
        &self.text[span.lo as usize..span.hi as usize]
    }

    fn describe(&self) -> String {
        let text = self.spelling();
        match self.token(self.at) {
            None => String::from("the end of the file"),
            Some(token) if token.kind.is_keyword() => format!("the keyword `{text}`"),
            Some(token) if token.kind == Kind::STR && text.len() > 20 => String::from("a string"),
            Some(_) if text.len() > 60 => String::from("this"),
            Some(_) => format!("`{text}`"),
        }
    }

    /// Adds what was probably meant.
    fn add_hints(&self, expected: &BTreeSet<u8>, diagnostic: Diagnostic) -> Diagnostic {
        let wants = |kind: Kind| expected.contains(&kind.0);
        let text = self.spelling();
        let Some(found) = self.token(self.at).map(|token| token.kind) else {
            return self.missing_keyword(expected, diagnostic);
        };
        let operand_before = wants(Kind::OP) && wants(Kind::TICK);
        match found {
            Kind::OP if text.starts_with('=') && text != "=>" && wants(Kind::EQ) => {
                if text == "==" {
                    diagnostic.hint("a binding has a single `=`")
                } else {
                    let hint = format!("`{text}` is read as one operator; put a blank after `=`");
                    diagnostic.hint(hint)
                }
            }
            Kind::OP if text.contains('>') && wants(Kind::ARROW) => {
                diagnostic.hint("the arrow is written `->`, with a blank before an operator")
            }
            Kind::OP
                if self.kind_back(1) == Some(Kind::OP) || self.kind_back(1) == Some(Kind::STAR) =>
            {
                diagnostic
                    .hint("two operators follow each other; an operand is missing between them")
            }
            Kind::EQ if operand_before && self.binds_tuple_at_top() => diagnostic.hint(
                "a top-level declaration binds one name; take the value apart with `.0`, `.1`",
            ),
            Kind::EQ if operand_before => diagnostic.hint("equality is written `==`"),
            Kind::BANG if operand_before => {
                diagnostic.hint("`!` is a prefix operator, negation of truth; `!=` means not equal")
            }
            Kind::COLON if wants(Kind::ARROW) => {
                diagnostic.hint("put parentheses around a pattern with a type")
            }
            Kind::ID => self.foreign_word(text, diagnostic),
            kind if kind.is_keyword() && wants(Kind::ID) && !wants(Kind::IF) => {
                let hint = format!("`{text}` is a keyword and cannot be a name");
                self.missing_keyword(expected, diagnostic.hint(hint))
            }
            _ if self.sized_local_function() => diagnostic
                .hint("for a local function put a blank before the size, `let f [n] ...`")
                .note("without the blank, `let x[i] = ...` updates an array"),
            _ => self.missing_keyword(expected, diagnostic),
        }
    }

    /// Words of other languages, and of older versions of this one.
    fn foreign_word(&self, word: &str, diagnostic: Diagnostic) -> Diagnostic {
        match word {
            "fun" | "fn" | "func" | "function" => diagnostic.hint(
                "a function is declared with `def f x = ...`; without a name it is `\\x -> ...`",
            ),
            "elif" | "elseif" | "elsif" => diagnostic.hint("write `else if`"),
            "of" => diagnostic.hint("write `match x case p -> ...`, without `of`"),
            "where" => diagnostic.hint("helpers are bound before their use, with `let ... in`"),
            "return" => {
                diagnostic.hint("the value of a function is its body; there is no `return`")
            }
            "var" | "const" | "mut" => diagnostic.hint("names are bound with `let`"),
            "unsafe" => diagnostic.hint("write the attribute `#[unsafe]`"),
            _ => diagnostic,
        }
    }

    /// `if` without `else`, `let` without `in`.
    fn missing_keyword(&self, expected: &BTreeSet<u8>, diagnostic: Diagnostic) -> Diagnostic {
        let wants = |kind: Kind| expected.contains(&kind.0);
        if wants(Kind::IN) && !wants(Kind::DEF) {
            let mut diagnostic =
                diagnostic.hint("inside an expression `let` needs a body: `let x = ... in ...`");
            if let Some(opener) = self.opener(Kind::LET, Kind::IN) {
                diagnostic = diagnostic.also(self.span_at(opener), "this `let` has no `in`");
            }
            return diagnostic;
        }
        if wants(Kind::ELSE) {
            let mut diagnostic = diagnostic.hint("every `if` needs an `else`");
            if let Some(opener) = self.opener(Kind::IF, Kind::ELSE) {
                if self.elif_after(opener) {
                    diagnostic = diagnostic.hint("`elif` is a name here; write `else if`");
                }
                diagnostic = diagnostic.also(self.span_at(opener), "this `if` has no `else`");
            }
            return diagnostic;
        }
        diagnostic
    }

    fn elif_after(&self, opener: usize) -> bool {
        let tokens = &self.lexed.tokens[opener..self.at];
        let mut words = tokens
            .iter()
            .map(|token| &self.text[token.lo as usize..token.hi as usize]);
        words.any(|word| matches!(word, "elif" | "elseif" | "elsif"))
    }

    /// The last token of a kind before here that no token of the closing kind answers.
    fn opener(&self, open: Kind, close: Kind) -> Option<usize> {
        let mut answered = 0usize;
        for at in (0..self.at).rev() {
            let kind = self.lexed.tokens[at].kind;
            if kind == Kind::DEF || kind == Kind::ENTRY {
                return None;
            }
            if kind == close {
                answered += 1;
            } else if kind == open {
                if answered == 0 {
                    return Some(at);
                }
                answered -= 1;
            }
        }
        None
    }

    /// Whether `def (a, b)` or `let (a, b)` stands right before, as a declaration.
    fn binds_tuple_at_top(&self) -> bool {
        if self.kind_back(1) != Some(Kind::RPAR) {
            return false;
        }
        let mut depth = 0usize;
        for at in (0..self.at).rev() {
            match self.lexed.tokens[at].kind {
                Kind::RPAR => depth += 1,
                Kind::LPAR if depth == 1 => {
                    let before = at.checked_sub(1).and_then(|at| self.token(at));
                    let kind = before.map(|token| token.kind);
                    return matches!(kind, Some(Kind::DEF | Kind::LET | Kind::ENTRY));
                }
                Kind::LPAR => depth -= 1,
                _ => {}
            }
        }
        false
    }

    /// Whether `let f[n]` stands right before.
    fn sized_local_function(&self) -> bool {
        let back = |back| self.kind_back(back);
        back(1) == Some(Kind::RBRACKET)
            && back(3) == Some(Kind::INDEX_BRACKET)
            && back(5) == Some(Kind::LET)
    }
}
