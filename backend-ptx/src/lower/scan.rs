//! Scans: a thread per segment where segments are short or many, else in one pass over tiles with decoupled look-back
//! (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back").
//!
//! Blocks draw the numbers of their tiles from a counter in the order in which they start, so that a tile only waits for
//! blocks that run. A tile publishes its aggregate, looks back for the nearest tile whose prefix is known, and folds the
//! aggregates from there on from left to right. So the prefix of a tile is always `((P ⊕ A1) ⊕ A2) ⊕ ..` from the beginning,
//! whatever tile was found: timing does not show in the result.

use super::reduce::Fold;
use super::{Entry, Lower, Shape, Source, THREADS, Value, WARPS, components, entry, name_of};
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Shuffle, Special, Ternary};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// The most bytes of shared memory for the elements of a tile.
const TILE: u32 = 24 << 10;
/// The most elements that a thread has of a tile.
const ITEMS: u32 = 8;
/// A tile has published its aggregate.
const AGGREGATE: u64 = 1;
/// A tile has published its prefix.
const PREFIX: u64 = 2;

/// The elements that each thread has of a tile of tuples of these types; at least one.
pub(crate) fn items(types: &[ScalarType]) -> u32 {
    let bytes: u32 = types.iter().map(|ty| ty.bytes() as u32).sum();
    (TILE / (THREADS * bytes.max(1))).clamp(1, ITEMS)
}

/// A thread per segment. The parameter is the number of segments.
pub(super) fn small(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let shape = Shape {
        name: name_of(&kernel.name, "small"),
        kernel,
        args,
        extras: 1,
    };
    entry(source, &shape, |lower, extras| {
        let types = components(lower.program, ops);
        lower.points(extras[0], |lower, segment| {
            let acc = lower.start(ops, &types);
            lower.segment(kernel, segment, |lower, point, values| {
                lower.accumulate(ops, &types, &acc, values);
                lower.store_tuple(outs, &types, point, &acc);
            });
        });
    })
}

/// Tiles. The parameters are elements of a segment, tiles of a segment, the counter of tiles, states of tiles, then for each
/// component an array of aggregates and one of prefixes.
pub(super) fn large(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let types = components(source.program, ops);
    let shape = Shape {
        name: name_of(&kernel.name, "large"),
        kernel,
        args,
        extras: 4 + 2 * types.len(),
    };
    entry(source, &shape, |lower, extras| {
        let tile = lower.tile(&types, extras);
        lower.fill(kernel, &types, &tile);
        let acc = lower.fold_items(ops, &types, &tile);
        let (before, warps) = lower.scan_threads(ops, &types, &acc);
        let carry = lower.tables("carry", &types, 1);
        lower.leader(|lower| {
            let all = lower.fold_table(ops, &types, &warps, Operand::Imm(WARPS.into()));
            let prefix = lower.look_back(ops, &types, &tile, extras, &all);
            let zero = lower.b.mov(Ty::B32, Operand::Imm(0));
            let prefix: Vec<Operand> = prefix.into_iter().map(Operand::Reg).collect();
            lower.store_shared(&carry, &types, zero, &prefix);
        });
        lower.b.inst(Inst::Barrier);
        let zero = lower.b.mov(Ty::B32, Operand::Imm(0));
        let carry = lower.load_shared(&carry, &types, zero);
        lower.apply(ops, &types, &tile, (&carry, &before));
        lower.b.inst(Inst::Barrier);
        lower.drain(outs, &types, &tile);
    })
}

/// What a block works on.
struct Tile {
    /// The number of the tile, and that within its segment.
    number: Reg,
    within: Reg,
    /// The row-major index of the first element, and the elements of the tile (in 32 bits).
    first: Reg,
    count: Reg,
    /// Arrays in shared memory for the elements of all threads.
    tables: Vec<Reg>,
    items: u32,
}

