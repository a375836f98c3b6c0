//! The child's side: paths of programs come in on standard input, and what came of them goes out on standard output, one line of
//! JSON each.

use super::{ProgramReport, TestOptions, run_program};
use crate::child::say;
use crate::session::{Options, Session, on_big_stack};
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead as _};
use std::path::Path;

/// What a worker says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Said {
    /// It begins with this part of the program.
    Begin(String),
    /// It is done with the program.
    Done(Box<ProgramReport>),
    /// It is done with the program, and ends: its device can do nothing more.
    Last(Box<ProgramReport>),
}

/// What the parent tells the worker on its command line.
#[derive(Clone, Debug)]
pub struct WorkerArguments {
    /// How tests are run.
    pub options: TestOptions,
    /// The number of the GPU.
    pub device: usize,
    /// Threads for parallel work.
    pub threads: Option<usize>,
    /// Bits of the widest vector registers to use.
    pub vector_bits: Option<u32>,
    /// The elements of sequences to work on at once.
    pub chunk: Option<i64>,
}

/// Serves until standard input ends.
pub fn serve(arguments: &WorkerArguments) -> io::Result<()> {
    let options = &arguments.options;
    let session = Session::new(Options {
        target: options.target,
        device: arguments.device,
        threads: arguments.threads,
        vector_bits: arguments.vector_bits,
        chunk: arguments.chunk,
        memory_limit: Some(options.memory_limit),
        limits_process: false,
        cap: Some(options.cap),
        thresholds: options.thresholds.clone(),
        entry: None,
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
        let path: String = serde_json::from_str(&line?)?;
        let report = on_big_stack(|| {
            run_program(&session, Path::new(&path), options, &mut |part| {
                // If the parent is gone, the next report will say so.
                let _ = say(&Said::Begin(part.to_owned()));
            })
        });
        let report = Box::new(report);
        if report.verdict.is_fail() && session.is_lost() {
            return say(&Said::Last(report));
        }
        say(&Said::Done(report))?;
    }
    Ok(())
}
