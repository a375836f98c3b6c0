//! The steps of a tile as long as there are whole sets of them, all inside: what a step reads comes from shared memory while the one
//! before it is gone through, also from one set to the next, so that nobody waits for it.

use super::stage::Shelf;
use super::step::Sets;
use super::{Job, Place, Points};
use crate::lower::Lower;
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{Operand, Reg, Ty};

impl Lower<'_> {
    /// Goes through all sets of steps but one, which the shelves hold then; does nothing where the tile is not whole.
    pub(super) fn steady_steps(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        (shelves, sets, points): (&[Shelf<'_>], &Sets, &mut Points),
        last: Reg,
        quick: [Reg; 2],
    ) {
        let [_, inside] = quick;
        let steps = job.form.steps;
        let (start, head, body, exit) = (
            self.b.block(),
            self.b.block(),
            self.b.block(),
            self.b.block(),
        );
        let is_inside = self.b.cmp(Cmp::Le, Ty::S64, sets.first, inside);
        self.b.branch(is_inside, start, exit, true);
        self.b.begin(start);
        self.fetch_inside(job, place, shelves, (sets.first, last), quick);
        self.turn_over(job, shelves, sets);
        let starts = self.starts(job, place, shelves, sets.now);
        let ahead = self.near_all(job, (shelves, &starts), 0);
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Le, Ty::S64, sets.first, inside);
        self.b.branch(more, body, exit, true);
        self.b.begin(body);
        self.fetch_inside(job, place, shelves, (sets.first, last), quick);
        let now = self
            .b
            .bin(Binary::Sub, Ty::S64, sets.first, Operand::Imm(steps.into()));
        let starts = self.starts(job, place, shelves, sets.now);
        let mut near = ahead.clone();
        for number in 1..steps {
            let next = self.near_all(job, (shelves, &starts), number);
            self.count_step(job, points, (now, number - 1));
            self.one_step(job, shelves, points, &near);
            near = next;
        }
        self.turn_over(job, shelves, sets);
        let starts = self.starts(job, place, shelves, sets.now);
        let next = self.near_all(job, (shelves, &starts), 0);
        self.count_step(job, points, (now, steps - 1));
        self.one_step(job, shelves, points, &near);
        for (shelf, (ahead, next)) in shelves.iter().zip(ahead.iter().zip(next)) {
            for (ahead, next) in ahead.iter().zip(next) {
                self.assign(shelf.elem, *ahead, next.into());
            }
        }
        self.b.jump(head);
        self.b.begin(exit);
    }

    /// Gives the counter its value in a step, so many behind the first of its set.
    pub(super) fn count_step(&mut self, job: &Job<'_>, points: &mut Points, step: (Reg, u32)) {
        let counter = job.tiles.counter;
        if job.uses(&self.program.vars, counter) {
            let (first, number) = step;
            let now = Operand::Imm(number.into());
            let now = self.b.bin(Binary::Add, Ty::U64, first, now);
            points.insert(counter, now);
        }
    }
}
