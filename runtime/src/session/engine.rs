//! What runs a compiled program: one variant per target.

use super::{Shared, on_big_stack};
use crate::target::Target;
use midend::interp;
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::trap::RunError;
use midend::value::Value;

/// A program made ready for a target.
pub(super) enum Engine {
    Interp(Program<Soac>),
}

impl Engine {
    /// Compiles the program for the session's target.
    pub(super) fn new(shared: &Shared, program: Program<Soac>) -> Result<Self, RunError> {
        match shared.options.target {
            Target::Interp => Ok(Self::Interp(program)),
            Target::Cpu => Err(RunError::Device(String::from(
                "the target cpu is not yet supported",
            ))),
        }
    }
    pub(super) fn call(
        &self,
        shared: &Shared,
        entry: &str,
        args: Vec<Value>,
    ) -> Result<Vec<Value>, RunError> {
        match self {
            Self::Interp(program) => interpret(program, shared, entry, args, None),
        }
    }
}

/// Runs an entry point in the reference interpreter.
pub(super) fn interpret(
    program: &Program<Soac>,
    shared: &Shared,
    entry: &str,
    args: Vec<Value>,
    fuel: Option<u64>,
) -> Result<Vec<Value>, RunError> {
    let options = interp::Options {
        fuel,
        memory: shared.options.memory_limit,
        check: shared.options.check,
        stop: Some(&shared.stop),
        ..interp::Options::default()
    };
    on_big_stack(|| interp::run(program, entry, args, &options))
}
