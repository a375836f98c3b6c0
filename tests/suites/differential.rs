//! Random programs, interpreted before and after each way down: the results must be the same.
//!
//! A failure prints the smallest program of its seed that fails, in text form, as the start of a regression test.

use arrc_tests::generate::{arguments, program};
use midend::interp::{self, Options, scalar};
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::{print, read};
use midend::passes::flatten;
use midend::trap::RunError;
use midend::value::Value;

/// What a run gave: results, or that it failed, in whatever way the program does.
type Outcome = Result<Vec<Value>, String>;

/// How many programs are tried, and the first seed.
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

/// Tries one program with several arguments; says what is wrong.
fn check(seed: u64, budget: usize) -> Result<(), String> {
    let nested = program(seed, budget);
    let text = print::program(&nested);
    let again: Program<Soac> = read::program(&text).map_err(|e| format!("not read back: {e}"))?;
    if print::program(&again) != text {
        return Err("the text read back prints otherwise".into());
    }
    let flat = flatten::flatten(nested.clone());
    for round in 0..4 {
        let args = arguments(seed * 4 + round);
        let result = interp::run(&nested, "main", args.clone(), &options());
        let Some(wanted) = outcome(result).map_err(|e| format!("nested: {e}"))? else {
            continue;
        };
        let result = interp::run_flat(&flat, "main", args.clone(), &options());
        let Some(got) = outcome(result)
            .map_err(|e| format!("flat: {e}\nfor {args:?}\n\n{}", print::program(&flat)))?
        else {
            continue;
        };
        if !same(&wanted, &got) {
            return Err(format!(
                "for {args:?}\nnested: {wanted:?}\nflat: {got:?}\n\n{}",
                print::program(&flat)
            ));
        }
    }
    Ok(())
}

#[test]
fn every_way_down_keeps_the_results() {
    let first: u64 = std::env::var("ARRC_SEED")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(0);
    for seed in first..first + PROGRAMS {
        let Err(error) = check(seed, 30) else {
            continue;
        };
        let smaller = (1..30).find_map(|budget| Some((budget, check(seed, budget).err()?)));
        let (budget, error) = smaller.unwrap_or((30, error));
        panic!(
            "seed {seed}, budget {budget}: {error}\n\n{}",
            print::program(&program(seed, budget))
        );
    }
}
