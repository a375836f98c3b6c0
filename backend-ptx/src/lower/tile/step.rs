//! The steps of a tile: from shared memory to registers, each statement for as many points of the thread as it differs at.

use super::stage::Shelf;
use super::{Job, Place, Points};
use crate::lower::memory::shared;
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
/// The most statements of these together.
const LONGEST: usize = 1024;

impl Lower<'_> {
    /// All steps; what they carry has its last values in `points`. Yields the variables carried.
    pub(super) fn tile_steps(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        points: &mut Points,
    ) -> Vec<Var> {
        let carried: Vec<Var> = job.tiles.params.iter().map(|p| p.var).collect();
        self.start_carried(job, points);
        let shelves = self.shelves(job);
        let bound = self.atom(job.tiles.bound);
        let last = self.b.bin(Binary::Sub, Ty::S64, bound, Operand::Imm(1));
        let steps = Operand::Imm(job.form.steps.into());
        self.count(
            Ty::S64,
            (Operand::Imm(0), bound, steps),
            true,
            |lower, first| {
                lower.fill_shelves(job, place, &shelves, (first, last));
                lower.b.inst(Inst::Barrier);
                let left = lower.b.bin(Binary::Sub, Ty::S64, bound, first);
                let left = lower.b.bin(Binary::Min, Ty::S64, left, steps);
                let left = lower.b.convert(Ty::U32, Ty::U64, Round::Exact, left);
                lower.run_steps(job, place, (&shelves, points), (first, left));
                lower.b.inst(Inst::Barrier);
            },
        );
        carried
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

    /// So many steps from `first` on, whose reads are on the shelves.
    fn run_steps(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        (shelves, points): (&[Shelf], &mut Points),
        (first, left): (Reg, Reg),
    ) {
        // The first element of the thread on each shelf.
        let starts: Vec<Reg> = shelves
            .iter()
            .map(|shelf| {
                let number = match shelf.side {
                    Side::Row => place.row,
                    Side::Column => place.column,
                    Side::Step => return self.b.mov(Ty::B32, shelf.start),
                };
                let bytes = Operand::Imm(shelf.across(job.form).into());
                let distance = self.b.bin(Binary::Mul, Ty::U32, number, bytes);
                self.b.bin(Binary::Add, Ty::U32, shelf.start, distance)
            })
            .collect();
        let step = self.b.mov(Ty::B32, Operand::Imm(0));
        let work = job.left.len() * points.each.len() * UNROLL as usize;
        let together = if work <= LONGEST {
            &[UNROLL, 1][..]
        } else {
            &[1]
        };
        for count in together {
            let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
            self.b.begin(head);
            let next = Operand::Imm((*count).into());
            let next = self.b.bin(Binary::Add, Ty::U32, step, next);
            let more = self.b.cmp(Cmp::Le, Ty::U32, next, left);
            self.b.branch(more, inside, exit, true);
            self.b.begin(inside);
            for number in 0..*count {
                self.one_step(job, (shelves, &starts), points, (first, step, number));
            }
            for (start, shelf) in starts.iter().zip(shelves) {
                let bytes = Operand::Imm((count * shelf.step(job.form)).into());
                self.b.bin_to(*start, Binary::Add, Ty::U32, *start, bytes);
            }
            self.b.set(Ty::B32, step, next);
            self.b.jump(head);
            self.b.begin(exit);
        }
    }

    /// A step: the staged reads, what is left of the statements, and what is carried on.
    fn one_step(
        &mut self,
        job: &Job<'_>,
        (shelves, starts): (&[Shelf], &[Reg]),
        points: &mut Points,
        (first, step, number): (Reg, Reg, u32),
    ) {
        let counter = job.tiles.counter;
        if job.uses(&self.program.vars, counter) {
            let wide = self.wide(step);
            let wide = self.b.bin(Binary::Add, Ty::U64, first, wide);
            let now = Operand::Imm(number.into());
            let now = self.b.bin(Binary::Add, Ty::U64, wide, now);
            for values in &mut points.each {
                values.insert(counter, Value::Scalar(now.into()));
            }
        }
        for (shelf, start) in shelves.iter().zip(starts) {
            let threads = match shelf.side {
                Side::Row => job.form.threads.0,
                Side::Column => job.form.threads.1,
                Side::Step => 0,
            };
            let mut known: Vec<(usize, Value)> = Vec::new();
            for (i, values) in points.each.iter_mut().enumerate() {
                let index = match shelf.side {
                    Side::Row => i / points.columns,
                    Side::Column => i % points.columns,
                    Side::Step => 0,
                };
                let value = match known.iter().find(|(at, _)| *at == index) {
                    Some((_, value)) => *value,
                    None => {
                        let distance = index as u32 * threads * shelf.across(job.form)
                            + number * shelf.step(job.form);
                        let at = shared(*start, distance as i32);
                        let value = Value::Scalar(self.load(shelf.elem, at, false).into());
                        known.push((index, value));
                        value
                    }
                };
                values.insert(shelf.var, value);
            }
        }
        self.jam_all(job, points, &job.left);
        self.carry_on(job, points);
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
        for i in 0..points.each.len() {
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
