//! Random programs, run before and after each pass alone, after all of them, and on every target: the results must be the same.
//!
//! A failure prints the smallest program found that fails like it, in text form, as the start of a regression test.

#[path = "differential/targets.rs"]
mod targets;

use arrc_tests::generate::{arguments, program, shrink};
use midend::device::{Device, Stop};
use midend::interp::mem::Reference;
use midend::interp::{self, Options, scalar};
use midend::ir::mem::Mem;
use midend::ir::seg::{Seg, SegOp, SpaceDim};
use midend::ir::soac::Soac;
use midend::ir::syntax::{Exp, Fun, Program, Stm};
use midend::ir::threshold::{Forced, INFINITE};
use midend::ir::walk::all_stms;
use midend::ir::{print, read};
use midend::pass::{self, Pass, PassCx};
use midend::plan::{self, Executable, signatures};
use midend::trap::RunError;
use midend::value::Value;
use midend::verify::{self, Verify};
use midend::{passes, pipeline};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run gave: results, or that it failed, in whatever way the program does.
type Outcome = Result<Vec<Value>, String>;

/// How many programs are tried, unless `ARRC_PROGRAMS` says otherwise; `ARRC_SEED` is the seed of the first.
const PROGRAMS: u64 = 12;

fn options() -> Options<'static> {
    Options {
        fuel: Some(20_000_000),
        ..Options::default()
    }
}

/// What analyses claim is checked as well.
fn claimed() -> Options<'static> {
    Options {
        claims: true,
        ..options()
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

fn verified<D: Verify>(what: &str, program: &Program<D>) -> Result<(), String> {
    verify::program(program).map_err(|faults| {
        let list: Vec<String> = faults.iter().map(ToString::to_string).collect();
        format!("{what}: {}\n\n{}", list.join("\n"), print::program(program))
    })
}

/// What `f` computes; its panic is an error like others, so that it is shrunk and reported with its program.
fn unwound<R>(f: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => format!("panicked, {text}"),
        Err(_) => "panicked".into(),
    })
}

/// The program after a pass, which must be well-formed.
fn after<A: Clone, B: Verify>(
    pass: &Pass<A, B>,
    program: &Program<A>,
) -> Result<Program<B>, String> {
    let result = unwound(|| {
        let mut remarks = Vec::new();
        let mut cx = PassCx {
            options: &pass::Options::default(),
            remarks: &mut remarks,
        };
        (pass.run)(program.clone(), &mut cx)
    });
    let result = result.map_err(|why| format!("{}: {why}", pass.name))?;
    verified(pass.name, &result)?;
    Ok(result)
}

/// Runs a form of the program.
type Runner<'a> = dyn Fn(Vec<Value>) -> Result<Vec<Value>, RunError> + 'a;

/// One form of the program: what it is called, its text, and how it is run.
struct Form<'a> {
    name: &'a str,
    text: Box<dyn Fn() -> String + 'a>,
    run: Box<Runner<'a>>,
}

fn nested_form(name: &'static str, program: Program<Soac>) -> Form<'static> {
    let text = program.clone();
    Form {
        name,
        text: Box::new(move || print::program(&text)),
        run: Box::new(move |args| interp::run(&program, "main", args, &options())),
    }
}

fn flat_form(name: &'static str, program: Program<Seg>) -> Form<'static> {
    let text = program.clone();
    Form {
        name,
        text: Box::new(move || print::program(&text)),
        run: Box::new(move |args| interp::run_flat(&program, "main", args, &options())),
    }
}

/// The forms of a flat program with all guards true, and with none.
fn versions(program: &Program<Seg>) -> Vec<Form<'static>> {
    let choices = [
        ("flatten, all guards true", 0),
        ("flatten, no guard true", INFINITE),
    ];
    let forms = choices.map(|(name, number)| {
        let (program, text) = (program.clone(), program.clone());
        Form {
            name,
            text: Box::new(move || print::program(&text)),
            run: Box::new(move |args| {
                let thresholds = Forced::all(number);
                let options = Options {
                    thresholds: Some(&thresholds),
                    ..options()
                };
                interp::run_flat(&program, "main", args, &options)
            }),
        }
    });
    forms.into()
}

fn plan_form(
    name: &'static str,
    program: Program<Mem>,
    nested: &Program<Soac>,
    thresholds: Forced,
) -> Form<'static> {
    let mut signatures = signatures(nested);
    for signature in &mut signatures {
        // Passes may have renumbered the functions.
        let mut funs = program.funs.enumerate();
        let is_entry = |fun: &Fun<Mem>| {
            fun.entry
                .as_ref()
                .is_some_and(|e| e.name == signature.args.name)
        };
        if let Some((id, _)) = funs.find(|(_, fun)| is_entry(fun)) {
            signature.fun = id;
        }
    }
    let executable = Executable::new(&program, signatures);
    let text = program.clone();
    Form {
        name,
        text: Box::new(move || print::program(&text)),
        run: Box::new(move |args| {
            let device = Reference::new();
            let module = device.compile(&program)?;
            let stop = Stop::new();
            let options = plan::Options {
                thresholds: &thresholds,
                ..plan::Options::new(&stop)
            };
            executable.run(&device, &module, "main", args, &options)
        }),
    }
}

