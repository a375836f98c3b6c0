//! `arrc run` of entry points with sequences: elements are read by other threads while a chunk is worked on, and results are written as
//! they come.

mod input;
mod output;

use super::exit::Exit;
use super::run::RunArguments;
use super::stop::while_running;
use crate::session::Program;
use input::{Input, Sources, open_all, sources};
use midend::ir::syntax::Entry;
use midend::stream::Outside;
use midend::trap::RunError;
use midend::value::Value;
use output::Output;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the sequences of a run come from and go to.
struct Files {
    inputs: Vec<Mutex<Input>>,
    output: Mutex<Output>,
    failed: Mutex<Option<io::Error>>,
}

impl Files {
    fn input(&self, stream: u32) -> Option<MutexGuard<'_, Input>> {
        let input = self.inputs.get(stream as usize)?;
        Some(input.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Outside for Files {
    fn read(&self, stream: u32, most: i64) -> Result<Vec<Value>, RunError> {
        let missing = || RunError::Internal(String::from("there is no such sequence"));
        let mut input = self.input(stream).ok_or_else(missing)?;
        input.read(usize::try_from(most).unwrap_or(usize::MAX))
    }

    fn gather(&self, stream: u32, most: i64, busy: &dyn Fn() -> bool) -> bool {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        self.input(stream)
            .is_some_and(|mut input| input.gather(most, busy))
    }

    fn write(&self, values: Vec<Value>) -> Result<(), RunError> {
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        output.write(values).map_err(|why| {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            *failed = Some(why);
            RunError::Interrupted
        })
    }
}

/// A run whose sequences are read and written piece by piece.
pub(super) struct Streaming {
    sources: Sources,
    output: Output,
}

impl Streaming {
    /// Nothing if there are no sequences, or if they cannot be gone through so.
    pub(super) fn new(entry: &Entry, arguments: &RunArguments) -> Result<Option<Self>, Exit> {
        let has_sequences = entry.streamed || entry.params.iter().any(|param| param.streamed);
        if !has_sequences || arguments.is_measured() {
            return Ok(None);
        }
        let Some(sources) = sources(entry, &arguments.inputs) else {
            return Ok(None);
        };
        let output = match entry.results.first().filter(|_| entry.streamed) {
            Some(_) if arguments.writes_files() => return Ok(None),
            Some(ty) if !arguments.no_print_result => {
                Output::new(ty, arguments.binary_output).map_err(|why| Exit::write(&why))?
            }
            Some(_) | None => Some(Output::Silent),
        };
        Ok(output.map(|output| Self { sources, output }))
    }

    /// Runs the entry point; its results but for a sequence, which is written.
    pub(super) fn run(
        self,
        program: &Program,
        entry: &Entry,
    ) -> Result<Result<Vec<Value>, RunError>, Exit> {
        let (inputs, args) = open_all(entry, &self.sources)?;
        let files = Files {
            inputs: inputs.into_iter().map(Mutex::new).collect(),
            output: Mutex::new(self.output),
            failed: Mutex::new(None),
        };
        let results = while_running(|| program.call_streaming(&entry.name, args, &files));
        let failed = files.failed.into_inner();
        if let Some(why) = failed.unwrap_or_else(PoisonError::into_inner) {
            return Err(Exit::write(&why));
        }
        if results.is_ok() {
            let output = files.output.into_inner();
            let output = output.unwrap_or_else(PoisonError::into_inner);
            output.finish().map_err(|why| Exit::write(&why))?;
        }
        Ok(results)
    }
}
