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
//! Guards learn what their versions are by then ([`guard`]), and what belongs to a chunk of a sequence must not depend on that ([`chunk`]).
//!
//! What fits is told by [`crate::analysis::tiles`]; it is a shape of code, so that a product of matrices is tiled however it
//! was written. Code stays as it is: tiles of points, and where they put what they share (the shared memory of a block of
//! threads, packed panels in a cache), are up to the back end.

use crate::analysis::tiles::tiles;
use crate::fired::fired;
use crate::ir::dialect::is_by_blocks;
use crate::ir::id::Var;
use crate::ir::seg::{Level, Seg, SegKind, SegOp, SpaceDim};
use crate::ir::syntax::{Exp, Program, Vars};
use crate::ir::walk::all_stms_mut;
use crate::pass::Pass;

mod chunk;
mod guard;

/// The pass.
pub const PASS: Pass<Seg> = Pass {
    name: "tile",
    summary: "maps whose points share reads in a loop are worked on in tiles",
    run: |program, _| tile(program),
};

fn tile(mut program: Program<Seg>) -> Program<Seg> {
    let Program { vars, funs, .. } = &mut program;
    for fun in funs.iter_mut() {
        all_stms_mut(&mut fun.body, &mut |stm| {
            if let Exp::Op(Seg::Par(op)) = &mut stm.exp {
                op.tiled = decide(vars, op);
                match op.tiled {
                    0 => {}
                    1 => fired("tile/one-dimension"),
                    _ => fired("tile/two-dimensions"),
                }
            }
        });
        guard::body(vars, &mut fun.body);
    }
    chunk::chunks(&mut program);
    program
}

/// How many dimensions of an operation to work on in tiles.
fn decide(vars: &Vars, op: &SegOp) -> usize {
    let regular = |(_, dim): &(Var, SpaceDim)| matches!(dim, SpaceDim::Regular(_));
    let is_map = matches!(op.kind, SegKind::Map) && op.level == Level::Device;
    if !is_map || is_by_blocks(&op.body) || !op.space.dims.iter().all(regular) {
        return 0;
    }
    let indices: Vec<Var> = op.space.dims.iter().map(|(i, _)| *i).collect();
    let fits = |tiled: &usize| tiles(vars, &indices, *tiled, &op.body).is_some();
    [2, 1].into_iter().find(fits).unwrap_or(0)
}
