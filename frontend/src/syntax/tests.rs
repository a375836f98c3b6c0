//! Tests of the parser and the printer on small programs, one area of the grammar each.

use super::ast::{Exp, Program};
use super::bare::bare;
use super::print::{print_exp, print_program};
use super::{parse_expression, parse_program, parse_type_scheme};
use crate::diagnostic::Diagnostic;
use crate::source::FileId;

mod declarations;
mod errors;
mod expressions;
mod limits;
mod round_trip;
mod types;

const FILE: FileId = FileId(0);

fn messages(errors: &[Diagnostic]) -> String {
    let messages: Vec<&str> = errors.iter().map(|error| error.message.as_str()).collect();
    messages.join("; ")
}

fn exp(text: &str) -> Exp {
    match parse_expression(FILE, text) {
        Ok(exp) => exp,
        Err(errors) => panic!("`{text}` does not parse: {}", messages(&errors)),
    }
}

fn program(text: &str) -> Program {
    match parse_program(FILE, text) {
        Ok(program) => program,
        Err(errors) => panic!("`{text}` does not parse: {}", messages(&errors)),
    }
}

fn refused(text: &str) -> String {
    match parse_program(FILE, text) {
        Ok(program) => panic!("`{text}` parses: {}", print_program(&program)),
        Err(errors) => messages(&errors),
    }
}

/// Checks that an expression prints as given: parentheses show how it was understood.
#[track_caller]
fn reads_as(text: &str, printed: &str) {
    assert_eq!(print_exp(&exp(text)), printed, "{text}");
}

/// Checks that two texts mean the same.
#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(bare(&exp(one)), bare(&exp(other)), "`{one}` and `{other}`");
}

#[track_caller]
fn scheme_reads_as(text: &str, printed: &str) {
    match parse_type_scheme(FILE, text) {
        Ok(scheme) => assert_eq!(super::print::print_type_scheme(&scheme), printed, "{text}"),
        Err(errors) => panic!("`{text}` does not parse: {}", messages(&errors)),
    }
}
