//! Maps worked on in tiles: a block of threads goes through the loop of a tile of points together, some steps at a time.
//!
//! ```text
//! for a tile of rows and columns:
//!   for first in 0, steps, .. up to bound:
//!     staged reads of all rows and columns in the steps from first on  ──► registers     a share for each thread
//!     for step in first - steps .. first:  shared memory ──► registers, a step for every point of the thread
//!     what was read  ──► the other half of shared memory
//!     barrier
//!   what comes after the loop, for every point of the thread that there is
//! ```
//!
//! A thread has several rows and columns (register tiling): of what it reads from shared memory, each row serves all columns
//! and each column all rows. Statements that depend on rows alone are executed once for a row, and so on. Threads whose points
//! lie beyond the space go along with the last row or column in it, so that all come to the barriers, and write nothing.

mod stage;
mod steady;
mod step;

use super::{Entry, Lower, Shape, Source, THREADS, Value, entry};
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Operand, Reg, Ty};
use midend::analysis::tiles::{Side, Tiles, tiles};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::syntax::{Atom, Program, Stm, Vars};
use midend::ir::walk::free_in_stm;
use std::collections::HashMap;

/// Threads along the rows and along the columns of a tile with both.
const SQUARE: (u32, u32) = (16, 16);
/// Rows and columns of a thread, at most.
const MOST: [u32; 3] = [8, 4, 2];
/// The statements of a step times the points of a thread, at most, and the bytes that these carry from step to step.
const WORK: (u32, u32) = (640, 256);
/// Steps at a time, where rows or columns are staged, and where only what all points share is.
const STEPS: (u32, u32) = (16, THREADS);
/// Steps at a time where there is no shared memory for more.
const FEWER: u32 = 8;
/// Bytes of shared memory that a block always has.
const SHARED: u32 = crate::ptx::verify::SHARED as u32;
/// The most forms of a kernel.
const FORMS: usize = 2;

/// How points are dealt out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Form {
    /// Threads along rows and along columns.
    threads: (u32, u32),
    /// Rows and columns of a thread.
    points: (u32, u32),
    /// Steps at a time.
    steps: u32,
}

impl Form {
    const fn rows(self) -> u32 {
        self.threads.0 * self.points.0
    }
    const fn columns(self) -> u32 {
        self.threads.1 * self.points.1
    }
    /// Rows, and columns, of a thread that are side by side. In one dimension neighbours are those of other threads, since nothing
    /// but what threads read and write for themselves goes by columns then.
    const fn run(self) -> u32 {
        match self.points {
            (1, _) => 1,
            (2, _) => 2,
            (_, _) => 4,
        }
    }
    /// How far the rows, or columns, of a thread are from its first one, of so many along which there are so many threads.
    fn away(self, points: u32, threads: u32) -> impl Iterator<Item = u32> {
        let run = self.run();
        (0..points).map(move |k| k / run * run * threads + k % run)
    }
}

/// A form of a kernel, ready to be run.
#[derive(Debug)]
pub(crate) struct Tiled {
    pub(crate) entry: Entry,
    /// Rows of a tile; nothing if only columns are in tiles.
    pub(crate) rows: Option<u32>,
    /// Columns of a tile.
    pub(crate) columns: u32,
    /// Steps that are worth a tile.
    pub(crate) steps: u32,
}

/// What a kernel is worked on by.
struct Job<'k> {
    kernel: &'k Kernel,
    tiles: Tiles<'k, Mem>,
    form: Form,
    /// What is left of a step, and what that needs of what comes before the loop.
    left: Vec<&'k Stm<Mem>>,
    before: Vec<&'k Stm<Mem>>,
}

