//! `arrc opt`: runs passes on programs in the text form of the IR.

use super::Outcome;
use super::exit::Exit;
use super::output::{to_stderr, to_stdout};
use crate::data::Source;
use crate::passes::{no_pass, pass_names};
use crate::session::{no_gradients, on_big_stack};
use clap::{Args, ValueEnum};
use midend::driver::{Broken, Driver, DumpAfter, Event, Settings};
use midend::ir::mem::Mem;
use midend::ir::seg::Seg;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::{print, read, threshold};
use midend::pass::{self, Analysis, Pass};
use midend::{passes, pipeline};
use std::path::PathBuf;
use std::time::Instant;

/// What `arrc opt` takes.
#[derive(Args)]
pub(super) struct OptArguments {
    /// A program in the text form of any dialect of the IR, or a source program (`.fut`); `-` is standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// Run this pass; several are run in the order given. Without any, the usual passes are run
    #[arg(long, value_name = "NAME")]
    pass: Vec<String>,
    /// Stop when the program is in this dialect
    #[arg(long, value_enum, default_value_t = Dialect::Plan)]
    to: Dialect,
    /// What the program is compiled for: a GPU works while the host goes on
    #[arg(long, value_enum, default_value_t = Machine::Gpu)]
    target: Machine,
    /// List the passes
    #[arg(long)]
    list: bool,
    /// List the thresholds of the program instead of printing it
    #[arg(long)]
    thresholds: bool,
    /// Print the program after these passes, to standard error (`all`, or names)
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    dump_after: Vec<String>,
    /// Run only so many of the passes that can be left out
    #[arg(long, value_name = "N")]
    pass_limit: Option<usize>,
    /// Leave out these passes (but lowerings) wherever they would be run
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    without: Vec<String>,
    #[command(flatten)]
    liberties: Liberties,
    /// Tell the time of each pass, to standard error
    #[arg(long)]
    times: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum Dialect {
    Nested,
    Flat,
    Plan,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Machine {
    Cpu,
    Gpu,
}

/// A program in whatever dialect it is.
enum Any {
    Nested(Program<Soac>),
    Flat(Program<Seg>),
    Plan(Program<Mem>),
}

/// Which passes to tell the program after, as the command line says it.
pub(super) fn dump_after(names: &[String]) -> Result<DumpAfter, Exit> {
    if names.is_empty() {
        return Ok(DumpAfter::None);
    }
    if names.iter().any(|name| name == "all") {
        return Ok(DumpAfter::All);
    }
    match names.iter().find(|name| !pass_names().any(|p| p == **name)) {
        Some(unknown) => Err(Exit::user(no_pass(unknown, ""))),
        None => Ok(DumpAfter::Named(names.to_vec())),
    }
}

/// What a program may lose that is compiled for speed.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Liberties {
    /// Do not keep to the last digits of floats: products and sums may round once, divisions become products
    #[arg(long, help_heading = "The compiler")]
    pub(super) fast_math: bool,
    /// Do not check indices and slices: a program that goes outside of its arrays may do anything then
    #[arg(long = "unsafe", help_heading = "The compiler")]
    unchecked: bool,
}

impl Liberties {
    /// The flags that say so to a worker.
    pub(super) fn flags(self) -> impl Iterator<Item = &'static str> {
        let fast = self.fast_math.then_some("--fast-math");
        fast.into_iter().chain(self.unchecked.then_some("--unsafe"))
    }
}

/// What passes read: the passes to do without as the command line says them, and what a program may lose.
pub(super) fn pass_options(names: &[String], liberties: Liberties) -> Result<pass::Options, Exit> {
    let lowerings = [pipeline::FLATTEN.name, pipeline::PLAN.name];
    for name in names {
        if lowerings.contains(&name.as_str()) {
            return Err(Exit::user(format!(
                "{name} cannot be left out: it leads from one dialect to the next"
            )));
        }
        if !pass_names().any(|pass| pass == name) {
            return Err(Exit::user(no_pass(name, "")));
        }
    }
    Ok(pass::Options {
        without: names.to_vec(),
        fast_math: liberties.fast_math,
        unchecked: liberties.unchecked,
        ..pass::Options::default()
    })
}

/// Prints what the driver tells: programs, remarks, and times if they are wanted.
pub(super) fn tell(event: &Event<'_>, times: bool) {
    match event {
        Event::Ran {
            number,
            pass,
            time,
            verify,
        } if times => to_stderr(&format!(
            "; {number:2} {pass:12} {:9.3} ms, verified in {:9.3} ms\n",
            time.as_secs_f64() * 1e3,
            verify.as_secs_f64() * 1e3
        )),
        Event::Ran { .. } | Event::Skipped { .. } => {}
        Event::Dump { number, pass, text } => match text {
            Some(text) => to_stderr(&format!("; after {pass} (pass {number})\n{text}\n")),
            None => to_stderr(&format!("; after {pass} (pass {number}): no change\n")),
        },
        Event::Remark(remark) => to_stderr(&format!("; {}: {}\n", remark.pass, remark.message)),
    }
}

