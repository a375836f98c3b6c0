//! Random programs, interpreted before and after each way down: the results must be the same.
//!
//! A failure prints the smallest program found that fails like it, in text form, as the start of a regression test.

use arrc_tests::generate::{arguments, program, shrink};
use midend::device::{Device, Stop};
use midend::interp::mem::Reference;
use midend::interp::{self, Options, scalar};
use midend::ir::mem::Mem;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::{print, read};
use midend::passes::flatten::flatten;
use midend::passes::plan::plan;
use midend::plan::{self, Executable, signatures};
use midend::trap::RunError;
use midend::value::Value;
use midend::verify::{self, Verify};

/// What a run gave: results, or that it failed, in whatever way the program does.
type Outcome = Result<Vec<Value>, String>;

/// How many programs are tried, unless `ARRC_PROGRAMS` says otherwise; `ARRC_SEED` is the seed of the first.
const PROGRAMS: u64 = 150;

fn options() -> Options<'static> {
    Options {
        fuel: Some(20_000_000),
        ..Options::default()
    }
}

/// An error of the program is an outcome, an error of the compiler is not.
fn outcome(result: Result<Vec<Value>, RunError>) -> Result<Option<Outcome>, String> {
    match result {
        Ok(values) => Ok(Some(Ok(values))),
        Err(RunError::Trap(_)) => Ok(Some(Err("failed".into()))),
        Err(RunError::OutOfFuel) => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

fn same(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_value(a, b)),
        (Err(_), Err(_)) => true,
        (Ok(_), Err(_)) | (Err(_), Ok(_)) => false,
    }
}

fn same_value(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Scalar(a), Value::Scalar(b)) => scalar::same(*a, *b),
        (Value::Array(a), Value::Array(b)) => {
            a.shape == b.shape
                && a.data.len() == b.data.len()
                && (0..a.data.len()).all(|i| scalar::same(a.data.get(i), b.data.get(i)))
        }
        (Value::Scalar(_), Value::Array(_)) | (Value::Array(_), Value::Scalar(_)) => false,
    }
}

/// A program on its way down.
struct Levels {
    nested: Program<Soac>,
    flat: Program<midend::ir::seg::Seg>,
    plan: Program<Mem>,
    executable: Executable,
}

fn verified<D: Verify>(what: &str, program: &Program<D>) -> Result<(), String> {
    verify::program(program).map_err(|faults| {
        let list: Vec<String> = faults.iter().map(ToString::to_string).collect();
        format!("{what}: {}\n\n{}", list.join("\n"), print::program(program))
    })
}

fn lower(nested: Program<Soac>) -> Result<Levels, String> {
    verified("nested", &nested)?;
    let flat = flatten(nested.clone());
    verified("flat", &flat)?;
    let plan = plan(flat.clone());
    verified("plan", &plan)?;
    let executable = Executable::new(&plan, signatures(&nested));
    Ok(Levels {
        nested,
        flat,
        plan,
        executable,
    })
}

fn run_on<D: Device>(
    levels: &Levels,
    device: &D,
    args: Vec<Value>,
) -> Result<Vec<Value>, RunError> {
    let module = device.compile(&levels.plan)?;
    let stop = Stop::new();
    let options = plan::Options::new(&stop);
    levels
        .executable
        .run(device, &module, "main", args, &options)
}

/// Tries one program with several arguments; says what is wrong.
fn check(nested: Program<Soac>, seed: u64) -> Result<(), String> {
    let text = print::program(&nested);
    let again: Program<Soac> = read::program(&text).map_err(|e| format!("not read back: {e}"))?;
    if print::program(&again) != text {
        return Err("the text read back prints otherwise".into());
    }
    let levels = lower(nested)?;
    for round in 0..3 {
        check_run(&levels, &arguments(seed * 4 + round))?;
    }
    Ok(())
}

fn check_run(levels: &Levels, args: &[Value]) -> Result<(), String> {
    let result = interp::run(&levels.nested, "main", args.to_vec(), &options());
    let Some(wanted) = outcome(result).map_err(|e| format!("nested: {e}"))? else {
        return Ok(());
    };
    let results = [
        (
            "flat",
            interp::run_flat(&levels.flat, "main", args.to_vec(), &options()),
        ),
        ("plan", run_on(levels, &Reference::new(), args.to_vec())),
    ];
    for (level, result) in results {
        let text = || match level {
            "flat" => print::program(&levels.flat),
            _ => print::program(&levels.plan),
        };
        let got =
            outcome(result).map_err(|e| format!("{level}: {e}\nfor {args:?}\n\n{}", text()))?;
        if let Some(got) = got
            && !same(&wanted, &got)
        {
            return Err(format!(
                "{level} gives {got:?}\ninstead of {wanted:?}\nfor {args:?}\n\n{}",
                text()
            ));
        }
    }
    Ok(())
}

#[test]
fn every_way_down_keeps_the_results() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let mut failures = String::new();
    for seed in first..first + count {
        let program = program(seed, 30);
        if let Err(error) = check(program.clone(), seed) {
            // What is removed must not turn one failure into another one.
            let kind = error
                .split([':', ' '])
                .next()
                .unwrap_or_default()
                .to_owned();
            let fails =
                |p: &Program<Soac>| check(p.clone(), seed).is_err_and(|e| e.starts_with(&kind));
            let program = shrink(program, &fails);
            let error = check(program.clone(), seed).err().unwrap_or(error);
            let text = print::program(&program);
            failures.push_str(&format!("\n==== seed {seed}\n{text}\n{error}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}
