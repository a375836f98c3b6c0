//! Tiles of items: where they begin and end, and which item is what.

use crate::lower::scan::Tile;
use crate::lower::tuple::Ops;
use crate::lower::{Lower, THREADS, WARPS};
use crate::ptx::build::FULL;
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Shuffle, Special, Unary, Vote};
use crate::ptx::{Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel};
use midend::ir::types::ScalarType;

pub(super) const ZERO: Operand = Operand::Imm(0);
pub(super) const ONE: Operand = Operand::Imm(1);
/// Where the row stands in what is known of a point, above the start of the row.
pub(super) const ROW: Operand = Operand::Imm(16);

/// A tile of items, as a block knows it; small numbers are those within the tile, in 32 bits.
pub(super) struct Rows {
    /// Its slots, one for each item.
    pub(super) tile: Tile,
    /// The row and the point that it begins with, and where that row starts.
    pub(super) first_row: Reg,
    pub(super) first_point: Reg,
    pub(super) start: Reg,
    /// How many rows end in it, and how many points it has.
    pub(super) ends: Reg,
    pub(super) points: Reg,
    /// Arrays in shared memory. Of 32 items each: which ones are ends of rows, how many of those there are before, and the last one
    /// before. Of each point: the number of its row, and where that starts.
    marks: Reg,
    before: Reg,
    last: Reg,
    pub(super) known: Reg,
    /// Where rows begin.
    offsets: Var,
}

/// An item as a lane sees it.
pub(super) struct Item {
    pub(super) number: Reg,
    /// How many rows end before it.
    pub(super) row: Reg,
    pub(super) is_end: Reg,
    /// Those of its 32 that are ends of rows and come before it.
    below: Reg,
    /// The number of the 32.
    word: Reg,
}

/// Where the rows of a kernel begin.
fn offsets_of(kernel: &Kernel) -> Var {
    match kernel.space.last() {
        Some((_, Extent::Ragged { offsets, .. })) => *offsets,
        Some((_, Extent::Regular(_))) | None => unreachable!("the rows of the kernel are ragged"),
    }
}