pub(super) fn run(arguments: &OptArguments) -> Outcome {
    if arguments.list {
        return list();
    }
    let program = read(arguments)?;
    let mut options = pass_options(&arguments.without, arguments.liberties)?;
    options.asynchronous = arguments.target == Machine::Gpu;
    let settings = Settings {
        dump_after: dump_after(&arguments.dump_after)?,
        pass_limit: arguments.pass_limit,
        options,
    };
    let start = Instant::now();
    let clock = || start.elapsed();
    let text = on_big_stack(|| {
        let mut tell = |event: Event<'_>| tell(&event, arguments.times);
        let mut driver = Driver::new(&settings, &clock, &mut tell);
        let (names, analysis) = split(&arguments.pass);
        let program = transform(program, arguments, names, &mut driver)?;
        if arguments.thresholds {
            return Ok(program.thresholds());
        }
        if let Some(analysis) = analysis {
            return analysis.annotated(&program);
        }
        Ok(match program {
            Any::Nested(program) => print::program(&program),
            Any::Flat(program) => print::program(&program),
            Any::Plan(program) => print::program(&program),
        })
    })?;
    to_stdout(|out| out.write_all(text.as_bytes()))
}

fn list() -> Outcome {
    fn table<From, To>(name: &str, passes: &[Pass<From, To>], out: &mut String) {
        out.push_str(&format!("{name}:\n"));
        for pass in passes {
            out.push_str(&format!("  {:12} {}\n", pass.name, pass.summary));
        }
    }
    let mut text = String::new();
    table("on nested programs", passes::NESTED, &mut text);
    text.push_str("analyses of nested programs:\n");
    for analysis in passes::ANALYSES {
        text.push_str(&format!("  {:12} {}\n", analysis.name, analysis.summary));
    }
    table("from nested to flat", &[pipeline::FLATTEN], &mut text);
    table("on flat programs", passes::FLAT, &mut text);
    text.push_str("analyses of flat programs:\n");
    for analysis in passes::FLAT_ANALYSES {
        text.push_str(&format!("  {:12} {}\n", analysis.name, analysis.summary));
    }
    table("from flat to plan", &[pipeline::PLAN], &mut text);
    table("on plans", passes::PLANNED, &mut text);
    to_stdout(|out| out.write_all(text.as_bytes()))
}

fn read(arguments: &OptArguments) -> Result<Any, Exit> {
    if arguments.file.extension().is_some_and(|e| e == "fut") {
        return crate::session::nested_ir(&arguments.file)
            .map(Any::Nested)
            .map_err(|e| Exit::compile(&e));
    }
    let source = Source::open(&arguments.file).map_err(Exit::user)?;
    let text = String::from_utf8_lossy(source.bytes()).into_owned();
    let wrong = |why: read::ReadError| Exit::user(format!("{}: {why}", source.name()));
    match read::dialect_name(&text) {
        Some("nested") => read::program(&text).map(Any::Nested).map_err(wrong),
        Some("flat") => read::program(&text).map(Any::Flat).map_err(wrong),
        Some("plan") => read::program(&text).map(Any::Plan).map_err(wrong),
        Some(_) | None => Err(Exit::user(format!(
            "{}: a program begins with the name of its dialect: nested, flat or plan",
            source.name()
        ))),
    }
}