impl Lower<'_> {
    /// Draws a tile.
    fn tile(&mut self, types: &[ScalarType], extras: &[Reg]) -> Tile {
        let items = items(types);
        let slot = self.b.variable("tile", Space::Shared, 4, 1);
        let slot = self.b.address_of(slot);
        let counter = extras[2];
        self.leader(|lower| {
            let drawn = lower.b.reg(Class::B32);
            lower.b.inst(Inst::Atom {
                op: AtomOp::Add,
                space: Space::Global,
                order: Order::Relaxed(Scope::Gpu),
                ty: Ty::U32,
                dst: Some(drawn),
                at: counter.into(),
                a: Operand::Imm(1),
                b: None,
            });
            lower.b.store(Space::Shared, Ty::U32, slot, drawn);
        });
        self.b.inst(Inst::Barrier);
        let drawn = self.b.load(Space::Shared, Ty::U32, slot);
        let number = self.wide(drawn);
        let segment = self.b.bin(Binary::Div, Ty::U64, number, extras[1]);
        let within = self.b.bin(Binary::Rem, Ty::U64, number, extras[1]);
        let size = u64::from(THREADS * items);
        let start = self.b.bin(Binary::Mul, Ty::U64, within, Operand::Imm(size));
        let mad = [segment.into(), extras[0].into(), start.into()];
        let first = self.b.tern(Ternary::Mad, Ty::U64, mad);
        let left = self.b.bin(Binary::Sub, Ty::U64, extras[0], start);
        let count = self.b.bin(Binary::Min, Ty::U64, left, Operand::Imm(size));
        let count = self.b.convert(Ty::U32, Ty::U64, Round::Exact, count);
        let tables = self.tables("items", types, THREADS * items);
        Tile {
            number,
            within,
            first,
            count,
            tables,
            items,
        }
    }

    /// The elements of a tile, neighbours in neighbouring threads, into shared memory.
    fn fill(&mut self, kernel: &Kernel, types: &[ScalarType], tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
        self.count(Ty::U32, range, false, |lower, i| {
            let distance = lower.wide(i);
            let point = lower.b.bin(Binary::Add, Ty::U64, tile.first, distance);
            let values = lower.point(kernel, types, point);
            lower.store_shared(&tile.tables, types, i, &values);
        });
        self.b.inst(Inst::Barrier);
    }

    /// The elements that the thread has of a tile: a run of neighbours.
    fn run_of_items(&mut self, tile: &Tile) -> (Operand, Operand, Operand) {
        let tid = self.b.special(Special::Tid);
        let each = Operand::Imm(tile.items.into());
        let first = self.b.bin(Binary::Mul, Ty::U32, tid, each);
        let end = self.b.bin(Binary::Add, Ty::U32, first, each);
        let end = self.b.bin(Binary::Min, Ty::U32, end, tile.count);
        (first.into(), end.into(), Operand::Imm(1))
    }

    /// Scans the elements of the thread in place; the last sum.
    fn fold_items(&mut self, ops: &[Operator<Mem>], types: &[ScalarType], tile: &Tile) -> Vec<Reg> {
        let acc = self.start(ops, types);
        let range = self.run_of_items(tile);
        self.count(Ty::U32, range, false, |lower, i| {
            let values = lower.load_shared(&tile.tables, types, i);
            lower.accumulate(ops, types, &acc, values);
            let sums: Vec<Operand> = acc.iter().map(|r| Operand::Reg(*r)).collect();
            lower.store_shared(&tile.tables, types, i, &sums);
        });
        acc
    }

    /// What comes before the elements of each thread within the tile, and arrays with the sum of every warp.
    fn scan_threads(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        acc: &[Reg],
    ) -> (Vec<Reg>, Vec<Reg>) {
        let sums: Vec<Reg> = acc
            .iter()
            .zip(types)
            .map(|(reg, ty)| self.fresh(*ty, (*reg).into()))
            .collect();
        self.over_lanes((Shuffle::Up, 0), types, &sums, |lower, others| {
            let right: Vec<Operand> = sums.iter().map(|r| Operand::Reg(*r)).collect();
            let new = lower.combined(ops, types, &others, &right);
            for ((reg, ty), value) in sums.iter().zip(types).zip(new) {
                lower.assign(*ty, *reg, value.into());
            }
        });
        let warps = self.tables("warps", types, WARPS);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let lane = self.b.special(Special::Lane);
        let last = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(31));
        let values: Vec<Operand> = sums.iter().map(|r| Operand::Reg(*r)).collect();
        self.when(last, |lower| {
            lower.store_shared(&warps, types, warp, &values)
        });
        // Of the lane before; the first lane has none.
        let mut before = Vec::new();
        let mut has = None;
        for (reg, ty) in sums.iter().zip(types) {
            let (other, ok) = self.other_lane(Shuffle::Up, *ty, *reg, Operand::Imm(1), 0);
            before.push(other);
            has = Some(ok);
        }
        self.b.inst(Inst::Barrier);
        let total = self.fold_table(ops, types, &warps, warp.into());
        if let Some(has) = has {
            self.when(has, |lower| lower.accumulate(ops, types, &total, before));
        }
        (total, warps)
    }

    /// What comes before a tile, after everybody who waits for this tile has been told what it is.
    fn look_back(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        tile: &Tile,
        extras: &[Reg],
        all: &[Reg],
    ) -> Vec<Reg> {
        let (states, tables) = (extras[3], &extras[4..]);
        let (aggregates, prefixes) = tables.split_at(types.len());
        let prefix = self.start(ops, types);
        let first = self.b.cmp(Cmp::Eq, Ty::U64, tile.within, Operand::Imm(0));
        let is_later = crate::ptx::Guard {
            reg: first,
            negate: true,
        };
        self.when(is_later, |lower| {
            lower.publish((states, aggregates), types, tile.number, all, AGGREGATE);
            let found = lower.wait(states, tile.number);
            lower.b.inst(Inst::Fence(Scope::Gpu));
            let values = lower.load_tuple(prefixes, types, found);
            for ((reg, ty), value) in prefix.iter().zip(types).zip(values) {
                lower.assign(*ty, *reg, value);
            }
            let next = lower.b.bin(Binary::Add, Ty::U64, found, Operand::Imm(1));
            let range = (next.into(), tile.number.into(), Operand::Imm(1));
            lower.count(Ty::U64, range, false, |lower, i| {
                let values = lower.load_tuple(aggregates, types, i);
                lower.accumulate(ops, types, &prefix, values);
            });
        });
        let left: Vec<Operand> = prefix.iter().map(|r| Operand::Reg(*r)).collect();
        let right: Vec<Operand> = all.iter().map(|r| Operand::Reg(*r)).collect();
        let whole = self.combined(ops, types, &left, &right);
        self.publish((states, prefixes), types, tile.number, &whole, PREFIX);
        prefix
    }

    fn load_tuple(&mut self, tables: &[Reg], types: &[ScalarType], at: Reg) -> Vec<Operand> {
        let mut values = Vec::new();
        for (table, ty) in tables.iter().zip(types) {
            let place = self.place(Value::Global(*table), *ty, at.into());
            values.push(self.load(*ty, place, false).into());
        }
        values
    }

    /// Stores a tuple of a tile, then says so.
    fn publish(
        &mut self,
        (states, tables): (Reg, &[Reg]),
        types: &[ScalarType],
        tile: Reg,
        values: &[Reg],
        state: u64,
    ) {
        for ((table, ty), value) in tables.iter().zip(types).zip(values) {
            let place = self.place(Value::Global(*table), *ty, tile.into());
            self.store(*ty, place, (*value).into());
        }
        self.b.inst(Inst::Fence(Scope::Gpu));
        let at = self.state_at(states, tile);
        let order = Order::Relaxed(Scope::Gpu);
        let store = Inst::store(
            Space::Global,
            order,
            Ty::U32,
            at.into(),
            Operand::Imm(state),
        );
        self.b.inst(store);
    }

    fn state_at(&mut self, states: Reg, tile: Reg) -> Reg {
        let distance = self.b.bin(Binary::Shl, Ty::B64, tile, Operand::Imm(2));
        self.b.bin(Binary::Add, Ty::U64, states, distance)
    }

    /// The nearest tile before this one whose prefix is known, with the aggregates of all in between known as well. The
    /// first tile of a segment publishes its prefix at once, so there is one.
    fn wait(&mut self, states: Reg, tile: Reg) -> Reg {
        let found = self.b.bin(Binary::Sub, Ty::U64, tile, Operand::Imm(1));
        let (head, back, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let at = self.state_at(states, found);
        let order = Order::Relaxed(Scope::Gpu);
        let state = self.b.load_as(Space::Global, order, Ty::U32, at);
        let known = self.b.cmp(Cmp::Eq, Ty::U32, state, Operand::Imm(PREFIX));
        self.b.branch(known, exit, back, false);
        self.b.begin(back);
        // One further back if the aggregate is there, else the same again.
        let some = self.b.cmp(Cmp::Eq, Ty::U32, state, Operand::Imm(AGGREGATE));
        let step = self
            .b
            .select(Ty::B64, some, Operand::Imm(1), Operand::Imm(0));
        self.b.bin_to(found, Binary::Sub, Ty::U64, found, step);
        self.b.jump(head);
        self.b.begin(exit);
        found
    }

    /// Puts what comes before in front of the sums of the thread.
    fn apply(
        &mut self,
        ops: &[Operator<Mem>],
        types: &[ScalarType],
        tile: &Tile,
        (carry, before): (&[Operand], &[Reg]),
    ) {
        let before: Vec<Operand> = before.iter().map(|r| Operand::Reg(*r)).collect();
        let prefix = self.combined(ops, types, carry, &before);
        let prefix: Vec<Operand> = prefix.into_iter().map(Operand::Reg).collect();
        let range = self.run_of_items(tile);
        self.count(Ty::U32, range, false, |lower, i| {
            let sums = lower.load_shared(&tile.tables, types, i);
            let sums = lower.combined(ops, types, &prefix, &sums);
            let sums: Vec<Operand> = sums.into_iter().map(Operand::Reg).collect();
            lower.store_shared(&tile.tables, types, i, &sums);
        });
    }

    /// The sums from shared memory to their places, neighbours by neighbouring threads.
    fn drain(&mut self, outs: &[Var], types: &[ScalarType], tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
        self.count(Ty::U32, range, false, |lower, i| {
            let distance = lower.wide(i);
            let point = lower.b.bin(Binary::Add, Ty::U64, tile.first, distance);
            let values = lower.load_shared(&tile.tables, types, i);
            for ((out, ty), value) in outs.iter().zip(types).zip(values) {
                let place = lower.place(lower.value(*out), *ty, point.into());
                lower.store(*ty, place, value);
            }
        });
    }
}
