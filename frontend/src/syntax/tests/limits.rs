//! Nesting, long chains and large files: an answer in good time, never a crash.

use super::super::print::print_program;
use super::super::{parse_expression, parse_program};
use super::{FILE, bare, program, refused};
use std::time::{Duration, Instant};

/// Far above what is measured, far below what back-tracking would take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Openers and closers whose repetition nests, around an innermost part.
const NESTS: &[(&str, &str, &str)] = &[
    ("def x = ", "(", ")"),
    ("def x = ", "(a, ", ")"),
    ("def x = ", "(+ ", ")"),
    ("def x = ", "[", "]"),
    ("def x = ", "{a = ", "}"),
    ("def x = ", "a[", "]"),
    ("def x = ", "m.(", ")"),
    ("def x = ", "(\\x -> ", ")"),
    ("def x = ", "(if ", " then 1 else 2)"),
    ("def x = ", "(let a = ", " in a)"),
    ("def x = ", "(match ", " case a -> b)"),
    ("def x = ", "(loop a = ", " for i < n do a)"),
    ("def x : [", "(", ")"),
];

#[test]
fn deep_brackets_parse_and_print() {
    for (before, open, close) in NESTS {
        let after = if before.ends_with('[') {
            "]i32 = 1"
        } else {
            ""
        };
        // The stack of a parse is sized by its tokens: small depths count too.
        for depth in [2, 10, 40, 200, 1000] {
            let (open, close) = (open.repeat(depth), close.repeat(depth));
            let text = format!("{before}{open}1{close}{after}");
            let start = Instant::now();
            let tree = program(&text);
            assert!(start.elapsed() < PATIENCE, "{text}");
            let again = program(&print_program(&tree));
            assert!(bare(&tree) == bare(&again), "{text}");
        }
    }
}

#[test]
fn too_many_brackets_are_an_error() {
    for (before, open, close) in NESTS {
        let text = format!("{before}{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(refused(&text).contains("brackets"), "{open}");
    }
}

#[test]
fn errors_deep_inside_are_found_in_linear_time() {
    for (before, open, close) in NESTS {
        let wrong = format!("{before}{}then{}", open.repeat(400), close.repeat(400));
        let start = Instant::now();
        refused(&wrong);
        assert!(start.elapsed() < PATIENCE, "{open}");
    }
}

#[test]
fn long_chains_without_brackets() {
    let chains = [
        ("let a = 1 in ", "1"),
        ("let a = 1 ", "in 1"),
        ("if a then b else ", "1"),
        ("a + ", "1"),
        ("a <| ", "1"),
        ("- ", "1"),
        ("\\x -> ", "1"),
        ("f \\x -> ", "1"),
        ("match a case b -> ", "1"),
        ("assert a ", "1"),
        ("#[a] ", "1"),
        ("loop x for i < n do ", "1"),
        ("f ", "1"),
        ("if ", "1"),
        ("let a = ", "1"),
        ("x : a -> ", "b"),
        ("x : [n]", "b"),
        ("x : *", "b"),
        ("x : ?[n].", "b"),
        ("\\", "x"),
        ("x.0.", "y"),
        ("a with [1] = ", "2"),
    ];
    for (link, end) in chains {
        for count in [3000, 15_000] {
            let start = Instant::now();
            let result = parse_expression(FILE, &format!("{}{end}", link.repeat(count)));
            drop(result);
            assert!(start.elapsed() < PATIENCE, "{count} times {link}");
        }
    }
    assert!(parse_expression(FILE, &format!("{}1", "let a = 1 in ".repeat(9000))).is_ok());
    assert!(parse_expression(FILE, &format!("{}1", "a + ".repeat(9000))).is_ok());
}

#[test]
fn declarations_nest_without_harm() {
    for (open, close) in [("module m = {", "}"), ("module m = (", ")"), ("local ", "")] {
        for count in [500, 100_000] {
            drop(parse_program(
                FILE,
                &format!("{}{}", open.repeat(count), close.repeat(count)),
            ));
        }
    }
}

#[test]
fn a_long_program_parses_quickly() {
    let unit = "-- | A function.\ndef f [n] (xs: [n]f32) (k: i64) : [n]f32 =\n  \
        let ys = map (\\x -> x * 2.0 + f32.sqrt (x - 1)) xs\n  \
        let s = reduce (+) 0 (map2 (\\a b -> if a < b then a + b else a * b) xs ys)\n  \
        in loop acc = ys for i < k do\n    acc with [i % n] = acc[i % n] + s * f32.i64 (i * 3)\n\n";
    let text = unit.repeat(1000);
    let start = Instant::now();
    let tree = program(&format!("-- | File.\n{text}"));
    assert_eq!(tree.decs.len(), 1000);
    assert!(start.elapsed() < PATIENCE);
}