/// An analysis of programs in one dialect.
#[derive(Clone, Copy)]
enum Named {
    Nested(&'static Analysis<Soac>),
    Flat(&'static Analysis<Seg>),
}

impl Named {
    fn of(name: &str) -> Option<Self> {
        let nested = passes::ANALYSES.iter().find(|a| a.name == name);
        let flat = passes::FLAT_ANALYSES.iter().find(|a| a.name == name);
        nested.map(Self::Nested).or(flat.map(Self::Flat))
    }

    /// The text of a program with what was found.
    fn annotated(self, program: &Any) -> Result<String, Exit> {
        let of = |name, dialect| {
            let why = format!("{name} is an analysis of {dialect} programs");
            Err(Exit::user(why))
        };
        match (self, program) {
            (Self::Nested(analysis), Any::Nested(program)) => Ok((analysis.annotated)(program)),
            (Self::Flat(analysis), Any::Flat(program)) => Ok((analysis.annotated)(program)),
            (Self::Nested(analysis), Any::Flat(_) | Any::Plan(_)) => of(analysis.name, "nested"),
            (Self::Flat(analysis), Any::Nested(_) | Any::Plan(_)) => of(analysis.name, "flat"),
        }
    }
}

/// The passes, and the analysis that is named after them, if there is one.
fn split(names: &[String]) -> (&[String], Option<Named>) {
    match names.last().and_then(|name| Named::of(name)) {
        Some(analysis) => (&names[..names.len() - 1], Some(analysis)),
        None => (names, None),
    }
}

fn transform(
    program: Any,
    arguments: &OptArguments,
    names: &[String],
    driver: &mut Driver<'_>,
) -> Result<Any, Exit> {
    match &program {
        Any::Nested(program) => driver.start(program),
        Any::Flat(program) => driver.start(program),
        Any::Plan(program) => driver.start(program),
    }
    .map_err(|why| broken(&why))?;
    if arguments.pass.is_empty() {
        if let Any::Nested(program) = &program {
            no_gradients(program)
                .map_err(|why| Exit::user(format!("{}: {why}", arguments.file.display())))?;
        }
        return usual(program, arguments.to, driver).map_err(|why| broken(&why));
    }
    names.iter().try_fold(program, |program, name| {
        let unknown = || {
            let dialect = program.dialect();
            let on = format!(" on {} programs", format!("{dialect:?}").to_lowercase());
            Exit::user(no_pass(name, &on))
        };
        let found = named(&program, name).ok_or_else(unknown)?;
        if let Any::Nested(program) = &program
            && *name != pipeline::DERIVATIVES.name
            && let Some(fun) = program.funs.iter().find(|fun| fun.derivative.is_some())
        {
            return Err(Exit::user(format!(
                "the pass `{name}` takes programs without derivatives, and `{}` is one; run `{}` before it",
                fun.name,
                pipeline::DERIVATIVES.name
            )));
        }
        found.run(program, driver).map_err(|why| broken(&why))
    })
}

fn broken(why: &Broken) -> Exit {
    Exit::internal(format!("{why}\nthe program is then\n{}", why.text))
}

/// The usual passes from the program's dialect to the one that is wanted.
fn usual(program: Any, to: Dialect, driver: &mut Driver<'_>) -> Result<Any, Broken> {
    let program = match program {
        Any::Nested(program) => {
            let program = pipeline::derived(program, driver)?;
            let program = driver.run_all(pipeline::NESTED, program)?;
            if to == Dialect::Nested {
                return Ok(Any::Nested(program));
            }
            Any::Flat(driver.run(&pipeline::FLATTEN, program)?)
        }
        other @ (Any::Flat(_) | Any::Plan(_)) => other,
    };
    let program = match program {
        Any::Flat(program) => {
            let program = driver.run_all(pipeline::FLAT, program)?;
            if to <= Dialect::Flat {
                return Ok(Any::Flat(program));
            }
            Any::Plan(driver.run(&pipeline::PLAN, program)?)
        }
        other @ (Any::Nested(_) | Any::Plan(_)) => other,
    };
    match program {
        Any::Plan(program) => Ok(Any::Plan(driver.run_all(pipeline::PLANNED, program)?)),
        other @ (Any::Nested(_) | Any::Flat(_)) => Ok(other),
    }
}

/// A pass that fits a program's dialect.
enum Found {
    Nested(&'static Pass<Soac>),
    Flatten,
    Flat(&'static Pass<Seg>),
    Plan,
    Planned(&'static Pass<Mem>),
}

fn named(program: &Any, name: &str) -> Option<Found> {
    match program {
        Any::Nested(_) if name == pipeline::FLATTEN.name => Some(Found::Flatten),
        Any::Flat(_) if name == pipeline::PLAN.name => Some(Found::Plan),
        Any::Nested(_) => passes::NESTED
            .iter()
            .find(|pass| pass.name == name)
            .map(Found::Nested),
        Any::Flat(_) => passes::FLAT
            .iter()
            .find(|pass| pass.name == name)
            .map(Found::Flat),
        Any::Plan(_) => passes::PLANNED
            .iter()
            .find(|pass| pass.name == name)
            .map(Found::Planned),
    }
}

impl Found {
    /// Runs the pass; a program of another dialect than it was found for is handed back as it is.
    fn run(self, program: Any, driver: &mut Driver<'_>) -> Result<Any, Broken> {
        Ok(match (self, program) {
            (Self::Nested(pass), Any::Nested(program)) => Any::Nested(driver.run(pass, program)?),
            (Self::Flatten, Any::Nested(program)) => {
                Any::Flat(driver.run(&pipeline::FLATTEN, program)?)
            }
            (Self::Flat(pass), Any::Flat(program)) => Any::Flat(driver.run(pass, program)?),
            (Self::Plan, Any::Flat(program)) => Any::Plan(driver.run(&pipeline::PLAN, program)?),
            (Self::Planned(pass), Any::Plan(program)) => Any::Plan(driver.run(pass, program)?),
            (_, program) => program,
        })
    }
}

impl Any {
    /// The names of the thresholds, one on a line.
    fn thresholds(&self) -> String {
        let all = match self {
            Self::Nested(program) => threshold::of(program),
            Self::Flat(program) => threshold::of(program),
            Self::Plan(program) => threshold::of(program),
        };
        all.iter().map(|t| format!("{t}\n")).collect()
    }
    const fn dialect(&self) -> Dialect {
        match self {
            Self::Nested(_) => Dialect::Nested,
            Self::Flat(_) => Dialect::Flat,
            Self::Plan(_) => Dialect::Plan,
        }
    }
}
