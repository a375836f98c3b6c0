//! Measuring: for each input of a program, all sides in turn.

use super::adaptive::Patience;
use super::other::{Other, Prepared};
use super::{Dataset, Group, Measured, Side, Spent};
use crate::compare::compare_all;
use crate::harness::{arguments, load, with_deadline};
use crate::session::{Program, Session};
use crate::spec::{Action, Case, Expect, Spec};
use crate::target::Target;
use frontend::render::Look;
use midend::ir::scalar::Const;
use midend::trap::RunError;
use midend::value::Value;
use std::path::Path;
use std::time::{Duration, Instant};

/// Who runs, and what is run.
pub struct Contest {
    /// A session for each target.
    pub ours: Vec<Session>,
    /// Other programs.
    pub others: Vec<Other>,
    /// When there are enough runs.
    pub patience: Patience,
    /// For all runs of a side with one input.
    pub timeout: Option<Duration>,
    /// Only this entry point.
    pub entry: Option<String>,
    /// Inputs with one of these tags are left out.
    pub exclude: Vec<String>,
    /// Where there are some, only inputs with one of these tags are run.
    pub include: Vec<String>,
}

/// Tags of programs and inputs that are for tests only.
const NOT_HERE: &[&str] = &["nobench", "disable"];

impl Contest {
    /// Whether an input is to be measured on some target.
    fn wants(&self, case: &Case) -> bool {
        let fails = matches!(case.expect, Expect::Failure(_));
        let has = |tag: &String| case.tags.contains(tag);
        let wanted = self.include.is_empty() || self.include.iter().any(has);
        let entry = self.entry.as_ref();
        !fails
            && wanted
            && entry.is_none_or(|entry| *entry == case.entry)
            && !self.left_out(&case.tags)
    }
    fn left_out(&self, tags: &[String]) -> bool {
        tags.iter()
            .any(|tag| NOT_HERE.contains(&tag.as_str()) || self.exclude.contains(tag))
    }
}

/// Measures the inputs in the test blocks of a program; `watch` is told the name of the input and the number of runs while it
/// runs, and `done` what was measured. The error is a message for people: the program cannot be read or compiled. A program
/// without inputs is not compiled.
pub fn bench_file(
    contest: &Contest,
    path: &Path,
    watch: &mut dyn FnMut(&str, usize),
    done: &mut dyn FnMut(&str, &Dataset),
) -> Result<Vec<Group>, String> {
    let text = std::fs::read(path).map_err(|why| format!("cannot be read: {why}\n"))?;
    let spec = Spec::parse(&String::from_utf8_lossy(&text)).map_err(|why| format!("{why}\n"))?;
    let cases = match spec.action {
        Action::Accept { cases, .. } if !contest.left_out(&spec.tags) => cases,
        Action::Accept { .. } | Action::Reject(_) => Vec::new(),
    };
    let cases: Vec<Case> = cases.into_iter().filter(|c| contest.wants(c)).collect();
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let compiled = contest.ours.iter().map(|session| {
        let program = session.compile_file(path);
        program.map_err(|why| why.render(Look::Plain))
    });
    let programs = compiled.collect::<Result<Vec<_>, _>>()?;
    let mut groups: Vec<Group> = Vec::new();
    for case in &cases {
        let file = path.display();
        let name = match case.entry.as_str() {
            "main" => file.to_string(),
            entry => format!("{file}:{entry}"),
        };
        let dataset = measure(contest, &programs, (path, case), watch);
        done(&name, &dataset);
        match groups.iter_mut().find(|group| group.name == name) {
            Some(group) => group.datasets.push(dataset),
            None => groups.push(Group {
                name,
                datasets: vec![dataset],
            }),
        }
    }
    Ok(groups)
}

/// One that takes its turns.
struct Runner<'a> {
    name: String,
    how: How<'a>,
    spent: Duration,
    outcome: Result<Measured, String>,
}

enum How<'a> {
    Ours(&'a Session, &'a Program),
    Other(Prepared),
}

/// What one turn gave: times in microseconds, and results, if they can be told.
type Turn = (Vec<f64>, Option<Vec<Value>>);

fn measure(
    contest: &Contest,
    programs: &[Program],
    (path, case): (&Path, &Case),
    watch: &mut dyn FnMut(&str, usize),
) -> Dataset {
    let directory = path.parent().unwrap_or(Path::new("."));
    let made = programs
        .iter()
        .find_map(|program| Some((program, program.entry(&case.entry)?)))
        .ok_or_else(|| format!("there is no entry point {}", case.entry))
        .and_then(|(program, entry)| arguments(program, directory, case, entry));
    let mut dataset = Dataset {
        name: case.dataset.clone(),
        size: None,
        sides: Vec::new(),
    };
    let expected = match &case.expect {
        Expect::Values(values) => Ok(Some(values.clone())),
        Expect::File(file) => load(directory, file).map(Some),
        Expect::Auto | Expect::Success | Expect::Failure(_) => Ok(None),
    };
    match (made, expected) {
        (Ok(args), Ok(expected)) => {
            dataset.size = size(&args);
            let mut runners = runners(contest, programs, (path, case), &args);
            warm_up(contest, &mut runners, (case, &args), expected);
            take_turns(contest, &mut runners, (case, &args), watch);
            for runner in &mut runners {
                runner.look_closer(case, &args);
            }
            let side = |runner: Runner<'_>| Side {
                name: runner.name,
                outcome: runner.outcome,
            };
            dataset.sides = runners.into_iter().map(side).collect();
        }
        (Err(why), _) | (Ok(_), Err(why)) => {
            let failed = |name: &str| Side {
                name: name.to_owned(),
                outcome: Err(why.clone()),
            };
            let sessions = contest.ours.iter();
            dataset.sides = sessions
                .map(|s| failed(s.options().target.name()))
                .collect();
        }
    }
    dataset
}

