//! The elements of a tile: from where they come into shared memory, neighbours by neighbouring threads; there each thread
//! folds a run of neighbours; and to where the sums go.
//!
//! What is under way between memory and shared memory is what makes a scan fast, for every tile waits for those before it.
//! So tiles take what shared memory there is, and elements do not stay in registers. Where the operators are short, the code
//! for a run is not a loop; then tiles with fewer elements are filled up with neutral ones.

use super::{Ops, Tile};
use crate::lower::{Lower, THREADS, together};
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Lambda;
use midend::ir::types::ScalarType;

/// The place of an item in the arrays of a tile: an element is left out after every 32, so that threads that walk through
/// their items side by side do not meet in one bank.
const fn padded(item: u32) -> u32 {
    item + item / 32
}

fn operands(regs: &[Reg]) -> Vec<Operand> {
    regs.iter().map(|r| Operand::Reg(*r)).collect()
}

impl Lower<'_> {
    /// The elements of a tile into shared memory.
    pub(super) fn fill(&mut self, kernel: &Kernel, ops: Ops<'_>, tile: &Tile, fill_up: bool) {
        let types = ops.1;
        let tid = self.b.special(Special::Tid);
        let each = together::points(self.program, kernel);
        let rest = |lower: &mut Self| {
            let size = Operand::Imm(u64::from(THREADS * tile.items));
            let end = if fill_up { size } else { tile.count.into() };
            let range = (tid.into(), end, Operand::Imm(THREADS.into()));
            lower.count(Ty::U32, range, false, |lower, i| {
                let values = if fill_up {
                    operands(&lower.element_or_neutral(kernel, ops, tile, i))
                } else {
                    lower.element_of(kernel, types, tile, i)
                };
                lower.store_item(types, tile, i, &values);
            });
        };
        match each {
            None => rest(self),
            Some(each) => self.if_whole(
                tile,
                |lower| lower.fill_whole((kernel, types), tile, each),
                rest,
            ),
        }
        self.b.inst(Inst::Barrier);
    }

    fn element_of(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        tile: &Tile,
        i: Reg,
    ) -> Vec<Operand> {
        let distance = self.wide(i);
        let element = self.b.bin(Binary::Add, Ty::U64, tile.start, distance);
        self.element(kernel, types, element)
    }

    fn element_or_neutral(
        &mut self,
        kernel: &Kernel,
        (ops, types): Ops<'_>,
        tile: &Tile,
        i: Reg,
    ) -> Vec<Reg> {
        let values = self.start(ops, types);
        let exists = self.b.cmp(Cmp::Lt, Ty::U32, i, tile.count);
        self.when(exists, |lower| {
            let found = lower.element_of(kernel, types, tile, i);
            for ((reg, ty), value) in values.iter().zip(types).zip(found) {
                lower.assign(*ty, *reg, value);
            }
        });
        values
    }

    /// The only element of the thread, or the neutral one if it has none.
    pub(super) fn own_element(&mut self, kernel: &Kernel, ops: Ops<'_>, tile: &Tile) -> Vec<Reg> {
        let tid = self.b.special(Special::Tid);
        self.element_or_neutral(kernel, ops, tile, tid)
    }

    /// The sum up to the only element of the thread to its place, or to what is done with it.
    pub(super) fn drain_own(
        &mut self,
        (kernel, outs, then): (&Kernel, &[Var], Option<&Lambda<Mem>>),
        (types, all): (&[ScalarType], &[ScalarType]),
        tile: &Tile,
        sum: &[Reg],
    ) {
        let tid = self.b.special(Special::Tid);
        let exists = self.b.cmp(Cmp::Lt, Ty::U32, tid, tile.count);
        self.when(exists, |lower| match then {
            None => {
                let distance = lower.wide(tid);
                let point = lower.b.bin(Binary::Add, Ty::U64, tile.first, distance);
                lower.store_tuple(outs, types, point, sum);
            }
            Some(then) => {
                let values = lower.element_of(kernel, all, tile, tid);
                let rest = values.into_iter().skip(types.len());
                lower.then(then, operands(sum).into_iter().chain(rest));
            }
        });
    }

    /// Code for tiles with all their elements, and for others.
    pub(super) fn if_whole(
        &mut self,
        tile: &Tile,
        f: impl FnOnce(&mut Self),
        g: impl FnOnce(&mut Self),
    ) {
        let size = Operand::Imm(u64::from(THREADS * tile.items));
        let is_whole = self.b.cmp(Cmp::Eq, Ty::U32, tile.count, size);
        self.if_else(is_whole, f, g);
    }

    /// All elements of a whole tile, `each` per thread at a time.
    fn fill_whole(&mut self, (kernel, types): (&Kernel, &[ScalarType]), tile: &Tile, each: u32) {
        let tid = self.b.special(Special::Tid);
        let at = self.item_at(types, tile, tid);
        let first = self.wide(tid);
        let first = self.b.bin(Binary::Add, Ty::U64, tile.start, first);
        let elements = self.strided(first, THREADS, tile.items);
        for (round, elements) in elements.chunks(each as usize).enumerate() {
            let tuples = self.elements(kernel, types, elements, None);
            for (k, values) in tuples.into_iter().enumerate() {
                let item = (round as u32 * each + k as u32) * THREADS;
                self.store_near(&at, types, padded(item), &values);
            }
        }
    }

    /// The addresses of an item of a tile.
    fn item_at(&mut self, types: &[ScalarType], tile: &Tile, item: Reg) -> Vec<Reg> {
        let skipped = self.b.bin(Binary::Shr, Ty::U32, item, Operand::Imm(5));
        let place = self.b.bin(Binary::Add, Ty::U32, item, skipped);
        self.shared_at(&tile.tables, types, place)
    }

    pub(in crate::lower) fn store_item(
        &mut self,
        types: &[ScalarType],
        tile: &Tile,
        item: Reg,
        values: &[Operand],
    ) {
        let at = self.item_at(types, tile, item);
        self.store_near(&at, types, 0, values);
    }

    pub(in crate::lower) fn load_item(
        &mut self,
        types: &[ScalarType],
        tile: &Tile,
        item: Reg,
    ) -> Vec<Operand> {
        let at = self.item_at(types, tile, item);
        self.load_near(&at, types, 0)
    }

    /// The sum of the elements of the thread.
    pub(super) fn fold_run(
        &mut self,
        (ops, types): Ops<'_>,
        tile: &Tile,
        is_short: bool,
    ) -> Vec<Reg> {
        let acc = self.start(ops, types);
        self.each_of_run(types, tile, is_short, |lower, at, k| {
            let values = lower.load_near(at, types, k);
            lower.accumulate(ops, types, &acc, values);
        });
        acc
    }

    /// Replaces the elements of the thread by their sums, with what comes before them, `acc`.
    pub(super) fn scan_run(
        &mut self,
        (ops, types): Ops<'_>,
        tile: &Tile,
        acc: &[Reg],
        is_short: bool,
    ) {
        self.each_of_run(types, tile, is_short, |lower, at, k| {
            let values = lower.load_near(at, types, k);
            lower.accumulate(ops, types, acc, values);
            lower.store_near(at, types, k, &operands(acc));
        });
    }

    /// Code for each element of the thread; it gets addresses, and how many elements behind them its own lies.
    pub(in crate::lower) fn each_of_run(
        &mut self,
        types: &[ScalarType],
        tile: &Tile,
        is_short: bool,
        mut f: impl FnMut(&mut Self, &[Reg], u32),
    ) {
        let tid = self.b.special(Special::Tid);
        let each = Operand::Imm(tile.items.into());
        let first = self.b.bin(Binary::Mul, Ty::U32, tid, each);
        if is_short {
            let at = self.item_at(types, tile, first);
            for k in 0..tile.items {
                f(self, &at, k);
            }
            return;
        }
        let end = self.b.bin(Binary::Add, Ty::U32, first, each);
        let end = self.b.bin(Binary::Min, Ty::U32, end, tile.count);
        let range = (first.into(), end.into(), Operand::Imm(1));
        self.count(Ty::U32, range, false, |lower, i| {
            let at = lower.item_at(types, tile, i);
            f(lower, &at, 0);
        });
    }

    /// The sums from shared memory to their places.
    pub(super) fn drain(&mut self, outs: &[Var], types: &[ScalarType], tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        self.if_whole(
            tile,
            |lower| {
                let at = lower.item_at(types, tile, tid);
                let first = lower.wide(tid);
                let first = lower.b.bin(Binary::Add, Ty::U64, tile.first, first);
                let points = lower.strided(first, THREADS, tile.items);
                for (k, point) in (0..).zip(points) {
                    let values = lower.load_near(&at, types, padded(k * THREADS));
                    lower.drain_item(outs, types, point, &values);
                }
            },
            |lower| {
                let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
                lower.count(Ty::U32, range, false, |lower, i| {
                    let distance = lower.wide(i);
                    let point = lower.b.bin(Binary::Add, Ty::U64, tile.first, distance);
                    let values = lower.load_item(types, tile, i);
                    lower.drain_item(outs, types, point, &values);
                });
            },
        );
    }

    /// The sums from shared memory to what is done with them; what else that needs is computed again, and what it reads is near.
    pub(super) fn drain_into(
        &mut self,
        (kernel, then): (&Kernel, &Lambda<Mem>),
        (types, all): (&[ScalarType], &[ScalarType]),
        tile: &Tile,
    ) {
        let tid = self.b.special(Special::Tid);
        let each = together::points(self.program, kernel).unwrap_or(1);
        self.if_whole(
            tile,
            |lower| {
                let at = lower.item_at(types, tile, tid);
                let first = lower.wide(tid);
                let first = lower.b.bin(Binary::Add, Ty::U64, tile.start, first);
                let elements = lower.strided(first, THREADS, tile.items);
                for (round, elements) in elements.chunks(each as usize).enumerate() {
                    let tuples = lower.elements(kernel, all, elements, None);
                    for (k, values) in tuples.into_iter().enumerate() {
                        let item = (round as u32 * each + k as u32) * THREADS;
                        let sums = lower.load_near(&at, types, padded(item));
                        let rest = values.into_iter().skip(types.len());
                        lower.then(then, sums.into_iter().chain(rest));
                    }
                }
            },
            |lower| {
                let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
                lower.count(Ty::U32, range, false, |lower, i| {
                    let values = lower.element_of(kernel, all, tile, i);
                    let sums = lower.load_item(types, tile, i);
                    let rest = values.into_iter().skip(types.len());
                    lower.then(then, sums.into_iter().chain(rest));
                });
            },
        );
    }

    fn drain_item(&mut self, outs: &[Var], types: &[ScalarType], point: Reg, values: &[Operand]) {
        for ((out, ty), value) in outs.iter().zip(types).zip(values) {
            let place = self.place(self.value(*out), *ty, point.into());
            self.store(*ty, place, *value);
        }
    }
}
