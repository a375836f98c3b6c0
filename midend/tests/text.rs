//! The text form: what is printed reads back as the same program, and errors are located.

use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::read;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::text::Text;

const NESTED: &str = include_str!("text/nested.ir");
const FLAT: &str = include_str!("text/flat.ir");
const PLAN: &str = include_str!("text/plan.ir");

fn round_trip<D: Text>(text: &str) -> String {
    let first = read::program::<D>(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let printed = print::program(&first);
    let second = read::program::<D>(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
    assert_eq!(printed, print::program(&second));
    // Variables and places are numbered in order of appearance by reader and printer alike.
    let third = read::program::<D>(&print::program(&second)).expect("was read before");
    assert_eq!(second, third);
    printed
}

#[test]
fn what_is_printed_reads_back() {
    let printed = round_trip::<Soac>(NESTED);
    let without_comment = NESTED.split_once('\n').expect("a first line").1;
    assert_eq!(without_comment, printed);
    round_trip::<Seg>(FLAT);
    round_trip::<Mem>(PLAN);
}

#[test]
fn places_survive() {
    let program = read::program::<Soac>(NESTED).expect("the sample is right");
    let all = program.spans.len();
    assert_eq!(all, 6);
    let assert = &program.funs.iter().next().expect("a function").body.stms[1];
    let trail = midend::trap::trail(&program.spans, assert.span);
    let lines: Vec<u32> = trail.iter().map(|place| place.start.0).collect();
    assert_eq!(lines, [2, 9, 9]);
}

#[test]
fn dialects_are_told_apart() {
    assert_eq!(read::dialect_name(NESTED), Some("nested"));
    assert_eq!(read::dialect_name(FLAT), Some("flat"));
    let wrong = read::program::<Seg>(NESTED).expect_err("another dialect");
    assert_eq!((wrong.line, wrong.column), (2, 1));
}

#[test]
fn errors_are_located() {
    let cases = [
        (
            "nested fun f() -> () { yield x }",
            "1:30: this variable is bound nowhere, found `x`",
        ),
        (
            "nested\nfun f(x: i64, x: i64) -> () { yield }",
            "2:15: this variable is bound a second time, found `x`",
        ),
        (
            "nested\nfun f() -> () { yield } @",
            "2:25: expected `fun`, `span` or the end, found `@`",
        ),
        (
            "nested fun f() -> () @3 { yield }",
            "1:23: there is no place of this number, found `3`",
        ),
        (
            "nested span 1 \"a\" 1:1..1:2 in 2 span 2 \"a\" 1:1..1:2 in 1",
            "1:57: place 1 was inlined into itself, found the end",
        ),
        (
            "nested fun f() -> () { let x: i8 = 300i8 yield }",
            "1:36: expected a variable or constant, found `300i8`",
        ),
        (
            "nested fun f() -> () { do call g() yield }",
            "1:32: there is no function of this name, found `g`",
        ),
    ];
    for (text, message) in cases {
        let error = read::program::<Soac>(text).expect_err(text);
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn depth_is_limited() {
    let nest = |depth: usize| {
        // Each binder needs a name of its own.
        let open: String = (0..depth)
            .map(|i| format!("let x_{i}: i64 = if true {{"))
            .collect();
        let close = "yield } else { yield }".repeat(depth);
        format!("nested fun f() -> () {{{open}{close} yield }}")
    };
    let deep = read::program::<Soac>(&nest(read::MAX_DEPTH - 2)).expect("deep but allowed");
    print::program(&deep);
    let deeper = read::program::<Soac>(&nest(100_000)).expect_err("too deep");
    assert!(deeper.message.starts_with("nested too deeply"), "{deeper}");
}
