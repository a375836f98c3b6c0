//! Staging: what the points of a tile read in some steps, from memory to shared memory, each element by one thread.

use super::{Form, Job, Place};
use crate::lower::memory::shared;
use crate::lower::{Lower, THREADS};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{Operand, Reg, Space, Ty};
use midend::analysis::tiles::{Side, Staged};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::types::ScalarType;

/// Shared memory for a staged read: rows hold their steps side by side, steps hold their columns side by side, each with an
/// element to spare, so that neither storing nor reading goes to one bank of memory again and again.
#[derive(Clone, Copy)]
pub(super) struct Shelf {
    /// The variable that is read.
    pub(super) var: Var,
    pub(super) elem: ScalarType,
    pub(super) side: Side,
    /// The address of its first element.
    pub(super) start: Reg,
}

impl Shelf {
    const fn size(self) -> u32 {
        self.elem.bytes() as u32
    }
    /// Bytes from a step to the next.
    pub(super) const fn step(self, form: Form) -> u32 {
        match self.side {
            Side::Column => (form.columns() + 1) * self.size(),
            Side::Row | Side::Step => self.size(),
        }
    }
    /// Bytes from a row or column to the next.
    pub(super) const fn across(self, form: Form) -> u32 {
        match self.side {
            Side::Row => (form.steps + 1) * self.size(),
            Side::Column => self.size(),
            Side::Step => 0,
        }
    }
}

/// The elements that a read takes.
pub(super) const fn elements(form: Form, side: Side) -> u32 {
    match side {
        Side::Row => form.rows() * (form.steps + 1),
        Side::Column => form.steps * (form.columns() + 1),
        Side::Step => form.steps,
    }
}

impl Lower<'_> {
    /// Shared memory for the staged reads.
    pub(super) fn shelves(&mut self, job: &Job<'_>) -> Vec<Shelf> {
        let reads: Vec<Var> = job.tiles.reads().map(|stm| stm.binds[0]).collect();
        let both = job.tiles.staged.iter().zip(reads);
        both.map(|(staged, var)| {
            let elem = self.elem(var);
            let count = elements(job.form, staged.side);
            let number = self
                .b
                .variable("tile", Space::Shared, elem.bytes() as u32, count);
            Shelf {
                var,
                elem,
                side: staged.side,
                start: self.b.address_of(number),
            }
        })
        .collect()
    }

    /// Fills the shelves with what is read from the step `first` on; beyond `last`, the last step is read again.
    pub(super) fn fill_shelves(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelves: &[Shelf],
        (first, last): (Reg, Reg),
    ) {
        let mut fetched = Vec::new();
        for (staged, shelf) in job.tiles.staged.iter().zip(shelves) {
            let across = match staged.side {
                Side::Row => job.form.rows(),
                Side::Column => job.form.columns(),
                Side::Step => 1,
            };
            let count = across * job.form.steps;
            for number in 0..count.div_ceil(THREADS) {
                let begin = number * THREADS;
                let (step, index) = self.share_of(job, place.tid, (staged, across), begin);
                let value = self.fetch(job, place, staged, (step, index, first, last));
                let at = self.shelf_place(job, shelf, step, index);
                fetched.push((*shelf, at, value, begin + THREADS > count));
            }
        }
        // All loads are under way before the first one is waited for.
        for (shelf, at, value, some_only) in fetched {
            let store = |lower: &mut Self| lower.store(shelf.elem, shared(at, 0), value);
            if some_only {
                let count = Operand::Imm(job.form.steps.into());
                let has = self.b.cmp(Cmp::Lt, Ty::U32, place.tid, count);
                self.when(has, store);
            } else {
                store(self);
            }
        }
    }

    /// The step, and the row or column, of the element that is `begin` and the number of the thread away from the first. Threads
    /// side by side take what is side by side in memory, as far as that is known.
    fn share_of(
        &mut self,
        job: &Job<'_>,
        tid: Reg,
        (staged, across): (&Staged<'_, Mem>, u32),
        begin: u32,
    ) -> (Reg, Reg) {
        let fast = if staged.along_steps || staged.side == Side::Step {
            job.form.steps
        } else {
            across
        };
        let number = self
            .b
            .bin(Binary::Add, Ty::U32, tid, Operand::Imm(begin.into()));
        let mask = Operand::Imm(u64::from(fast - 1));
        let minor = self.b.bin(Binary::And, Ty::B32, number, mask);
        let shift = Operand::Imm(fast.trailing_zeros().into());
        let major = self.b.bin(Binary::Shr, Ty::U32, number, shift);
        if staged.along_steps || staged.side == Side::Step {
            (minor, major)
        } else {
            (major, minor)
        }
    }

    /// Reads an element of the memory of the program.
    fn fetch(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        staged: &Staged<'_, Mem>,
        (step, index, first, last): (Reg, Reg, Reg, Reg),
    ) -> Operand {
        let outer = self.values.clone();
        let mut inside = |first: Reg, number: Reg, last: Reg| {
            let number = self.wide(number);
            let index = self.b.bin(Binary::Add, Ty::U64, first, number);
            self.b.bin(Binary::Min, Ty::U64, index, last)
        };
        let step = inside(first, step, last);
        let index = match staged.side {
            Side::Row => {
                let bounds = place.first_row.zip(place.last_row);
                let index = bounds.map(|(first, last)| inside(first, index, last));
                job.tiles.row.zip(index)
            }
            Side::Column => {
                let index = inside(place.first_column, index, place.last_column);
                Some((job.tiles.column, index))
            }
            Side::Step => None,
        };
        self.bind_scalar(job.tiles.counter, step);
        if let Some((var, index)) = index {
            self.bind_scalar(var, index);
        }
        for stm in &staged.slice {
            self.stm(stm);
        }
        let read = &job.tiles.body.stms[staged.stm];
        let value = self.atom(read.binds[0].into());
        self.values = outer;
        value
    }

    /// The place of an element on its shelf.
    fn shelf_place(&mut self, job: &Job<'_>, shelf: &Shelf, step: Reg, index: Reg) -> Reg {
        let mut at = shelf.start;
        for (number, bytes) in [
            (step, shelf.step(job.form)),
            (index, shelf.across(job.form)),
        ] {
            if bytes > 0 {
                let bytes = Operand::Imm(bytes.into());
                let distance = self.b.bin(Binary::Mul, Ty::U32, number, bytes);
                at = self.b.bin(Binary::Add, Ty::U32, at, distance);
            }
        }
        at
    }
}