/// All that run with this input.
fn runners<'a>(
    contest: &'a Contest,
    programs: &'a [Program],
    (path, case): (&Path, &Case),
    args: &[Value],
) -> Vec<Runner<'a>> {
    let runner = |name: &str, how| Runner {
        name: name.to_owned(),
        how,
        spent: Duration::ZERO,
        outcome: Ok(Measured::default()),
    };
    let mut runners = Vec::new();
    for (session, program) in contest.ours.iter().zip(programs) {
        let target = session.options().target;
        if !case.tags.contains(&target.exclusion_tag()) {
            runners.push(runner(target.name(), How::Ours(session, program)));
        }
    }
    for (number, other) in contest.others.iter().enumerate() {
        let name = format!("arrc-bench-{}-{number}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        let (prepared, outcome) = other.prepare((path, &case.entry), args, directory);
        runners.push(Runner {
            outcome: outcome.map(|()| Measured::default()),
            ..runner(&other.command, How::Other(prepared))
        });
    }
    runners
}

/// Runs everything once, and looks whether the results are right.
fn warm_up(
    contest: &Contest,
    runners: &mut [Runner<'_>],
    (case, args): (&Case, &[Value]),
    expected: Option<Vec<Value>>,
) {
    let mut expected = expected;
    for runner in runners {
        if runner.outcome.is_err() {
            continue;
        }
        let Ok((_, results)) = runner.turn(contest, case, args) else {
            continue;
        };
        let Some(results) = results else {
            runner.note("the result was not compared");
            continue;
        };
        let Some(expected) = &expected else {
            expected = Some(results);
            continue;
        };
        if let (Err(why), _) = compare_all(&results, expected) {
            match runner.how {
                How::Ours(..) => runner.outcome = Err(format!("wrong result: {why}")),
                // Whether it had to give the same is for the user to know.
                How::Other(_) => runner.note(&format!("another result: {why}")),
            }
        }
    }
}

/// Lets those that have not run enough run in turn, until there are none.
fn take_turns(
    contest: &Contest,
    runners: &mut [Runner<'_>],
    (case, args): (&Case, &[Value]),
    watch: &mut dyn FnMut(&str, usize),
) {
    for round in 0.. {
        watch(&case.dataset, round);
        let mut any = false;
        for runner in &mut *runners {
            let Ok(measured) = &runner.outcome else {
                continue;
            };
            if contest.patience.satisfied(&measured.times) {
                continue;
            }
            any = true;
            if let Ok((times, _)) = runner.turn(contest, case, args)
                && let Ok(measured) = &mut runner.outcome
            {
                measured.times.extend(times);
            }
        }
        if !any {
            return;
        }
    }
}

impl Runner<'_> {
    /// One run. What goes wrong becomes the outcome.
    fn turn(&mut self, contest: &Contest, case: &Case, args: &[Value]) -> Result<Turn, ()> {
        let left = contest.timeout.map(|all| all.saturating_sub(self.spent));
        let start = Instant::now();
        let turn = match &self.how {
            How::Ours(session, program) => ours((session, program), &case.entry, args, left),
            How::Other(prepared) => {
                let started = prepared.run(left);
                started.map(|started| (started.times, started.results))
            }
        };
        self.spent += start.elapsed();
        turn.map_err(|why| self.outcome = Err(why))
    }

    fn note(&mut self, note: &str) {
        if let Ok(measured) = &mut self.outcome {
            measured.note = Some(note.to_owned());
        }
    }

    /// Runs once more to see what the runs that were timed spent memory on, and how guards chose.
    fn look_closer(&mut self, case: &Case, args: &[Value]) {
        let How::Ours(session, program) = &self.how else {
            return;
        };
        if let (Ok(measured), true) = (
            &mut self.outcome,
            session.options().target != Target::Interp,
        ) && let Ok((_, profile)) = program.profile(&case.entry, args.to_vec())
        {
            measured.spent = Some(Spent::of(&profile));
        }
    }
}

fn ours(
    (session, program): (&Session, &Program),
    entry: &str,
    args: &[Value],
    left: Option<Duration>,
) -> Result<Turn, String> {
    let args = args.to_vec();
    let mut turn = Err(RunError::Interrupted);
    let mut took = Duration::ZERO;
    let run = || {
        let start = Instant::now();
        turn = program.call(entry, args);
        took = start.elapsed();
    };
    match left {
        None => run(),
        Some(left) => with_deadline(session, left, run),
    }
    match turn {
        Ok(results) => Ok((vec![took.as_secs_f64() * 1e6], Some(results))),
        Err(RunError::Interrupted) => Err(String::from("out of time")),
        Err(why) => Err(why.to_string()),
    }
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
