//! The programs by which the mid-end tests its lowering, run on this device: results agree with the interpreter's.

use backend_cpu::{CpuDevice, Options as DeviceOptions};
use midend::device::{Device, Stop};
use midend::interp::{self, mem::Reference};
use midend::ir::mem::Mem;
use midend::ir::print;
use midend::ir::scalar::Const;
use midend::ir::soac::Soac;
use midend::ir::syntax::{Exp, Program};
use midend::ir::threshold::Forced;
use midend::ir::{read, walk};
use midend::passes::{flatten::flatten, plan::plan};
use midend::plan::{Executable, Options, signatures};
use midend::trap::RunError;
use midend::value::{ArrayValue, Data, Value};
use midend::verify::{self, Verify};

#[path = "../../midend/tests/lowering/control.rs"]
mod control;
#[path = "../../midend/tests/lowering/memory.rs"]
mod memory;
#[path = "../../midend/tests/lowering/operators.rs"]
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
    let device = CpuDevice::new(DeviceOptions {
        threads: 2,
        memory: None,
        vector_bits: 0,
    })?;
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
    let result = run_plan(text, args);
    assert_eq!(
        result.as_ref(),
        Ok(&expected),
        "plan:\n{}",
        print::program(&plan(flat, &midend::pass::Options::default()))
    );
    expected
}

/// The same with the result written down.
fn gives(text: &str, args: Vec<Value>, expected: &[Value]) {
    assert_eq!(run(text, args), expected, "{text}");
}

/// Sums of rows, in two versions.
const ROWS: &str = r#"nested

fun sums(n_0: i64, m_1: i64, xss_2: [n_0][m_1]i64) -> (*r_3: [n_0]i64)
  entry "main" sizes 2 -> 0 (xss: [][]i64) -> ([]i64) @1
{
  let r_6: [n_0]i64 = map n_0 (xss_2) \(xs_7: [m_1]i64) {
    let s_8: i64 = map m_1 (xs_7) \(x_9: i64) {
      yield x_9
    } reduce comm (0) \(a_10: i64, b_11: i64) {
      let c_12: i64 = add.i64(a_10, b_11)
      yield c_12
    } @1
    yield s_8
  }
  yield r_6
}

span 1 "sums.fut" 1:7..1:11
"#;

#[test]
fn versions_are_compiled_when_they_are_chosen() -> Result<(), RunError> {
    let (plan, executable) = lowered(ROWS);
    let kernels = count(&plan, |op| matches!(op, Mem::Launch(_)));
    assert_eq!((kernels, executable.thresholds().len()), (2, 1));
    let device = CpuDevice::new(DeviceOptions {
        threads: 2,
        memory: None,
        vector_bits: 0,
    })?;
    let module = device.compile(&plan)?;
    assert_eq!(module.compiled(), 0);
    let stop = Stop::new();
    for (number, compiled) in [(0, 1), (0, 1), (i64::MAX, 2)] {
        let forced = Forced::all(number);
        let options = Options {
            thresholds: &forced,
            ..Options::new(&stop)
        };
        let args = vec![ints(&[2, 3], &[1, 2, 3, 4, 5, 6])];
        let sums = executable.run(&device, &module, "main", args, &options)?;
        assert_eq!(sums, [vector(&[6, 15])]);
        assert_eq!(module.compiled(), compiled);
    }
    Ok(())
}
