//! Maps worked on in tiles of rows and columns: register blocking and packed panels.
//!
//! ```text
//! for a tile of ROWS rows and columns() columns:
//!   for some steps at a time, as many as a panel in the nearest cache has room for:
//!     pack: what the columns read in these steps, a panel for each group of lanes, one step after the other,
//!           and what the rows read, one row after the other
//!     for each panel, for each few rows (block): the carried values of all their points in vector registers
//!       for each step: vectors from the panel, a number for each row, and the step of every point
//!       after the last step: what comes after the loop
//!   what comes after the loop, for what is left at the ends
//! ```
//!
//! Between the runs over steps, carried values wait in memory of the tile. Every point does exactly what it would do alone, in
//! the same order, so results are the same to the bit, whatever the sizes of tiles. Rows and columns beyond the space go along with the last one, and
//! write nothing.

mod panel;
mod rest;
mod steps;

use super::Lanes;
use super::plan::Plan;
use super::vector::packed_type;
use crate::emit::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::tiles::{Side, Staged, Tiles, tiles};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::syntax::{Atom, Exp, Stm, Vars};
use midend::ir::types::ScalarType;
use std::collections::HashMap;

/// Rows of the smallest tiles, and bytes of their columns.
const ROWS: i64 = 64;
const COLUMN_BYTES: i64 = 256;
/// How often both may be doubled: what is packed is used by more the larger tiles are, but it should stay in the second nearest cache, and
/// all threads need tiles.
const DOUBLED: u32 = 2;
const MOST_ROWS: i64 = ROWS << DOUBLED;
/// Rows that are worked on together: with two vectors each, as many chains as keep two units for additions of four cycles busy,
/// and twice as many where there are 32 registers, so that what is read once per column and step is shared by more.
const BLOCK: [usize; 2] = [4, 8];
/// Bytes of the vectors of a row: two, or two wider ones.
const LANE_BYTES: usize = 32;
/// Bytes of a line of the cache.
const LINE: i64 = 64;
/// Bytes of a panel: half of the nearest cache.
const PANEL: i64 = 16 << 10;
/// The most values carried, and columns staged: more do not stay in registers.
const FEW: (usize, usize) = (2, 2);

/// A kernel as tiles.
pub(in crate::emit) struct Job<'k> {
    kernel: &'k Kernel,
    tiles: Tiles<'k, Mem>,
    row: Var,
    left: Vec<&'k Stm<Mem>>,
    before: Vec<&'k Stm<Mem>>,
    plan: Plan,
    /// How steps are put side by side while rows are packed.
    along: Plan,
    /// The type of all that is carried and of what columns read.
    elem: ScalarType,
}

/// The rows and columns of the smallest tiles, how often both may be doubled, and what says how many steps there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    pub(crate) doubled: u32,
    pub(crate) steps: Atom,
}

/// The sizes of the tiles that a kernel is worked on in.
pub(crate) fn sizes(vars: &Vars, kernel: &Kernel) -> Option<Sizes> {
    let job = job(vars, kernel, 1)?;
    Some(Sizes {
        rows: ROWS,
        columns: job.columns(),
        doubled: DOUBLED,
        steps: job.tiles.bound,
    })
}

/// A kernel as tiles, if it is a map over rows and columns whose steps are arithmetic on floats of one type.
pub(in crate::emit) fn job<'k>(vars: &Vars, kernel: &'k Kernel, parts: usize) -> Option<Job<'k>> {
    let regular = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Regular(_));
    if kernel.tiled != 2 || !kernel.space.iter().all(regular) {
        return None;
    }
    let indices: Vec<Var> = kernel.space.iter().map(|(i, _)| *i).collect();
    let tiles = tiles(vars, &indices, 2, &kernel.body)?;
    let left = tiles.left(vars);
    let before = tiles.before_steps(vars, &left);
    let elem = vars[tiles.params.first()?.var].ty.elem()?;
    let both = |v: Var| tiles.depends(v) == (true, true);
    let carried = tiles
        .params
        .iter()
        .all(|p| vars[p.var].ty.elem() == Some(elem) && both(p.var));
    let columns: Vec<Var> = of_side(&tiles, Side::Column).map(|(_, v)| v).collect();
    let one_type = columns.iter().all(|v| vars[*v].ty.elem() == Some(elem));
    let few = tiles.params.len() <= FEW.0 && columns.len() <= FEW.1;
    let arithmetic = left.iter().all(|stm| match &stm.exp {
        Exp::Scalar(op, _) => packed_type(*op, false) == Some(elem),
        Exp::Atom(_) => true,
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    });
    // What is before the loop is computed for columns beyond the space, too.
    let safe = before
        .iter()
        .all(|stm| matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..)));
    let floats = matches!(elem, ScalarType::F32 | ScalarType::F64) && carried && one_type;
    if !(floats && few && arithmetic && safe) {
        return None;
    }
    let lanes = parts * LANE_BYTES / elem.bytes();
    let plan = |varying| Plan::of_lanes(lanes, parts, varying);
    Some(Job {
        kernel,
        row: tiles.row?,
        plan: plan(tiles.of_column().collect()),
        along: plan(tiles.of_step().collect()),
        tiles,
        left,
        before,
        elem,
    })
}

