//! What comes before a tile, found by the first warp of its block.
//!
//! Tiles of a segment stand in groups of 32. A tile publishes its aggregate, waits for those of the earlier tiles of its
//! group, which wait for nobody, and combines them as a tree. The last tile of a group publishes the group's total; then it
//! looks for the nearest group before whose prefix is known, and folds the totals from there on from left to right. So the
//! prefix of a tile is always `((T1 ⊕ T2) ⊕ ..) ⊕ tree(A1, A2, ..)`, whatever was found: timing does not show in the
//! result, and prefixes go on by 1024 tiles at a time.

use super::{Lower, Tile, Value};
use crate::ptx::build::FULL;
use crate::ptx::ops::{Binary, Cmp, Round, Shuffle, Special, Unary, Vote};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::mem::Mem;
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// A tile has published its aggregate, or a group its total.
const TOTAL: u64 = 1;
/// A group has published its prefix, its own total included.
const PREFIX: u64 = 2;

/// What tiles and groups publish: words that say what is there, and arrays for each component.
pub(super) struct Published<'a> {
    /// Of tiles: states and aggregates.
    pub(super) tiles: (Reg, &'a [Reg]),
    /// Of groups: states, totals, prefixes.
    pub(super) groups: (Reg, &'a [Reg], &'a [Reg]),
    /// The groups of a segment.
    pub(super) count: Reg,
}

/// The operators and the types of their tuple.
type Ops<'a> = (&'a [Operator<Mem>], &'a [ScalarType]);

