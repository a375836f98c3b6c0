//! What the items of a tile come to: each thread folds a run of neighbours, then threads and tiles are combined.

use super::tile::Rows;
use crate::lower::reduce::Fold;
use crate::lower::scan::{Published, Tables};
use crate::lower::tuple::Ops;
use crate::lower::{Lower, WARPS, words_of};
use crate::ptx::ops::{Binary, Cmp, Special, Unary};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::types::ScalarType;

const ZERO: Operand = Operand::Imm(0);

fn operands(regs: &[Reg]) -> Vec<Operand> {
    regs.iter().map(|r| Operand::Reg(*r)).collect()
}

/// The types of what is combined by rows: whether one ends, and a tuple.
fn by_rows(types: &[ScalarType]) -> Vec<ScalarType> {
    [ScalarType::Bool].iter().chain(types).copied().collect()
}

impl Lower<'_> {
    /// Folds the run of a thread. The sum of a row that ends in it goes to the slot of its end; yields whether one does, and the sum
    /// behind the last end.
    pub(super) fn fold_items(
        &mut self,
        (ops, types): Ops<'_>,
        rows: &Rows,
        is_short: bool,
    ) -> Vec<Reg> {
        let acc = self.start(ops, types);
        let marks = self.marks_of_run(rows);
        let ends = self.b.cmp(Cmp::Ne, Ty::U32, marks, ZERO);
        self.each_of_rows((ops, types), rows, (&acc, is_short), true);
        [ends].into_iter().chain(acc).collect()
    }

    /// Goes through the run of a thread with the sum so far; stores the sums at the ends of rows, or those at points.
    fn each_of_rows(
        &mut self,
        (ops, types): Ops<'_>,
        rows: &Rows,
        (acc, is_short): (&[Reg], bool),
        totals: bool,
    ) {
        let marks = self.marks_of_run(rows);
        let neutral = self.neutral(ops);
        self.each_of_run(types, &rows.tile, is_short, |lower, at, k| {
            let mark = lower.b.bin(Binary::And, Ty::B32, marks, Operand::Imm(1));
            let is_end = lower.b.cmp(Cmp::Ne, Ty::U32, mark, ZERO);
            lower
                .b
                .bin_to(marks, Binary::Shr, Ty::U32, marks, Operand::Imm(1));
            let (end, point, join) = (lower.b.block(), lower.b.block(), lower.b.block());
            lower.b.branch(is_end, end, point, false);
            lower.b.begin(end);
            if totals {
                lower.store_near(at, types, k, &operands(acc));
            }
            for ((reg, ty), value) in acc.iter().zip(types).zip(&neutral) {
                lower.assign(*ty, *reg, *value);
            }
            lower.b.jump(join);
            lower.b.begin(point);
            let values = lower.load_near(at, types, k);
            lower.accumulate(ops, types, acc, values);
            if !totals {
                lower.store_near(at, types, k, &operands(acc));
            }
            lower.b.jump(join);
            lower.b.begin(join);
        });
    }

    /// The sum of everything before the tile, in the first warp, of which this is the code.
    fn before_tile(
        &mut self,
        (ops, types): Ops<'_>,
        rows: &Rows,
        (warps, extras): (&[Reg], &[Reg]),
    ) -> Vec<Reg> {
        let words: usize = types.iter().map(|ty| words_of(*ty)).sum();
        let (arrays, width) = Published::Tuples { words }.arrays();
        let tables: Vec<&[Reg]> = extras[super::SIZES..].chunks(arrays).collect();
        let tables = Tables {
            tiles: tables[0],
            totals: tables[1],
            prefixes: tables[2],
            count: extras[2],
            width,
        };
        let all = self.fold_table((ops, types), warps, Operand::Imm(WARPS.into()));
        self.look_back((ops, types), &rows.tile, &tables, &all)
    }

    /// Stores the sums of the rows that end in the tile.
    pub(super) fn keep_totals(
        &mut self,
        (ops, outs): Fold<'_>,
        types: &[ScalarType],
        rows: &Rows,
        (sum, extras): (&[Reg], &[Reg]),
    ) {
        let both = by_rows(types);
        let (before, warps) = self.by_rows(|lower| lower.scan_threads((ops, &both), sum));
        // The first row that ends in a run began before it.
        self.when(sum[0], |lower| {
            let marks = lower.marks_of_run(rows);
            let item = lower.lowest_of_run(rows, marks);
            let rest = lower.load_item(types, &rows.tile, item);
            let whole = lower.combined(ops, types, &operands(&before[1..]), &rest);
            lower.store_item(types, &rows.tile, item, &operands(&whole));
        });
        self.b.inst(Inst::Barrier);
        self.first_warp(|lower| {
            let place = (warps.as_slice(), extras);
            let prefix = lower.by_rows(|lower| lower.before_tile((ops, &both), rows, place));
            let some = lower.b.cmp(Cmp::Gt, Ty::U32, rows.ends, ZERO);
            let lane = lower.b.special(Special::Lane);
            let leads = lower.b.cmp(Cmp::Eq, Ty::U32, lane, ZERO);
            let leads = lower.b.bin(Binary::And, Ty::Pred, leads, some);
            lower.when(leads, |lower| {
                let first = lower.b.mov(Ty::B32, ZERO);
                let item = lower.end_of_row(rows, first);
                let rest = lower.load_item(types, &rows.tile, item);
                let whole = lower.combined(ops, types, &operands(&prefix[1..]), &rest);
                lower.store_tuple(outs, types, rows.first_row, &whole);
            });
            lower.gather_warp();
        });
        self.each_item(rows, |lower, item| {
            let is_later = lower.b.cmp(Cmp::Gt, Ty::U32, item.row, ZERO);
            let is_later = lower.b.bin(Binary::And, Ty::Pred, is_later, item.is_end);
            lower.when(is_later, |lower| {
                let ahead = lower.wide(item.row);
                let row = lower.b.bin(Binary::Add, Ty::U64, rows.first_row, ahead);
                let sums = lower.load_item(types, &rows.tile, item.number);
                for ((out, ty), value) in outs.iter().zip(types).zip(sums) {
                    let place = lower.place(lower.value(*out), *ty, row.into());
                    lower.store(*ty, place, value);
                }
            });
        });
    }

    /// The item of the lowest mark of the run of a thread.
    fn lowest_of_run(&mut self, rows: &Rows, marks: Reg) -> Reg {
        let tid = self.b.special(Special::Tid);
        let each = Operand::Imm(rows.tile.items.into());
        let first = self.b.bin(Binary::Mul, Ty::U32, tid, each);
        let negative = self.b.bin(Binary::Sub, Ty::U32, ZERO, marks);
        let lowest = self.b.bin(Binary::And, Ty::B32, marks, negative);
        let place = self.b.un(Unary::Bfind, Ty::U32, lowest);
        self.b.bin(Binary::Add, Ty::U32, first, place)
    }

    /// Replaces what is in the slots of points by the sums of their rows up to them; then comes a barrier.
    pub(super) fn scan_items(
        &mut self,
        (ops, types): Ops<'_>,
        rows: &Rows,
        (sum, extras): (&[Reg], &[Reg]),
        is_short: bool,
    ) {
        let both = by_rows(types);
        let carry = self.tables("carry", &both, 1);
        let prefix = self.by_rows(|lower| {
            let (before, warps) = lower.scan_threads((ops, &both), sum);
            lower.first_warp(|lower| {
                let prefix = lower.before_tile((ops, &both), rows, (&warps, extras));
                lower.leader(|lower| {
                    let zero = lower.b.mov(Ty::B32, ZERO);
                    lower.store_shared(&carry, &both, zero, &operands(&prefix));
                });
            });
            lower.b.inst(Inst::Barrier);
            let zero = lower.b.mov(Ty::B32, ZERO);
            let carry = lower.load_shared(&carry, &both, zero);
            lower.combined(ops, &both, &carry, &operands(&before))
        });
        self.each_of_rows((ops, types), rows, (&prefix[1..], is_short), false);
        self.b.inst(Inst::Barrier);
    }

    /// Code in which operators combine by rows: tuples begin with whether a row ends in what they sum up.
    fn by_rows<R>(&mut self, f: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.by_rows, true);
        let result = f(self);
        self.by_rows = outer;
        result
    }
}
