//! One case: its arguments made, the entry point called, the results compared.

use super::cause::{generalise, of_run_error};
use super::{CaseKind, CaseReport, TestOptions, Verdict};
use crate::compare::compare_all;
use crate::data::{Source, read_all};
use crate::script::{self, Evaluator};
use crate::session::{Program, Session};
use crate::spec::{Case, Expect, Input, Pattern, generate};
use crate::target::Target;
use midend::ir::threshold::{Forced, INFINITE, ThresholdKind};
use midend::plan::Counts;
use midend::trap::RunError;
use midend::value::Value;
use std::path::Path;
use std::slice;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// The statements that a reference run may execute: some seconds' worth.
const REFERENCE_FUEL: u64 = 100_000_000;

/// The seed of random inputs, for the same values every time.
const SEED: u64 = 0x5eed;

/// Runs a case of the program at `path`.
pub(super) fn run_case(
    program: &Program,
    session: &Session,
    path: &Path,
    case: &Case,
    options: &TestOptions,
) -> CaseReport {
    let kind = match &case.expect {
        Expect::Values(_) | Expect::File(_) => CaseKind::Values,
        Expect::Failure(_) => CaseKind::Failure,
        Expect::Success => CaseKind::Success,
        Expect::Auto => CaseKind::AutoUnchecked,
    };
    let mut report = CaseReport {
        title: case.title(),
        kind,
        verdict: Verdict::Pass,
        relative_error: None,
        micros: 0,
    };
    if options.excludes(&case.tags) {
        report.verdict = Verdict::Skip {
            why: format!("tags {}", case.tags.join(" ")),
        };
        return report;
    }
    let start = Instant::now();
    // Counts are those of the whole pipeline, and of a device.
    let target = options.target;
    let counts = target != Target::Interp && session.options().passes.is_whole();
    // On the interpreter, the run itself looks for collisions; a run that must fail need not be looked at.
    let collisions = options.collisions
        && options.target != Target::Interp
        && !matches!(case.expect, Expect::Failure(_));
    with_deadline(session, options.timeout, || {
        report.verdict = verdict(
            program,
            (path, case),
            (counts.then_some(target), collisions),
            &mut report,
        );
    });
    report.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    report
}

/// Raises the session's stop flag when the time is over.
pub(crate) fn with_deadline<T>(session: &Session, time: Duration, work: impl FnOnce() -> T) -> T {
    let stop = session.stop();
    stop.lower();
    let (alive, dropped) = channel::<()>();
    let watch = {
        let stop = session.stop();
        std::thread::spawn(move || {
            if dropped.recv_timeout(time) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                stop.raise();
            }
        })
    };
    let done = work();
    drop(alive);
    // The thread only waits; it cannot have failed.
    let _ = watch.join();
    stop.lower();
    done
}

fn verdict(
    program: &Program,
    (path, case): (&Path, &Case),
    (counts, collisions): (Option<Target>, bool),
    report: &mut CaseReport,
) -> Verdict {
    let directory = path.parent().unwrap_or(Path::new("."));
    let Some(entry) = program.entry(&case.entry) else {
        let detail = format!("there is no entry point {}", case.entry);
        return Verdict::fail("a missing entry point", detail);
    };
    let args = match arguments(program, directory, case, entry) {
        Ok(args) => args,
        Err(why) => return Verdict::fail(format!("input: {}", generalise(&why)), why),
    };
    let wanted = case.expect == Expect::Auto || !case.counts.is_empty() || collisions;
    let again = wanted.then(|| args.clone());
    let result = program.call(&case.entry, args);
    let verdict = judged(
        (directory, case),
        result,
        (program, again.as_deref()),
        report,
    );
    let Some(args) = again else {
        return verdict;
    };
    let verdict = match verdict {
        Verdict::Pass if collisions => without_collisions(program, case, &args),
        Verdict::Pass | Verdict::Fail { .. } | Verdict::Skip { .. } => verdict,
    };
    match (verdict, counts) {
        (Verdict::Pass, Some(target)) => counted(program, target, case, &args),
        (verdict, _) => verdict,
    }
}

/// Whether the reference writes different values to one place. A run that takes too long is not looked at to its end.
fn without_collisions(program: &Program, case: &Case, args: &[Value]) -> Verdict {
    match program.call_reference(&case.entry, args.to_vec(), REFERENCE_FUEL) {
        Some(Err(error @ RunError::Trap(_))) => {
            Verdict::fail(of_run_error(&error), error.to_string())
        }
        Some(Ok(_) | Err(_)) | None => Verdict::Pass,
    }
}

/// Versions as they are forced, with arrays as they lie: putting them in another order is no work that a program asks for.
fn as_it_lies(program: &Program, forced: &Forced) -> Forced {
    let mut forced = forced.clone();
    let layouts = program.thresholds().iter();
    for threshold in layouts.filter(|t| t.kind == ThresholdKind::Layout) {
        let name = threshold.to_string();
        forced.named.entry(name).or_insert(INFINITE);
    }
    forced
}