impl Lower<'_> {
    /// Publishes the aggregate of a tile, and yields the sum of everything before it in its segment, in every lane of the
    /// first warp.
    pub(super) fn look_back(
        &mut self,
        ops: Ops<'_>,
        tile: &Tile,
        published: &Published<'_>,
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
        self.publish(published.tiles, types, tile.number, all, TOTAL);
        let prefix = self.start(operators, types);
        let inside = self.start(operators, types);
        let has_earlier = self.b.cmp(Cmp::Gt, Ty::U64, rank, Operand::Imm(0));
        self.if_warp(has_earlier, |lower| {
            lower.in_group(ops, published.tiles, (tile.number, rank), &inside);
        });
        let total = self.fold_two(ops, &inside, all);
        let is_last = self.b.cmp(Cmp::Eq, Ty::U64, rank, Operand::Imm(31));
        let (states, totals, prefixes) = published.groups;
        let has_groups = self.b.cmp(Cmp::Gt, Ty::U64, group, Operand::Imm(0));
        self.if_warp(has_groups, |lower| {
            lower.if_warp(is_last, |lower| {
                lower.publish((states, totals), types, group_number, &total, TOTAL);
            });
            lower.before_group(ops, published.groups, (group_number, group), &prefix);
        });
        self.if_warp(is_last, |lower| {
            let whole = lower.fold_two(ops, &prefix, &total);
            lower.publish((states, prefixes), types, group_number, &whole, PREFIX);
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
    fn gather_warp(&mut self) {
        self.b.inst(Inst::WarpSync { mask: FULL });
    }

    /// The first lane stores a tuple, then says so.
    fn publish(
        &mut self,
        (states, tables): (Reg, &[Reg]),
        types: &[ScalarType],
        number: Reg,
        values: &[Reg],
        state: u64,
    ) {
        let lane = self.b.special(Special::Lane);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(0));
        self.when(first, |lower| {
            for ((table, ty), value) in tables.iter().zip(types).zip(values) {
                let place = lower.place(Value::Global(*table), *ty, number.into());
                lower.store(*ty, place, (*value).into());
            }
            lower.b.inst(Inst::Fence(Scope::Gpu));
            let at = lower.state_at(states, number);
            let order = Order::Relaxed(Scope::Gpu);
            let word = Operand::Imm(state);
            let store = Inst::store(Space::Global, order, Ty::U32, at.into(), word);
            lower.b.inst(store);
        });
        self.gather_warp();
    }

    fn state_at(&mut self, states: Reg, number: Reg) -> Reg {
        let distance = self.b.bin(Binary::Shl, Ty::B64, number, Operand::Imm(2));
        self.b.bin(Binary::Add, Ty::U64, states, distance)
    }

    /// The state that a lane looks at; lanes without one take that of the first lane, which is waited for anyway.
    fn state(&mut self, at: Reg) -> Reg {
        let order = Order::Relaxed(Scope::Gpu);
        self.b.load_as(Space::Global, order, Ty::U32, at)
    }

    /// Combines the aggregates of the earlier tiles of the group, of which there are `rank`.
    fn in_group(
        &mut self,
        (ops, types): Ops<'_>,
        (states, tables): (Reg, &[Reg]),
        (number, rank): (Reg, Reg),
        result: &[Reg],
    ) {
        let lane = self.b.special(Special::Lane);
        let lane = self.wide(lane);
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, lane, rank);
        let first = self.b.bin(Binary::Sub, Ty::U64, number, rank);
        let mine = self.b.select(Ty::B64, exists, lane, Operand::Imm(0));
        let mine = self.b.bin(Binary::Add, Ty::U64, first, mine);
        let at = self.state_at(states, mine);
        self.until(|lower| {
            let state = lower.state(at);
            let missing = lower.b.cmp(Cmp::Eq, Ty::U32, state, Operand::Imm(0));
            lower.b.vote(Vote::Ballot, missing)
        });
        self.b.inst(Inst::Fence(Scope::Gpu));
        let values = self.load_tuple(tables, types, mine);
        let sums: Vec<Reg> = values
            .iter()
            .zip(types)
            .map(|(value, ty)| self.fresh(*ty, *value))
            .collect();
        self.scan_lanes(ops, types, &sums);
        let last = self.b.bin(Binary::Sub, Ty::U64, rank, Operand::Imm(1));
        let last = self.b.convert(Ty::U32, Ty::U64, Round::Exact, last);
        self.broadcast(types, &sums, last, result);
    }

    /// The prefix of the group before, of which there are `earlier`: from the nearest known one, the totals in order.
    fn before_group(
        &mut self,
        (ops, types): Ops<'_>,
        (states, totals, prefixes): (Reg, &[Reg], &[Reg]),
        (number, earlier): (Reg, Reg),
        result: &[Reg],
    ) {
        let lane = self.b.special(Special::Lane);
        let wide = self.wide(lane);
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, wide, earlier);
        let mine = self.b.select(Ty::B64, exists, wide, Operand::Imm(0));
        let mine = self.b.bin(Binary::Sub, Ty::U64, number, mine);
        let mine = self.b.bin(Binary::Sub, Ty::U64, mine, Operand::Imm(1));
        let at = self.state_at(states, mine);
        let nearest = self.b.reg(Class::B32);
        self.until(|lower| {
            let state = lower.state(at);
            let known = lower.b.cmp(Cmp::Eq, Ty::U32, state, Operand::Imm(PREFIX));
            let known = lower.b.bin(Binary::And, Ty::Pred, known, exists);
            let missing = lower.b.cmp(Cmp::Eq, Ty::U32, state, Operand::Imm(0));
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
            lower.b.select(Ty::B32, none, Operand::Imm(1), open)
        });
        self.b.inst(Inst::Fence(Scope::Gpu));
        let is_nearest = self.b.cmp(Cmp::Eq, Ty::U32, lane, nearest);
        let is_near = self.b.cmp(Cmp::Le, Ty::U32, lane, nearest);
        let values: Vec<Reg> = types
            .iter()
            .map(|ty| self.fresh(*ty, Operand::Imm(0)))
            .collect();
        self.when(is_near, |lower| {
            let tables: Vec<Reg> = totals
                .iter()
                .zip(prefixes)
                .map(|(total, prefix)| lower.b.select(Ty::B64, is_nearest, *prefix, *total))
                .collect();
            let loaded = lower.load_tuple(&tables, types, mine);
            for ((reg, ty), value) in values.iter().zip(types).zip(loaded) {
                lower.assign(*ty, *reg, value);
            }
        });
        self.gather_warp();
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

    /// Repeats code until the word that it yields, the same in all lanes, is 0.
    fn until(&mut self, f: impl FnOnce(&mut Self) -> Reg) {
        let (head, exit) = (self.b.block(), self.b.block());
        self.b.begin(head);
        let open = f(self);
        let again = self.b.cmp(Cmp::Ne, Ty::U32, open, Operand::Imm(0));
        self.b.branch(again, head, exit, true);
        self.b.begin(exit);
    }

    /// The tuple of one lane, in all lanes.
    fn broadcast(&mut self, types: &[ScalarType], values: &[Reg], lane: Reg, result: &[Reg]) {
        for ((value, ty), to) in values.iter().zip(types).zip(result) {
            let (value, _) = self.other_lane(Shuffle::Index, *ty, *value, lane.into(), 31);
            self.assign(*ty, *to, value);
        }
    }
}
