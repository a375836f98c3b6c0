//! The child's side: programs come in on standard input, one path per line; what came of them goes out on standard
//! output, one line of JSON each.

use super::{Kind, ProgramReport, TestOptions, Verdict, run_program};
use crate::session::{Options, Session, on_big_stack};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// It begins with this part of the program.
    Begin(String),
    /// It is done with the program.
    Done(Box<ProgramReport>),
}

/// What the parent tells the worker on its command line.
#[derive(Clone, Debug)]
pub struct WorkerArguments {
    /// How tests are run.
    pub options: TestOptions,
    /// Threads for parallel work.
    pub threads: Option<usize>,
}

/// The last panic, of whatever thread: place and message.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

fn last_panic() -> MutexGuard<'static, Option<(String, String)>> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves until standard input ends.
pub fn serve(arguments: &WorkerArguments) -> io::Result<()> {
    remember_panics();
    let options = &arguments.options;
    let session = Session::new(Options {
        target: options.target,
        threads: arguments.threads,
        memory_limit: Some(options.memory_limit),
        cap: Some(options.cap),
        thresholds: options.thresholds.clone(),
        check: true,
        claims: options.claims,
        collisions: options.collisions,
        passes: midend::driver::Settings {
            options: options.passes.clone(),
            ..midend::driver::Settings::default()
        },
        keep_assembly: false,
        keep_reference: options.target != crate::target::Target::Interp,
        accelerator: None,
    })
    .map_err(io::Error::other)?;
    for line in io::stdin().lock().lines() {
        let path = line?;
        let report = on_big_stack(|| guarded(&session, &path, options));
        say(&Said::Done(Box::new(report)))?;
    }
    Ok(())
}

fn say(what: &Said) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()
}

/// Tests a program; a panic becomes a failure of the program.
fn guarded(session: &Session, path: &str, options: &TestOptions) -> ProgramReport {
    let work = || {
        run_program(session, Path::new(path), options, &mut |part| {
            // If the parent is gone, the next report will say so.
            let _ = say(&Said::Begin(part.to_owned()));
        })
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        let (place, message) = last_panic()
            .take()
            .unwrap_or_else(|| (String::from("no place"), String::from("no message")));
        let cause = format!(
            "internal error at {place}: {}",
            super::cause::generalise(&message)
        );
        let verdict = Verdict::fail(cause, format!("panic at {place}: {message}"));
        ProgramReport::new(path, Kind::Run, verdict)
    })
}

/// Panics are reported as results, not on standard error.
fn remember_panics() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|at| format!("{}:{}", at.file(), at.line()))
            .unwrap_or_default();
        let message = info.payload_as_str().unwrap_or("no message").to_owned();
        *last_panic() = Some((place, message));
    }));
}
