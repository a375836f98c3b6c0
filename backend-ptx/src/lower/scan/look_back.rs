//! What comes before a tile, found by the first warp of its block.
//!
//! Tiles of a segment stand in groups of 32. A tile publishes its aggregate, waits for those of the earlier tiles of its
//! group, which wait for nobody, and combines them as a tree. The last tile of a group publishes the group's total; then it
//! looks for the nearest group before whose prefix is known, and folds the totals from there on from left to right. So the
//! prefix of a tile is always `((T1 ⊕ T2) ⊕ ..) ⊕ tree(A1, A2, ..)`, whatever was found: timing does not show in the
//! result, and prefixes go on by 1024 tiles at a time.

use super::{Lower, Ops, Tile};
use crate::lower::words_of;
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Round, Shuffle, Special, Unary, Vote};
use crate::ptx::{Address, Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::types::ScalarType;

/// From this tile on a device has been busy with others since before it came.
const MANY: u64 = 512;
/// Nanoseconds until the tiles before one are looked at first: about what they take. On an H200, scans of 2^28 numbers of four bytes take
/// 0.95 of the time, filters 0.88.
const PAUSE: u64 = 3000;

/// Words that are published have a tag from this bit on: the lower part of the number of the launch.
pub(super) const TAG: u32 = 40;

/// What tiles and groups publish: an array for each word of a tuple, or one for all.
pub(in crate::lower) struct Tables<'a> {
    /// The aggregates of tiles.
    pub(in crate::lower) tiles: &'a [Reg],
    /// The totals of groups, and their prefixes, the totals included.
    pub(in crate::lower) totals: &'a [Reg],
    pub(in crate::lower) prefixes: &'a [Reg],
    /// The groups of a segment.
    pub(in crate::lower) count: Reg,
    /// Words of a tuple in one array.
    pub(in crate::lower) width: usize,
}

/// Where a tuple is published: in these arrays, which hold so many of its words each.
type Arrays<'a> = (&'a [Reg], usize);

