//! How many elements before a tile count, found by the first warp of its block.
//!
//! Sums of whole numbers are the same in any order, so that what happens to be known is used, and a number, with what it is, is
//! one access to memory. A tile publishes how many of its own count, then how many up to its end do. Of the 32 tiles before it,
//! those from the nearest one with the latter on are summed up; if there is none, all, and the 32 before them are looked at.

use super::look_back::TAG;
use super::{Lower, Tile};
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special, Vote};
use crate::ptx::{Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::types::ScalarType;

/// The lowest bits of a word tell what those up to the tag are: nothing yet, a count of the tile, one up to its end.
const BITS: u64 = 2;
const OWN: u64 = 1;
const UP_TO_END: u64 = 2;
/// Nanoseconds until the tiles before one are looked at first, which are often ready then: looking at them again and again keeps others
/// from memory. On an H100, filters of 2^28 numbers of four bytes take 0.97 of the time of 1500, as with 3500, and 1.22 with 5000.
const PAUSE: u64 = 2500;

impl Lower<'_> {
    /// Publishes how many elements of a tile count, by the first warp.
    pub(super) fn tell_count(&mut self, tile: &Tile, table: Reg, own: Reg) {
        let slot = self.slot_of(tile, table);
        let has_earlier = self.b.cmp(Cmp::Gt, Ty::U64, tile.within, Operand::Imm(0));
        self.if_warp(has_earlier, |lower| lower.tell(slot, own, OWN));
    }

    /// Yields how many elements before a tile count, in every lane of the first warp, and publishes how many up to its end do.
    pub(super) fn count_back(&mut self, tile: &Tile, table: Reg, own: Reg) -> Reg {
        let slot = self.slot_of(tile, table);
        let before = self.b.mov(Ty::B64, Operand::Imm(0));
        let has_earlier = self.b.cmp(Cmp::Gt, Ty::U64, tile.within, Operand::Imm(0));
        self.if_warp(has_earlier, |lower| {
            lower.give_time(tile, PAUSE);
            lower.sum_back(tile, slot, before);
        });
        let all = self.b.bin(Binary::Add, Ty::U64, before, own);
        self.tell(slot, all, UP_TO_END);
        before
    }

    fn slot_of(&mut self, tile: &Tile, table: Reg) -> Reg {
        let bytes = self
            .b
            .bin(Binary::Shl, Ty::B64, tile.number, Operand::Imm(3));
        self.b.bin(Binary::Add, Ty::U64, table, bytes)
    }

    /// The first lane stores a number, with what it is.
    fn tell(&mut self, slot: Reg, number: Reg, what: u64) {
        let lane = self.b.special(Special::Lane);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(0));
        self.when(first, |lower| {
            let word = lower
                .b
                .bin(Binary::Shl, Ty::B64, number, Operand::Imm(BITS));
            let word = lower.b.bin(Binary::Or, Ty::B64, word, Operand::Imm(what));
            let tag = lower.tag();
            let word = lower.b.bin(Binary::Or, Ty::B64, word, tag);
            let order = Order::Relaxed(Scope::Gpu);
            let store = Inst::store(Space::Global, order, Ty::U64, slot.into(), word.into());
            lower.b.inst(store);
        });
        self.gather_warp();
    }

    /// Adds what counts before a tile, which is not the first one, to `sum`.
    fn sum_back(&mut self, tile: &Tile, slot: Reg, sum: Reg) {
        let lane = self.b.special(Special::Lane);
        let lane = self.wide(lane);
        // The tiles of the segment before those looked at so far.
        let left = self.b.mov(Ty::B64, tile.within);
        let end = self.b.mov(Ty::B64, slot);
        let (head, next, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        // Lanes without a tile look at the one just before.
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, lane, left);
        let back = self.b.select(Ty::B64, exists, lane, Operand::Imm(0));
        let back = self.b.bin(Binary::Add, Ty::U64, back, Operand::Imm(1));
        let back = self.b.bin(Binary::Shl, Ty::B64, back, Operand::Imm(3));
        let at = self.b.bin(Binary::Sub, Ty::U64, end, back);
        let zero = Operand::Imm(0);
        let wanted = self.b.mov(Ty::B32, zero);
        let tag = self.tag();
        let found = self.until(|lower| {
            let order = Order::Relaxed(Scope::Gpu);
            let word = lower.b.load_as(Space::Global, order, Ty::U64, at);
            // Whatever another launch has left is nothing.
            let word = lower.b.bin(Binary::Xor, Ty::B64, word, tag);
            let ours = lower.b.cmp(Cmp::Lt, Ty::U64, word, Operand::Imm(1 << TAG));
            let word = lower.b.select(Ty::B64, ours, word, zero);
            let what = lower
                .b
                .bin(Binary::And, Ty::B64, word, Operand::Imm((1 << BITS) - 1));
            let is_open = lower.b.cmp(Cmp::Eq, Ty::U64, what, zero);
            let ends = lower.b.cmp(Cmp::Eq, Ty::U64, what, Operand::Imm(UP_TO_END));
            let ends = lower.b.bin(Binary::And, Ty::Pred, ends, exists);
            let open = lower.b.vote(Vote::Ballot, is_open);
            let ends = lower.b.vote(Vote::Ballot, ends);
            // The lowest bit is the nearest tile; all bits up to it, or all if there is none, are those to sum up.
            let below = lower.b.bin(Binary::Sub, Ty::U32, ends, Operand::Imm(1));
            let upto = lower.b.bin(Binary::Xor, Ty::B32, ends, below);
            let none = lower.b.cmp(Cmp::Eq, Ty::U32, ends, zero);
            let all = Operand::Imm(u32::MAX.into());
            let upto = lower.b.select(Ty::B32, none, all, upto);
            lower.b.set(Ty::B32, wanted, upto);
            let open = lower.b.bin(Binary::And, Ty::B32, open, upto);
            (vec![word, ends], open)
        });
        let (word, ends) = (found[0], found[1]);
        let one = self.b.special(Special::Lane);
        let mine = self.b.bin(Binary::Shr, Ty::U32, wanted, one);
        let mine = self.b.bin(Binary::And, Ty::B32, mine, Operand::Imm(1));
        let mine = self.b.cmp(Cmp::Ne, Ty::U32, mine, zero);
        let mine = self.b.bin(Binary::And, Ty::Pred, mine, exists);
        let number = self.b.bin(Binary::Shr, Ty::U64, word, Operand::Imm(BITS));
        let number = self.b.select(Ty::B64, mine, number, zero);
        for distance in [16, 8, 4, 2, 1] {
            let distance = Operand::Imm(distance);
            let (other, _) =
                self.other_lane(Shuffle::Butterfly, ScalarType::I64, number, distance, 31);
            self.b.bin_to(number, Binary::Add, Ty::U64, number, other);
        }
        self.b.bin_to(sum, Binary::Add, Ty::U64, sum, number);
        let more = self.b.cmp(Cmp::Eq, Ty::U32, ends, zero);
        self.b.branch(more, next, exit, true);
        self.b.begin(next);
        self.b
            .bin_to(left, Binary::Sub, Ty::U64, left, Operand::Imm(32));
        self.b
            .bin_to(end, Binary::Sub, Ty::U64, end, Operand::Imm(32 * 8));
        self.b.jump(head);
        self.b.begin(exit);
    }
}
