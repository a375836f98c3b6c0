//! Random programs, compiled with and without the optimising passes, give what the interpreter gives.
//!
//! `ARRC_SEED` and `ARRC_PROGRAMS` choose other programs, and more of them, than the few that every test run tries.

use arrc_tests::generate::{arguments, large_arguments, program, shrink};
use backend_cpu::{CpuDevice, Options as DeviceOptions};
use midend::device::{Device, Stop};
use midend::interp::{self, scalar::same_value};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Fun, Program};
use midend::pass::{self, Pass, PassCx};
use midend::plan::{Executable, Options, signatures};
use midend::trap::RunError;
use midend::value::Value;
use midend::{passes, pipeline};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The generator of the test suites.
#[allow(dead_code, reason = "the suite of the tests uses the rest")]
#[path = "../../tests/src"]
pub mod arrc_tests {
    pub mod generate;
}

/// How many programs are tried.
const PROGRAMS: u64 = 10;

fn after<A: Clone, B>(pass: &Pass<A, B>, program: &Program<A>) -> Program<B> {
    let mut remarks = Vec::new();
    let mut cx = PassCx {
        options: &pass::Options::default(),
        remarks: &mut remarks,
    };
    (pass.run)(program.clone(), &mut cx)
}

fn plain(nested: &Program<Soac>) -> Program<Mem> {
    after(&passes::PLAN, &after(&passes::FLATTEN, nested))
}

fn optimised(nested: &Program<Soac>) -> Program<Mem> {
    let all = |start: &Program<Soac>| {
        pipeline::NESTED
            .iter()
            .fold(start.clone(), |p, pass| after(pass, &p))
    };
    let flat: Program<Seg> = after(&pipeline::FLATTEN, &all(nested));
    let flat = pipeline::FLAT.iter().fold(flat, |p, pass| after(pass, &p));
    let plan = after(&pipeline::PLAN, &flat);
    pipeline::PLANNED
        .iter()
        .fold(plan, |p, pass| after(pass, &p))
}

/// Results, or that the program failed; nothing if it takes too long. An error of the compiler is an error.
type Outcome = Result<Option<Option<Vec<Value>>>, String>;

fn outcome(result: Result<Vec<Value>, RunError>) -> Outcome {
    match result {
        Ok(values) => Ok(Some(Some(values))),
        Err(RunError::Trap(_)) => Ok(Some(None)),
        Err(RunError::OutOfFuel | RunError::OutOfMemory { .. }) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn run_plan(
    device: &CpuDevice,
    plan: &Program<Mem>,
    nested: &Program<Soac>,
    args: Vec<Value>,
) -> Outcome {
    let mut signatures = signatures(nested);
    for signature in &mut signatures {
        // Passes may have renumbered the functions.
        let is_entry = |fun: &Fun<Mem>| {
            fun.entry
                .as_ref()
                .is_some_and(|e| e.name == signature.args.name)
        };
        if let Some((id, _)) = plan.funs.enumerate().find(|(_, fun)| is_entry(fun)) {
            signature.fun = id;
        }
    }
    let executable = Executable::new(plan, signatures);
    let module = device.compile(plan).map_err(|e| e.to_string())?;
    let stop = Stop::new();
    outcome(executable.run(device, &module, "main", args, &Options::new(&stop)))
}

fn same(a: &Option<Vec<Value>>, b: &Option<Vec<Value>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

fn check(device: &CpuDevice, nested: &Program<Soac>, seed: u64) -> Result<(), String> {
    let plans = [("plain", plain(nested)), ("optimised", optimised(nested))];
    let limits = interp::Options {
        fuel: Some(2_000_000),
        memory: Some(100 << 20),
        ..interp::Options::default()
    };
    for round in 0..6 {
        let args = match round {
            0..4 => arguments(seed * 4 + round),
            _ => large_arguments(seed * 4 + round),
        };
        let Some(wanted) = outcome(interp::run(nested, "main", args.clone(), &limits))? else {
            continue;
        };
        for (name, plan) in &plans {
            let about =
                |what: String| format!("{name}: {what}\nfor {args:?}\n\n{}", print::program(plan));
            let got = run_plan(device, plan, nested, args.clone()).map_err(about)?;
            if let Some(got) = got
                && !same(&wanted, &got)
            {
                let [got, wanted] =
                    [got, wanted].map(|r| format!("{r:?}").chars().take(1000).collect::<String>());
                return Err(about(format!("gives {got}\ninstead of {wanted}")));
            }
        }
    }
    Ok(())
}

/// What `f` computes; its panic is an error like others, so that it is shrunk and reported with its program.
fn unwound<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|_| "panicked: see above".to_owned())
}

#[test]
fn compiled_programs_agree_with_the_interpreter() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let device = CpuDevice::new(DeviceOptions::default()).expect("a device");
    let mut failures = String::new();
    for seed in first..first + count {
        let program = program(seed, 30);
        let check = |p: &Program<Soac>| unwound(|| check(&device, p, seed))?;
        if let Err(error) = check(&program) {
            let kind = error.split(':').next().unwrap_or_default().to_owned();
            let fails = |p: &Program<Soac>| check(p).is_err_and(|e| e.starts_with(&kind));
            let program = shrink(program, &fails);
            let error = check(&program).err().unwrap_or(error);
            let text = print::program(&program);
            failures.push_str(&format!("\n==== seed {seed}\n{text}\n{error}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
