//! Programs in text form mean the same on every level: nested, flat, and as a plan on the reference device.

use midend::device::{Device, Stop};
use midend::driver::{Driver, Event, Settings};
use midend::interp::{self, mem::Reference};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::scalar::Const;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Exp, Program};
use midend::ir::{read, walk};
use midend::passes::{flatten::flatten, plan::plan};
use midend::pipeline;
use midend::plan::{Executable, Options, signatures};
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use midend::verify::{self, Verify};
use std::time::Duration;

#[path = "lowering/accumulators.rs"]
mod accumulators;
#[path = "lowering/control.rs"]
mod control;
#[path = "lowering/fusion.rs"]
mod fusion;
#[path = "lowering/memory.rs"]
mod memory;
#[path = "lowering/operators.rs"]
mod operators;

fn int(n: i64) -> Value {
    Value::Scalar(Const::I64(n))
}

fn ints(shape: &[i64], data: &[i64]) -> Value {
    Value::Array(ArrayValue {
        shape: shape.to_vec(),
        data: Data::I64(data.to_vec()),
    })
}

fn vector(data: &[i64]) -> Value {
    ints(&[data.len() as i64], data)
}

fn program(text: &str) -> Program<Soac> {
    match read::program(text) {
        Ok(program) => program,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn lowered(text: &str) -> (Program<Mem>, Executable) {
    let nested = program(text);
    let signatures = signatures(&nested);
    let options = midend::pass::Options::default();
    let plan = plan(flatten(nested, &options), &options);
    verified(&plan);
    let executable = Executable::new(&plan, signatures);
    (plan, executable)
}

/// The number of operations of a plan for which `f` holds, those of kernels among them.
fn count(plan: &Program<Mem>, f: impl Fn(&Mem) -> bool) -> usize {
    let mut n = 0;
    for fun in plan.funs.iter() {
        walk::all_stms(&fun.body, &mut |stm| {
            if let Exp::Op(op) = &stm.exp {
                n += usize::from(f(op));
            }
        });
    }
    n
}

fn run_plan(text: &str, args: Vec<Value>) -> Result<Vec<Value>, RunError> {
    let (plan, executable) = lowered(text);
    let device = Reference::new();
    let module = device.compile(&plan)?;
    let stop = Stop::new();
    executable.run(&device, &module, "main", args, &Options::new(&stop))
}

fn verified<D: Verify>(program: &Program<D>) {
    if let Err(faults) = verify::program(program) {
        panic!("{faults:?}\n{}", print::program(program));
    }
}

/// Runs a program on all levels, and gives what they agree on.
fn run(text: &str, args: Vec<Value>) -> Vec<Value> {
    let nested = program(text);
    let options = interp::Options::default();
    let expected = interp::run(&nested, "main", args.clone(), &options);
    let expected = expected.unwrap_or_else(|e| panic!("nested: {e}\n{text}"));
    verified(&nested);
    let flat = flatten(nested, &midend::pass::Options::default());
    verified(&flat);
    let result = interp::run_flat(&flat, "main", args.clone(), &options);
    assert_eq!(
        result.as_ref(),
        Ok(&expected),
        "flat:\n{}",
        print::program(&flat)
    );
    let result = run_plan(text, args.clone());
    assert_eq!(
        result.as_ref(),
        Ok(&expected),
        "plan:\n{}",
        print::program(&plan(flat, &midend::pass::Options::default()))
    );
    optimized(text, args, &expected);
    expected
}

/// Runs a program after the passes of the pipeline on all levels.
fn optimized(text: &str, args: Vec<Value>, expected: &Vec<Value>) {
    let settings = Settings::default();
    let clock = || Duration::ZERO;
    let mut tell = |_: Event<'_>| {};
    let mut driver = Driver::new(&settings, &clock, &mut tell);
    let options = interp::Options::default();
    let nested =
        pipeline::nested(program(text), &mut driver).unwrap_or_else(|e| panic!("{e}\n{}", e.text));
    let result = interp::run(&nested, "main", args.clone(), &options);
    assert_eq!(
        result.as_ref(),
        Ok(expected),
        "nested, optimized:\n{}",
        print::program(&nested)
    );
    let flat =
        pipeline::flat(program(text), &mut driver).unwrap_or_else(|e| panic!("{e}\n{}", e.text));
    let result = interp::run_flat(&flat, "main", args.clone(), &options);
    assert_eq!(
        result.as_ref(),
        Ok(expected),
        "flat, optimized:\n{}",
        print::program(&flat)
    );
    let (plan, signatures) =
        pipeline::plan(program(text), &mut driver).unwrap_or_else(|e| panic!("{e}\n{}", e.text));
    let device = Reference::new();
    let stop = Stop::new();
    let module = device.compile(&plan).expect("a plan that compiles");
    let executable = Executable::new(&plan, signatures);
    let result = executable.run(&device, &module, "main", args, &Options::new(&stop));
    assert_eq!(
        result.as_ref(),
        Ok(expected),
        "plan, optimized:\n{}",
        print::program(&plan)
    );
}

/// The same with the result written down.
fn gives(text: &str, args: Vec<Value>, expected: &[Value]) {
    assert_eq!(run(text, args), expected, "{text}");
}