/// Whether the device is given as much work as the case says.
fn counted(program: &Program, target: Target, case: &Case, args: &[Value]) -> Verdict {
    let guards = [Forced::all(0), Forced::all(INFINITE)];
    let gpu = matches!(target, Target::Ptx | Target::PtxEmu);
    let for_gpus = |forced: &Forced| {
        let mut specs = case.counts.iter().filter(|spec| spec.gpu);
        specs.any(|spec| spec.forced.as_ref() == Some(forced))
    };
    for spec in case.counts.iter().filter(|spec| gpu || !spec.gpu) {
        let all = spec.forced.as_ref().map_or(&guards[..], slice::from_ref);
        for forced in all {
            if gpu && !spec.gpu && for_gpus(forced) {
                continue;
            }
            let forced = &as_it_lies(program, forced);
            let counts = match program.count(&case.entry, args.to_vec(), forced) {
                Ok(counts) => counts,
                Err(error) => return Verdict::fail(of_run_error(&error), error.to_string()),
            };
            let wanted: Counts = spec.counts.iter().copied().collect();
            if counts != wanted {
                let how = match forced.others {
                    Some(0) => ", all guards true",
                    Some(_) => ", no guard true",
                    None => "",
                };
                let detail = format!("the device is given {counts}, not {wanted}{how}");
                return Verdict::fail("another count of work", detail);
            }
        }
    }
    Verdict::Pass
}

/// Whether a result is what the case says, apart from counts.
fn judged(
    (directory, case): (&Path, &Case),
    result: Result<Vec<Value>, RunError>,
    (program, args): (&Program, Option<&[Value]>),
    report: &mut CaseReport,
) -> Verdict {
    match (&case.expect, result) {
        (Expect::Failure(pattern), Err(error)) => failed(pattern, &error),
        (Expect::Failure(pattern), Ok(_)) => {
            let detail = format!("it gave a result, but this was expected to fail: {pattern}");
            Verdict::fail("a run that must fail did not", detail)
        }
        (Expect::Values(_) | Expect::File(_) | Expect::Auto | Expect::Success, Err(error)) => {
            Verdict::fail(of_run_error(&error), error.to_string())
        }
        (Expect::Success, Ok(_)) => Verdict::Pass,
        (Expect::Values(expected), Ok(found)) => {
            let types = program.entry(&case.entry).map(|entry| &entry.results[..]);
            let expected = crate::data::fit(types.unwrap_or_default().iter(), expected.clone());
            compared(&found, &expected, report)
        }
        (Expect::File(file), Ok(found)) => match load(directory, file) {
            Ok(expected) => compared(&found, &expected, report),
            Err(why) => Verdict::fail("an unreadable file of results", why),
        },
        (Expect::Auto, Ok(found)) => {
            let args = args.unwrap_or_default().to_vec();
            match program.call_reference(&case.entry, args, REFERENCE_FUEL) {
                Some(Ok(expected)) => {
                    report.kind = CaseKind::Auto;
                    compared(&found, &expected, report)
                }
                // Without a reference, or with one that takes too long or keeps too many arrays, the run itself is all
                // there is to test.
                None
                | Some(Err(
                    RunError::OutOfFuel | RunError::Interrupted | RunError::OutOfMemory { .. },
                )) => Verdict::Pass,
                Some(Err(error)) => {
                    let cause = format!("the reference failed: {}", of_run_error(&error));
                    Verdict::fail(cause, error.to_string())
                }
            }
        }
    }
}

fn failed(pattern: &Pattern, error: &RunError) -> Verdict {
    let text = error.to_string();
    match error {
        RunError::Trap(_) | RunError::OutOfMemory { .. } | RunError::BadArguments(_)
            if pattern.matches(&text) =>
        {
            Verdict::Pass
        }
        RunError::Trap(_) | RunError::OutOfMemory { .. } | RunError::BadArguments(_) => {
            let detail = format!("expected a failure that matches {pattern}, found: {text}");
            Verdict::fail("a run failed with another message", detail)
        }
        RunError::Interrupted
        | RunError::OutOfFuel
        | RunError::Internal(_)
        | RunError::Device(_) => Verdict::fail(of_run_error(error), text),
    }
}

fn compared(found: &[Value], expected: &[Value], report: &mut CaseReport) -> Verdict {
    let (result, relative) = compare_all(found, expected);
    if relative > 0.0 && relative.is_finite() {
        report.relative_error = Some(relative);
    }
    match result {
        Ok(()) => Verdict::Pass,
        Err(why) => Verdict::fail("wrong result", why),
    }
}

/// The values of a file beside a program.
pub(crate) fn load(directory: &Path, file: &str) -> Result<Vec<Value>, String> {
    let source = Source::open(&directory.join(file)).map_err(|e| e.to_string())?;
    read_all(&source).map_err(|e| e.to_string())
}

/// The leaves of the arguments of a case.
pub(crate) fn arguments(
    program: &Program,
    directory: &Path,
    case: &Case,
    entry: &midend::ir::syntax::Entry,
) -> Result<Vec<Value>, String> {
    match &case.input {
        Input::Values(values) => {
            let types = entry.params.iter().map(|param| &param.ty);
            Ok(crate::data::fit(types, values.clone()))
        }
        Input::File(file) => {
            let source = Source::open(&directory.join(file)).map_err(|e| e.to_string())?;
            crate::data::read_arguments(entry, &[source]).map_err(|e| e.to_string())
        }
        Input::Random(generators) => generate(generators, SEED),
        Input::Script(exp) => Evaluator::new(program, directory).arguments(exp, entry),
        Input::ScriptFile(file) => {
            let path = directory.join(file);
            let text = std::fs::read_to_string(&path)
                .map_err(|why| format!("cannot read {}: {why}", path.display()))?;
            let exp = script::parse(&text)?;
            Evaluator::new(program, directory).arguments(&exp, entry)
        }
    }
}
