//! The parent's side: workers are started, fed with programs, watched, and started again when they die.

use super::worker::Said;
use super::{Kind, ProgramReport, TestOptions, Verdict};
use crate::child::Child;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How far the tests are: programs done, failures among them, programs in all.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Programs done.
    pub done: usize,
    /// Failures among them.
    pub failed: usize,
    /// Programs in all.
    pub all: usize,
}

/// Tests programs in `jobs` workers at once; a worker is what `command` starts. The reports are in the order of the
/// programs.
pub fn run_all(
    programs: &[PathBuf],
    options: &TestOptions,
    jobs: usize,
    command: &(dyn Fn() -> Command + Sync),
    progress: &(dyn Fn(Progress) + Sync),
) -> io::Result<Vec<ProgramReport>> {
    let next = AtomicUsize::new(0);
    let reports: Mutex<Vec<Option<ProgramReport>>> = Mutex::new(vec![None; programs.len()]);
    let counts = Mutex::new((0usize, 0usize));
    let work = || -> io::Result<()> {
        let mut worker: Option<Worker> = None;
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(program) = programs.get(at) else {
                return Ok(());
            };
            let running = match worker.take() {
                Some(running) => running,
                None => Worker(Child::start(command())?),
            };
            let (report, alive) = running.test(program, options);
            worker = alive;
            let so_far = {
                let mut counts = lock(&counts);
                counts.0 += 1;
                counts.1 += usize::from(report.verdict.is_fail());
                *counts
            };
            progress(Progress {
                done: so_far.0,
                failed: so_far.1,
                all: programs.len(),
            });
            lock(&reports)[at] = Some(report);
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs.max(1)).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| {
            thread
                .join()
                .unwrap_or_else(|p| std::panic::resume_unwind(p))
        })
    })?;
    let reports = reports
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(reports.into_iter().flatten().collect())
}

/// What a mutex holds; a thread that panicked while it held it has left it whole, for all changes are single.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A child process that tests programs.
struct Worker(Child<Said>);

impl Worker {
    /// Tests a program; the worker is handed back if it is still of use.
    fn test(mut self, program: &Path, options: &TestOptions) -> (ProgramReport, Option<Self>) {
        let path = program.display().to_string();
        let start = Instant::now();
        let patience = options.timeout + options.timeout / 2 + Duration::from_secs(5);
        let mut part = String::from("start");
        if self.0.ask(&path).is_err() {
            return (self.died(&path, &part, start), None);
        }
        loop {
            match self.0.answer(Some(patience)) {
                Ok(Said::Begin(what)) => part = what,
                Ok(Said::Done(report)) => return (*report, Some(self)),
                Ok(Said::Last(report)) => return (*report, None),
                Err(RecvTimeoutError::Timeout) => {
                    let detail = format!("{part}: still not done after {patience:?}, and killed");
                    let verdict = Verdict::fail("out of time (killed)", detail);
                    return (done(&path, verdict, start), None);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return (self.died(&path, &part, start), None);
                }
            }
        }
    }

    /// The report on a program that took its worker with it.
    fn died(self, path: &str, part: &str, start: Instant) -> ProgramReport {
        let death = self.0.death();
        let (cause, detail) = match death.mistake {
            Some(mistake) => {
                // Mistakes at different places are different ones.
                let (place, what) = mistake.split_once(": ").unwrap_or((&mistake, ""));
                let cause = format!("{place}: {}", super::cause::generalise(what));
                (cause, format!("{part}: {mistake}"))
            }
            None => {
                let cause = match death.overflowed {
                    true => String::from("crash: stack overflow"),
                    false => format!("crash: {}", death.status),
                };
                (cause, format!("{part}: {}: {}", death.status, death.last))
            }
        };
        done(path, Verdict::fail(cause, detail), start)
    }
}

fn done(path: &str, verdict: Verdict, start: Instant) -> ProgramReport {
    let mut report = ProgramReport::new(path, Kind::Run, verdict);
    report.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    report
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A worker that answers once, with this, and would be of no use after that.
    fn answering(answer: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "read -r path && echo \"$0\" && read -r path", answer]);
        command
    }

    #[test]
    fn a_worker_whose_device_is_lost_is_started_again() {
        let verdict = Verdict::fail("device", "an illegal address");
        let report = Box::new(ProgramReport::new("any.fut", Kind::Run, verdict.clone()));
        let answer = serde_json::to_string(&Said::Last(report)).expect("it can be written");
        let programs = ["a.fut", "b.fut", "c.fut"].map(PathBuf::from);
        let starts = AtomicUsize::new(0);
        let start = || {
            starts.fetch_add(1, Ordering::Relaxed);
            answering(&answer)
        };
        let reports = run_all(&programs, &TestOptions::default(), 1, &start, &|_| {});
        let reports = reports.expect("workers can be started");
        let verdicts: Vec<_> = reports.into_iter().map(|r| r.verdict).collect();
        assert_eq!(
            verdicts,
            vec![verdict; 3],
            "no program is blamed for another"
        );
        assert_eq!(starts.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_mistake_that_ends_a_worker_is_what_its_program_fails_with() {
        let start = || {
            let mut command = Command::new("sh");
            let told = "read -r path; echo 'internal error at a.rs:12: no `x`' >&2; echo 'Please report it.' >&2; exit 70";
            command.args(["-c", told]);
            command
        };
        let program = [PathBuf::from("a.fut")];
        let reports = run_all(&program, &TestOptions::default(), 1, &start, &|_| {});
        let reports = reports.expect("workers can be started");
        let verdict = &reports[0].verdict;
        assert_eq!(
            verdict,
            &Verdict::fail(
                "internal error at a.rs:12: no `_`",
                "start: internal error at a.rs:12: no `x`"
            )
        );
    }
}