impl Lower<'_> {
    /// A tile of so many items for each thread, out of all rows and points; with slots for tuples.
    pub(super) fn rows(
        &mut self,
        kernel: &Kernel,
        (number, items): (Reg, u32),
        types: &[ScalarType],
        [rows, points]: [Reg; 2],
    ) -> Rows {
        let offsets = offsets_of(kernel);
        let size = Operand::Imm(u64::from(THREADS * items));
        let all = self.b.bin(Binary::Add, Ty::U64, rows, points);
        let first = self.b.bin(Binary::Mul, Ty::U64, number, size);
        let end = self.b.bin(Binary::Add, Ty::U64, first, size);
        let end = self.b.bin(Binary::Min, Ty::U64, end, all);
        let words = (8 * items).max(32);
        let [marks, before, last] =
            ["marks", "before", "last"].map(|name| self.words_of_items(name, words));
        self.clear(marks, words);
        let [first_row, end_row] = self.split_rows(offsets, rows, [first, end]);
        let first_point = self.b.bin(Binary::Sub, Ty::U64, first, first_row);
        let end_point = self.b.bin(Binary::Sub, Ty::U64, end, end_row);
        let distance = |lower: &mut Self, from: Reg, to: Reg| {
            let distance = lower.b.bin(Binary::Sub, Ty::U64, to, from);
            lower.b.convert(Ty::U32, Ty::U64, Round::Exact, distance)
        };
        let ends = distance(self, first_row, end_row);
        let inside = distance(self, first_point, end_point);
        let count = distance(self, first, end);
        let start = self.offset(offsets, first_row.into());
        let zero = self.b.mov(Ty::B64, ZERO);
        let slots = self.tables("slots", types, THREADS * items * 33 / 32);
        let known = self.words_of_items("known", THREADS * items);
        let rows = Rows {
            tile: Tile {
                number,
                within: number,
                segment: zero,
                first: first_point,
                start: first_point,
                count,
                end: points,
                tables: slots,
                items,
            },
            first_row,
            first_point,
            start,
            ends,
            points: inside,
            marks,
            before,
            last,
            known,
            offsets,
        };
        self.mark_ends(&rows);
        self.count_marks(&rows, words);
        rows
    }

    fn words_of_items(&mut self, name: &str, words: u32) -> Reg {
        let array = self.b.variable(name, Space::Shared, 4, words);
        self.b.address_of(array)
    }

    /// The address of a word in shared memory.
    fn shared_word(&mut self, table: Reg, number: Reg) -> Reg {
        let distance = self.b.bin(Binary::Shl, Ty::B32, number, Operand::Imm(2));
        self.b.bin(Binary::Add, Ty::U32, table, distance)
    }

    pub(super) fn load_word(&mut self, table: Reg, number: Reg) -> Reg {
        let at = self.shared_word(table, number);
        self.b.load(Space::Shared, Ty::U32, at)
    }

    /// Zeros in the first words of an array.
    fn clear(&mut self, table: Reg, words: u32) {
        let tid = self.b.special(Special::Tid);
        let exists = self
            .b
            .cmp(Cmp::Lt, Ty::U32, tid, Operand::Imm(words.into()));
        self.when(exists, |lower| {
            let at = lower.shared_word(table, tid);
            lower.b.store(Space::Shared, Ty::U32, at, ZERO);
        });
    }

    /// The rows that two items are in. The first warp looks for the one, the second for the other; then comes a barrier.
    fn split_rows(&mut self, offsets: Var, rows: Reg, items: [Reg; 2]) -> [Reg; 2] {
        let found = self.b.variable("split", Space::Shared, 8, 2);
        let found = self.b.address_of(found);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let searches = self.b.cmp(Cmp::Lt, Ty::U32, warp, Operand::Imm(2));
        self.if_warp(searches, |lower| {
            let is_first = lower.b.cmp(Cmp::Eq, Ty::U32, warp, ZERO);
            let item = lower.b.select(Ty::B64, is_first, items[0], items[1]);
            let row = lower.row_of_item(offsets, rows, item);
            let lane = lower.b.special(Special::Lane);
            let leads = lower.b.cmp(Cmp::Eq, Ty::U32, lane, ZERO);
            lower.when(leads, |lower| {
                let distance = lower.b.bin(Binary::Shl, Ty::B32, warp, Operand::Imm(3));
                let at = lower.b.bin(Binary::Add, Ty::U32, found, distance);
                lower.b.store(Space::Shared, Ty::U64, at, row);
            });
        });
        self.b.inst(Inst::Barrier);
        [0, 8].map(|offset| {
            let at = crate::ptx::Address {
                base: found,
                offset,
            };
            self.b.load(Space::Shared, Ty::U64, at)
        })
    }

    /// The first row that does not end before an item, looked for by a warp: each step leaves a part in 32.
    fn row_of_item(&mut self, offsets: Var, rows: Reg, item: Reg) -> Reg {
        let lane = self.b.special(Special::Lane);
        let lane = self.wide(lane);
        let low = self.b.mov(Ty::B64, ZERO);
        let high = self.b.bin(Binary::Min, Ty::U64, rows, item);
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        // The row is in low..=high.
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Lt, Ty::U64, low, high);
        self.b.branch(more, inside, exit, true);
        self.b.begin(inside);
        let width = self.b.bin(Binary::Sub, Ty::U64, high, low);
        let width = self.b.bin(Binary::Add, Ty::U64, width, Operand::Imm(31));
        let step = self.b.bin(Binary::Shr, Ty::U64, width, Operand::Imm(5));
        // The last row of the part of the lane.
        let next = self.b.bin(Binary::Add, Ty::U64, lane, ONE);
        let ahead = self.b.bin(Binary::Mul, Ty::U64, next, step);
        let behind = self.b.bin(Binary::Add, Ty::U64, low, ahead);
        let exists = self.b.cmp(Cmp::Le, Ty::U64, behind, high);
        let ends_before = self.fresh(ScalarType::Bool, ZERO);
        self.when(exists, |lower| {
            let end = lower.offset(offsets, behind.into());
            let row = lower.b.bin(Binary::Sub, Ty::U64, behind, ONE);
            let end = lower.b.bin(Binary::Add, Ty::U64, end, row);
            let before = lower.b.cmp(Cmp::Lt, Ty::U64, end, item);
            lower.b.set(Ty::Pred, ends_before, before);
        });
        self.b.inst(Inst::WarpSync { mask: FULL });
        let parts = self.b.vote(Vote::Ballot, ends_before);
        let parts = self.b.un(Unary::Popc, Ty::B32, parts);
        let parts = self.wide(parts);
        let ahead = self.b.bin(Binary::Mul, Ty::U64, parts, step);
        self.b.bin_to(low, Binary::Add, Ty::U64, low, ahead);
        let last = self.b.bin(Binary::Add, Ty::U64, low, step);
        let last = self.b.bin(Binary::Sub, Ty::U64, last, ONE);
        self.b.bin_to(high, Binary::Min, Ty::U64, high, last);
        self.b.jump(head);
        self.b.begin(exit);
        low
    }

    /// The item that is the end of a row which ends in the tile.
    pub(super) fn end_of_row(&mut self, rows: &Rows, row: Reg) -> Reg {
        let ahead = self.wide(row);
        let next = self.b.bin(Binary::Add, Ty::U64, rows.first_row, ahead);
        let next = self.b.bin(Binary::Add, Ty::U64, next, ONE);
        let end = self.offset(rows.offsets, next.into());
        let points = self.b.bin(Binary::Sub, Ty::U64, end, rows.first_point);
        let points = self.b.convert(Ty::U32, Ty::U64, Round::Exact, points);
        self.b.bin(Binary::Add, Ty::U32, points, row)
    }

    /// Sets the bits of ends of rows; then comes a barrier.
    fn mark_ends(&mut self, rows: &Rows) {
        let tid = self.b.special(Special::Tid);
        let range = (tid.into(), rows.ends.into(), Operand::Imm(THREADS.into()));
        self.count(Ty::U32, range, false, |lower, row| {
            let item = lower.end_of_row(rows, row);
            let word = lower.b.bin(Binary::Shr, Ty::U32, item, Operand::Imm(5));
            let at = lower.shared_word(rows.marks, word);
            let place = lower.b.bin(Binary::And, Ty::B32, item, Operand::Imm(31));
            let bit = lower.b.bin(Binary::Shl, Ty::B32, ONE, place);
            lower.b.inst(Inst::Atom {
                op: AtomOp::Or,
                space: Space::Shared,
                order: Order::Relaxed(Scope::Cta),
                ty: Ty::B32,
                dst: None,
                at: at.into(),
                a: bit.into(),
                b: None,
            });
        });
        self.b.inst(Inst::Barrier);
    }

    /// Counts the bits before each word, and finds the last one; then comes a barrier.
    fn count_marks(&mut self, rows: &Rows, words: u32) {
        self.first_warp(|lower| {
            let lane = lower.b.special(Special::Lane);
            let each = Operand::Imm((words / 32).into());
            let first = lower.b.bin(Binary::Mul, Ty::U32, lane, each);
            let mut all = Vec::new();
            let count = lower.b.mov(Ty::B32, ZERO);
            let last = lower.b.mov(Ty::B32, Operand::Imm(u32::MAX.into()));
            for k in 0..words / 32 {
                let number = lower
                    .b
                    .bin(Binary::Add, Ty::U32, first, Operand::Imm(k.into()));
                let word = lower.load_word(rows.marks, number);
                all.push((number, word));
                lower.count_word((number, word), count, last);
            }
            let (count, last) = lower.before_lane(count, last);
            for (number, word) in all {
                for (table, value) in [(rows.before, count), (rows.last, last)] {
                    let at = lower.shared_word(table, number);
                    lower.b.store(Space::Shared, Ty::U32, at, value);
                }
                lower.count_word((number, word), count, last);
            }
        });
        self.b.inst(Inst::Barrier);
    }

    /// Adds the bits of a word to those before it.
    fn count_word(&mut self, (number, word): (Reg, Reg), count: Reg, last: Reg) {
        let bits = self.b.un(Unary::Popc, Ty::B32, word);
        self.b.bin_to(count, Binary::Add, Ty::U32, count, bits);
        let highest = self.highest(number, word, last);
        self.b.set(Ty::B32, last, highest);
    }

    /// The item of the highest bit of a word, or if there is none another one.
    fn highest(&mut self, number: Reg, word: Reg, other: Reg) -> Reg {
        let place = self.b.un(Unary::Bfind, Ty::U32, word);
        let first = self.b.bin(Binary::Shl, Ty::B32, number, Operand::Imm(5));
        let item = self.b.bin(Binary::Add, Ty::U32, first, place);
        let some = self.b.cmp(Cmp::Ne, Ty::U32, word, ZERO);
        self.b.select(Ty::B32, some, item, other)
    }

    /// How many bits the lanes before this one have, and the last one of them.
    fn before_lane(&mut self, count: Reg, last: Reg) -> (Reg, Reg) {
        let all = [
            (Binary::Add, Ty::U32, count, 0),
            (Binary::Max, Ty::S32, last, u32::MAX),
        ];
        let [count, last] = all.map(|(op, ty, value, none)| {
            let sum = self.b.mov(Ty::B32, value);
            for k in 0..5 {
                let (other, ok) = self.b.shuffle(Shuffle::Up, sum, Operand::Imm(1 << k), 0);
                let both = self.b.bin(op, ty, other, sum);
                let new = self.b.select(Ty::B32, ok, both, sum);
                self.b.set(Ty::B32, sum, new);
            }
            let (other, ok) = self.b.shuffle(Shuffle::Up, sum, ONE, 0);
            let before = self.b.select(Ty::B32, ok, other, Operand::Imm(none.into()));
            self.b.mov(Ty::B32, before)
        });
        (count, last)
    }

    /// The item of each lane in 32 of them.
    pub(super) fn item(&mut self, rows: &Rows, word: Reg) -> Item {
        let lane = self.b.special(Special::Lane);
        let below = self.b.special(Special::LanesBelow);
        let first = self.b.bin(Binary::Shl, Ty::B32, word, Operand::Imm(5));
        let number = self.b.bin(Binary::Add, Ty::U32, first, lane);
        let marks = self.load_word(rows.marks, word);
        let before = self.load_word(rows.before, word);
        let below = self.b.bin(Binary::And, Ty::B32, marks, below);
        let inside = self.b.un(Unary::Popc, Ty::B32, below);
        let row = self.b.bin(Binary::Add, Ty::U32, before, inside);
        let mine = self.b.bin(Binary::Shr, Ty::U32, marks, lane);
        let mine = self.b.bin(Binary::And, Ty::B32, mine, ONE);
        let is_end = self.b.cmp(Cmp::Ne, Ty::U32, mine, ZERO);
        Item {
            number,
            row,
            is_end,
            below,
            word,
        }
    }

    /// Code for every item of the tile, 32 neighbours by each warp.
    pub(super) fn each_item(&mut self, rows: &Rows, f: impl FnOnce(&mut Self, &Item)) {
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let words = Operand::Imm((WARPS * rows.tile.items).into());
        let range = (warp.into(), words, Operand::Imm(WARPS.into()));
        self.count(Ty::U32, range, true, |lower, word| {
            let item = lower.item(rows, word);
            f(lower, &item);
            lower.b.inst(Inst::WarpSync { mask: FULL });
        });
    }

    /// Tells of each point what row it is in. The slots of other items get neutral elements. Then comes a barrier.
    pub(super) fn tell_points(&mut self, rows: &Rows, ops: Option<Ops<'_>>) {
        self.each_item(rows, |lower, item| {
            let exists = lower.b.cmp(Cmp::Lt, Ty::U32, item.number, rows.tile.count);
            let is_inside = lower.b.un(Unary::Not, Ty::Pred, item.is_end);
            let is_point = lower.b.bin(Binary::And, Ty::Pred, exists, is_inside);
            lower.when(is_point, |lower| {
                let last = lower.load_word(rows.last, item.word);
                let end = lower.highest(item.word, item.below, last);
                // Before the first end, this is 0 less 0.
                let start = lower.b.bin(Binary::Add, Ty::U32, end, ONE);
                let start = lower.b.bin(Binary::Sub, Ty::U32, start, item.row);
                let row = lower.b.bin(Binary::Shl, Ty::B32, item.row, ROW);
                let known = lower.b.bin(Binary::Or, Ty::B32, row, start);
                let point = lower.b.bin(Binary::Sub, Ty::U32, item.number, item.row);
                let at = lower.shared_word(rows.known, point);
                lower.b.store(Space::Shared, Ty::U32, at, known);
            });
            if let Some((ops, types)) = ops {
                let other = lower.b.un(Unary::Not, Ty::Pred, is_point);
                lower.when(other, |lower| {
                    let neutral = lower.neutral(ops);
                    lower.store_item(types, &rows.tile, item.number, &neutral);
                });
            }
        });
        self.b.inst(Inst::Barrier);
    }

    /// Which items of the run of a thread are ends of rows, from the lowest bit on.
    pub(super) fn marks_of_run(&mut self, rows: &Rows) -> Reg {
        let items = rows.tile.items;
        let tid = self.b.special(Special::Tid);
        let each = Operand::Imm(items.into());
        let first = self.b.bin(Binary::Mul, Ty::U32, tid, each);
        let word = self.b.bin(Binary::Shr, Ty::U32, first, Operand::Imm(5));
        let marks = self.load_word(rows.marks, word);
        let place = self.b.bin(Binary::And, Ty::B32, first, Operand::Imm(31));
        let marks = self.b.bin(Binary::Shr, Ty::U32, marks, place);
        let run = Operand::Imm((1 << items) - 1);
        self.b.bin(Binary::And, Ty::B32, marks, run)
    }
}
