//! From the vector IR to machine code of x64 with AVX-512: instruction selection, `regalloc2`, encoding.

mod codes;
mod encode;
mod mach;
mod select;

pub(crate) use encode::Failed;
pub(crate) use select::LANES;

use super::ir::Function;
use regalloc2::RegallocOptions;

/// The code of a function.
pub(crate) fn compile(f: &Function) -> Result<Vec<u8>, Failed> {
    let selected = select::select(f);
    let options = RegallocOptions {
        validate_ssa: cfg!(debug_assertions),
        ..RegallocOptions::default()
    };
    let output = regalloc2::run(&selected.func, &mach::environment(), &options)
        .map_err(|error| Failed(format!("{error:?}")))?;
    encode::encode(&selected.func, &output, &selected.slots, &selected.pool)
}