/// The reads of a side, and the variables that they bind.
fn of_side<'t>(
    tiles: &'t Tiles<'_, Mem>,
    side: Side,
) -> impl Iterator<Item = (&'t Staged<'t, Mem>, Var)> {
    let all = tiles.staged.iter().zip(tiles.reads());
    all.filter(move |(staged, _)| staged.side == side)
        .map(|(staged, read)| (staged, read.binds[0]))
}

impl Job<'_> {
    /// Columns of the smallest tiles.
    const fn columns(&self) -> i64 {
        COLUMN_BYTES / self.elem.bytes() as i64
    }
    const fn most_columns(&self) -> i64 {
        self.columns() << DOUBLED
    }
    /// Steps at a time.
    const fn steps(&self) -> i64 {
        PANEL / (self.plan.parts * LANE_BYTES) as i64
    }
    /// Rows that are worked on together.
    const fn block(&self) -> usize {
        BLOCK[(self.plan.parts == 4) as usize]
    }
    const fn width(&self) -> i64 {
        self.plan.width as i64
    }
    /// Elements that wait for a carried value between runs over steps.
    const fn waiting(&self) -> i64 {
        MOST_ROWS * self.most_columns()
    }
}

/// The first row and column of a tile, how many of each there are in it, and the last ones of the space.
#[derive(Clone, Copy)]
struct Place {
    row: Value,
    column: Value,
    rows: Value,
    columns: Value,
    last_row: Value,
    last_column: Value,
    /// Where carried values wait.
    waiting: Value,
    /// The panels, those of one read after those of the other.
    panels: Value,
    /// What rows read, in the same way.
    near: Value,
}

impl Emit<'_, '_> {
    /// A tile. Tiles are numbered row by row, those of outer indices one after the other; their sizes are doubled so often.
    pub(in crate::emit) fn tile(&mut self, job: &Job<'_>, (number, doubled): (Value, Value)) {
        let waiting = job.waiting() * job.tiles.params.len() as i64;
        let columns = of_side(&job.tiles, Side::Column).count() as i64;
        let panels = columns * job.steps() * job.most_columns();
        let near = self.packed_rows(job).len() as i64 * job.steps() * MOST_ROWS;
        self.released(|emit| {
            let memory = [waiting, panels, near].map(|count| emit.take_lines(job, count));
            let place = emit.tile_place(job, (number, doubled), memory);
            let rest = emit.rest(job);
            emit.tile_steps(job, place, &rest);
            emit.tile_rest(job, place, &rest);
        });
    }

    /// Memory for so many elements that begins with a line of the cache, so that no vector is in two of them.
    fn take_lines(&mut self, job: &Job<'_>, count: i64) -> Value {
        let count = self.i64(count + LINE / job.elem.bytes() as i64);
        let start = self.take(job.elem, count);
        let start = self.b.ins().iadd_imm_s(start, LINE - 1);
        self.b.ins().band_imm_s(start, -LINE)
    }

