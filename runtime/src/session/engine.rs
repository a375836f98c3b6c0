//! What runs a compiled program: one variant per target.

use super::{Options, Shared, on_big_stack};
use crate::target::Target;
use backend_cpu::CpuDevice;
use midend::device::Device as _;
use midend::driver::{Broken, Driver, Event};
use midend::interp;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::ir::threshold::{Forced, Threshold};
use midend::pipeline;
use midend::plan::{self, Counts, Executable, Memory};
use midend::trace::Tracer;
use midend::trap::RunError;
use midend::value::Value;
use std::sync::Arc;
use std::time::Instant;

/// The devices that a session has opened.
pub(super) enum Devices {
    /// The interpreter needs none.
    Interp,
    Cpu(Box<CpuDevice>),
}

impl Devices {
    /// Opens what the target needs.
    pub(super) fn open(options: &Options) -> Result<Self, RunError> {
        match options.target {
            Target::Interp => Ok(Self::Interp),
            Target::Cpu => {
                let device = CpuDevice::new(backend_cpu::Options {
                    threads: options.threads.unwrap_or(0),
                    memory: options.memory_limit,
                })?;
                Ok(Self::Cpu(Box::new(device)))
            }
        }
    }
}

/// A program made ready for a target.
pub(super) enum Engine {
    Interp(Program<Soac>),
    Cpu(Box<Compiled>),
}

/// A plan for the host, and its kernels compiled.
pub(super) struct Compiled {
    host: Executable,
    kernels: backend_cpu::Module,
}

impl Engine {
    /// Compiles the program for the session's target.
    pub(super) fn new(shared: &Shared, program: Program<Soac>) -> Result<Self, RunError> {
        match &shared.devices {
            Devices::Interp => {
                with_driver(shared, |driver| driver.start(&program))?;
                Ok(Self::Interp(program))
            }
            Devices::Cpu(device) => {
                let (plan, signatures) =
                    with_driver(shared, |driver| pipeline::plan(program, driver))?;
                Ok(Self::Cpu(Box::new(Compiled {
                    kernels: device.compile(&plan)?,
                    host: Executable::new(&plan, signatures),
                })))
            }
        }
    }
    pub(super) fn thresholds(&self) -> &[Threshold] {
        match self {
            Self::Interp(_) => &[],
            Self::Cpu(compiled) => compiled.host.thresholds(),
        }
    }
    pub(super) fn call(
        &self,
        shared: &Shared,
        entry: &str,
        args: Vec<Value>,
        thresholds: &Forced,
        counts: Option<&Counts>,
    ) -> Result<Vec<Value>, RunError> {
        match (self, &shared.devices) {
            (Self::Interp(program), _) => {
                let tracer = Some(Tracer::new(&super::show));
                let limits = interp::Options {
                    tracer,
                    ..interp::Options::default()
                };
                interpret(program, shared, entry, args, limits)
            }
            (Self::Cpu(compiled), Devices::Cpu(device)) => {
                let Compiled { host, kernels } = compiled.as_ref();
                let options = plan::Options {
                    // The device counts and limits memory itself.
                    memory: Arc::new(Memory::new(None)),
                    thresholds,
                    counts,
                    tracer: Some(Tracer::new(&super::show)),
                    ..plan::Options::new(&shared.stop)
                };
                // Inside of the pool, so that no kernel has to enter it from outside.
                device
                    .pool()
                    .install(|| host.run(device.as_ref(), kernels, entry, args, &options))
            }
            (Self::Cpu(_), Devices::Interp) => Err(RunError::Internal(String::from(
                "a program was compiled for a device that its session has not",
            ))),
        }
    }
}

/// Runs passes as the session says. What the verifier objects to is a mistake of the compiler.
fn with_driver<T>(
    shared: &Shared,
    work: impl FnOnce(&mut Driver<'_>) -> Result<T, Broken>,
) -> Result<T, RunError> {
    let start = Instant::now();
    let clock = || start.elapsed();
    let mut tell = |event: Event<'_>| {
        if let Some(observer) = &shared.observer {
            observer(event);
        }
    };
    work(&mut Driver::new(&shared.options.passes, &clock, &mut tell))
        .map_err(|broken| RunError::Internal(broken.to_string()))
}

/// Runs an entry point in the reference interpreter.
pub(super) fn interpret(
    program: &Program<Soac>,
    shared: &Shared,
    entry: &str,
    args: Vec<Value>,
    limits: interp::Options<'_>,
) -> Result<Vec<Value>, RunError> {
    let options = interp::Options {
        memory: shared.options.memory_limit,
        check: shared.options.check,
        claims: shared.options.claims,
        stop: Some(&shared.stop),
        ..limits
    };
    on_big_stack(|| interp::run(program, entry, args, &options))
}
