//! Messages for wrong programs: the place, the words, the hint.

use super::super::{parse_program, parse_program_bytes};
use crate::diagnostic::{Code, Diagnostic, Note};
use crate::render::{Look, render_all};
use crate::source::SourceMap;
use expect_test::{Expect, expect};

fn errors(text: &str) -> (SourceMap, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let file = sources.add("e.fut", text);
    let errors = match parse_program(file, text) {
        Ok(_) => Vec::new(),
        Err(errors) => errors,
    };
    (sources, errors)
}

#[track_caller]
fn lines(text: &str, expected: Expect) {
    let (sources, errors) = errors(text);
    let mut shown = render_all(&sources, &errors, Look::Line);
    for note in errors.iter().flat_map(|error| &error.notes) {
        if let Note::Hint(hint) = note {
            shown.push_str(&format!("help: {hint}\n"));
        }
    }
    expected.assert_eq(&shown);
}

#[test]
fn missing_parts_are_named() {
    lines(
        "def x = match 5",
        expect![[r#"
        e.fut:1:16: error[E0102]: expected `case`, found the end of the file
    "#]],
    );
    lines(
        "def f x = if x then 1",
        expect![[r#"
        e.fut:1:22: error[E0102]: expected `else`, found the end of the file
        help: every `if` needs an `else`
    "#]],
    );
    lines(
        "def f x =\n  let y = x\n  y\ndef g = 1",
        expect![[r#"
        e.fut:4:1: error[E0102]: expected `let` or `in`, found the keyword `def`
        help: inside an expression `let` needs a body: `let x = ... in ...`
    "#]],
    );
    lines(
        "def f = loop x = 1 for i < 3 x",
        expect![[r#"
        e.fut:1:31: error[E0102]: expected `do`, found the end of the file
    "#]],
    );
    lines(
        "type t = #a | b",
        expect![[r#"
        e.fut:1:15: error[E0102]: expected a constructor, found `b`
    "#]],
    );
    lines(
        "def f = 1 +",
        expect![[r#"
        e.fut:1:12: error[E0102]: expected an expression, found the end of the file
    "#]],
    );
    lines(
        "def",
        expect![[r#"
        e.fut:1:4: error[E0102]: expected a name, found the end of the file
    "#]],
    );
    lines(
        "module m = { val x : i32 }",
        expect![[r#"
        e.fut:1:14: error[E0102]: expected a declaration or `}`, found the keyword `val`
    "#]],
    );
    lines(
        "def f (xs: [n]) = xs",
        expect![[r#"
        e.fut:1:15: error[E0102]: expected a type, found `)`
    "#]],
    );
}

#[test]
fn common_mistakes_get_a_hint() {
    lines(
        "def f = let y =-1 in y",
        expect![[r#"
        e.fut:1:15: error[E0102]: expected a parameter, `[`, `:` or `=`, found `=-`
        help: `=-` is read as one operator; put a blank after `=`
    "#]],
    );
    lines(
        "def f = let y == 1 in y",
        expect![[r#"
        e.fut:1:15: error[E0102]: expected a parameter, `[`, `:` or `=`, found `==`
        help: a binding has a single `=`
    "#]],
    );
    lines(
        "def (a, b) = (1, 2)",
        expect![[r#"
        e.fut:1:12: error[E0102]: expected an operator, found `=`
        help: a top-level declaration binds one name; take the value apart with `.0`, `.1`
    "#]],
    );
    lines(
        "def f = let g[n] (y: [n]i32) = y in g",
        expect![[r#"
        e.fut:1:18: error[E0102]: expected `=`, found `(`
        help: for a local function put a blank before the size, `let f [n] ...`
    "#]],
    );
    lines(
        "def f x = x = 3",
        expect![[r#"
        e.fut:1:13: error[E0102]: expected an operator or a declaration, found `=`
        help: equality is written `==`
    "#]],
    );
    lines(
        "def x ! y = x",
        expect![[r#"
        e.fut:1:7: error[E0102]: expected a parameter, `[`, `:` or `=`, found `!`
        help: `!` is a prefix operator, negation of truth; `!=` means not equal
    "#]],
    );
    lines(
        "fun f x = 3",
        expect![[r#"
        e.fut:1:1: error[E0102]: expected a declaration, found `fun`
        help: a function is declared with `def f x = ...`; without a name it is `\x -> ...`
    "#]],
    );
    lines(
        "def f x = if x then 1 elif 3",
        expect![[r#"
        e.fut:1:29: error[E0102]: expected `else`, found the end of the file
        help: every `if` needs an `else`
        help: `elif` is a name here; write `else if`
    "#]],
    );
    lines(
        "def f = \\x => x",
        expect![[r#"
        e.fut:1:12: error[E0102]: expected a parameter, `:` or `->`, found `=>`
        help: the arrow is written `->`, with a blank before an operator
    "#]],
    );
    lines(
        "def in = 3",
        expect![[r#"
        e.fut:1:5: error[E0102]: expected a name, found the keyword `in`
        help: `in` is a keyword and cannot be a name
    "#]],
    );
    lines(
        "def f = 1..2",
        expect![[r#"
        e.fut:1:10: error[E0107]: `..` does not end a range
    "#]],
    );
    lines(
        "def f = a[1] [2]",
        expect![[r#"
        e.fut:1:14: error[E0107]: an array element is applied to an array here
        help: index several dimensions with `a[i, j]` or `a[i][j]`
    "#]],
    );
    lines(
        "def f = x;",
        expect![[r#"
        e.fut:1:10: error[E0102]: `;` has no meaning here
        help: nothing ends in a semicolon; bindings are chained with `let ... in`
    "#]],
    );
    lines(
        "def s = “a”",
        expect![[r#"
        e.fut:1:9: error[E0102]: `“` has no meaning here
        help: strings are written between straight quotes, `"`
    "#]],
    );
}

#[test]
fn brackets_are_matched_before_anything_else() {
    lines(
        "def f = (1, [2)",
        expect![[r#"
        e.fut:1:15: error[E0104]: `[` is closed by `)`
    "#]],
    );
    lines(
        "def f = 1)",
        expect![[r#"
        e.fut:1:10: error[E0104]: `)` closes nothing
    "#]],
    );
    lines(
        "def f = {a = (1",
        expect![[r#"
        e.fut:1:14: error[E0104]: `(` is never closed
    "#]],
    );
}

#[test]
fn each_declaration_reports_its_first_error() {
    lines(
        "def a = 1 +\ndef b = 2\ndef c = + 3\ndef d = ] [",
        expect![[r#"
            e.fut:4:9: error[E0104]: `]` closes nothing
        "#]],
    );
    lines(
        "def a = 1 +\ndef b = 2\ndef c = let\ndef d = 1 2 then",
        expect![[r#"
            e.fut:2:1: error[E0102]: expected an expression, found the keyword `def`
            e.fut:4:1: error[E0102]: expected a pattern or `[`, found the keyword `def`
            help: `def` is a keyword and cannot be a name
        "#]],
    );
}

#[test]
fn bytes_that_are_no_text() {
    let result = parse_program_bytes(super::FILE, b"def x = 1\n\xff");
    let codes = result.map_err(|errors| errors[0].code);
    assert_eq!(codes.err(), Some(Code::BadText));
}
