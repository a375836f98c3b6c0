//! Text to syntax tree. The lexer cuts tokens, the grammar orders them, and the files below build the tree, one
//! area of the language each. Nothing outside this module sees a type of the parser library.
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "the only such matches are on the rules of the grammar, of which a place knows a few"
)]

mod build;
mod dec;
mod error;
mod expr;
mod format;
mod lexer;
mod literal;
mod module;
mod operators;
mod pattern;
mod token;
mod ty;

use super::ast::{Exp, Program, TypeScheme};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
pub use build::MAX_DEPTH;
use build::{Cx, Node};
use grammar::Rule;
use lexer::Lexed;
use pest::Parser;

/// The most stack for one parse. It is address space, not memory: pages are used as nesting needs them.
const MAX_STACK: usize = 128 * 1024 * 1024;
/// What one token can need at most, with room to spare, so that short texts do without a stack of their own.
const STACK_PER_TOKEN: usize = 32 * 1024;

/// What the parser library generates from `grammar.pest`.
mod grammar {
    #![allow(missing_docs, unreachable_pub, reason = "generated code")]

    #[derive(pest_derive::Parser)]
    #[grammar = "syntax/grammar.pest"]
    pub struct Grammar;
}

/// Parses a source file.
///
/// # Errors
/// Everything that is wrong with its syntax; for the first error of structure parsing stops.
pub fn parse_program(file: FileId, text: &str) -> Result<Program, Vec<Diagnostic>> {
    parse(file, text, Rule::program, dec::program)
}

/// Parses a source file of any bytes.
///
/// # Errors
/// As [`parse_program`]; also if the bytes are no UTF-8.
pub fn parse_program_bytes(file: FileId, bytes: &[u8]) -> Result<Program, Vec<Diagnostic>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_program(file, text),
        Err(error) => {
            let at = u32::try_from(error.valid_up_to()).unwrap_or(u32::MAX);
            let line = bytes[..error.valid_up_to()]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            let message = format!("the file is not UTF-8 text (line {})", line + 1);
            let span = Span::new(file, at, at);
            Err(vec![Diagnostic::error(Code::BadText, span, message)])
        }
    }
}

/// Formats a source file: the author's line breaks decide about layout, comments stay.
///
/// # Errors
/// As [`parse_program`].
pub fn format_program(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut formatted = format_once(file, text)?;
    // A comment inside of a construct may break a line of it, which then decides about the layout of the construct.
    for _ in 0..MAX_FORMATS {
        let again = format_once(file, &formatted)?;
        if again == formatted {
            break;
        }
        formatted = again;
    }
    Ok(formatted)
}

/// Texts are the same after two, rarely three.
const MAX_FORMATS: usize = 8;

fn format_once(file: FileId, text: &str) -> Result<String, Vec<Diagnostic>> {
    parse(file, text, Rule::program, |cx, node| {
        // Building the tree finds what the grammar lets through.
        dec::program(cx, node.clone());
        format::program(cx, node)
    })
}

/// Parses one expression, for the read-eval-print loop.
///
/// # Errors
/// As [`parse_program`].
pub fn parse_expression(file: FileId, text: &str) -> Result<Exp, Vec<Diagnostic>> {
    parse(file, text, Rule::only_exp, expr::only_exp)
}

/// Parses a polymorphic type, parameters before the colon: `'a [n] : [n]a -> a`. Without parameters the colon may
/// be left away.
///
/// # Errors
/// As [`parse_program`].
pub fn parse_type_scheme(file: FileId, text: &str) -> Result<TypeScheme, Vec<Diagnostic>> {
    parse(file, text, Rule::only_scheme, ty::only_scheme)
}

fn parse<T>(
    file: FileId,
    text: &str,
    rule: Rule,
    build: impl FnOnce(&mut Cx<'_>, Node<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    if u32::try_from(text.len()).is_err() {
        let message = "the file is longer than 4 GiB";
        let span = Span::new(file, 0, 0);
        return Err(vec![Diagnostic::error(Code::BadText, span, message)]);
    }
    let lexed = lexer::lex(file, text).map_err(|error| vec![error])?;
    let stack = STACK_PER_TOKEN * (lexed.tokens.len() + 16);
    let stack = stack.min(MAX_STACK);
    stacker::maybe_grow(stack, stack, || grow_tree(file, text, &lexed, rule, build))
}

fn grow_tree<T>(
    file: FileId,
    text: &str,
    lexed: &Lexed,
    rule: Rule,
    build: impl FnOnce(&mut Cx<'_>, Node<'_>) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let pairs = match grammar::Grammar::parse(rule, &lexed.letters) {
        Ok(pairs) => pairs,
        Err(failure) => return Err(error::explain_all(file, text, lexed, rule, &failure)),
    };
    let mut cx = Cx::new(file, text, lexed);
    let root = pairs
        .into_iter()
        .next()
        .expect("a parse yields one pair for the rule it was asked for");
    let tree = build(&mut cx, Node(root));
    let errors = cx.finish();
    if errors.is_empty() {
        Ok(tree)
    } else {
        Err(errors)
    }
}