/// The forms of a kernel that is worked on in tiles, those with the largest tiles first, and the number of steps of its loop.
pub(super) fn tiled(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
) -> (Vec<Tiled>, Option<Atom>) {
    let program = source.program;
    let mut all = Vec::new();
    let mut bound = None;
    for form in forms(program, kernel) {
        let Some(tiles) = found(&program.vars, kernel) else {
            continue;
        };
        bound = Some(tiles.bound);
        let left = tiles.left(&program.vars);
        let before = tiles.before_steps(&program.vars, &left);
        let rows = tiles.row.map(|_| form.rows());
        let job = Job {
            kernel,
            tiles,
            form,
            left,
            before,
        };
        let what = format!("tile{}", form.columns());
        let shape = Shape::of(kernel, args, &what, 2);
        all.push(Tiled {
            entry: entry(source, &shape, |lower, extras| {
                lower.work_on_tile(&job, extras)
            }),
            rows,
            columns: form.columns(),
            steps: form.steps.min(STEPS.0) / 2,
        });
    }
    (all, bound)
}

fn found<'k>(vars: &Vars, kernel: &'k Kernel) -> Option<Tiles<'k, Mem>> {
    let regular = |(_, extent): &(Var, Extent)| matches!(extent, Extent::Regular(_));
    let indices: Vec<Var> = kernel.space.iter().map(|(i, _)| *i).collect();
    if kernel.tiled == 0 || !kernel.space.iter().all(regular) {
        return None;
    }
    tiles(vars, &indices, kernel.tiled, &kernel.body)
}

/// The forms that go well with a kernel.
fn forms(program: &Program<Mem>, kernel: &Kernel) -> Vec<Form> {
    let Some(tiles) = found(&program.vars, kernel) else {
        return vec![];
    };
    let bytes = |v: Var| {
        let elem = program.vars[v].ty.elem();
        elem.map_or(0, |elem| elem.bytes().max(4) as u32)
    };
    let carried: u32 = tiles.params.iter().map(|p| bytes(p.var)).sum();
    let statements = tiles.left(&program.vars).len().max(1) as u32;
    let only_steps = tiles.staged.iter().all(|s| s.side == Side::Step);
    let steps = if only_steps { STEPS.1 } else { STEPS.0 };
    let square = |n: u32| Form {
        threads: SQUARE,
        points: (n, n),
        steps,
    };
    let line = |n: u32| Form {
        threads: (1, THREADS),
        points: (1, n),
        steps,
    };
    let all: Vec<Form> = match (tiles.row, only_steps) {
        (Some(_), _) => MOST.into_iter().map(square).collect(),
        (None, true) => [4, 1].map(line).to_vec(),
        (None, false) => vec![line(1)],
    };
    let fits = |form: &Form| {
        let points = form.points.0 * form.points.1;
        let shared: u32 = tiles
            .staged
            .iter()
            .zip(tiles.reads())
            .map(|(staged, read)| 2 * stage::bytes(*form, staged.side, bytes(read.binds[0])))
            .sum();
        points * statements <= WORK.0 && points * carried <= WORK.1 && shared <= SHARED
    };
    let with = |form: &Form| {
        let fewer = Form {
            steps: FEWER,
            ..*form
        };
        let mut both = [*form, fewer].into_iter();
        both.find(fits)
    };
    all.iter().filter_map(with).take(FORMS).collect()
}

impl Job<'_> {
    /// The statements of so many steps, of all points.
    fn work(&self, steps: u32) -> usize {
        let points = self.form.points.0 * self.form.points.1;
        self.left.len() * (points * steps) as usize
    }

    /// Whether what is left of a step uses a variable.
    fn uses(&self, vars: &Vars, var: Var) -> bool {
        let mut stms = self.left.iter();
        self.tiles.body.result.contains(&var.into())
            || stms.any(|stm| free_in_stm(vars, stm).contains(&var))
    }
}

/// Where a thread stands.
struct Place {
    /// The number of the thread in its block, and its row and column among the threads.
    tid: Reg,
    row: Reg,
    column: Reg,
    /// The first row and column of the tile, in 64 bits.
    first_row: Option<Reg>,
    first_column: Reg,
    /// The last row and column of the space.
    last_row: Option<Reg>,
    last_column: Reg,
}

