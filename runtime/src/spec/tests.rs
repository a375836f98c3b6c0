//! Test blocks of every form.

use super::*;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;

fn cases(text: &str) -> Vec<Case> {
    match Spec::parse(text).map(|spec| spec.action) {
        Ok(Action::Accept { cases, .. }) => cases,
        other => panic!("expected cases, found {other:?}"),
    }
}

#[test]
fn a_program_without_blocks_must_only_compile() {
    let spec = Spec::parse("-- text\n--  == \ndef main = 1\n").expect("no block");
    assert!(!spec.present, "two blanks before == make no block");
    assert!(cases("def x = 1").is_empty());
}

#[test]
fn a_ruler_of_signs_begins_no_block() {
    let text = "-- =====\n-- Helpers\n-- =====\ndef f = 1\n\n-- ===\n";
    let spec = Spec::parse(text).expect("no block");
    assert!(!spec.present);
    let text =
        "-- ===\n-- Sums\n-- ===\n\n-- ==\n-- input { 1 } output { 2 }\ndef main x = x + 1\n";
    assert_eq!(cases(text).len(), 1);
}

#[test]
fn values_and_results_are_read() {
    let cases = cases(concat!(
        "-- A description.\n",
        "-- ==\n",
        "-- tags { one two-2 }\n",
        "-- input { 1 [2,\n",
        "--  3] } output { true }\n",
        "-- compiled input { } error: out of.*s\n",
        "-- \"big one\" nobench input @ data/a.in.gz output @ data/a.out\n",
        "-- input { 1 2 }\n",
        "-- structure gpu { /SegMap 1\n--   SegRed 2 }\n",
        "def main = 1\n"
    ));
    assert_eq!(cases.len(), 4);
    assert_eq!(cases[0].line, 4);
    assert_eq!(
        cases[0].expect,
        Expect::Values(vec![midend::value::Value::Scalar(Const::Bool(true))])
    );
    assert!(matches!(&cases[1].expect, Expect::Failure(p) if p.matches("index\nout of\nbounds")));
    assert_eq!(cases[1].tags, ["compiled"]);
    assert_eq!(cases[2].name.as_deref(), Some("big one"));
    assert_eq!(cases[2].input, Input::File("data/a.in.gz".to_owned()));
    assert_eq!(cases[2].expect, Expect::File("data/a.out".to_owned()));
    assert_eq!(cases[3].expect, Expect::Success);
}

#[test]
fn later_blocks_have_their_own_entry_points() {
    let cases = cases(concat!(
        "-- ==\n-- entry: f g\n-- input { 1 } output { 2 }\n",
        "entry f x = x\n",
        "-- ==\n-- random input { [10][2]f32 5i64 bool } auto output\n",
    ));
    let entries: Vec<_> = cases.iter().map(|c| c.entry.as_str()).collect();
    assert_eq!(entries, ["f", "g", "main"]);
    assert_eq!(cases[2].expect, Expect::Auto);
    assert_eq!(
        cases[2].input,
        Input::Random(vec![
            Generator::Random {
                shape: vec![10, 2],
                elem: ScalarType::F32
            },
            Generator::Constant(Const::I64(5)),
            Generator::Random {
                shape: Vec::new(),
                elem: ScalarType::Bool
            },
        ])
    );
}

#[test]
fn programs_to_reject_and_warnings() {
    let spec = Spec::parse("-- ==\n-- error: unknown.*name\n").expect("a block");
    assert!(matches!(spec.action, Action::Reject(p) if p.matches("an unknown\nname")));
    let spec = Spec::parse("-- ==\n-- error:\n").expect("a block");
    assert!(matches!(spec.action, Action::Reject(p) if p.is_any()));
    let spec = Spec::parse("-- ==\n-- warning: shadow\n").expect("a block");
    assert!(matches!(spec.action, Action::Accept { warnings, .. } if warnings.len() == 1));
    let twice = "-- ==\n-- error: a\ndef x = 1\n-- ==\n-- input {}\n";
    assert_eq!(Spec::parse(twice).map_err(|e| e.line), Err(4));
}

