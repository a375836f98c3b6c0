//! Random programs, run before and after each pass alone, after each pass of the pipeline, and on every target, with guards
//! as they come, all true, none true, and each alone: the results must be the same.
//!
//! ```text
//! seed ─► program ─► interpreter, which checks what analyses claim ─► results ─┬─ equal? ─► next
//!            └─► forms: passes alone, prefixes of the pipeline, targets ───────┘    └─► shrink, report
//! ```
//!
//! The suite `differential` tries a few programs, the command `differential` any number on all cores.

pub mod campaign;
pub mod exact;
mod forms;
pub mod planted;
pub mod share;
mod targets;

use crate::generate::arguments;
use crate::generate::modules;
use crate::generate::rows::{self, Sequences};
use crate::generate::shrink;
use crate::generate::smooth;
use arrc::loader::FileLoader;
use frontend::diagnostic::{Code, Diagnostic};
use frontend::render::{Look, render_all};
use midend::fired::{self, Counts};
use midend::interp::scalar::same_value;
use midend::interp::{self, Options};
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::{print, read};
use midend::trap::RunError;
use midend::value::Value;
use midend::verify::{self, Verify};
use planted::Plant;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What a run gave: results, or that it failed, in whatever way the program does.
type Outcome = Result<Vec<Value>, String>;

/// How many statements a program has, about.
pub const BUDGET: usize = 30;

/// The checker cannot tell that all sizes of a random program agree; of so many programs it accepts one.
const ATTEMPTS: u64 = 8;

/// In so many of them sequences may be parameters.
const PARAMETERS: u64 = 4;

/// How many lists of arguments a program is given.
const ROUNDS: u64 = 3;

/// What is tried besides passes and the interpreter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trials {
    /// Whether programs are compiled for the CPU and for the emulator of GPUs as well.
    pub targets: bool,
    /// Whether programs are made in the source language, with irregular arrays.
    pub rows: bool,
    /// Whether they are made in the source language, with modules, size expressions, records and sums.
    pub modules: bool,
    /// Whether they are made in the source language, and compute derivatives.
    pub derivatives: bool,
    /// Whether these have sequences as well.
    pub sequences: bool,
    /// Whether every program, not one of four, is compiled for vector registers of 256 bits as well.
    pub widths: bool,
    /// Whether programs are those whose sizes overflow, each with so many lists of arguments ([`crate::extents`]).
    pub extents: Option<u64>,
    /// A mistake made on purpose.
    pub plant: Option<&'static Plant>,
}

impl Trials {
    /// Everything, and no mistake.
    pub const ALL: Self = Self {
        targets: true,
        rows: false,
        modules: false,
        derivatives: false,
        sequences: false,
        widths: false,
        extents: None,
        plant: None,
    };

    /// Whether programs are made in the source language.
    pub const fn of_source(&self) -> bool {
        self.rows || self.modules || self.derivatives
    }
}

fn options() -> Options<'static> {
    Options {
        fuel: Some(2_000_000),
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
        Err(payload) => payload
            .downcast_ref::<&str>()
            .map_or_else(|| "panicked".into(), |text| format!("panicked, {text}")),
    })
}

/// Runs a form of the program.
type Runner<'a> = dyn Fn(Vec<Value>) -> Result<Vec<Value>, RunError> + 'a;

/// One form of the program: what it is called, its text, and how it is run.
struct Form<'a> {
    name: String,
    /// Which target runs it, and what is special, for the summary.
    on: Option<String>,
    /// Whether one list of arguments is enough: the program goes on to other forms.
    brief: bool,
    text: Box<dyn Fn() -> String + 'a>,
    run: Box<Runner<'a>>,
}

/// What is known of a program that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Whether an operator holds another one.
    pub nested: bool,
    /// Whether a parallel operation goes over rows of different lengths.
    pub ragged: bool,
    /// Whether something is read from a table after all passes.
    pub tables: bool,
    /// How often each rule of the compiler was used.
    pub counts: Counts,
    /// How many runs were compared.
    pub runs: u64,
    /// On which targets, and in which ways of each.
    pub on: BTreeSet<String>,
}

/// Tries one program with several arguments; says what is wrong, or what the program was.
pub fn check(nested: &Program<Soac>, seed: u64, trials: Trials) -> Result<Tried, String> {
    check_with(nested, seed, trials, &arguments)
}

