//! The order of the passes, as tables: each line with the reason for its place.

use crate::driver::{Broken, Driver};
use crate::ir::id::Id;
use crate::ir::mem::Mem;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::Program;
use crate::pass::Pass;
use crate::passes::{
    self, dead_code, differences, elide, fast_math, forward, fuse, hoist, inline, interchange,
    join, layout, operators, overwrite, simplify, sink, specialize, tables, tile, unchecked,
};
use crate::plan::{Signature, signatures};

/// On the nested program with derivatives in it. Functions and their parameters stay: derivatives are told by their numbers.
pub const BEFORE_DERIVATIVES: &[Pass<Soac>] = &[
    // What is constant has no derivative.
    simplify::pass(),
    // Operators that are one are undone at once, and the arrays between them have no adjoints.
    fuse::pass(),
    simplify::pass(),
];

/// What the other passes on the nested program rest on: there are no derivatives left.
pub const DERIVATIVES: Pass<Soac> = passes::derivatives::PASS;

/// On the nested program.
pub const NESTED: &[Pass<Soac>] = &[
    // Before anything rests on a check.
    unchecked::PASS,
    // Before anything else: what never runs need not be inlined or simplified.
    dead_code::pass(),
    // Small bodies first, so that inlining judges them by what is left of them.
    simplify::pass(),
    // Calls hide parallelism and sizes from everything that follows.
    inline::pass(),
    // Arguments have met parameters: constants fold, equal computations meet, checks are seen to hold.
    simplify::pass(),
    // What was read only by what was folded away, and functions that were inlined everywhere.
    dead_code::pass(),
    // Constants have come to the calls that are left.
    specialize::pass(),
    // Checks between maps are in the way of fusing and flattening them.
    hoist::PASS,
    // What only passes its inputs on becomes a copy.
    operators::PASS,
    // Copies are in the way, too, and only small bodies and inlined ones show that they are not needed.
    elide::PASS,
    // Conditions that were hoisted meet those that were there before.
    simplify::pass(),
    dead_code::pass(),
    // Widths that are equal are the same by now, and nothing dead keeps results alive.
    fuse::pass(),
    // What the parts of fused operators compute alike.
    simplify::pass(),
    dead_code::pass(),
    // Maps are where their rows are reduced by now.
    interchange::PASS,
    // Maps that made rows have nothing to do.
    operators::PASS,
    simplify::pass(),
    dead_code::pass(),
];

/// From nested to flat.
pub const FLATTEN: Pass<Soac, Seg> = passes::FLATTEN;

/// On the flat program.
pub const FLAT: &[Pass<Seg>] = &[
    // Flattening makes index arithmetic and reads of whole rows; indices of spaces are in range.
    simplify::pass(),
    // Rows that were read only to be indexed.
    dead_code::pass(),
    // The indices of what is summed are those of points by now.
    differences::PASS,
    // What is costly has met what is equal to it, and every version has its loops and spaces.
    tables::PASS,
    // Reads are elements of arrays from outside by now, and what is not read is gone.
    tile::PASS,
    // What no tile brings near.
    layout::PASS,
];

/// From flat to plan.
pub const PLAN: Pass<Seg, Mem> = passes::PLAN;

/// On the plan.
pub const PLANNED: &[Pass<Mem>] = &[
    // Index functions have become arithmetic, much of it with constants 0 and 1.
    simplify::pass(),
    // Extents that no index function needed.
    dead_code::pass(),
    // Places are simple by now, and equal where they are the same.
    join::PASS,
    // What loops that were joined compute alike.
    simplify::pass(),
    dead_code::pass(),
    // What computes equal products has met, so that products used once show.
    fast_math::PASS,
    // Equal indices are the same by now.
    overwrite::PASS,
    // The order of frees matters no more; numbers that stay here need not go anywhere.
    sink::PASS,
    forward::PASS,
];

/// From the front end's program to the nested one that is flattened.
pub fn nested(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Soac>, Broken> {
    driver.start(&program)?;
    let program = derived(program, driver)?;
    driver.run_all(NESTED, program)
}

/// The nested program with the code of derivatives.
pub fn derived(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Soac>, Broken> {
    if !has_derivatives(&program) {
        return Ok(program);
    }
    let program = driver.run_all(BEFORE_DERIVATIVES, program)?;
    driver.run(&DERIVATIVES, program)
}

/// Whether functions are derivatives of others.
pub fn has_derivatives(program: &Program<Soac>) -> bool {
    program.funs.iter().any(|fun| fun.derivative.is_some())
}

/// From the front end's program to the flat one that is planned.
pub fn flat(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Seg>, Broken> {
    let program = nested(program, driver)?;
    let program = driver.run(&FLATTEN, program)?;
    driver.run_all(FLAT, program)
}

/// From the front end's program to the plan that back ends run, and what the outside knows of its entry points.
pub fn plan(
    program: Program<Soac>,
    driver: &mut Driver<'_>,
) -> Result<(Program<Mem>, Vec<Signature>), Broken> {
    let program = flat(program, driver)?;
    let mut signatures = signatures(&program);
    let names: Vec<String> = program.funs.iter().map(|f| f.name.clone()).collect();
    let program = driver.run(&PLAN, program)?;
    let program = driver.run_all(PLANNED, program)?;
    // Functions that nothing calls are gone, so that the others have other numbers.
    for signature in &mut signatures {
        let name = &names[signature.fun.index()];
        if let Some((fun, _)) = program.funs.enumerate().find(|(_, f)| f.name == *name) {
            signature.fun = fun;
        }
    }
    Ok((program, signatures))
}
