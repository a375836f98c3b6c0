//! The parent's side: workers are started, fed with programs, watched, and started again when they die.

use super::worker::Said;
use super::{Kind, ProgramReport, TestOptions, Verdict};
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
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
                if let Some(worker) = worker {
                    worker.end();
                }
                return Ok(());
            };
            let running = match worker.take() {
                Some(running) => running,
                None => Worker::start(command())?,
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
struct Worker {
    child: Child,
    input: ChildStdin,
    said: Receiver<Said>,
    /// Reads standard error, so that the child never waits for it; ends with the last of what was there.
    errors: JoinHandle<String>,
}

impl Worker {
    fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a worker without pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A program may print, too; what is no report is passed over.
                if let Ok(said) = serde_json::from_str(&line)
                    && sender.send(said).is_err()
                {
                    break;
                }
            }
        });
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let errors = std::thread::spawn(move || last_words(stderr));
        Ok(Self {
            child,
            input,
            said,
            errors,
        })
    }

    /// Tests a program; the worker is handed back if it is still of use.
    fn test(mut self, program: &Path, options: &TestOptions) -> (ProgramReport, Option<Self>) {
        let path = program.display().to_string();
        let start = Instant::now();
        let patience = options.timeout + options.timeout / 2 + Duration::from_secs(5);
        let mut part = String::from("start");
        if writeln!(self.input, "{path}").is_err() {
            return (self.died(&path, &part, start), None);
        }
        loop {
            match self.said.recv_timeout(patience) {
                Ok(Said::Begin(what)) => part = what,
                Ok(Said::Done(report)) => return (*report, Some(self)),
                Err(RecvTimeoutError::Timeout) => {
                    let detail = format!("{part}: still not done after {patience:?}, and killed");
                    let verdict = Verdict::fail("out of time (killed)", detail);
                    self.end();
                    return (done(&path, verdict, start), None);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return (self.died(&path, &part, start), None);
                }
            }
        }
    }

    /// The report on a program that took its worker with it.
    fn died(mut self, path: &str, part: &str, start: Instant) -> ProgramReport {
        let status = self.child.wait();
        // Without its last words, the report has less to say.
        let errors = self.errors.join().unwrap_or_default();
        let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
        let last = errors.lines().rev().find(|l| !l.trim().is_empty());
        let cause = if errors.contains("overflowed its stack") {
            String::from("crash: stack overflow")
        } else {
            format!("crash: {status}")
        };
        let detail = format!("{part}: {status}: {}", last.unwrap_or("no message"));
        done(path, Verdict::fail(cause, detail), start)
    }

    fn end(mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines of what can be read.
fn last_words(stderr: ChildStderr) -> String {
    let mut lines = VecDeque::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if lines.len() == 50 {
            lines.pop_front();
        }
        lines.push_back(line);
    }
    Vec::from(lines).join("\n")
}

fn done(path: &str, verdict: Verdict, start: Instant) -> ProgramReport {
    let mut report = ProgramReport::new(path, Kind::Run, verdict);
    report.micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
    report
}
