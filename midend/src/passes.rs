//! The passes: each takes a whole program and gives a whole program, and cannot fail.

pub mod chunks;
pub mod dead_code;
pub mod derivatives;
pub mod differences;
pub mod elide;
pub mod fast_math;
pub mod flatten;
pub mod forward;
pub mod fuse;
pub mod hoist;
pub mod inline;
pub mod interchange;
pub mod join;
pub mod layout;
pub mod operators;
pub mod overwrite;
pub mod plan;
pub mod simplify;
pub mod sink;
pub mod specialize;
pub mod tables;
pub mod tile;
pub mod unchecked;

use crate::analysis::{access, regularity};
use crate::ir::mem::Mem;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::pass::{Analysis, Pass};

/// From nested to flat.
pub const FLATTEN: Pass<Soac, Seg> = Pass {
    name: "flatten",
    summary: "parallel operators become operations over spaces of indices",
    run: |program, cx| flatten::flatten(program, cx.options),
};

/// From flat to plan.
pub const PLAN: Pass<Seg, Mem> = Pass {
    name: "plan",
    summary: "arrays become views of buffers, parallel operations become kernels",
    run: |program, cx| plan::plan(program, cx.options),
};

/// The passes of the nested dialect by name, those that the pipeline runs only as parts of others among them.
pub const NESTED: &[Pass<Soac>] = &[
    inline::pass(),
    simplify::pass(),
    simplify::copies(),
    simplify::fold(),
    simplify::cse(),
    simplify::checks(),
    simplify::branches(),
    dead_code::pass(),
    chunks::PASS,
    derivatives::PASS,
    fuse::pass(),
    hoist::PASS,
    interchange::PASS,
    operators::PASS,
    elide::PASS,
    specialize::pass(),
    unchecked::PASS,
];

/// The analyses of the nested dialect by name.
pub const ANALYSES: &[Analysis<Soac>] = &[Analysis {
    name: "regularity",
    summary: "(tells only) sizes that are equal, and what is the same for all points",
    annotated: regularity::annotate::annotated,
}];

/// The analyses of the flat dialect by name.
pub const FLAT_ANALYSES: &[Analysis<Seg>] = &[Analysis {
    name: "access",
    summary: "(tells only) how the places of reads move with indices and counters",
    annotated: access::annotate::annotated,
}];

/// The passes of the flat dialect by name.
pub const FLAT: &[Pass<Seg>] = &[
    inline::pass(),
    simplify::pass(),
    simplify::copies(),
    simplify::fold(),
    simplify::cse(),
    simplify::checks(),
    simplify::branches(),
    dead_code::pass(),
    differences::PASS,
    tables::PASS,
    tile::PASS,
    layout::PASS,
];

/// The passes of the plan by name. Inlining is not among them: kernels have names, and a copy would need another one.
pub const PLANNED: &[Pass<Mem>] = &[
    simplify::pass(),
    simplify::copies(),
    simplify::fold(),
    simplify::cse(),
    simplify::checks(),
    dead_code::pass(),
    fast_math::PASS,
    join::PASS,
    overwrite::PASS,
    sink::PASS,
    forward::PASS,
];