impl Lower<'_> {
    /// A tile. The parameters are the number of tiles along the columns and along the rows.
    fn work_on_tile(&mut self, job: &Job<'_>, extras: &[Reg]) {
        let place = self.tile_place(job, extras);
        let outer = self.values.clone();
        let mut points = self.tile_points(job, &place, &outer);
        self.jam_all(job, &mut points, &job.before);
        let carried = self.tile_steps(job, &place, &mut points);
        self.tile_rest(job, &place, (&outer, &points), &carried);
        self.values = outer;
    }

    /// The place of the thread; binds the indices outside of the tile.
    fn tile_place(&mut self, job: &Job<'_>, extras: &[Reg]) -> Place {
        let Form { threads, .. } = job.form;
        let block = self.b.special(Special::Ctaid);
        let block = self.wide(block);
        let (rest, column_tile) = self.divide(block, extras[0].into());
        let tiled = 1 + usize::from(job.tiles.row.is_some());
        let (outside, inside) = job.kernel.space.split_at(job.kernel.space.len() - tiled);
        let (rest, row_tile) = match job.tiles.row {
            Some(_) => {
                let (rest, tile) = self.divide(rest, extras[1].into());
                (rest, Some(tile))
            }
            None => (rest, None),
        };
        self.indices(outside, rest);
        let tid = self.b.special(Special::Tid);
        let (row, column) = self.tile_thread(threads, tid);
        let first = |lower: &mut Self, tile: Reg, size: u32| {
            let size = Operand::Imm(size.into());
            lower.b.bin(Binary::Mul, Ty::U64, tile, size)
        };
        let last = |lower: &mut Self, (_, extent): &(Var, Extent)| {
            let extent = match *extent {
                Extent::Regular(extent) => lower.atom(extent),
                Extent::Ragged { .. } => unreachable!("tiles are over regular dimensions"),
            };
            lower.b.bin(Binary::Sub, Ty::U64, extent, Operand::Imm(1))
        };
        Place {
            tid,
            row,
            column,
            first_row: row_tile.map(|tile| first(self, tile, job.form.rows())),
            first_column: first(self, column_tile, job.form.columns()),
            last_row: job.tiles.row.map(|_| last(self, &inside[0])),
            last_column: last(self, &inside[tiled - 1]),
        }
    }

    /// The row and column of a thread among those of its block. Where these are in a square, a warp has four rows of eight, so that it
    /// reads as little as may be of shared memory.
    fn tile_thread(&mut self, threads: (u32, u32), tid: Reg) -> (Reg, Reg) {
        let mut bits = |from: u32, mask: u32| {
            let from = self
                .b
                .bin(Binary::Shr, Ty::U32, tid, Operand::Imm(from.into()));
            self.b
                .bin(Binary::And, Ty::B32, from, Operand::Imm(mask.into()))
        };
        if threads.0 == 1 {
            return (bits(THREADS.trailing_zeros(), 0), tid);
        }
        let (column, row) = (bits(0, 7), bits(3, 3));
        let (columns, rows) = (bits(5, 1), bits(6, 3));
        let mut both = |low: Reg, high: Reg, by: u64| {
            let high = self.b.bin(Binary::Shl, Ty::B32, high, Operand::Imm(by));
            self.b.bin(Binary::Or, Ty::B32, low, high)
        };
        (both(row, rows, 2), both(column, columns, 3))
    }

    /// The points of the thread, row by row, each with its indices, which are in the space.
    fn tile_points(&mut self, job: &Job<'_>, place: &Place, outer: &HashMap<Var, Value>) -> Points {
        let rows = self.tile_indices(job, place, true, true);
        let columns = self.tile_indices(job, place, false, true);
        let mut each = Vec::new();
        for row in &rows {
            for column in &columns {
                let mut values = outer.clone();
                if let (Some(var), Some(row)) = (job.tiles.row, row) {
                    values.insert(var, Value::Scalar((*row).into()));
                }
                if let Some(column) = column {
                    values.insert(job.tiles.column, Value::Scalar((*column).into()));
                }
                each.push(values);
            }
        }
        Points::new(job.form.points.1 as usize, each)
    }

    /// The rows or columns of the thread; `inside` moves those beyond the space to the last one. Nothing where there are no rows.
    fn tile_indices(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        rows: bool,
        inside: bool,
    ) -> Vec<Option<Reg>> {
        let Form {
            threads, points, ..
        } = job.form;
        let (first, last, mine, threads, points) = if rows {
            let Some((first, last)) = place.first_row.zip(place.last_row) else {
                return vec![None];
            };
            (first, last, place.row, threads.0, points.0)
        } else {
            let (first, last) = (place.first_column, place.last_column);
            (first, last, place.column, threads.1, points.1)
        };
        let run = Operand::Imm(job.form.run().into());
        let mine = self.b.bin(Binary::MulWide, Ty::U32, mine, run);
        let start = self.b.bin(Binary::Add, Ty::U64, first, mine);
        let all = self.distant(start, job.form.away(points, threads));
        all.into_iter()
            .map(|index| {
                Some(if inside {
                    self.b.bin(Binary::Min, Ty::U64, index, last)
                } else {
                    index
                })
            })
            .collect()
    }

    /// What comes after the loop, for the points of the thread that are in the space; the results of the loop are those of
    /// `points`.
    fn tile_rest(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        (outer, points): (&HashMap<Var, Value>, &Points),
        carried: &[Var],
    ) {
        let rest = job.tiles.before_rest(&self.program.vars, &[]);
        let rows = self.tile_indices(job, place, true, false);
        let columns = self.tile_indices(job, place, false, false);
        for (r, row) in rows.iter().enumerate() {
            for (c, column) in columns.iter().enumerate() {
                let end = self.b.block();
                self.values.clone_from(outer);
                let indices = [
                    (job.tiles.row, *row, place.last_row),
                    (Some(job.tiles.column), *column, Some(place.last_column)),
                ];
                for (var, index, last) in indices {
                    let (Some(var), Some(index), Some(last)) = (var, index, last) else {
                        continue;
                    };
                    let is_inside = self.b.cmp(Cmp::Le, Ty::U64, index, last);
                    let inside = self.b.block();
                    self.b.branch(is_inside, inside, end, false);
                    self.b.begin(inside);
                    self.bind_scalar(var, index);
                }
                let values = &points.each[r * points.columns + c];
                for (bind, param) in job.tiles.binds.iter().zip(carried) {
                    if let Some(value) = values.get(param) {
                        self.bind(*bind, *value);
                    }
                }
                self.scoped(&job.kernel.body, |lower| {
                    for stm in rest.iter().copied().chain(job.tiles.after) {
                        lower.stm(stm);
                    }
                });
                self.b.jump(end);
                self.b.begin(end);
            }
        }
    }
}

/// The points of a thread: what is known at each, row by row.
struct Points {
    columns: usize,
    each: Vec<HashMap<Var, Value>>,
    /// The order in which they take their turns, by pairs of rows and columns: what one reads of its row and column, its neighbour has just
    /// read.
    order: Vec<usize>,
}

impl Points {
    /// What all points know alike.
    fn insert(&mut self, var: Var, value: Reg) {
        for values in &mut self.each {
            values.insert(var, Value::Scalar(value.into()));
        }
    }

    /// Points in rows of so many columns.
    fn new(columns: usize, each: Vec<HashMap<Var, Value>>) -> Self {
        let mut order: Vec<usize> = (0..each.len()).collect();
        order.sort_by_key(|&i| {
            let (row, column) = (i / columns, i % columns);
            (row / 2, column / 2, row % 2, column % 2)
        });
        Self {
            columns,
            each,
            order,
        }
    }
}