/// The same for a program of the source language, which must be accepted, with derivatives both modes of which must agree; what is wrong, before the program's text.
pub fn check_source(seed: u64, budget: usize, trials: Trials) -> Result<Tried, String> {
    if !trials.modules && !trials.derivatives {
        return check_rows(seed, budget, trials);
    }
    let text = match trials.derivatives {
        true => smooth::text(seed, budget),
        false => modules::text(seed, budget),
    };
    let about = |why: String| format!("{why}\n\n{text}");
    let mut loader = FileLoader::new();
    let file = loader.add_text("random.fut", &text);
    let compiled = unwound(|| frontend::compile(file, &mut loader)).map_err(about)?;
    match compiled {
        Ok(compiled) => {
            let arguments = match trials.derivatives {
                true => smooth::arguments,
                false => modules::arguments,
            };
            check_with(&compiled.program, seed, trials, &arguments).map_err(about)
        }
        Err(errors) => Err(about(refusal(&loader, &errors))),
    }
}

/// The same for irregular arrays.
pub fn check_rows(seed: u64, budget: usize, trials: Trials) -> Result<Tried, String> {
    let mut refused = String::new();
    for attempt in 0..ATTEMPTS {
        // What goes through parameters cannot always be done together.
        let sequences = match (trials.sequences, attempt) {
            (false, _) => Sequences::Without,
            (true, 0..PARAMETERS) => Sequences::Parameters,
            (true, _) => Sequences::Inside,
        };
        let text = rows::text(seed.wrapping_add(attempt << 40), budget, sequences);
        let about = |why: String| format!("{why}\n\n{text}");
        let mut loader = FileLoader::new();
        let file = loader.add_text("rows.fut", &text);
        let compiled = unwound(|| frontend::compile(file, &mut loader)).map_err(about)?;
        match compiled {
            Ok(compiled) => {
                let tried = check_with(&compiled.program, seed, trials, &|seed| {
                    rows::arguments(seed, sequences)
                });
                return tried.map_err(about);
            }
            Err(errors) => {
                let unsupported = errors.iter().any(|e| e.code == Code::NotYetSupported);
                refused = about(refusal(&loader, &errors));
                if unsupported {
                    break;
                }
            }
        }
    }
    Err(refused)
}

fn refusal(loader: &FileLoader, errors: &[Diagnostic]) -> String {
    let errors = render_all(loader.sources(), errors, Look::Plain);
    format!("refused: {errors}")
}

fn check_with(
    nested: &Program<Soac>,
    seed: u64,
    trials: Trials,
    arguments: &dyn Fn(u64) -> Vec<Value>,
) -> Result<Tried, String> {
    let text = print::program(nested);
    let again: Program<Soac> = read::program(&text).map_err(|e| format!("read: {e}"))?;
    if print::program(&again) != text {
        return Err("read: the text read back prints otherwise".into());
    }
    verified("nested", nested)?;
    let mut wanted = Vec::new();
    for round in 0..ROUNDS {
        let args = arguments(seed * 4 + round);
        let result = unwound(|| interp::run(nested, "main", args.clone(), &claimed()))?;
        if let Some(outcome) = outcome(result).map_err(|e| format!("nested: {e}"))? {
            if let (true, Ok(results)) = (trials.derivatives, &outcome) {
                let about = |why| format!("identity: {why}\nfor {args:?}");
                // What is fused is differentiated in another order.
                if !smooth::identity(results).map_err(about)? {
                    continue;
                }
            }
            wanted.push((args, outcome));
        }
    }
    let (mut runs, mut on) = (0, BTreeSet::new());
    let (result, counts) = fired::counted(|| {
        forms::try_all(nested, seed, trials, &mut |form| {
            if let Some(place) = form.on.as_ref().filter(|place| !on.contains(*place)) {
                on.insert(place.clone());
            }
            let one = (seed % ROUNDS) as usize;
            wanted
                .iter()
                .enumerate()
                .filter(|(i, _)| !form.brief || *i == one.min(wanted.len() - 1))
                .try_for_each(|(_, (args, wanted))| {
                    runs += 1;
                    compare(form, args, wanted)
                })
        })
    });
    let became = result?;
    Ok(Tried {
        nested: share::is_nested(nested),
        ragged: became.ragged,
        tables: became.tables,
        counts,
        runs,
        on,
    })
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

/// A smaller program that fails like one that does, and how: a report that begins with the program's text.
pub fn shrunk(program: Program<Soac>, seed: u64, trials: Trials, error: String) -> String {
    // What is removed must not turn one failure into another one.
    let kind = error.split(':').next().unwrap_or_default().to_owned();
    let fails = |p: &Program<Soac>| check(p, seed, trials).is_err_and(|e| e.starts_with(&kind));
    let program = shrink(program, &fails);
    let error = check(&program, seed, trials).err().unwrap_or(error);
    format!("==== seed {seed}\n{}\n{error}\n", print::program(&program))
}
