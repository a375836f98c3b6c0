//! The verifier: everything that must hold of a program between passes. It runs after every pass that changed the program, in every build.
//!
//! **Scope** (`verify/scope.rs`)
//! - Every variable is a row of the table and is bound exactly once in the whole program.
//! - Every operand, certificate, body result, and size in the type of a bound variable is in scope. Types of parameters
//!   may name earlier parameters, types of bound variables earlier ones of the same statement, types of result formals
//!   the parameters and earlier results.
//! - Function names, entry names and kernel names are unique; calls name functions that exist.
//!
//! **Types** (`verify/types.rs`, `array.rs`, `soac.rs`, `seg.rs`, `acc.rs`, `mem.rs`)
//! - Types are well formed: arrays have a dimension, the outermost is regular, size variables are
//!   `i64`, ragged dimensions name vectors of `i64`. There are arrays in the nested and flat dialect only, buffers in the plan only.
//! - Certificates named by statements have type `cert`; conditions are `bool`; the values in messages are scalars.
//! - Every operation is given operands that fit and binds what it yields. For bodies, loops and calls, the type of
//!   a result is that of its formal after putting results (parameters: arguments) for the formals that its sizes name.
//! - Sizes are equal if they are the same variable or constant, looking through copies of variables and equal scalar operations
//!   (see `verify/sizes.rs`).
//! - Ragged arrays are given only to what can be done with them ([`crate::ir::array`]), are rows of no other arrays and
//!   destinations of no writes; a row of one is bound with a size that is its length.
//! - Lambdas take rows and yield what their operation needs; operators are of type `t, t -> t` with a neutral element of type `t`.
//! - An accumulator names the accumulation whose body it was made for, in which it stays: the body yields those that it was
//!   handed, updates take all of one accumulation in order, and none is a parameter or result of a function or of another lambda.
//! - Operations of the flat dialect nest from device to block to thread. In the plan, only host code launches and frees, and
//!   functions called in kernels do neither.
//!
//! **Entry points** (`verify/entry.rs`): flattening the source types gives the parameters and results; the leading sizes
//! are `i64`; what the source does not call unique is not consumed.
//!
//! **Consumption** (`verify/consume.rs`)
//! - An array is not used after it, an alias of it or its offsets were consumed, nor together with being consumed by one operation.
//! - Only what is owned is consumed: fresh arrays and unique parameters; in a lambda or a loop, only what was made there,
//!   and loop parameters whose start can be consumed. Accumulators are consumed by updates as arrays are, and owned by the body
//!   that is handed them.
//! - Unique results alias no parameter that is not unique, and no other result.
//!
//! Each family is checked only if the one before found nothing. There is no limit on depth.

use crate::ir::id::{SpanId, Var};
use crate::ir::print::Printer;
use crate::ir::span::Spans;
use crate::ir::syntax::{Fun, Program, Stm};
use crate::ir::text::Text;
use crate::ir::types::Type;

mod acc;
mod array;
mod consume;
mod entry;
mod loops;
mod mem;
mod scope;
mod seg;
pub(crate) mod sizes;
mod soac;
mod types;

pub use types::Types;

/// Something that does not hold of a program: a bug in what made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What is wrong.
    pub message: String,
    /// The name of the function.
    pub fun: String,
    /// The statement, on one line without its bodies. Variables are numbered as in the text of the whole program.
    pub stm: Option<String>,
    /// Where the statement came from.
    pub span: SpanId,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, in `{}`", self.message, self.fun)?;
        match &self.stm {
            Some(stm) => write!(f, ": {stm}"),
            None => Ok(()),
        }
    }
}

/// What a dialect adds to the verifier: the types of its operations.
pub trait Verify: Text {
    /// Checks one operation and what it binds, and the bodies in it.
    fn verify_op<'p>(&'p self, cx: &mut Types<'_, 'p, Self>, binds: &'p [Var]);
}

/// From so many variables on, types and consumption are checked side by side: it is worth starting a thread.
const LARGE: usize = 16_384;

/// Checks a program; yields all faults found by the first family of checks that finds one.
pub fn program<D: Verify>(program: &Program<D>) -> Result<(), Vec<Fault>> {
    if holds(program) {
        return Ok(());
    }
    // Naming variables as the text of the program does needs the whole text, which only a faulty program is worth.
    let mut cx = Cx::new(program, Some(Printer::numbered(program)));
    for family in [scope::check, types::check, consume::check] {
        family(&mut cx);
        if !cx.faults.is_empty() {
            break;
        }
    }
    Err(cx.faults)
}

/// Whether no family finds a fault.
fn holds<D: Verify>(program: &Program<D>) -> bool {
    let clean = |family: fn(&mut Cx<'_, D>)| {
        let mut cx = Cx::new(program, None);
        family(&mut cx);
        cx.faults.is_empty()
    };
    if !clean(scope::check) {
        return false;
    }
    if program.vars.len() < LARGE {
        return clean(types::check) && clean(consume::check);
    }
    std::thread::scope(|threads| {
        let consumption = threads.spawn(|| clean(consume::check));
        // Where types are wrong, the other may not get to its end.
        clean(types::check) & consumption.join().unwrap_or(false)
    })
}

/// Where the verifier stands, and what it has found.
pub(crate) struct Cx<'p, D> {
    program: &'p Program<D>,
    /// Present when faults are being written up.
    printer: Option<Printer<'p>>,
    faults: Vec<Fault>,
    fun: Option<&'p Fun<D>>,
    stm: Option<&'p Stm<D>>,
}

impl<'p, D: Text> Cx<'p, D> {
    const fn new(program: &'p Program<D>, printer: Option<Printer<'p>>) -> Self {
        Self {
            program,
            printer,
            faults: Vec::new(),
            fun: None,
            stm: None,
        }
    }

    /// Notes a fault at the statement at hand.
    fn fault(&mut self, message: impl Into<String>) {
        let stm = match (&mut self.printer, self.stm) {
            (Some(printer), Some(stm)) => Some(printer.brief_stm(stm)),
            (None, _) | (_, None) => None,
        };
        self.faults.push(Fault {
            message: message.into(),
            fun: self.fun.map_or(String::new(), |fun| fun.name.clone()),
            stm,
            span: self.stm.map_or(Spans::NONE, |stm| stm.span),
        });
    }

    /// The name of a variable as in the text of the program.
    fn name(&mut self, v: Var) -> String {
        self.printer
            .as_mut()
            .map_or(String::new(), |p| p.piece(|p| p.var(v)))
    }

    /// A type as in the text of the program.
    fn show(&mut self, ty: &Type) -> String {
        self.printer
            .as_mut()
            .map_or(String::new(), |p| p.piece(|p| p.ty(ty)))
    }
}
