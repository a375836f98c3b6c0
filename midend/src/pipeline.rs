//! The order of the passes, as tables: each line with the reason for its place.

use crate::driver::{Broken, Driver};
use crate::ir::mem::Mem;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::Program;
use crate::pass::Pass;
use crate::passes;

/// On the nested program.
pub const NESTED: &[Pass<Soac>] = &[];

/// From nested to flat.
pub const FLATTEN: Pass<Soac, Seg> = passes::FLATTEN;

/// On the flat program.
pub const FLAT: &[Pass<Seg>] = &[];

/// From flat to plan.
pub const PLAN: Pass<Seg, Mem> = passes::PLAN;

/// On the plan.
pub const PLANNED: &[Pass<Mem>] = &[];

/// From the front end's program to the nested one that is flattened.
pub fn nested(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Soac>, Broken> {
    driver.start(&program)?;
    driver.run_all(NESTED, program)
}

/// From the front end's program to the flat one that is planned.
pub fn flat(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Seg>, Broken> {
    let program = nested(program, driver)?;
    let program = driver.run(&FLATTEN, program)?;
    driver.run_all(FLAT, program)
}

/// From the front end's program to the plan that back ends run.
pub fn plan(program: Program<Soac>, driver: &mut Driver<'_>) -> Result<Program<Mem>, Broken> {
    let program = flat(program, driver)?;
    let program = driver.run(&PLAN, program)?;
    driver.run_all(PLANNED, program)
}
