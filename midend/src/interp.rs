//! The reference interpreters: what they compute is what programs mean, on every target.
//!
//! [`run`] executes an entry point of the nested dialect, [`run_flat`] one of the flat dialect. Arrays are views of
//! shared buffers. An update writes in place, without a copy: the invariant on consumption says that nothing sees it.
//! With [`Options::check`] the interpreter verifies that while it runs, and that every value has the type and shape
//! that the table of variables states. Scalars are checked once, when a body is first executed and translated to a form
//! that names rows of frames and functions of words (`code`); lambdas of scalar code without control flow
//! are executed for blocks of elements (`columns`). Neither changes what is computed, or which failure is reported.

mod acc;
mod array;
mod code;
mod columns;
mod derivative;
mod layout;
mod machine;
pub mod mem;
pub mod message;
mod operator;
pub mod scalar;
mod seg;
mod shape;
mod soac;
mod strided;
mod target;
mod value;

use crate::analysis::regularity::regularity;
use crate::device::Stop;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::Program;
use crate::ir::threshold::Forced;
use crate::stream::Streams;
use crate::trace::Tracer;
use crate::trap::{MOST_NESTED_CALLS, RunError};
use crate::value::{Value, entry};
use machine::{Exec, Machine, Watch};
use std::rc::Rc;
use value::{Array, Val};

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The number of statements that may be executed; making 64 elements of an array counts as one more.
    pub fuel: Option<u64>,
    /// How many calls of recursive functions may be nested.
    pub depth: usize,
    /// How many bytes arrays may occupy at once.
    pub memory: Option<u64>,
    /// Whether to check consumption, types and shapes, and to report what does not hold as [`RunError::Internal`].
    pub check: bool,
    /// What thresholds are to be.
    pub thresholds: Option<&'a Forced>,
    /// Whether to find out sizes and regularity ([`crate::analysis::regularity`]) of a nested program, and to check while it
    /// runs all that is claimed; what does not hold is reported as [`RunError::Internal`].
    pub claims: bool,
    /// Whether it is a failure of the program when two points of a scatter write different values to one place: which of them
    /// stays is not said.
    pub collisions: bool,
    /// A flag that ends the run.
    pub stop: Option<&'a Stop>,
    /// Is shown what the program traces.
    pub tracer: Option<Tracer<'a>>,
    /// Decides how sequences are cut into chunks.
    pub streams: Streams<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            fuel: None,
            depth: MOST_NESTED_CALLS,
            memory: None,
            check: true,
            thresholds: None,
            claims: false,
            collisions: false,
            stop: None,
            tracer: None,
            streams: Streams::VARIED,
        }
    }
}

/// Runs an entry point of a program in the nested dialect. Arguments and results are those of the entry point,
/// flattened, without sizes.
pub fn run(
    program: &Program<Soac>,
    entry: &str,
    args: Vec<Value>,
    options: &Options<'_>,
) -> Result<Vec<Value>, RunError> {
    let claims = options.claims.then(|| regularity(program));
    let watch = claims.map(|facts| Box::new(Watch::new(program, facts)));
    run_any(program, entry, args, options, watch)
}

/// Runs an entry point of a program in the flat dialect, as [`run`].
pub fn run_flat(
    program: &Program<Seg>,
    entry: &str,
    args: Vec<Value>,
    options: &Options<'_>,
) -> Result<Vec<Value>, RunError> {
    run_any(program, entry, args, options, None)
}

fn run_any<D: Exec>(
    program: &Program<D>,
    name: &str,
    mut args: Vec<Value>,
    options: &Options<'_>,
    watch: Option<Box<Watch>>,
) -> Result<Vec<Value>, RunError> {
    let (id, signature) = entry::find(program, name)?;
    if signature.has_streams() && !options.streams.has_outside() {
        let memory = signature.without_streams(&mut args)?;
        let options = Options {
            streams: options.streams.with_outside(&memory),
            ..*options
        };
        let mut results = run_any(program, name, args, &options, watch)?;
        results.extend(memory.into_output());
        return Ok(results);
    }
    let sizes = signature.sizes(&args)?;
    let mut machine = Machine::new(program, *options);
    machine.watch = watch;
    let mut values: Vec<Val> = sizes.into_iter().map(|n| Val::Scalar(n.into())).collect();
    for arg in args {
        values.push(match arg {
            Value::Scalar(c) => Val::Scalar(c),
            Value::Array(a) => Val::Array(Rc::new(Array::from_value(a, &machine.meter))),
        });
    }
    let results = machine.call(id, values).map_err(|e| *e)?;
    let outside = results.into_iter().skip(signature.size_results);
    outside
        .map(|value| match value {
            Val::Scalar(c) => Ok(Value::Scalar(c)),
            Val::Array(a) => Ok(Value::Array(a.to_value())),
            Val::Buffer(_) | Val::Cert | Val::Unset | Val::Gone => Err(RunError::Internal(
                format!("`{name}` returns what is no value"),
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests;
