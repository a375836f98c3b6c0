//! Forms that launches take where arrays are large give what others give, for any number of threads: steps of loops over maps that read what is near,
//! done together, all steps of some points before those of others, and results that are stored past the caches (`tests/programs/loops/steps.fut`,
//! `loops/apart.fut` and `vectors/past.fut`, which the corpus compares with the interpreter). Long sides of choices are computed later where they
//! may be (`vectors/later.fut`), and rows that steps read are turned (`vectors/row_steps.fut`).

use arrc::loader::FileLoader;
use arrc::session::on_big_stack;
use backend_cpu::{CpuDevice, Options};
use midend::device::{Device, Stop};
use midend::driver::{Driver, Settings};
use midend::fired::counted;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, INFINITE};
use midend::pipeline;
use midend::plan::{self, Executable, Signature};
use midend::trap::RunError;
use midend::value::Value;
use std::time::Duration;

const STEPS: &str = include_str!("../programs/loops/steps.fut");
const APART: &str = include_str!("../programs/loops/apart.fut");
const PAST: &str = include_str!("../programs/vectors/past.fut");
const ROW_STEPS: &str = include_str!("../programs/vectors/row_steps.fut");
const LATER: &str = include_str!("../programs/vectors/later.fut");
const AFFINE: &str = include_str!("../programs/vectors/affine.fut");
/// Points seem so dear that a few are worth steps done together.
const DEARER: f64 = 20_000.0;
/// So cheap that no number of points is.
const CHEAPER: f64 = 0.01;
const TOGETHER: &str = "cpu/steps-together";
const IN_PARTS: &str = "plan/in-parts";

