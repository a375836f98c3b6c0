//! Steps of loops over maps that read what is near, done together, give what they give one after the other, for any number of threads
//! (`tests/programs/loops/steps.fut`, which the corpus compares with the interpreter).

use arrc::loader::FileLoader;
use arrc::session::on_big_stack;
use backend_cpu::{CpuDevice, Options};
use midend::device::{Device, Stop};
use midend::driver::{Driver, Settings};
use midend::fired::counted;
use midend::ir::scalar::Const;
use midend::ir::syntax::Program;
use midend::pipeline;
use midend::plan::{self, Executable, Signature};
use midend::trap::RunError;
use midend::value::Value;
use std::time::Duration;

const PROGRAM: &str = include_str!("../programs/loops/steps.fut");
/// Points seem so dear that a few are worth steps done together.
const DEARER: f64 = 20_000.0;

fn planned() -> (Program<midend::ir::mem::Mem>, Vec<Signature>) {
    let mut loader = FileLoader::new();
    let file = loader.add_text("steps.fut", PROGRAM);
    let compiled = frontend::compile(file, &mut loader).expect("it loads");
    let settings = Settings::default();
    let (clock, mut tell) = (|| Duration::ZERO, |_: midend::driver::Event<'_>| {});
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    pipeline::plan(compiled.program, &mut driver).expect("it is planned")
}

/// What an entry point gives for integers on so many threads, and whether steps were done together.
fn run(
    (entry, args): (&str, &[Const]),
    threads: usize,
    dearer: f64,
) -> (Result<Vec<Value>, RunError>, bool) {
    let (program, signatures) = planned();
    let executable = Executable::new(&program, signatures);
    let options = Options {
        threads,
        memory: None,
        vector_bits: 0,
    };
    let device = CpuDevice::new(options).expect("there is a CPU");
    let device = device.with_dearer_points(dearer);
    let module = device.compile(&program).expect("it is compiled");
    let args: Vec<Value> = args.iter().copied().map(Value::Scalar).collect();
    let stop = Stop::new();
    let options = plan::Options::new(&stop);
    let (result, counts) =
        on_big_stack(|| counted(|| executable.run(&device, &module, entry, args, &options)));
    (result, counts.contains_key("cpu/steps-together"))
}

/// Compares steps done together with steps one after the other.
fn agrees(entry: &str, args: &[Const], together: bool) {
    let call = (entry, args);
    let (expected, apart) = run(call, 1, 1.0);
    assert!(!apart, "{entry}");
    for threads in 1..4 {
        let (got, was) = run(call, threads, DEARER);
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
    }
    agrees("around", &[Const::I32(6), Const::I64(3000)], false);
}

#[test]
fn a_step_that_fails_does_so_as_it_does_alone() {
    agrees("fails", &[4, 3000].map(Const::I64), true);
    agrees("fails", &[5, 3000].map(Const::I64), true);
}

#[test]
fn one_step_is_a_launch() {
    let args = [Const::I32(1), Const::I64(50), Const::I64(71)];
    agrees("clamped", &args, false);
}
