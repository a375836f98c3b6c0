//! Random programs, run before and after each pass and on every target: the results must be the same.
//!
//! A failure prints the smallest program found that fails like it, in text form, as the start of a regression test: with the
//! seed and a sentence before it, it belongs to `tests/found`.

use arrc_tests::differential::exact::sums_of_floats;
use arrc_tests::differential::planted::PLANTS;
use arrc_tests::differential::planted::tangents::{ADJOINTS, TANGENTS, derived};
use arrc_tests::differential::{BUDGET, Trials, check, check_source, shrunk};
use arrc_tests::extents::{self, Extents};
use arrc_tests::generate::program;
use midend::ir::read;
use midend::ir::scalar::Const;
use midend::passes;
use midend::value::{ArrayValue, Data, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// How many programs are tried, unless `ARRC_PROGRAMS` says otherwise; `ARRC_SEED` is the seed of the first.
const PROGRAMS: u64 = 12;

/// How many programs whose sizes overflow, each with so many lists of arguments.
const EXTENTS: u64 = 100;
const CASES: u64 = 50;

/// Among so many programs every planted mistake is noticed.
const ENOUGH: u64 = 150;

#[test]
fn every_pass_keeps_the_results() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let mut failures = String::new();
    for seed in first..first + count {
        let program = program(seed, BUDGET);
        if let Err(error) = check(&program, seed, Trials::ALL) {
            failures.push_str(&shrunk(program, seed, Trials::ALL, error));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// The same for programs of the source language with irregular arrays.
#[test]
fn irregular_arrays_are_the_same_everywhere() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let failures: Vec<String> = (first..first + count)
        .filter_map(|seed| check_source(seed, BUDGET, Trials::ALL).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The same for programs with modules, size expressions, records and sums, all of which must be accepted.
#[test]
fn modules_are_the_same_everywhere() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let trials = Trials {
        modules: true,
        ..Trials::ALL
    };
    let failures: Vec<String> = (first..first + count)
        .filter_map(|seed| check_source(seed, BUDGET, trials).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The same for programs that compute derivatives in both modes, which must agree.
#[test]
fn derivatives_are_the_same_everywhere() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let trials = Trials {
        derivatives: true,
        ..Trials::ALL
    };
    let failures: Vec<String> = (first..first + count)
        .filter_map(|seed| check_source(seed, BUDGET, trials).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The same with sequences, whose chunks are of several sizes.
#[test]
fn sequences_are_the_same_everywhere() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let trials = Trials {
        sequences: true,
        ..Trials::ALL
    };
    let failures: Vec<String> = (first..first + count)
        .filter_map(|seed| check_source(seed, BUDGET, trials).err())
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Sizes whose products and sums overflow end in the right result or in an error, everywhere.
#[test]
fn sizes_that_overflow_are_errors() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(EXTENTS);
    let check = |extents: &Extents| -> Vec<String> {
        let seeds = first..first + count;
        let tried = seeds.map(|seed| extents.check(seed, CASES, &mut |_| {}));
        tried.filter_map(Result::err).collect()
    };
    let failures = extents::with(check).expect("all targets are there");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// No order of additions shows in what random programs compute.
#[test]
fn sums_of_floats_are_exact() {
    let mut all = 0;
    for seed in (0..2000).chain(42_001_481..42_001_482) {
        let (sums, inexact) = sums_of_floats(&program(seed, BUDGET));
        assert_eq!(inexact, 0, "seed {seed}");
        all += sums;
    }
    assert!(all > 1000, "{all} sums of floats");
}

/// Programs that campaigns found, each smaller than it was: `; seed N: what was wrong`, then the program.
#[test]
fn what_was_found_once_stays_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("found");
    let mut count = 0;
    for file in fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("a file").path();
        let text = fs::read_to_string(&path).expect("a text");
        let (_, head) = text.split_once("; seed ").expect("a seed");
        let (seed, _) = head.split_once(':').expect("what was wrong");
        let seed = seed.parse().expect("a number");
        let program = read::program(&text).unwrap_or_else(|e| panic!("{path:?}: {e}"));
        if let Err(error) = check(&program, seed, Trials::ALL) {
            panic!("{path:?}: {error}");
        }
        count += 1;
    }
    assert!(count > 0, "no program");
}

/// Every mistake that is planted into what a pass makes is noticed.
#[test]
fn planted_mistakes_are_found() {
    for plant in PLANTS {
        let trials = Trials {
            plant: Some(plant),
            ..Trials::default()
        };
        let fails = |seed: &u64| check(&program(*seed, BUDGET), *seed, trials).is_err();
        let found = (0..ENOUGH).find(fails);
        assert!(found.is_some(), "{}: {}", plant.pass, plant.what);
    }
}

/// Every mistake in tangents is noticed in the program of the file test.
#[test]
fn mistakes_in_tangents_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("tests/passes/derivatives/forward.ir"));
    let program = read::program(&text.expect("a text")).expect("a program");
    let number = |x| Value::Scalar(Const::f64(x));
    let factors = Value::Array(ArrayValue {
        shape: vec![2],
        data: Data::F64(vec![3.0, 4.0]),
    });
    let args = [number(2.0), number(1.0), factors];
    let right = vec![number(168.0), number(84.0)];
    assert_eq!(derived(&program, None, args.to_vec()), Ok(right.clone()));
    for plant in TANGENTS {
        let results = derived(&program, Some(plant), args.to_vec());
        let results = results.expect("the mistakes leave the program well-formed");
        assert_ne!(results, right, "{}", plant.what);
    }
}

/// Every mistake in adjoints is noticed in the program of the file test.
#[test]
fn mistakes_in_adjoints_are_found() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let text = fs::read_to_string(root.join("tests/passes/derivatives/reverse.ir"));
    let program = read::program(&text.expect("a text")).expect("a program");
    let vector = |data| {
        Value::Array(ArrayValue {
            shape: vec![2],
            data,
        })
    };
    let args = [
        vector(Data::I64(vec![1, 1])),
        vector(Data::F64(vec![3.0, 2.0])),
        Value::Scalar(Const::f64(1.0)),
    ];
    let right = vec![
        Value::Scalar(Const::f64(4096.0)),
        vector(Data::F64(vec![0.0, 16384.0])),
    ];
    assert_eq!(derived(&program, None, args.to_vec()), Ok(right.clone()));
    for plant in ADJOINTS {
        let results = derived(&program, Some(plant), args.to_vec());
        let results = results.expect("the mistakes leave the program well-formed");
        assert_ne!(results, right, "{}", plant.what);
    }
}

/// There is a planted mistake for every pass that has to keep the results.
#[test]
fn every_pass_has_a_planted_mistake() {
    let nested = passes::NESTED.iter().map(|pass| pass.name);
    let flat = passes::FLAT.iter().map(|pass| pass.name);
    let planned = passes::PLANNED.iter().map(|pass| pass.name);
    let lowerings = [passes::FLATTEN.name, passes::PLAN.name];
    let all = nested.chain(flat).chain(planned).chain(lowerings);
    let exempt = [
        passes::fast_math::PASS.name,
        passes::unchecked::PASS.name,
        // `mistakes_in_tangents_are_found`, `mistakes_in_adjoints_are_found`
        passes::derivatives::PASS.name,
    ];
    let without: BTreeSet<_> = all
        .filter(|name| !exempt.contains(name))
        .filter(|name| PLANTS.iter().all(|plant| plant.pass != *name))
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

/// The page on rules lists those of the passes' code, of plans and the forms of kernels that back ends count, and no others.
#[test]
fn every_rule_is_on_the_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut rules = BTreeSet::new();
    for folder in [
        "midend/src/passes",
        "midend/src/plan",
        "backend-cpu/src",
        "backend-ptx/src",
    ] {
        in_source(&root.join(folder), &mut rules);
    }
    let page = fs::read_to_string(root.join("docs/rules.md")).expect("the page is there");
    let listed: BTreeSet<String> = page
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .collect();
    let missing: Vec<_> = rules.symmetric_difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "on one side only, of the code and docs/rules.md: {missing:?}"
    );
}

/// Adds the names of rules in the source files of a folder: literals `"pass/rule"`; of back ends, `"cpu/form"` and `"ptx/form"`.
fn in_source(folder: &Path, rules: &mut BTreeSet<String>) {
    let names = regex::Regex::new(r#""([a-z-]+/[a-z0-9-]+)""#).expect("an expression");
    for file in fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        if path.is_dir() {
            in_source(&path, rules);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        rules.extend(names.captures_iter(&text).map(|found| found[1].to_owned()));
    }
}
