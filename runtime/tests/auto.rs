//! The target `auto`: with the emulator posing as a GPU that costs what the test says.

use arrc::session::{Accelerator, Choice, Options, Program, Session};
use arrc::target::Target;
use arrc::{ArrayValue, Data, Value};
use midend::device::Costs;
use std::time::Duration;

const CPU: Costs = Costs {
    host: 0.0,
    launch: 1e-6,
    wait: 0.0,
    transfer: 0.0,
    byte: 1e-10,
    step: 1e-9,
    width: 8.0,
};

/// Slow to reach, and fast.
const GPU: Costs = Costs {
    host: 0.0,
    launch: 10e-6,
    wait: 20e-6,
    transfer: 1e-10,
    byte: 1e-12,
    step: 4e-9,
    width: 1e5,
};

fn program(text: &str, start: Duration) -> Program {
    on(Target::PtxEmu, text, start)
}

fn on(target: Target, text: &str, start: Duration) -> Program {
    let options = Options {
        target: Target::Auto,
        accelerator: Some(Accelerator {
            target,
            costs: Some((CPU, GPU)),
            start,
        }),
        ..Options::default()
    };
    let session = Session::new(options).expect("a session");
    session.compile("auto.fut", text).expect("a program")
}

fn call(program: &Program, args: Vec<Value>) -> (Vec<Value>, Choice) {
    let results = program.call("main", args).expect("a result");
    let choice = program.last_choice().expect("there was a choice");
    (results, choice)
}

fn ints<const N: usize>(ns: [i64; N]) -> Vec<Value> {
    ns.map(|n| Value::Scalar(midend::ir::scalar::Const::I64(n)))
        .to_vec()
}

/// `k` dependent steps at each of `n` points.
const STEPS: &str = "def main (n: i64) (k: i64) =
  i64.sum (map (\\i -> loop x = i for j < k do x * 5 + j) (iota n))";

#[test]
fn small_calls_stay_on_the_cpu_and_large_ones_go_to_the_gpu() {
    let program = program(STEPS, Duration::ZERO);
    let (small, choice) = call(&program, ints([10, 10]));
    assert_eq!(choice.target, Target::Cpu, "{choice}");
    let cpu = Session::new(Options::default()).expect("a session");
    let cpu = cpu.compile("cpu.fut", STEPS).expect("a program");
    assert_eq!(small, cpu.call("main", ints([10, 10])).expect("a result"));
    // Enough points, and enough to do for each.
    let (large, choice) = call(&program, ints([20_000, 100]));
    assert_eq!(choice.target, Target::PtxEmu, "{choice}");
    assert_eq!(
        large,
        cpu.call("main", ints([20_000, 100])).expect("a result")
    );
    // As many steps, but few points at once.
    let (_, choice) = call(&program, ints([2, 1_000_000]));
    assert_eq!(choice.target, Target::Cpu, "{choice}");
}

#[test]
fn an_array_that_is_read_once_is_not_worth_the_way() {
    let program = program(
        "def main (k: i64) (xs: []f32) = loop xs for _i < k do map (+ 1) xs",
        Duration::ZERO,
    );
    let run = |k, n: usize| {
        let mut args = ints([k]);
        args.push(Value::Array(ArrayValue {
            shape: vec![n as i64],
            data: Data::F32(vec![0.0; n]),
        }));
        call(&program, args).1
    };
    assert_eq!(run(1, 100_000).target, Target::Cpu);
    assert_eq!(run(50, 100_000).target, Target::PtxEmu);
    assert_eq!(run(50, 100).target, Target::Cpu);
}

#[test]
fn the_gpu_is_opened_when_it_would_have_paid() {
    let program = program(STEPS, Duration::from_millis(2));
    let each = |_| call(&program, ints([20_000, 100])).1.target;
    let targets: Vec<Target> = (0..30).map(each).collect();
    let first = targets.iter().position(|t| *t == Target::PtxEmu);
    // About 0.75 ms each on the CPU, 0.02 ms on the GPU.
    assert!((1..10).contains(&first.unwrap_or(0)), "{targets:?}");
    let stays = targets.iter().skip(first.unwrap_or(0));
    assert!(stays.copied().all(|t| t == Target::PtxEmu), "{targets:?}");
}

#[test]
fn without_an_accelerator_there_is_no_choice() {
    let session = Session::new(Options::default()).expect("a session");
    let program = session.compile("auto.fut", STEPS).expect("a program");
    program.call("main", ints([10, 10])).expect("a result");
    let choice = program.last_choice();
    assert_eq!(choice.is_some(), backend_ptx::is_driver_present());
}

#[test]
fn failures_are_told_on_either_side() {
    let program = program(
        "def main (n: i64) (k: i64) = map (\\i -> (iota n)[i + k]) (iota n)",
        Duration::ZERO,
    );
    for n in [10, 1_000_000] {
        let failed = program
            .call("main", ints([n, 1]))
            .expect_err("out of bounds");
        assert!(failed.to_string().contains("out of bounds"), "{failed}");
    }
}

#[test]
fn an_accelerator_that_cannot_be_opened_leaves_the_cpu() {
    if backend_ptx::CudaDevice::open(backend_ptx::GpuOptions::default()).is_ok() {
        // Only where there is no GPU is there one that cannot be opened.
        return;
    }
    let program = on(Target::Ptx, STEPS, Duration::ZERO);
    for _ in 0..2 {
        let (_, choice) = call(&program, ints([20_000, 100]));
        assert_eq!(choice.target, Target::Cpu);
        let why = choice.start.clone().expect_err("there is no GPU");
        assert!(why.contains("NVIDIA"), "{why}");
        let told = format!("which cannot be used: {why}");
        assert!(choice.to_string().ends_with(&told), "{choice}");
    }
}
