//! The child's side of measuring: one program on one target, in a process of its own. It does what it is asked for, and says what
//! came of it.

use super::Spent;
use crate::child::say;
use crate::data::{parameter_leaves, write_binary};
use crate::harness::{arguments, with_deadline};
use crate::session::{Options, Program, Resident, Session, on_big_stack};
use crate::spec::{Action, Case, Spec};
use crate::target::Target;
use frontend::render::Look;
use midend::ir::scalar::Const;
use midend::trap::RunError;
use midend::value::Value;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufRead as _, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// What a worker is asked for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Ask {
    /// Compile a program.
    Compile(PathBuf),
    /// Make the arguments of the test case of this number, and write them to the file, in the binary format.
    Input(usize, Option<PathBuf>),
    /// Run once, no longer than so many seconds, and write the results to the file, in the binary format.
    Try(Option<f64>, Option<PathBuf>),
    /// Run so many times, no longer than so many seconds.
    Run(usize, Option<f64>),
    /// Run once more, and tell what that spends.
    Spend,
}

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// It has begun, on this device.
    Ready(String),
    /// The device cannot be used.
    NoDevice(String),
    /// It is done.
    Done,
    /// The arguments are there, of this size.
    Input(Option<u64>),
    /// The times of runs, in microseconds.
    Ran(Vec<f64>),
    /// What a run spent.
    Spent(Option<Spent>),
    /// It could not be done.
    Failed(String),
    /// It could not be done, and the worker ends: its device can do nothing more.
    Lost(String),
}

/// Serves until standard input ends, and ends with it, whatever it is at: then the parent is gone.
pub fn serve(options: Options) -> io::Result<()> {
    let (sender, asks) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(Result::ok) {
            // What cannot be read, no parent of the same version has said.
            if let Ok(ask) = serde_json::from_str::<Ask>(&line)
                && sender.send(ask).is_err()
            {
                break;
            }
        }
        std::process::exit(0);
    });
    let session = match Session::new(options) {
        Ok(session) => session,
        Err(why) => return say(&Answer::NoDevice(why.to_string())),
    };
    say(&Answer::Ready(session.device()))?;
    let mut bench = Bench {
        session: &session,
        compiled: None,
        input: None,
    };
    on_big_stack(move || {
        for ask in asks {
            match bench.answer(ask) {
                Err(why) if bench.session.is_lost() => {
                    say(&Answer::Lost(why))?;
                    // The other thread waits for more.
                    std::process::exit(0);
                }
                answer => say(&answer.unwrap_or_else(Answer::Failed))?,
            }
        }
        Ok(())
    })
}

/// What a worker works with.
struct Bench<'a> {
    session: &'a Session,
    compiled: Option<Compiled>,
    input: Option<Input>,
}

/// What the program is called with.
struct Input {
    case: Case,
    /// The arguments, where the program runs, and whether it consumes them.
    args: Vec<(Resident, bool)>,
}

impl Input {
    /// Arguments for a run.
    fn args(&self) -> Result<Vec<Resident>, RunError> {
        let args = self.args.iter();
        args.map(|(arg, consumes)| arg.to_argument(*consumes))
            .collect()
    }
}

struct Compiled {
    path: PathBuf,
    cases: Vec<Case>,
    program: Program,
}