/// A form in which analyses have more to say.
fn claimed_form(name: &'static str, program: Program<Soac>) -> Form<'static> {
    let again = program.clone();
    Form {
        run: Box::new(move |args| interp::run(&again, "main", args, &claimed())),
        ..nested_form(name, program)
    }
}

/// The program after each pass alone, on its way down without other passes, and after all of them.
fn forms(nested: &Program<Soac>) -> Result<Vec<Form<'static>>, String> {
    let mut forms = Vec::new();
    for pass in passes::NESTED {
        forms.push(nested_form(pass.name, after(pass, nested)?));
    }
    let flat = after(&passes::FLATTEN, nested)?;
    forms.push(flat_form("flatten", flat.clone()));
    forms.extend(versions(&flat));
    for pass in passes::FLAT {
        forms.push(flat_form(pass.name, after(pass, &flat)?));
    }
    let planned = after(&passes::PLAN, &flat)?;
    forms.push(plan_form("plan", planned.clone(), nested, Forced::new()));
    for pass in passes::PLANNED {
        let plan = after(pass, &planned)?;
        forms.push(plan_form(pass.name, plan, nested, Forced::new()));
    }
    let mut program = nested.clone();
    for pass in pipeline::NESTED {
        program = after(pass, &program)?;
    }
    forms.push(claimed_form("nested pipeline", program.clone()));
    let mut flat = after(&pipeline::FLATTEN, &program)?;
    for pass in pipeline::FLAT {
        flat = after(pass, &flat)?;
    }
    let simple = flat.clone();
    let mut planned = after(&pipeline::PLAN, &flat)?;
    for pass in pipeline::PLANNED {
        planned = after(pass, &planned)?;
    }
    forms.extend(versions(&simple));
    forms.push(plan_form(
        "pipeline",
        planned.clone(),
        &program,
        Forced::new(),
    ));
    for number in [0, INFINITE] {
        let forced = Forced::all(number);
        forms.push(plan_form(
            "pipeline, one version",
            planned.clone(),
            &program,
            forced,
        ));
    }
    forms.extend(targets::forms(nested)?);
    Ok(forms)
}

/// Tries one program with several arguments; says what is wrong.
fn check(nested: &Program<Soac>, seed: u64) -> Result<(), String> {
    let text = print::program(nested);
    let again: Program<Soac> = read::program(&text).map_err(|e| format!("read: {e}"))?;
    if print::program(&again) != text {
        return Err("read: the text read back prints otherwise".into());
    }
    verified("nested", nested)?;
    let forms = forms(nested)?;
    for round in 0..3 {
        let args = arguments(seed * 4 + round);
        let result = interp::run(nested, "main", args.clone(), &claimed());
        let Some(wanted) = outcome(result).map_err(|e| format!("nested: {e}"))? else {
            continue;
        };
        for form in &forms {
            compare(form, &args, &wanted)?;
        }
    }
    Ok(())
}

fn compare(form: &Form<'_>, args: &[Value], wanted: &Outcome) -> Result<(), String> {
    let about = || format!("for {args:?}\n\n{}", (form.text)());
    let result = unwound(|| (form.run)(args.to_vec()));
    let result = result.map_err(|why| format!("{}: {why}\n{}", form.name, about()))?;
    let got = outcome(result).map_err(|e| format!("{}: {e}\n{}", form.name, about()))?;
    match got {
        Some(got) if !same(wanted, &got) => Err(format!(
            "{}: gives {got:?}\ninstead of {wanted:?}\n{}",
            form.name,
            about()
        )),
        Some(_) | None => Ok(()),
    }
}

#[test]
fn every_pass_keeps_the_results() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let first = number("ARRC_SEED").unwrap_or(0);
    let count = number("ARRC_PROGRAMS").unwrap_or(PROGRAMS);
    let mut failures = String::new();
    for seed in first..first + count {
        let program = program(seed, 30);
        if let Err(error) = check(&program, seed) {
            // What is removed must not turn one failure into another one.
            let kind = error
                .split([':', ' '])
                .next()
                .unwrap_or_default()
                .to_owned();
            let fails = |p: &Program<Soac>| check(p, seed).is_err_and(|e| e.starts_with(&kind));
            let program = shrink(program, &fails);
            let error = check(&program, seed).err().unwrap_or(error);
            let text = print::program(&program);
            failures.push_str(&format!("\n==== seed {seed}\n{text}\n{error}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
}

/// Random programs hold what flattening has most to do with: operators inside of operators, and rows of varying length.
#[test]
fn many_programs_are_nested_and_irregular() {
    const TRIED: u64 = 100;
    let (mut nested, mut ragged) = (0, 0);
    for seed in 0..TRIED {
        let program = program(seed, 30);
        let inner = |stm: &Stm<Soac>| {
            let mut inner = false;
            stm.exp.scopes(&mut |_, body| {
                all_stms(body, &mut |stm| {
                    inner |= matches!(&stm.exp, Exp::Op(Soac::Screma { .. }))
                });
            });
            inner && matches!(&stm.exp, Exp::Op(Soac::Screma { .. }))
        };
        let mut is_nested = false;
        for fun in program.funs.iter() {
            all_stms(&fun.body, &mut |stm| is_nested |= inner(stm));
        }
        nested += u64::from(is_nested);
        let flat = after(&passes::FLATTEN, &program).expect("the pass keeps programs well-formed");
        let has_ragged_space = |op: &SegOp| {
            let mut dims = op.space.dims.iter();
            dims.any(|dim| matches!(dim.1, SpaceDim::Ragged { .. }))
        };
        let mut is_ragged = false;
        for fun in flat.funs.iter() {
            all_stms(&fun.body, &mut |stm| {
                is_ragged |= matches!(&stm.exp, Exp::Op(Seg::Par(op)) if has_ragged_space(op));
            });
        }
        ragged += u64::from(is_ragged);
    }
    assert!(10 * nested >= 3 * TRIED, "{nested} of {TRIED} are nested");
    assert!(5 * ragged >= TRIED, "{ragged} of {TRIED} are irregular");
}
