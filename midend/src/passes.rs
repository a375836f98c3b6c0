//! The passes: each takes a whole program and gives a whole program, and cannot fail.

pub mod flatten;
pub mod plan;

use crate::ir::mem::Mem;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::pass::Pass;

/// From nested to flat.
pub const FLATTEN: Pass<Soac, Seg> = Pass {
    name: "flatten",
    summary: "parallel operators become operations over spaces of indices",
    run: |program, _| flatten::flatten(program),
};

/// From flat to plan.
pub const PLAN: Pass<Seg, Mem> = Pass {
    name: "plan",
    summary: "arrays become views of buffers, parallel operations become kernels",
    run: |program, _| plan::plan(program),
};