impl Bench<'_> {
    fn answer(&mut self, ask: Ask) -> Result<Answer, String> {
        match ask {
            Ask::Compile(path) => {
                let cases = cases(&path)?.1;
                let program = self.session.compile_file(&path);
                let program = program.map_err(|why| why.render(Look::Plain))?;
                self.compiled = Some(Compiled {
                    path,
                    cases,
                    program,
                });
                Ok(Answer::Done)
            }
            Ask::Input(case, file) => self.make_input(case, file.as_deref()),
            Ask::Try(seconds, file) => {
                let (took, results) = self.run(1, seconds)?;
                if let Some(file) = file {
                    let results = results.into_iter().map(Resident::get);
                    let results = results.collect::<Result<Vec<_>, _>>();
                    let results = results.map_err(|why| why.to_string())?;
                    let written = write(&results, &file);
                    written.map_err(|why| format!("cannot write the results: {why}"))?;
                }
                Ok(Answer::Ran(took))
            }
            Ask::Run(times, seconds) => Ok(Answer::Ran(self.run(times, seconds)?.0)),
            Ask::Spend => self.spend(),
        }
    }

    fn make_input(&mut self, number: usize, file: Option<&Path>) -> Result<Answer, String> {
        // Those of the last case are in the way.
        self.input = None;
        let compiled = self.compiled.as_ref().ok_or("there is no program")?;
        let case = compiled.cases.get(number).ok_or("there is no such case")?;
        let directory = compiled.path.parent().unwrap_or(Path::new("."));
        let entry = compiled.program.entry(&case.entry);
        let entry = entry.ok_or_else(|| format!("there is no entry point {}", case.entry))?;
        let args = arguments(&compiled.program, directory, case, entry)?;
        if let Some(file) = file {
            write(&args, file).map_err(|why| format!("cannot write the input: {why}"))?;
        }
        let size = size(&args);
        let params = parameter_leaves(entry).into_iter();
        let args = params.zip(args).map(|((_, param, _), arg)| {
            let arg = self.session.put(arg).map_err(|why| why.to_string())?;
            Ok((arg, param.unique))
        });
        self.input = Some(Input {
            args: args.collect::<Result<_, String>>()?,
            case: case.clone(),
        });
        Ok(Answer::Input(size))
    }

    /// The times of some runs, and the results of the last.
    fn run(&self, times: usize, seconds: Option<f64>) -> Result<(Vec<f64>, Vec<Resident>), String> {
        let (program, input) = self.ready()?;
        let mut took = Vec::new();
        let mut work = || {
            let mut results = Vec::new();
            for _ in 0..times {
                // Their memory is there for the next ones.
                drop(std::mem::take(&mut results));
                let args = input.args()?;
                let start = Instant::now();
                results = program.call_resident(&input.case.entry, args)?;
                took.push(start.elapsed().as_secs_f64() * 1e6);
            }
            Ok(results)
        };
        let results = match seconds {
            None => work(),
            Some(seconds) => with_deadline(self.session, Duration::from_secs_f64(seconds), work),
        };
        match results {
            Ok(results) => Ok((took, results)),
            Err(RunError::Interrupted) => Err(String::from("out of time")),
            Err(why) => Err(why.to_string()),
        }
    }

    /// What another run spends memory on, and how its guards choose. Nothing is known of the interpreter.
    fn spend(&self) -> Result<Answer, String> {
        let (program, input) = self.ready()?;
        if self.session.options().target == Target::Interp {
            return Ok(Answer::Spent(None));
        }
        let args = input
            .args()
            .and_then(|args| args.into_iter().map(Resident::get).collect());
        let profiled = args.and_then(|args| program.profile(&input.case.entry, args));
        let (_, profile) = profiled.map_err(|why| why.to_string())?;
        Ok(Answer::Spent(Some(Spent::of(program, &profile))))
    }

    fn ready(&self) -> Result<(&Program, &Input), String> {
        match (&self.compiled, &self.input) {
            (Some(compiled), Some(input)) => Ok((&compiled.program, input)),
            (Some(_) | None, _) => Err(String::from("there is no input")),
        }
    }
}

/// The tags of a program, and the cases of its test blocks.
pub(super) fn cases(path: &Path) -> Result<(Vec<String>, Vec<Case>), String> {
    let text = std::fs::read(path).map_err(|why| format!("cannot be read: {why}\n"))?;
    let spec = Spec::parse(&String::from_utf8_lossy(&text)).map_err(|why| format!("{why}\n"))?;
    let cases = match spec.action {
        Action::Accept { cases, .. } => cases,
        Action::Reject(_) => Vec::new(),
    };
    Ok((spec.tags, cases))
}

fn write(values: &[Value], file: &Path) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    values.iter().try_for_each(|v| write_binary(v, &mut out))?;
    out.flush()
}
/// How large an input is: the elements of its arrays or, without arrays, the product of its positive integers.
fn size(args: &[Value]) -> Option<u64> {
    let elements = |value: &Value| match value {
        Value::Array(array) => u64::try_from(array.data.len()).ok(),
        Value::Scalar(_) => None,
    };
    let arrays: Vec<u64> = args.iter().filter_map(elements).collect();
    if !arrays.is_empty() {
        return Some(arrays.iter().sum());
    }
    let integer = |value: &Value| match value {
        Value::Scalar(c) => whole(*c).and_then(|n| u64::try_from(n).ok()),
        Value::Array(_) => None,
    };
    let integers: Vec<u64> = args.iter().filter_map(integer).filter(|n| *n > 0).collect();
    let product = |all: u64, n: &u64| all.checked_mul(*n);
    (!integers.is_empty())
        .then(|| integers.iter().try_fold(1, product))
        .flatten()
}

fn whole(constant: Const) -> Option<i64> {
    match constant {
        Const::I8(n) => Some(n.into()),
        Const::I16(n) => Some(n.into()),
        Const::I32(n) => Some(n.into()),
        Const::I64(n) => Some(n),
        Const::U8(n) => Some(n.into()),
        Const::U16(n) => Some(n.into()),
        Const::U32(n) => Some(n.into()),
        Const::U64(n) => i64::try_from(n).ok(),
        Const::F16(_) | Const::F32(_) | Const::F64(_) | Const::Bool(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use midend::value::{ArrayValue, Data};

    #[test]
    fn inputs_have_sizes() {
        let n = |n| Value::Scalar(Const::I64(n));
        let array = Value::Array(ArrayValue {
            shape: vec![2, 3],
            data: Data::U8(vec![0; 6]),
        });
        assert_eq!(size(&[n(100), array.clone(), array]), Some(12));
        assert_eq!(size(&[n(100), n(-1), n(7)]), Some(700));
        assert_eq!(size(&[Value::Scalar(Const::Bool(true))]), None);
        assert_eq!(size(&[n(i64::MAX), n(3)]), None, "no number");
    }
}
