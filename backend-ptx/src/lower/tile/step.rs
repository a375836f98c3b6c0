//! The steps of a tile: from shared memory to registers, each statement for as many points of the thread as it differs at.

use super::stage::Shelf;
use super::{Job, Place, Points};
use crate::lower::memory::shared;
use crate::lower::runs::ACCESS;
use crate::lower::{Lower, Value};
use crate::ptx::ops::{Binary, Cmp, Round};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::analysis::tiles::Side;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::Stm;
use midend::ir::types::ScalarType;

/// Steps that are emitted one after the other, where there are so many.
const UNROLL: u32 = 4;
/// The most statements of these together, and of all steps of a set if these are emitted so.
pub(super) const LONGEST: usize = 1024;

/// The two sets of shelves.
pub(super) struct Sets {
    /// That with the steps to go through, that for the next ones, and the sum of both.
    pub(super) now: Reg,
    pub(super) next: Reg,
    pub(super) both: Reg,
    /// The first of the next steps.
    pub(super) first: Reg,
}

impl Lower<'_> {
    /// All steps; what they carry has its last values in `points`. Yields the variables carried.
    ///
    /// While the points go through some steps, what they read in the next ones is on its way to registers. It is stored to the set of
    /// shelves that is not in use, so that one barrier is enough.
    pub(super) fn tile_steps(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        points: &mut Points,
    ) -> Vec<Var> {
        let carried: Vec<Var> = job.tiles.params.iter().map(|p| p.var).collect();
        self.start_carried(job, points);
        let (shelves, shared, set) = self.shelves(job, place);
        let whole = self.is_whole(job, place);
        let bound = self.atom(job.tiles.bound);
        let last = self.b.bin(Binary::Sub, Ty::S64, bound, Operand::Imm(1));
        let quick = self.quick(job, &shelves, (bound, whole));
        // The steps that are read next, and the sets of shelves that these and those before are in.
        let first = self.b.mov(Ty::B64, Operand::Imm(0));
        let next = self.b.mov(Ty::B32, shared);
        let now = self
            .b
            .bin(Binary::Add, Ty::U32, shared, Operand::Imm(set.into()));
        let both = self.b.bin(Binary::Add, Ty::U32, next, now);
        let sets = Sets {
            now,
            next,
            both,
            first,
        };
        if job.work(job.form.steps) <= LONGEST {
            self.steady_steps(job, place, (&shelves, &sets, points), last, quick);
        }
        let (head, store, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Lt, Ty::S64, first, bound);
        self.if_warp(more, |lower| {
            lower.fetch(job, place, &shelves, (first, last), quick);
        });
        let begun = self.b.cmp(Cmp::Gt, Ty::S64, first, Operand::Imm(0));
        self.if_warp(begun, |lower| {
            lower.run_steps(job, place, (&shelves, now, points), (first, bound));
        });
        self.b.branch(more, store, exit, true);
        self.b.begin(store);
        self.turn_over(job, &shelves, &sets);
        self.b.jump(head);
        self.b.begin(exit);
        carried
    }

    /// Stores what was read for the next steps, which are those to go through then.
    pub(super) fn turn_over(&mut self, job: &Job<'_>, shelves: &[Shelf<'_>], sets: &Sets) {
        self.put(job, shelves, sets.next);
        self.b.inst(Inst::Barrier);
        self.b.set(Ty::B32, sets.now, sets.next);
        self.b
            .bin_to(sets.next, Binary::Sub, Ty::U32, sets.both, sets.next);
        let steps = Operand::Imm(job.form.steps.into());
        self.b
            .bin_to(sets.first, Binary::Add, Ty::S64, sets.first, steps);
    }

    /// Whether all rows and columns of the tile are in the space.
    fn is_whole(&mut self, job: &Job<'_>, place: &Place) -> Reg {
        let mut inside = |first: Reg, count: u32, last: Reg| {
            let more = Operand::Imm(u64::from(count - 1));
            let end = self.b.bin(Binary::Add, Ty::U64, first, more);
            self.b.cmp(Cmp::Le, Ty::U64, end, last)
        };
        let columns = inside(place.first_column, job.form.columns(), place.last_column);
        let rows = place.first_row.zip(place.last_row);
        let rows = rows.map(|(first, last)| inside(first, job.form.rows(), last));
        rows.map_or(columns, |rows| {
            self.b.bin(Binary::And, Ty::Pred, rows, columns)
        })
    }

    /// Registers for what the loop carries, with the first values.
    fn start_carried(&mut self, job: &Job<'_>, points: &mut Points) {
        for param in job.tiles.params {
            let elem = self.elem(param.var);
            self.each_distinct(job, points, &[param.var], |lower| {
                let init = lower.atom(param.init);
                let reg = lower.fresh(elem, init);
                lower.bind_scalar(param.var, reg);
            });
        }
    }

    /// The steps before `next`, below a bound, whose reads are on the shelves of a set.
    fn run_steps(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        (shelves, set, points): (&[Shelf<'_>], Reg, &mut Points),
        (next, bound): (Reg, Operand),
    ) {
        let starts = self.starts(job, place, shelves, set);
        let step = self.b.mov(Ty::B32, Operand::Imm(0));
        let steps = job.form.steps;
        let imm = Operand::Imm(steps.into());
        let first = self.b.bin(Binary::Sub, Ty::S64, next, imm);
        let left = self.b.bin(Binary::Sub, Ty::S64, bound, first);
        let left = self.b.bin(Binary::Min, Ty::S64, left, imm);
        let left = self.b.convert(Ty::U32, Ty::U64, Round::Exact, left);
        let together = if job.work(UNROLL) <= LONGEST {
            &[UNROLL, 1][..]
        } else {
            &[1]
        };
        for count in together {
            let count = *count;
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            self.b.begin(head);
            let next = Operand::Imm(count.into());
            let next = self.b.bin(Binary::Add, Ty::U32, step, next);
            let more = self.b.cmp(Cmp::Le, Ty::U32, next, left);
            self.b.branch(more, inside, exit, true);
            self.b.begin(inside);
            let ahead = self.wide(step);
            let first_here = self.b.bin(Binary::Add, Ty::U64, first, ahead);
            for number in 0..count {
                self.count_step(job, points, (first_here, number));
                let near = self.near_all(job, (shelves, &starts), number);
                self.one_step(job, shelves, points, &near);
            }
            for (start, shelf) in starts.iter().zip(shelves) {
                let bytes = Operand::Imm((count * shelf.apart(job.form)).into());
                self.b.bin_to(*start, Binary::Add, Ty::U32, *start, bytes);
            }
            self.b.set(Ty::B32, step, next);
            self.b.jump(head);
            self.b.begin(exit);
        }
    }

    /// The first element of the thread on each shelf of a set.
    pub(super) fn starts(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelves: &[Shelf<'_>],
        set: Reg,
    ) -> Vec<Reg> {
        shelves
            .iter()
            .map(|shelf| {
                let start = Operand::Imm(shelf.start.into());
                let start = self.b.bin(Binary::Add, Ty::U32, set, start);
                let number = match shelf.side {
                    Side::Row => place.row,
                    Side::Column => place.column,
                    Side::Step => return start,
                };
                let bytes = job.form.run() * shelf.elem.bytes() as u32;
                let bytes = Operand::Imm(bytes.into());
                let distance = self.b.bin(Binary::Mul, Ty::U32, number, bytes);
                self.b.bin(Binary::Add, Ty::U32, start, distance)
            })
            .collect()
    }

    /// What a step reads from each shelf.
    pub(super) fn near_all(
        &mut self,
        job: &Job<'_>,
        (shelves, starts): (&[Shelf<'_>], &[Reg]),
        number: u32,
    ) -> Vec<Vec<Reg>> {
        let near = |(shelf, start): (&Shelf<'_>, &Reg)| {
            self.near(job, shelf, *start, number * shelf.apart(job.form))
        };
        shelves.iter().zip(starts).map(near).collect()
    }

    /// A step, with what it reads from each shelf: what is left of the statements, and what is carried on.
    pub(super) fn one_step(
        &mut self,
        job: &Job<'_>,
        shelves: &[Shelf<'_>],
        points: &mut Points,
        near: &[Vec<Reg>],
    ) {
        for (shelf, near) in shelves.iter().zip(near) {
            for (i, values) in points.each.iter_mut().enumerate() {
                let index = match shelf.side {
                    Side::Row => i / points.columns,
                    Side::Column => i % points.columns,
                    Side::Step => 0,
                };
                values.insert(shelf.var, Value::Scalar(near[index].into()));
            }
        }
        self.jam_all(job, points, &job.left);
        self.carry_on(job, points);
    }

    /// What a step reads for the rows or columns of the thread, so many bytes behind its first on the shelf.
    fn near(&mut self, job: &Job<'_>, shelf: &Shelf<'_>, start: Reg, distance: u32) -> Vec<Reg> {
        let (count, threads) = match shelf.side {
            Side::Row => (job.form.points.0, job.form.threads.0),
            Side::Column => (job.form.points.1, job.form.threads.1),
            Side::Step => (1, 1),
        };
        let size = shelf.elem.bytes() as u32;
        let together = job.form.run().min(count).min(ACCESS / size);
        let away = job.form.away(count, threads).step_by(together as usize);
        let row = away.map(|index| {
            let at = shared(start, (distance + index * size) as i32);
            self.load_row(shelf.elem, at, together, false)
        });
        row.flatten().collect()
    }

    /// Gives what is carried its next values.
    fn carry_on(&mut self, job: &Job<'_>, points: &mut Points) {
        let params = job.tiles.params;
        let several = params.len() > 1;
        let mut next: Vec<(Reg, ScalarType, Operand)> = Vec::new();
        for (param, result) in params.iter().zip(&job.tiles.body.result) {
            let elem = self.elem(param.var);
            self.each_distinct(job, points, &[param.var], |lower| {
                let Operand::Reg(reg) = lower.atom(param.var.into()) else {
                    unreachable!("what is carried has a register");
                };
                let mut value = lower.atom(*result);
                if several {
                    // One may be the next value of another.
                    value = lower.fresh(elem, value).into();
                }
                next.push((reg, elem, value));
            });
        }
        for (reg, elem, value) in next {
            self.assign(elem, reg, value);
        }
    }

    /// Statements for all points.
    pub(super) fn jam_all(&mut self, job: &Job<'_>, points: &mut Points, stms: &[&Stm<Mem>]) {
        for stm in stms {
            self.each_distinct(job, points, &stm.binds, |lower| lower.stm(stm));
        }
    }

    /// Executes `f`, which binds variables, once for every point where one of them may differ; the others share what it binds.
    fn each_distinct(
        &mut self,
        job: &Job<'_>,
        points: &mut Points,
        binds: &[Var],
        mut f: impl FnMut(&mut Self),
    ) {
        let on: Vec<(bool, bool)> = binds.iter().map(|v| job.tiles.depends(*v)).collect();
        let by_row = on.iter().any(|(row, _)| *row);
        let by_column = on.iter().any(|(_, column)| *column);
        for k in 0..points.order.len() {
            let i = points.order[k];
            let (row, column) = (i / points.columns, i % points.columns);
            let row = if by_row { row } else { 0 };
            let column = if by_column { column } else { 0 };
            let like = row * points.columns + column;
            if like == i {
                std::mem::swap(&mut self.values, &mut points.each[i]);
                f(self);
                std::mem::swap(&mut self.values, &mut points.each[i]);
                continue;
            }
            for var in binds {
                let value = points.each[like].get(var).copied();
                points.each[i].extend(value.map(|value| (*var, value)));
            }
        }
    }
}
