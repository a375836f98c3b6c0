//! Vectorisation: kernels lowered to a vector IR, several iterations at a time under an execution mask, and that to machine code.
//!
//! ```text
//! Kernel ──► lower ──► ir::Function ──► x64 (instruction selection, register allocation, encoding)
//! ```

mod cost;
#[cfg(test)]
mod interp;
mod ir;
mod lower;
#[cfg(test)]
mod tests;
mod text;
mod verify;
mod x64;

pub(crate) use lower::Refused;
pub(crate) use x64::LANES;

use crate::worker::Site;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Program;
use std::sync::Arc;

/// The code of a unit.
pub(crate) struct Code {
    pub(crate) bytes: Vec<u8>,
    /// Checks that it refers to.
    pub(crate) sites: Vec<Arc<Site>>,
}

/// Vectorises the unit of a map that works on a range of points, if it gains by that, or anyway. `args` are the variables whose values its
/// slots hold.
pub(crate) fn code(
    program: &Program<Mem>,
    kernel: &Kernel,
    args: &[Var],
    anyway: bool,
) -> Result<Code, Refused> {
    let lowered = lower::map(program, kernel, args, LANES)?;
    if cfg!(debug_assertions) {
        verify::verify(&lowered.func).map_err(Refused)?;
    }
    if !anyway && !lowered.cost.pays() {
        return Err(Refused(lowered.cost.to_string()));
    }
    let bytes = x64::compile(&lowered.func).map_err(|failed| Refused(failed.0))?;
    Ok(Code {
        bytes,
        sites: lowered.sites,
    })
}
