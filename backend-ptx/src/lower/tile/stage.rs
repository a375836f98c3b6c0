//! Staging: what the points of a tile read in some steps, from memory to registers, each element by one thread, and from there to
//! shared memory.

use super::{Form, Job, Place};
use crate::lower::memory::{self, shared};
use crate::lower::runs::{ACCESS, TOGETHER};
use crate::lower::{Lower, THREADS, Value};
use crate::ptx::ops::{Binary, Cmp};
use crate::ptx::{Operand, Reg, Space, Ty};
use midend::analysis::access::Along;
use midend::analysis::tiles::{Side, Staged};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::Exp;
use midend::ir::types::ScalarType;

/// Shared memory for a staged read: each step holds its rows or columns side by side, and steps lie some bytes apart, so that
/// neither storing nor reading goes to one bank again and again.
pub(super) struct Shelf<'k> {
    staged: &'k Staged<'k, Mem>,
    /// The variable that is read.
    pub(super) var: Var,
    pub(super) elem: ScalarType,
    pub(super) side: Side,
    /// Where it begins, from where a set of shelves does.
    pub(super) start: u32,
    /// The elements that each thread brings.
    share: Share,
    /// Where the first one goes, from where a set of shelves begins.
    goes: Reg,
    /// What was read.
    read: Vec<Reg>,
    /// Where the next is read from, if places move evenly.
    even: Option<Even>,
}

/// The elements that a thread brings, in runs of elements that are side by side in memory, if some are known to be: the first
/// element, and how many steps and rows or columns the first ones of all runs are away from it.
struct Share {
    step: Reg,
    index: Reg,
    away: Vec<(u32, u32)>,
    /// Elements of a run, and whether they are of successive steps, else of successive rows or columns.
    run: u32,
    along_steps: bool,
    /// Whether there are fewer elements than threads.
    some_only: bool,
}

/// Places that move evenly.
struct Even {
    /// The address of the first element of the thread.
    at: Reg,
    /// How far the first elements of the runs are from there.
    away: Vec<Option<Reg>>,
    /// From some steps to the next.
    steps: Reg,
    /// Whether one access may take a whole run.
    aligned: Reg,
}

/// Rows or columns that a step of a shelf has.
const fn across(form: Form, side: Side) -> u32 {
    match side {
        Side::Row => form.rows(),
        Side::Column => form.columns(),
        Side::Step => 1,
    }
}

/// Bytes from a step of a shelf to the next.
pub(super) const fn apart(form: Form, side: Side, elem: u32) -> u32 {
    match side {
        Side::Row | Side::Column => across(form, side) * elem + ACCESS,
        Side::Step => elem,
    }
}

/// The bytes of a shelf.
pub(super) fn bytes(form: Form, side: Side, elem: u32) -> u32 {
    (form.steps * apart(form, side, elem)).next_multiple_of(ACCESS)
}

impl Share {
    /// How many steps and rows or columns each element is away from the first.
    fn elements(&self) -> impl Iterator<Item = (u32, u32)> {
        let (run, along_steps) = (self.run, self.along_steps);
        self.away.iter().flat_map(move |&(steps, indices)| {
            (0..run).map(move |k| match along_steps {
                true => (steps + k, indices),
                false => (steps, indices + k),
            })
        })
    }
}

impl Shelf<'_> {
    /// Bytes from a step to the next.
    pub(super) const fn apart(&self, form: Form) -> u32 {
        apart(form, self.side, self.elem.bytes() as u32)
    }
}