impl Lower<'_> {
    /// Publishes the aggregate of a tile, and yields the sum of everything before it in its segment, in every lane of the
    /// first warp.
    pub(in crate::lower) fn look_back(
        &mut self,
        ops: Ops<'_>,
        tile: &Tile,
        published: &Tables<'_>,
        all: &[Reg],
    ) -> Vec<Reg> {
        let (operators, types) = ops;
        let rank = self
            .b
            .bin(Binary::And, Ty::B64, tile.within, Operand::Imm(31));
        let group = self
            .b
            .bin(Binary::Shr, Ty::U64, tile.within, Operand::Imm(5));
        let mad = [tile.segment.into(), published.count.into(), group.into()];
        let group_number = self.b.tern(crate::ptx::ops::Ternary::Mad, Ty::U64, mad);
        let width = published.width;
        self.publish((published.tiles, width), types, tile.number, all);
        self.give_time(tile, PAUSE);
        let prefix = self.start(operators, types);
        let inside = self.start(operators, types);
        let has_earlier = self.b.cmp(Cmp::Gt, Ty::U64, rank, Operand::Imm(0));
        self.if_warp(has_earlier, |lower| {
            lower.in_group(ops, (published.tiles, width), (tile.number, rank), &inside);
        });
        let total = self.fold_two(ops, &inside, all);
        let is_last = self.b.cmp(Cmp::Eq, Ty::U64, rank, Operand::Imm(31));
        let has_groups = self.b.cmp(Cmp::Gt, Ty::U64, group, Operand::Imm(0));
        self.if_warp(has_groups, |lower| {
            lower.if_warp(is_last, |lower| {
                lower.publish((published.totals, width), types, group_number, &total);
            });
            lower.before_group(ops, published, (group_number, group), &prefix);
        });
        self.if_warp(is_last, |lower| {
            let whole = lower.fold_two(ops, &prefix, &total);
            lower.publish((published.prefixes, width), types, group_number, &whole);
        });
        self.fold_two(ops, &prefix, &inside)
    }

    fn fold_two(&mut self, (ops, types): Ops<'_>, left: &[Reg], right: &[Reg]) -> Vec<Reg> {
        let [left, right] = [left, right].map(|regs| {
            let regs = regs.iter().map(|r| Operand::Reg(*r));
            regs.collect::<Vec<_>>()
        });
        self.combined(ops, types, &left, &right)
    }

    /// The lanes at once; those that fail on their way must come back first.
    pub(in crate::lower) fn gather_warp(&mut self) {
        self.b.inst(Inst::WarpSync { mask: FULL });
    }

    /// The first lane stores a tuple. A word of it and what says that it is there are one access to memory, so that nothing
    /// need be ordered.
    fn publish(&mut self, tables: Arrays<'_>, types: &[ScalarType], number: Reg, values: &[Reg]) {
        let lane = self.b.special(Special::Lane);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(0));
        self.when(first, |lower| {
            let places = lower.slots(tables, number);
            let mut words = Vec::new();
            for (ty, value) in types.iter().zip(values) {
                words.extend(lower.words(*ty, (*value).into()));
            }
            let mark = lower.mark_of_tuples();
            for (at, word) in places.into_iter().zip(words) {
                let both = lower.b.reg(Class::B64);
                lower.b.inst(Inst::Pack {
                    dst: both,
                    low: word.into(),
                    high: mark.into(),
                });
                let order = Order::Relaxed(Scope::Gpu);
                let both = both.into();
                let store = Inst::store(Space::Global, order, Ty::U64, at, both);
                lower.b.inst(store);
            }
        });
        self.gather_warp();
    }

    /// The tag of what this launch publishes.
    pub(super) fn tag(&mut self) -> Reg {
        let up = Operand::Imm(u64::from(TAG) - 32);
        self.b.bin(Binary::Shl, Ty::B64, self.launch, up)
    }

    /// The upper half of words of tuples: the tag, and a one, which zeros do not have.
    fn mark_of_tuples(&mut self) -> Reg {
        let tag = self.tag();
        let (low, high) = (self.b.reg(Class::B32), self.b.reg(Class::B32));
        self.b.inst(Inst::Unpack {
            low,
            high,
            src: tag,
        });
        self.b.bin(Binary::Or, Ty::B32, high, Operand::Imm(1))
    }

    /// Where the words of a tuple are published.
    fn slots(&mut self, (tables, width): Arrays<'_>, number: Reg) -> Vec<Address> {
        let distance = match width {
            1 => self.b.bin(Binary::Shl, Ty::B64, number, Operand::Imm(3)),
            _ => {
                let bytes = Operand::Imm(8 * width as u64);
                self.b.bin(Binary::Mul, Ty::U64, number, bytes)
            }
        };
        let mut slots = Vec::new();
        for table in tables {
            let base = self.b.bin(Binary::Add, Ty::U64, *table, distance);
            slots.extend((0..width as i32).map(|word| Address {
                base,
                offset: 8 * word,
            }));
        }
        slots
    }

    /// What slots hold at the moment: words, and whether they are there.
    fn published(&mut self, slots: &[Address]) -> (Vec<Reg>, Reg) {
        let mut words = Vec::new();
        let mark = self.mark_of_tuples();
        let others = self.b.mov(Ty::B32, Operand::Imm(0));
        for at in slots {
            let order = Order::Relaxed(Scope::Gpu);
            let src = self.b.load_as(Space::Global, order, Ty::U64, *at);
            let (low, high) = (self.b.reg(Class::B32), self.b.reg(Class::B32));
            self.b.inst(Inst::Unpack { low, high, src });
            words.push(low);
            let other = self.b.bin(Binary::Xor, Ty::B32, high, mark);
            self.b.bin_to(others, Binary::Or, Ty::B32, others, other);
        }
        let there = self.b.cmp(Cmp::Eq, Ty::U32, others, Operand::Imm(0));
        (words, there)
    }

    /// A tuple out of its words.
    fn tuple_of(&mut self, types: &[ScalarType], words: &[Reg]) -> Vec<Reg> {
        let mut rest = words;
        let mut tuple = Vec::new();
        for ty in types {
            let (mine, others) = rest.split_at(words_of(*ty));
            let value = self.of_words(*ty, mine);
            tuple.push(self.fresh(*ty, value));
            rest = others;
        }
        tuple
    }

    /// Combines the aggregates of the earlier tiles of the group, of which there are `rank`.
    fn in_group(
        &mut self,
        (ops, types): Ops<'_>,
        tables: Arrays<'_>,
        (number, rank): (Reg, Reg),
        result: &[Reg],
    ) {
        let lane = self.b.special(Special::Lane);
        let lane = self.wide(lane);
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, lane, rank);
        let first = self.b.bin(Binary::Sub, Ty::U64, number, rank);
        // Lanes without a tile look at the first one, which is waited for anyway.
        let mine = self.b.select(Ty::B64, exists, lane, Operand::Imm(0));
        let mine = self.b.bin(Binary::Add, Ty::U64, first, mine);
        let slots = self.slots(tables, mine);
        let words = self.until(|lower| {
            let (words, there) = lower.published(&slots);
            let missing = lower.b.un(Unary::Not, Ty::Pred, there);
            (words, lower.b.vote(Vote::Ballot, missing))
        });
        let sums = self.tuple_of(types, &words);
        self.scan_lanes((ops, types), &sums);
        let last = self.b.bin(Binary::Sub, Ty::U64, rank, Operand::Imm(1));
        let last = self.b.convert(Ty::U32, Ty::U64, Round::Exact, last);
        self.broadcast(types, &sums, last, result);
    }

    /// The prefix of the group before, of which there are `earlier`: from the nearest known one, the totals in order.
    fn before_group(
        &mut self,
        (ops, types): Ops<'_>,
        published: &Tables<'_>,
        (number, earlier): (Reg, Reg),
        result: &[Reg],
    ) {
        let lane = self.b.special(Special::Lane);
        let wide = self.wide(lane);
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, wide, earlier);
        let mine = self.b.select(Ty::B64, exists, wide, Operand::Imm(0));
        let mine = self.b.bin(Binary::Sub, Ty::U64, number, mine);
        let mine = self.b.bin(Binary::Sub, Ty::U64, mine, Operand::Imm(1));
        let totals = self.slots((published.totals, published.width), mine);
        let prefixes = self.slots((published.prefixes, published.width), mine);
        let nearest = self.b.reg(Class::B32);
        let words = self.until(|lower| {
            let (totals, has_total) = lower.published(&totals);
            let (prefixes, has_prefix) = lower.published(&prefixes);
            let some = lower.b.bin(Binary::Or, Ty::Pred, has_total, has_prefix);
            let missing = lower.b.un(Unary::Not, Ty::Pred, some);
            let known = lower.b.bin(Binary::And, Ty::Pred, has_prefix, exists);
            let known = lower.b.vote(Vote::Ballot, known);
            let missing = lower.b.vote(Vote::Ballot, missing);
            // The lowest bit is the nearest group; all bits below it are nearer.
            let negative = lower.b.bin(Binary::Sub, Ty::U32, Operand::Imm(0), known);
            let lowest = lower.b.bin(Binary::And, Ty::B32, known, negative);
            let zeros = lower.b.un(Unary::Clz, Ty::B32, lowest);
            let which = lower.b.bin(Binary::Sub, Ty::U32, Operand::Imm(31), zeros);
            lower.b.set(Ty::B32, nearest, which);
            let nearer = lower.b.bin(Binary::Sub, Ty::U32, lowest, Operand::Imm(1));
            let open = lower.b.bin(Binary::And, Ty::B32, missing, nearer);
            let none = lower.b.cmp(Cmp::Eq, Ty::U32, known, Operand::Imm(0));
            let open = lower.b.select(Ty::B32, none, Operand::Imm(1), open);
            // No nearer group has a prefix that was seen.
            let both = prefixes.iter().zip(totals);
            let words =
                both.map(|(prefix, total)| lower.b.select(Ty::B32, has_prefix, *prefix, total));
            (words.collect(), open)
        });
        let values = self.tuple_of(types, &words);
        self.broadcast(types, &values, nearest, result);
        let left = self.b.mov(Ty::B32, nearest);
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Gt, Ty::U32, left, Operand::Imm(0));
        self.b.branch(more, inside, exit, true);
        self.b.begin(inside);
        self.b
            .bin_to(left, Binary::Sub, Ty::U32, left, Operand::Imm(1));
        let next: Vec<Reg> = types
            .iter()
            .map(|ty| self.fresh(*ty, Operand::Imm(0)))
            .collect();
        self.broadcast(types, &values, left, &next);
        let next = next.into_iter().map(Operand::Reg).collect();
        self.accumulate(ops, types, result, next);
        self.gather_warp();
        self.b.jump(head);
        self.b.begin(exit);
    }

    /// Gives the tiles before this one time, where so many are worked on together that looking for them in vain would slow them down.
    pub(super) fn give_time(&mut self, tile: &Tile, nanoseconds: u64) {
        let many = Operand::Imm(MANY);
        let is_late = self.b.cmp(Cmp::Ge, Ty::U64, tile.number, many);
        self.if_warp(is_late, |lower| {
            lower.b.inst(Inst::Nanosleep(Operand::Imm(nanoseconds)));
        });
    }

    /// Repeats code until the word that it yields, the same in all lanes, is 0; yields what else it found.
    pub(super) fn until(&mut self, f: impl FnOnce(&mut Self) -> (Vec<Reg>, Reg)) -> Vec<Reg> {
        let (head, exit) = (self.b.block(), self.b.block());
        self.b.begin(head);
        let (found, open) = f(self);
        let again = self.b.cmp(Cmp::Ne, Ty::U32, open, Operand::Imm(0));
        self.b.branch(again, head, exit, true);
        self.b.begin(exit);
        found
    }

    /// The tuple of one lane, in all lanes.
    fn broadcast(&mut self, types: &[ScalarType], values: &[Reg], lane: Reg, result: &[Reg]) {
        for ((value, ty), to) in values.iter().zip(types).zip(result) {
            let (value, _) = self.other_lane(Shuffle::Index, *ty, *value, lane.into(), 31);
            self.assign(*ty, *to, value);
        }
    }
}