#[test]
fn mistakes_are_located() {
    let error =
        Spec::parse("-- ==\n-- input { 1 }\n-- output { 2 x }\n").map_err(|e| e.to_string());
    assert_eq!(
        error,
        Err(String::from(
            "line 3: in a test block: expected a number, found `x`"
        ))
    );
    assert!(Spec::parse("-- ==\n-- what is this\n").is_err());
}

#[test]
fn scripts_are_parsed_in_place() {
    let cases = cases("-- ==\n-- script input { let x = 2 in mk x (f 3) } output { 1 }\n");
    assert!(matches!(
        &cases[0].input,
        Input::Script(crate::script::Exp::Let(..))
    ));
}

#[test]
fn random_values_are_the_same_every_time() {
    let generators = [Generator::Random {
        shape: vec![1000],
        elem: ScalarType::F32,
    }];
    let first = generate(&generators, 1).expect("small");
    assert_eq!(Ok(&first), generate(&generators, 1).as_ref());
    assert_ne!(Ok(&first), generate(&generators, 2).as_ref());
    let midend::value::Value::Array(array) = &first[0] else {
        panic!("an array was asked for");
    };
    let midend::value::Data::F32(xs) = &array.data else {
        panic!("of f32");
    };
    assert!(xs.iter().all(|x| (0.0..1.0).contains(x)));
    assert!(xs.iter().any(|x| *x > 0.9) && xs.iter().any(|x| *x < 0.1));
    let huge = Generator::Random {
        shape: vec![1 << 40, 1 << 40],
        elem: ScalarType::I8,
    };
    assert!(generate(&[huge], 1).is_err());
}

#[test]
fn counts_of_work_follow_a_case() {
    let cases = cases(concat!(
        "-- ==\n",
        "-- input { 1 } output { 2 }\n",
        "-- count: map 2 copy 1\n",
        "-- count *=inf main:3:outer=0: reduce 1\n",
        "-- count:\n",
        "-- count gpu *=0: scan 1\n",
        "-- input { 2 }\n",
    ));
    let [first, second] = &cases[..] else {
        panic!("two cases, not {cases:?}");
    };
    assert!(second.counts.is_empty());
    let [both, forced, none, gpu] = &first.counts[..] else {
        panic!("four counts, not {first:?}");
    };
    assert_eq!(both.forced, None);
    assert_eq!(both.counts, [(Work::Map, 2), (Work::Copy, 1)]);
    assert_eq!(none.counts, []);
    assert!(gpu.gpu && !forced.gpu);
    assert_eq!(gpu.forced, Some(midend::ir::threshold::Forced::all(0)));
    let thresholds = forced.forced.as_ref().expect("thresholds are named");
    assert_eq!(thresholds.others, Some(midend::ir::threshold::INFINITE));
    assert_eq!(thresholds.named.get("main:3:outer"), Some(&0));
}

#[test]
fn counts_that_say_nothing_are_refused() {
    for line in [
        "count map 1",
        "count: maps 1",
        "count: map",
        "count: map x",
        "count x: map 1",
        "count gpux: map 1",
    ] {
        let text = format!("-- ==\n-- input {{ 1 }}\n-- {line}\n");
        assert!(Spec::parse(&text).is_err(), "{line}");
    }
}

#[test]
fn inputs_have_the_names_that_futhark_gives_them() {
    let cases = cases(concat!(
        "-- ==\n-- input { 1i64 [2, 3] } output { 1 }\n-- \"mine\" input { 2 }\n-- input @ a/b.in.gz\n",
        "-- random input { [10][2]f32\n--   5i64 }\n-- script input { f 10i64 }\n",
        "-- input { [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] }\n",
    ));
    let names: Vec<_> = cases.iter().map(|case| case.dataset.as_str()).collect();
    let wanted = [
        "#0 (\"1i64 [2i32, 3i32]\")",
        "mine",
        "a/b.in",
        "[10][2]f32 5i64",
        "f 10i64",
        "#5 (\"[1i32, 2i32, 3i32, 4i32, 5i32, 6i32, 7i32, 8i32, 9...\")",
    ];
    assert_eq!(names, wanted);
}