    /// Where a tile is; binds the outer indices.
    fn tile_place(
        &mut self,
        job: &Job<'_>,
        (number, doubled): (Value, Value),
        [waiting, panels, near]: [Value; 3],
    ) -> Place {
        let space = self.extents(&job.kernel.space).unwrap_or_default();
        let (outer, inner) = space.split_at(space.len() - 2);
        let (height, width) = (inner[0].1, inner[1].1);
        let [rows, columns] = [ROWS, job.columns()].map(|size| {
            let size = self.i64(size);
            self.b.ins().ishl(size, doubled)
        });
        let one = self.i64(1);
        let mut rest = number;
        let mut next = |emit: &mut Self, extent: Value, size: Value| {
            let count = emit.b.ins().iadd(extent, size);
            let count = emit.b.ins().iadd_imm_s(count, -1);
            let count = emit.b.ins().udiv(count, size);
            let index = emit.b.ins().urem(rest, count);
            rest = emit.b.ins().udiv(rest, count);
            index
        };
        let column = next(self, width, columns);
        let row = next(self, height, rows);
        for (var, extent) in outer.iter().rev() {
            let index = next(self, *extent, one);
            self.bind(*var, index);
        }
        let row = self.b.ins().imul(row, rows);
        let column = self.b.ins().imul(column, columns);
        let left = |emit: &mut Self, extent: Value, first: Value, size: Value| {
            let left = emit.b.ins().isub(extent, first);
            emit.least(left, size)
        };
        Place {
            rows: left(self, height, row, rows),
            columns: left(self, width, column, columns),
            row,
            column,
            last_row: self.b.ins().iadd_imm_s(height, -1),
            last_column: self.b.ins().iadd_imm_s(width, -1),
            waiting,
            panels,
            near,
        }
    }

    /// The lesser of two numbers.
    fn least(&mut self, a: Value, b: Value) -> Value {
        let less = self.b.ins().icmp(IntCC::SignedLessThan, a, b);
        self.b.ins().select(less, a, b)
    }

    /// How many times a size goes into a number, rounded up; the size is a power of two.
    fn parts(&mut self, number: Value, size: i64) -> Value {
        let number = self.b.ins().iadd_imm_s(number, size - 1);
        let shift = i64::from(size.trailing_zeros());
        self.b.ins().sshr_imm_u(number, shift)
    }

    /// The address where the carried value of a point waits: those of a group of lanes row by row, one group after the other.
    fn waiting(
        &mut self,
        job: &Job<'_>,
        place: Place,
        which: usize,
        [group, row, lane]: [Value; 3],
    ) -> Value {
        let at = self.b.ins().imul_imm_s(group, MOST_ROWS);
        let at = self.b.ins().iadd(at, row);
        let at = self.b.ins().imul_imm_s(at, job.width());
        let at = self.b.ins().iadd(at, lane);
        let at = self.b.ins().iadd_imm_s(at, which as i64 * job.waiting());
        self.element(place.waiting, job.elem, at)
    }
}

/// What is known of the points of a row: values that all lanes share, and those that they have for themselves.
#[derive(Clone)]
struct Row {
    values: HashMap<Var, Value>,
    lanes: HashMap<Var, Lanes>,
}

#[cfg(test)]
mod tests {
    use super::sizes;
    use midend::ir::mem::Mem;
    use midend::ir::read;
    use midend::ir::syntax::{Exp, Program};

    /// The columns of a tile of a product of matrices of a type, in so many dimensions.
    fn columns(ty: &str, tiled: usize) -> Option<i64> {
        let text = format!(
            "plan
            fun main(n: i64, m: i64, a: buffer {ty}, b: buffer {ty}, out: buffer {ty}) -> () {{
              do launch map \"k\" tiled {tiled} (i: i64 < n, j: i64 < n) {{
                let s: {ty} = loop (acc: {ty} = 0{ty}) for k: i64 < m {{
                  let r: i64 = mul.i64(i, m)
                  let h: i64 = add.i64(r, k)
                  let x: {ty} = load a[h]
                  let c: i64 = mul.i64(k, n)
                  let t: i64 = add.i64(c, j)
                  let y: {ty} = load b[t]
                  let p: {ty} = mul.{ty}(x, y)
                  let q: {ty} = add.{ty}(acc, p)
                  yield q
                }}
                let l: i64 = mul.i64(i, n)
                let o: i64 = add.i64(l, j)
                do store out[o] = s
                yield
              }}
              yield
            }}"
        );
        let program: Program<Mem> = read::program(&text).expect("reads");
        let fun = program.funs.iter().next().expect("there is a function");
        let Exp::Op(Mem::Launch(kernel)) = &fun.body.stms[0].exp else {
            panic!("it launches a kernel");
        };
        sizes(&program.vars, kernel).map(|sizes| sizes.columns)
    }

    #[test]
    fn products_of_floats_are_worked_on_in_tiles() {
        assert_eq!(columns("f32", 2), Some(64));
        assert_eq!(columns("f64", 2), Some(32));
        assert_eq!(columns("i64", 2), None);
        assert_eq!(columns("f32", 1), None);
    }
}