impl Lower<'_> {
    /// The shelves of the staged reads, the address of the first of two sets of them in shared memory, and the bytes of a set.
    pub(super) fn shelves<'k>(
        &mut self,
        job: &'k Job<'k>,
        place: &Place,
    ) -> (Vec<Shelf<'k>>, Reg, u32) {
        let reads: Vec<Var> = job.tiles.reads().map(|stm| stm.binds[0]).collect();
        let mut start = 0;
        let mut shelves = Vec::new();
        for (staged, var) in job.tiles.staged.iter().zip(reads) {
            let (elem, side) = (self.elem(var), staged.side);
            let size = elem.bytes() as u32;
            let share = self.share_of(job.form, place.tid, (staged, elem));
            let read = share.elements();
            let read = read.map(|_| self.fresh(elem, Operand::Imm(0))).collect();
            let mut goes = self.b.mov(Ty::B32, Operand::Imm(start.into()));
            for (number, bytes) in [
                (share.step, apart(job.form, side, size)),
                (share.index, size),
            ] {
                let bytes = Operand::Imm(bytes.into());
                let distance = self.b.bin(Binary::Mul, Ty::U32, number, bytes);
                goes = self.b.bin(Binary::Add, Ty::U32, goes, distance);
            }
            let even = self.even(job, place, (staged, &share, elem));
            shelves.push(Shelf {
                staged,
                var,
                elem,
                side,
                start,
                share,
                goes,
                read,
                even,
            });
            start += bytes(job.form, side, size);
        }
        let sizes = shelves.iter().map(|shelf| shelf.elem.bytes() as u32);
        let size = sizes.min().unwrap_or(ACCESS);
        let number = self
            .b
            .variable("tile", Space::Shared, size, 2 * start / size);
        (shelves, self.b.address_of(number), start)
    }

    /// The elements that a thread brings. Threads side by side take what is side by side in memory, as far as that is known.
    fn share_of(
        &mut self,
        form: Form,
        tid: Reg,
        (staged, elem): (&Staged<'_, Mem>, ScalarType),
    ) -> Share {
        let across = across(form, staged.side);
        let along_steps = staged.by_step == Along::Next || across == 1;
        let count = across * form.steps;
        let beside = across > 1 && (along_steps || staged.by_index == Along::Next);
        let run = TOGETHER.min(ACCESS / elem.bytes() as u32);
        let run = if beside { run.min(count / THREADS) } else { 1 };
        let fast = if along_steps { form.steps } else { across } / run;
        let mask = Operand::Imm(u64::from(fast - 1));
        let minor = self.b.bin(Binary::And, Ty::B32, tid, mask);
        let minor = match run {
            1 => minor,
            _ => self
                .b
                .bin(Binary::Mul, Ty::U32, minor, Operand::Imm(run.into())),
        };
        let shift = Operand::Imm(fast.trailing_zeros().into());
        let major = self.b.bin(Binary::Shr, Ty::U32, tid, shift);
        let runs = 0..(count / run).div_ceil(THREADS);
        let away = runs.map(|number| number * (THREADS / fast));
        let (step, index, away) = if along_steps {
            (minor, major, away.map(|index| (0, index)).collect())
        } else {
            (major, minor, away.map(|step| (step, 0)).collect())
        };
        Share {
            step,
            index,
            away,
            run,
            along_steps,
            some_only: count < THREADS,
        }
    }

    /// Where a thread begins to read, if the places of its elements move evenly.
    fn even(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        (staged, share, elem): (&Staged<'_, Mem>, &Share, ScalarType),
    ) -> Option<Even> {
        if [staged.by_step, staged.by_index].contains(&Along::Indirect) {
            return None;
        }
        let imm = |n: u32| Operand::Imm(n.into());
        let origin = self.address(job, staged, (imm(0), imm(0)))?;
        let one_step = self.address(job, staged, (imm(1), imm(0)))?;
        let one_index = self.address(job, staged, (imm(0), imm(1)))?;
        let step = self.wide(share.step);
        let index = self.wide(share.index);
        let index = match staged.side {
            Side::Row => self.b.bin(Binary::Add, Ty::U64, place.first_row?, index),
            Side::Column => self.b.bin(Binary::Add, Ty::U64, place.first_column, index),
            Side::Step => index,
        };
        let at = self.address(job, staged, (step.into(), index.into()))?;
        let [by_step, by_index] =
            [one_step, one_index].map(|one| self.b.bin(Binary::Sub, Ty::U64, one, origin));
        let away = share.away.iter().map(|&(steps, indices)| {
            let (by, number) = match (steps, indices) {
                (0, 0) => return None,
                (0, indices) => (by_index, indices),
                (steps, _) => (by_step, steps),
            };
            Some(self.b.bin(Binary::Mul, Ty::U64, by, imm(number)))
        });
        let away = away.collect();
        // Runs begin at multiples of their length in the tile, and so do tiles in the space.
        let apart = if share.along_steps { by_index } else { by_step };
        let low = self.b.bin(Binary::Or, Ty::B64, origin, apart);
        let low = self.b.bin(
            Binary::And,
            Ty::B64,
            low,
            imm(share.run * elem.bytes() as u32 - 1),
        );
        let aligned = self.b.cmp(Cmp::Eq, Ty::U64, low, imm(0));
        let steps = self
            .b
            .bin(Binary::Mul, Ty::U64, by_step, imm(job.form.steps));
        Some(Even {
            at,
            away,
            steps,
            aligned,
        })
    }

    /// The address in global memory of what is read in a step for a row or column.
    fn address(
        &mut self,
        job: &Job<'_>,
        staged: &Staged<'_, Mem>,
        (step, index): (Operand, Operand),
    ) -> Option<Reg> {
        let outer = self.values.clone();
        let last = self.bind_slice(job, staged, (step, index));
        let mut at = None;
        if let Some(Mem::Load { buffer, index }) = last {
            let elem = self.elem(*buffer);
            let index = self.atom(*index);
            let index = self.b.mov(Ty::B64, index);
            let found = self.place(self.value(*buffer), elem, index.into());
            at = found.in_global().map(|at| {
                let offset = Operand::Imm(i64::from(at.offset) as u64);
                self.b.bin(Binary::Add, Ty::U64, at.base, offset)
            });
        }
        self.values = outer;
        at
    }

    /// Computes where a read is of in a step, for a row or column; yields the read.
    fn bind_slice<'k>(
        &mut self,
        job: &Job<'_>,
        staged: &Staged<'k, Mem>,
        (step, index): (Operand, Operand),
    ) -> Option<&'k Mem> {
        self.bind_scalar(job.tiles.counter, step);
        match (staged.side, job.tiles.row) {
            (Side::Row, Some(row)) => self.bind_scalar(row, index),
            (Side::Column, _) => self.bind_scalar(job.tiles.column, index),
            (Side::Row | Side::Step, _) => {}
        }
        let (last, before) = staged.slice.split_last()?;
        for stm in before {
            self.stm(stm);
        }
        if let Exp::Op(op) = &last.exp {
            Some(op)
        } else {
            None
        }
    }

    /// Reads what a thread brings for the steps from `first` on, to registers; beyond `last`, the last step is read again. `quick` has
    /// the last steps that may be begun with if all places are read from in accesses to whole runs, or if they are in the space.
    pub(super) fn fetch(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelves: &[Shelf<'_>],
        (first, last): (Reg, Reg),
        quick: [Reg; 2],
    ) {
        let join = self.b.block();
        for (limit, whole_runs) in quick.into_iter().zip([true, false]) {
            let (inside, next) = (self.b.block(), self.b.block());
            let is_quick = self.b.cmp(Cmp::Le, Ty::S64, first, limit);
            self.b.branch(is_quick, inside, next, true);
            self.b.begin(inside);
            self.fetch_quickly(job, place, shelves, (first, last), whole_runs);
            self.b.jump(join);
            self.b.begin(next);
        }
        for shelf in shelves {
            self.fetch_one_by_one(job, place, shelf, (first, last));
        }
        self.b.jump(join);
        self.b.begin(join);
        self.move_on(shelves);
    }

    /// The same for steps that may be fetched quickly.
    pub(super) fn fetch_inside(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelves: &[Shelf<'_>],
        (first, last): (Reg, Reg),
        [whole_runs, _]: [Reg; 2],
    ) {
        let is_whole = self.b.cmp(Cmp::Le, Ty::S64, first, whole_runs);
        self.if_else(
            is_whole,
            |lower| lower.fetch_quickly(job, place, shelves, (first, last), true),
            |lower| lower.fetch_quickly(job, place, shelves, (first, last), false),
        );
        self.move_on(shelves);
    }

    fn fetch_quickly(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelves: &[Shelf<'_>],
        (first, last): (Reg, Reg),
        whole_runs: bool,
    ) {
        for shelf in shelves {
            match &shelf.even {
                Some(even) => self.fetch_evenly(shelf, even, whole_runs),
                None => self.fetch_one_by_one(job, place, shelf, (first, last)),
            }
        }
    }

    /// Places that move evenly are those of the next steps then.
    fn move_on(&mut self, shelves: &[Shelf<'_>]) {
        for even in shelves.iter().filter_map(|shelf| shelf.even.as_ref()) {
            self.b
                .bin_to(even.at, Binary::Add, Ty::U64, even.at, even.steps);
        }
    }

    /// The last steps that may be begun with to be fetched quickly, in the two ways that [`Self::fetch`] has.
    pub(super) fn quick(
        &mut self,
        job: &Job<'_>,
        shelves: &[Shelf<'_>],
        (bound, whole): (Operand, Reg),
    ) -> [Reg; 2] {
        let steps = Operand::Imm(job.form.steps.into());
        let last = self.b.bin(Binary::Sub, Ty::S64, bound, steps);
        let none = Operand::Imm(u64::MAX);
        let some = self.b.select(Ty::B64, whole, last, none);
        let mut all = some;
        for even in shelves.iter().filter_map(|shelf| shelf.even.as_ref()) {
            all = self.b.select(Ty::B64, even.aligned, all, none);
        }
        [all, some]
    }

    /// Reads elements whose places are known, all of which there are, in whole runs or one by one.
    fn fetch_evenly(&mut self, shelf: &Shelf<'_>, even: &Even, whole_runs: bool) {
        let size = shelf.elem.bytes() as u32;
        let run = shelf.share.run;
        let one = if whole_runs { run } else { 1 };
        self.when_mine(shelf, |lower| {
            for (regs, distance) in shelf.read.chunks(run as usize).zip(&even.away) {
                let at = match distance {
                    Some(distance) => lower.b.bin(Binary::Add, Ty::U64, even.at, *distance),
                    None => even.at,
                };
                for (k, regs) in (0..).zip(regs.chunks(one as usize)) {
                    let from = memory::Place::global(at, (k * size) as i32);
                    let values = lower.load_row(shelf.elem, from, one, false);
                    for (reg, value) in regs.iter().zip(values) {
                        lower.assign(shelf.elem, *reg, value.into());
                    }
                }
            }
        });
    }

    /// Reads elements of the space, of others the nearest.
    fn fetch_one_by_one(
        &mut self,
        job: &Job<'_>,
        place: &Place,
        shelf: &Shelf<'_>,
        (first, last): (Reg, Reg),
    ) {
        let share = &shelf.share;
        for (reg, (steps, indices)) in shelf.read.iter().zip(share.elements()) {
            let outer = self.values.clone();
            let mut inside = |first: Reg, number: Reg, away: u32, last: Reg| {
                let number = self.wide(number);
                let index = self.b.bin(Binary::Add, Ty::U64, first, number);
                let away = Operand::Imm(away.into());
                let index = self.b.bin(Binary::Add, Ty::U64, index, away);
                self.b.bin(Binary::Min, Ty::U64, index, last)
            };
            let step = inside(first, share.step, steps, last);
            let (from, to) = match shelf.side {
                Side::Row => (place.first_row, place.last_row),
                Side::Column => (Some(place.first_column), Some(place.last_column)),
                Side::Step => (None, None),
            };
            let index = from.zip(to);
            let index = index.map(|(from, to)| inside(from, share.index, indices, to));
            let index = index.map_or(Operand::Imm(0), Operand::Reg);
            if let Some(read) = self.bind_slice(job, shelf.staged, (step.into(), index))
                && let Some(Value::Scalar(value)) = self.memory(read, None).first()
            {
                let value = *value;
                self.assign(shelf.elem, *reg, value);
            }
            self.values = outer;
        }
    }

    /// Stores what was read to the shelves of a set.
    pub(super) fn put(&mut self, job: &Job<'_>, shelves: &[Shelf<'_>], set: Reg) {
        for shelf in shelves {
            let to = self.b.bin(Binary::Add, Ty::U32, shelf.goes, set);
            let size = shelf.elem.bytes() as u32;
            // Of successive rows or columns the shelf has a run together.
            let together = match shelf.share.along_steps {
                true => 1,
                false => shelf.share.run,
            };
            self.when_mine(shelf, |lower| {
                let elements: Vec<_> = shelf.share.elements().collect();
                let elements = elements.chunks(together as usize);
                for (regs, away) in shelf.read.chunks(together as usize).zip(elements) {
                    let (steps, indices) = away[0];
                    let distance = steps * shelf.apart(job.form) + indices * size;
                    let values: Vec<Operand> = regs.iter().map(|reg| (*reg).into()).collect();
                    lower.store_row(shelf.elem, shared(to, distance as i32), &values);
                }
            });
        }
    }

    /// Code for the threads that have a share: with fewer elements than threads, those of the first row or column.
    fn when_mine(&mut self, shelf: &Shelf<'_>, f: impl FnOnce(&mut Self)) {
        if shelf.share.some_only {
            let zero = Operand::Imm(0);
            let has = self.b.cmp(Cmp::Eq, Ty::U32, shelf.share.index, zero);
            self.when(has, f);
        } else {
            f(self);
        }
    }
}