fn planned(text: &str) -> (Program<midend::ir::mem::Mem>, Vec<Signature>) {
    let mut loader = FileLoader::new();
    let file = loader.add_text("program.fut", text);
    let compiled = frontend::compile(file, &mut loader).expect("it loads");
    let settings = Settings::default();
    let (clock, mut tell) = (|| Duration::ZERO, |_: midend::driver::Event<'_>| {});
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    pipeline::plan(compiled.program, &mut driver).expect("it is planned")
}

/// What an entry point gives for integers on so many threads, and whether a rule was used.
fn run(
    call: (&str, &[Const]),
    (threads, dearer): (usize, f64),
    rule: &str,
) -> (Result<Vec<Value>, RunError>, bool) {
    run_of(STEPS, call, (threads, dearer, 0), rule)
}

/// The same for a program, with vector registers of so many bits.
fn run_of(
    text: &str,
    (entry, args): (&str, &[Const]),
    (threads, dearer, vector_bits): (usize, f64, u32),
    rule: &str,
) -> (Result<Vec<Value>, RunError>, bool) {
    let (program, signatures) = planned(text);
    let executable = Executable::new(&program, signatures);
    let options = Options {
        threads,
        memory: None,
        vector_bits,
    };
    let device = CpuDevice::new(options).expect("there is a CPU");
    let device = device.with_dearer_points(dearer);
    let module = device.compile(&program).expect("it is compiled");
    let args: Vec<Value> = args.iter().copied().map(Value::Scalar).collect();
    let stop = Stop::new();
    let mut options = plan::Options::new(&stop);
    // No guard finds that there is enough parallelism in what has been outermost.
    let never = Forced::all(INFINITE);
    if rule == IN_PARTS {
        options.thresholds = &never;
    }
    let (result, counts) =
        on_big_stack(|| counted(|| executable.run(&device, &module, entry, args, &options)));
    (result, counts.contains_key(rule))
}

/// Compares steps done together with steps one after the other.
fn agrees(entry: &str, args: &[Const], together: bool) {
    let call = (entry, args);
    let (expected, apart) = run(call, (1, 1.0), TOGETHER);
    assert!(!apart, "{entry}");
    for threads in 1..4 {
        let (got, was) = run(call, (threads, DEARER), TOGETHER);
        assert_eq!(got, expected, "{entry} on {threads} threads");
        assert_eq!(was, together, "{entry} on {threads} threads");
    }
}

#[test]
fn steps_together_are_steps_one_after_the_other() {
    let i64s = |all: [i64; 2]| all.map(Const::I64);
    for steps in [2, 7, 8, 9, 20] {
        let sizes = [50, 71].map(Const::I64);
        agrees("clamped", &[Const::I32(steps), sizes[0], sizes[1]], true);
        agrees("pair", &i64s([steps.into(), 5003]), true);
        let sizes = [60, 5, 20].map(Const::I64);
        let args = [Const::I32(steps), sizes[0], sizes[1], sizes[2]];
        agrees("chosen", &args, true);
        agrees("down", &i64s([i64::from(steps) + 1, 5003]), true);
    }
    // Not near, in some step.
    agrees("farther", &i64s([9, 5003]), false);
    agrees("around", &[Const::I32(6), Const::I64(3000)], false);
}

#[test]
fn large_planes_are_cut() {
    let rule = "cpu/steps-in-blocks";
    for (entry, sizes, in_blocks) in [
        ("chosen", [5, 203, 210], true),
        ("within", [6, 260, 200], true),
        ("within", [1, 260, 200], true),
        ("sheets", [2, 700, 400], true),
        ("numbered", [4, 300, 150], true),
        // All rows of a plane are near.
        ("within", [60, 9, 20], false),
    ] {
        for steps in [2, 5, 16, 17] {
            let sizes = sizes.map(Const::I64);
            let args = [Const::I32(steps), sizes[0], sizes[1], sizes[2]];
            let (expected, apart) = run((entry, &args), (1, CHEAPER), TOGETHER);
            assert!(!apart, "{entry}");
            for threads in 1..4 {
                let got = run((entry, &args), (threads, DEARER), rule);
                let what = format!("{entry} on {threads} threads, {steps} steps");
                assert!(got.0 == expected, "{what}");
                assert_eq!(got.1, in_blocks && steps > 2, "{what}");
            }
        }
    }
    for steps in [5, 8] {
        let args = [Const::I32(steps), Const::I64(3), Const::I64(90_001)];
        let (expected, _) = run(("clamped", &args), (1, CHEAPER), TOGETHER);
        for threads in 1..4 {
            let got = run(("clamped", &args), (threads, DEARER), rule);
            assert_eq!(got, (expected.clone(), true), "on {threads} threads");
        }
    }
}

#[test]
fn a_step_that_fails_does_so_as_it_does_alone() {
    agrees("fails", &[4, 3000].map(Const::I64), true);
    agrees("fails", &[5, 3000].map(Const::I64), true);
}

#[test]
fn a_step_that_fails_in_a_block_does_so_as_it_does_alone() {
    for steps in [4, 5] {
        let args = [steps, 4, 300, 150].map(Const::I64);
        let (expected, _) = run(("breaks", &args), (1, CHEAPER), TOGETHER);
        assert_eq!(expected.is_err(), steps == 5);
        for threads in 1..4 {
            let got = run(("breaks", &args), (threads, DEARER), "cpu/steps-in-blocks");
            assert_eq!(got, (expected.clone(), true), "on {threads} threads");
        }
    }
}

#[test]
fn one_step_is_a_launch() {
    let args = [Const::I32(1), Const::I64(50), Const::I64(71)];
    agrees("clamped", &args, false);
}

#[test]
fn parts_of_planes_give_what_planes_give() {
    let sizes = [60, 7, 20].map(Const::I64);
    let args = [Const::I32(1), sizes[0], sizes[1], sizes[2]];
    let (call, rule) = (("chosen", &args[..]), "cpu/map-by-planes");
    let (expected, in_parts) = run(call, (1, 1.0), rule);
    assert!(!in_parts);
    for threads in 1..4 {
        assert_eq!(run(call, (threads, 2000.0), rule), (expected.clone(), true));
    }
}

#[test]
fn loops_in_parts_give_what_they_give_as_a_whole() {
    let in_parts = |entry: &str, args: &[i64], parts: bool| {
        let args: Vec<Const> = args.iter().copied().map(Const::I64).collect();
        let call = (entry, &args[..]);
        let (expected, was) = run_of(APART, call, (1, 1.0, 0), IN_PARTS);
        assert!(!was, "{entry}");
        for threads in 1..4 {
            let (got, was) = run_of(APART, call, (threads, DEARER, 0), IN_PARTS);
            assert_eq!(got, expected, "{entry} on {threads} threads");
            assert_eq!(was, parts, "{entry} on {threads} threads");
        }
    };
    in_parts("rows", &[50, 40, 9], true);
    in_parts("planes", &[9, 20, 33, 8], true);
    in_parts("planes", &[7, 20, 33, 3], true);
    in_parts("inner", &[16, 200, 4], true);
    in_parts("together", &[16, 200, 4], false);
    // What fails is what does so one step after the other.
    in_parts("late", &[4, 2000], true);
    in_parts("late", &[2, 2000], true);
    // There is nothing to have near again.
    in_parts("rows", &[50, 40, 1], false);
}

#[test]
fn results_past_the_caches_are_the_same() {
    let rule = "cpu/stores-past-caches";
    for (entry, args) in [
        ("two", &[5003][..]),
        ("within", &[5, 5003]),
        ("rows", &[41, 133]),
        ("sums", &[9001]),
        ("sums_of_rows", &[5, 1003]),
        ("kept", &[9001, 1]),
        ("kept", &[9001, 2]),
        ("kept", &[9001, 3000]),
    ] {
        let args: Vec<Const> = args.iter().copied().map(Const::I64).collect();
        let call = (entry, &args[..]);
        let (expected, past) = run_of(PAST, call, (1, 1.0, 128), rule);
        assert!(!past, "{entry}");
        for bits in [128, 256, 512] {
            for threads in 1..4 {
                let got = run_of(PAST, call, (threads, DEARER, bits), rule);
                assert_eq!(got, (expected.clone(), true), "{entry}, {bits} bits");
            }
        }
    }
}

/// Whether a rule is used in each entry point of a program, for vector registers of so many bits.
fn used(text: &str, rule: &str, vector_bits: u32) -> Vec<(String, bool)> {
    let mut entries = text.split("-- ==\n-- entry: ");
    let functions = entries.next().expect("these come first");
    let options = Options {
        threads: 1,
        memory: None,
        vector_bits,
    };
    let device = CpuDevice::new(options).expect("there is a CPU");
    let in_entry = |entry: &str| {
        let (program, _) = planned(&format!("{functions}-- {entry}"));
        let compile = || counted(|| device.compile(&program).expect("it is compiled"));
        let (_, counts) = device.pool().install(compile);
        let name = entry.lines().next().unwrap_or_default();
        (name.to_owned(), counts.contains_key(rule))
    };
    entries.map(in_entry).collect()
}

#[test]
fn long_sides_are_computed_later_where_they_may_be() {
    for bits in [128, 256, 512] {
        for (entry, later) in used(LATER, "cpu/sides-later", bits) {
            let may = !matches!(entry.as_str(), "at_once" | "fails");
            assert_eq!(later, may, "{entry}, {bits} bits");
        }
    }
}

#[test]
fn rows_of_steps_are_turned_where_they_may_be() {
    for (entry, turned) in used(ROW_STEPS, "cpu/columns-of-steps", 512) {
        let may = !matches!(entry.as_str(), "others" | "not_the_last");
        assert_eq!(turned, may && has_registers_of_512_bits(), "{entry}");
    }
}

#[cfg(target_arch = "x86_64")]
fn has_registers_of_512_bits() -> bool {
    std::is_x86_feature_detected!("avx512f")
        && std::is_x86_feature_detected!("avx512bw")
        && std::is_x86_feature_detected!("avx512dq")
        && std::is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
const fn has_registers_of_512_bits() -> bool {
    false
}

/// Floats that are affine in an index are what they were where there are so many points that they are not exact.
#[test]
fn affine_floats_that_are_rounded() {
    let points = (1i64 << 26) + 4096;
    type Of = fn(f64, f64) -> f64;
    let all: [(&str, Of); 2] = [
        ("far", |x, y| (x * 134_217_723.0 + y) - x),
        ("farther", |x, y| {
            (x * 134_217_721.0 - x * 134_217_720.0) + y
        }),
    ];
    let bits = |of: Of, i: i64| of(i as f64, (i + 1) as f64).to_bits();
    let expected = all.map(|(_, of)| (0..points).fold(0, |sum, i| sum ^ bits(of, i)));
    for vector_bits in [128, 256, 512] {
        for (entry, exact) in used(AFFINE, "cpu/affine-floats", vector_bits) {
            assert!(exact, "{entry}, {vector_bits} bits");
        }
        for ((entry, _), sum) in all.iter().zip(expected) {
            let call = (*entry, &[Const::I64(points)][..]);
            let (found, _) = run_of(AFFINE, call, (2, 1.0, vector_bits), "cpu/affine-floats");
            assert_eq!(found, Ok(vec![Value::Scalar(Const::U64(sum))]), "{entry}");
        }
    }
}
