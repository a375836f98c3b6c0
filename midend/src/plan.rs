//! Running plans: a program of the plan dialect is executed on the host, which drives a device.
//!
//! [`Executable::new`] resolves variables to slots once; [`Executable::run`] calls an entry point with values from
//! outside. [`run`] does both. Memory of the device is counted by [`Memory`], which can limit it.

mod ahead;
mod apart;
mod call;
mod counts;
mod estimate;
mod exec;
mod memory;
mod outside;
mod profile;
mod resident;
mod resolve;
mod signature;
mod steps;
mod work;

pub use counts::{Counts, Work};
pub(crate) use estimate::additions;
pub use estimate::{Effort, estimate};
pub use memory::{Asker, Memory, Share};
pub use profile::{BuffersMade, EVENTS, GuardPassed, Profile, Profiler, WorkDone, WorkEvent};
pub use resident::Resident;
pub use signature::{Signature, signatures};

use crate::device::{Device, Stop};
use crate::ir::mem::Mem;
use crate::ir::span::Spans;
use crate::ir::syntax::Program;
use crate::ir::threshold::{Forced, Threshold};
use crate::stream::Streams;
use crate::trace::Tracer;
use crate::trap::{MOST_NESTED_CALLS, RunError};
use crate::value::Value;
use resolve::HostFun;
use std::sync::Arc;
use std::time::Duration;

/// A plan that is ready to be executed on the host.
#[derive(Debug)]
pub struct Executable {
    funs: Vec<HostFun>,
    signatures: Vec<Signature>,
    thresholds: Vec<Threshold>,
    spans: Spans,
}

/// What a run may use.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Raised to stop the run.
    pub stop: &'a Stop,
    /// Counts and limits the memory of the device.
    pub memory: Arc<Memory>,
    /// What thresholds are to be instead of what the device takes.
    pub thresholds: &'a Forced,
    /// How many calls of recursive functions may be nested.
    pub max_depth: usize,
    /// Is shown what the program traces.
    pub tracer: Option<Tracer<'a>>,
    /// Decides how sequences are cut into chunks.
    pub streams: Streams<'a>,
    /// Counts the work that the device is given.
    pub counts: Option<&'a Counts>,
    /// Gathers what time and memory are spent on.
    pub profiler: Option<&'a Profiler<'a>>,
}

impl<'a> Options<'a> {
    /// No memory limit, the thresholds of the device, and the usual limit of nested calls.
    pub fn new(stop: &'a Stop) -> Self {
        Self {
            stop,
            memory: Arc::new(Memory::new(None)),
            thresholds: const { &Forced::new() },
            max_depth: MOST_NESTED_CALLS,
            tracer: None,
            streams: Streams::VARIED,
            counts: None,
            profiler: None,
        }
    }
}

impl Executable {
    /// Prepares a plan. The signatures are those of the entry points before arrays became buffers.
    pub fn new(program: &Program<Mem>, signatures: Vec<Signature>) -> Self {
        let mut thresholds = Vec::new();
        Self {
            funs: resolve::functions(program, &mut thresholds),
            thresholds,
            signatures,
            spans: program.spans.clone(),
        }
    }

    /// The entry points.
    pub fn signatures(&self) -> &[Signature] {
        &self.signatures
    }

    /// What the guards of the plan compare with, each once.
    pub fn thresholds(&self) -> &[Threshold] {
        &self.thresholds
    }

    /// Calls the entry point `entry` with one value per parameter that is not a size, in the order of the function's
    /// parameters; gives one value per result that is not a size.
    pub fn run<D: Device>(
        &self,
        device: &D,
        module: &D::Module,
        entry: &str,
        mut args: Vec<Value>,
        options: &Options<'_>,
    ) -> Result<Vec<Value>, RunError> {
        let signature = self.signatures.iter().find(|s| s.args.name == entry);
        if let Some(signature) = signature.filter(|s| s.args.has_streams())
            && !options.streams.has_outside()
        {
            let memory = signature.args.without_streams(&mut args)?;
            let options = Options {
                streams: options.streams.with_outside(&memory),
                ..options.clone()
            };
            let mut results = self.run(device, module, entry, args, &options)?;
            results.extend(memory.into_output());
            return Ok(results);
        }
        let put = |value| Resident::put(device, value, &options.memory);
        let results = call::call_entry(self, (device, module), entry, args, put, options)?;
        results.into_iter().map(|value| value.get(device)).collect()
    }

    /// As [`Executable::run`], with values that are on the device and stay there. An argument that the entry point consumes is
    /// copied if something else refers to its memory.
    pub fn run_resident<D: Device>(
        &self,
        device: &D,
        module: &D::Module,
        entry: &str,
        args: Vec<Resident<D::Buffer>>,
        options: &Options<'_>,
    ) -> Result<Vec<Resident<D::Buffer>>, RunError> {
        call::call_entry(self, (device, module), entry, args, Ok, options)
    }

    /// As [`Executable::run`], and tells what time and memory were spent on. `plan` is what this was made of, and `clock` yields the
    /// time since some moment.
    pub fn profile<D: Device>(
        &self,
        (device, module): (&D, &D::Module),
        entry: &str,
        args: Vec<Value>,
        options: &Options<'_>,
        (plan, clock): (&Program<Mem>, &(dyn Fn() -> Duration + Sync)),
    ) -> Result<(Vec<Value>, Profile), RunError> {
        let memory = Arc::new(Memory::watched(options.memory.limit()));
        let profiler = Profiler::new(clock, plan);
        let options = Options {
            memory: Arc::clone(&memory),
            profiler: Some(&profiler),
            ..options.clone()
        };
        let start = clock();
        let results = self.run(device, module, entry, args, &options)?;
        let time = clock().saturating_sub(start);
        let numbers = call::numbers(self, device, &options);
        Ok((
            results,
            profiler.profile(self, &numbers, &memory, (start, time)),
        ))
    }
}

/// Prepares a plan and calls one of its entry points, see [`Executable::run`].
pub fn run<D: Device>(
    device: &D,
    module: &D::Module,
    (program, signatures): (&Program<Mem>, Vec<Signature>),
    entry: &str,
    args: Vec<Value>,
    options: &Options<'_>,
) -> Result<Vec<Value>, RunError> {
    Executable::new(program, signatures).run(device, module, entry, args, options)
}
