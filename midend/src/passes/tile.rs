//! Tiling (thesis 9.2): maps whose points read the same elements in a loop are marked, so that back ends bring these near
//! once for many points.
//!
//! ```text
//! segmap device (i < n, j < p) {            segmap device tiled 2 (i < n, j < p) {
//!   loop (acc = 0) for k < m {                loop (acc = 0) for k < m {
//!     x = index a[i, k]                ──►      x = index a[i, k]
//!     y = index b[k, j]                         y = index b[k, j]
//!     acc + x * y                               acc + x * y
//! ```
//!
//! A guard that chooses such a version of two dimensions gets a threshold of its own kind: tiles make up for less parallelism.
//!
//! What fits is told by [`crate::analysis::tiles`]; it is a shape of code, so that a product of matrices is tiled however it
//! was written. Code stays as it is: tiles of points, and where they put what they share (the shared memory of a block of
//! threads, packed panels in a cache), are up to the back end.

use crate::analysis::tiles::tiles;
use crate::hash::HashSet;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Exp, Program, Stm, Vars};
use crate::ir::threshold::ThresholdKind;
use crate::ir::walk::{all_stms, all_stms_mut};
use crate::pass::Pass;

/// The pass.
pub const PASS: Pass<Seg> = Pass {
    name: "tile",
    summary: "maps whose points share reads in a loop are worked on in tiles",
    run: |program, _| tile(program),
};

fn tile(mut program: Program<Seg>) -> Program<Seg> {
    let vars = &program.vars;
    for fun in program.funs.iter_mut() {
        all_stms_mut(&mut fun.body, &mut |stm| {
            if let Exp::Op(Seg::Par(op)) = &mut stm.exp {
                op.tiled = decide(vars, op);
            }
        });
        let mut choices = HashSet::default();
        all_stms(&fun.body, &mut |stm| choices.extend(chooses_tiles(stm)));
        all_stms_mut(&mut fun.body, &mut |stm| {
            if let Exp::Guard { threshold, .. } = &mut stm.exp
                && stm.binds.iter().any(|v| choices.contains(v))
            {
                threshold.kind = ThresholdKind::Tiles;
            }
        });
    }
    program
}

/// The condition of a choice between versions of which the first is worked on in tiles of two dimensions.
fn chooses_tiles(stm: &Stm<Seg>) -> Option<Var> {
    let Exp::If { cond, then, .. } = &stm.exp else {
        return None;
    };
    let in_tiles = |stm: &Stm<Seg>| matches!(&stm.exp, Exp::Op(Seg::Par(op)) if op.tiled == 2);
    cond.as_var().filter(|_| then.stms.iter().any(in_tiles))
}

/// How many dimensions of an operation to work on in tiles.
fn decide(vars: &Vars, op: &SegOp) -> usize {
    let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
    let is_map = matches!(op.kind, SegKind::Map) && op.level == Level::Device;
    if !is_map || !op.space.dims.iter().all(regular) {
        return 0;
    }
    let indices: Vec<Var> = op.space.dims.iter().map(|(i, _)| *i).collect();
    let fits = |tiled: &usize| tiles(vars, &indices, *tiled, &op.body).is_some();
    [2, 1].into_iter().find(fits).unwrap_or(0)
}
