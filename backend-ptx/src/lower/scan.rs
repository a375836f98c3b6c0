//! Scans: a thread per segment where segments are short or many, else in one pass over tiles with decoupled look-back
//! (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back").
//!
//! Blocks draw the numbers of their tiles from a counter in the order in which they start, so that a tile only waits for
//! blocks that run.

mod look_back;

use super::reduce::Fold;
use super::{Entry, Lower, Shape, Source, THREADS, Value, WARPS, components, entry, together};
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Shuffle, Special, Ternary};
use crate::ptx::{Class, Inst, Operand, Order, Reg, Scope, Space, Ty};
use look_back::Published;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// The most bytes of shared memory for the elements of a tile.
const TILE: u32 = 24 << 10;
/// The most elements that a thread has of a tile.
const ITEMS: u32 = 16;
/// Tiles of a group.
pub(crate) const GROUP: u32 = 32;
/// Parameters before the arrays of components.
const SIZES: usize = 6;

/// The elements that each thread has of a tile of tuples of these types; at least one.
pub(crate) fn items(types: &[ScalarType]) -> u32 {
    let bytes: u32 = types.iter().map(|ty| ty.bytes() as u32).sum();
    (TILE / (THREADS * bytes.max(1))).clamp(1, ITEMS)
}

/// Tiles. The parameters are elements of a segment, tiles of a segment, groups of a segment, the counter of tiles, states of
/// tiles and of groups, then arrays for each component: aggregates of tiles, totals of groups, prefixes of groups.
pub(super) fn large(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
) -> Entry {
    let types = components(source.program, ops);
    let shape = Shape::of(kernel, args, "large", SIZES + 3 * types.len());
    entry(source, &shape, |lower, extras| {
        let tile = lower.tile(&types, extras);
        lower.outer_indices(kernel, tile.segment);
        lower.fill(kernel, &types, &tile);
        let acc = lower.fold_items(ops, &types, &tile);
        let (before, warps) = lower.scan_threads(ops, &types, &acc);
        let carry = lower.tables("carry", &types, 1);
        let tables: Vec<&[Reg]> = extras[SIZES..].chunks(types.len()).collect();
        let published = Published {
            tiles: (extras[4], tables[0]),
            groups: (extras[5], tables[1], tables[2]),
            count: extras[2],
        };
        lower.first_warp(|lower| {
            let all = lower.fold_table(ops, &types, &warps, Operand::Imm(WARPS.into()));
            let prefix = lower.look_back((ops, &types), &tile, &published, &all);
            lower.leader(|lower| {
                let zero = lower.b.mov(Ty::B32, Operand::Imm(0));
                let prefix: Vec<Operand> = prefix.into_iter().map(Operand::Reg).collect();
                lower.store_shared(&carry, &types, zero, &prefix);
            });
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
    segment: Reg,
    /// The first element: row-major, and within the segment; and the elements of the tile (in 32 bits).
    first: Reg,
    start: Reg,
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
        let counter = extras[3];
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
        let tables = self.tables("items", types, THREADS * items * 33 / 32);
        Tile {
            number,
            within,
            segment,
            first,
            start,
            count,
            tables,
            items,
        }
    }

    /// The elements of a tile, neighbours in neighbouring threads, into shared memory.
    fn fill(&mut self, kernel: &Kernel, types: &[ScalarType], tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        let each = together::points(self.program, kernel);
        let rest = |lower: &mut Self| {
            let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
            lower.count(Ty::U32, range, false, |lower, i| {
                let distance = lower.wide(i);
                let element = lower.b.bin(Binary::Add, Ty::U64, tile.start, distance);
                let values = lower.element(kernel, types, element);
                lower.store_item(types, tile, i, &values);
            });
        };
        match each {
            None => rest(self),
            Some(each) => self.if_whole(
                tile,
                |lower| {
                    let first = lower.wide(tid);
                    let first = lower.b.bin(Binary::Add, Ty::U64, tile.start, first);
                    for round in 0..tile.items.div_ceil(each) {
                        let done = round * each;
                        let now = each.min(tile.items - done);
                        lower.fill_round((kernel, types), tile, (tid, first), (done, now));
                    }
                },
                rest,
            ),
        }
        self.b.inst(Inst::Barrier);
    }

    /// Code for tiles with all their elements, and for others.
    fn if_whole(&mut self, tile: &Tile, f: impl FnOnce(&mut Self), g: impl FnOnce(&mut Self)) {
        let (whole, last, join) = (self.b.block(), self.b.block(), self.b.block());
        let size = Operand::Imm(u64::from(THREADS * tile.items));
        let is_whole = self.b.cmp(Cmp::Eq, Ty::U32, tile.count, size);
        self.b.branch(is_whole, whole, last, true);
        self.b.begin(whole);
        f(self);
        self.b.jump(join);
        self.b.begin(last);
        g(self);
        self.b.jump(join);
        self.b.begin(join);
    }

    /// The items `done..done + now` of every thread, out of a tile that has them all.
    fn fill_round(
        &mut self,
        (kernel, types): (&Kernel, &[ScalarType]),
        tile: &Tile,
        (tid, first): (Reg, Reg),
        (done, now): (u32, u32),
    ) {
        let distance = Operand::Imm(u64::from(done * THREADS));
        let first = self.b.bin(Binary::Add, Ty::U64, first, distance);
        let elements = self.strided(first, THREADS, now);
        let tuples = self.elements(kernel, types, &elements);
        for (k, values) in tuples.into_iter().enumerate() {
            let distance = Operand::Imm(u64::from((done + k as u32) * THREADS));
            let i = self.b.bin(Binary::Add, Ty::U32, tid, distance);
            self.store_item(types, tile, i, &values);
        }
    }

    /// The place of an item in the arrays of a tile: an element is left out after every 32, so that threads that walk
    /// through their items side by side do not meet in one bank.
    fn padded(&mut self, item: Reg) -> Reg {
        let skipped = self.b.bin(Binary::Shr, Ty::U32, item, Operand::Imm(5));
        self.b.bin(Binary::Add, Ty::U32, item, skipped)
    }

    fn store_item(&mut self, types: &[ScalarType], tile: &Tile, item: Reg, values: &[Operand]) {
        let at = self.padded(item);
        self.store_shared(&tile.tables, types, at, values);
    }

    fn load_item(&mut self, types: &[ScalarType], tile: &Tile, item: Reg) -> Vec<Operand> {
        let at = self.padded(item);
        self.load_shared(&tile.tables, types, at)
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
            let values = lower.load_item(types, tile, i);
            lower.accumulate(ops, types, &acc, values);
            let sums: Vec<Operand> = acc.iter().map(|r| Operand::Reg(*r)).collect();
            lower.store_item(types, tile, i, &sums);
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
        self.scan_lanes(ops, types, &sums);
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
            let sums = lower.load_item(types, tile, i);
            let sums = lower.combined(ops, types, &prefix, &sums);
            let sums: Vec<Operand> = sums.into_iter().map(Operand::Reg).collect();
            lower.store_item(types, tile, i, &sums);
        });
    }

    /// The sums from shared memory to their places, neighbours by neighbouring threads.
    fn drain(&mut self, outs: &[Var], types: &[ScalarType], tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        self.if_whole(
            tile,
            |lower| {
                for k in 0..tile.items {
                    let distance = Operand::Imm(u64::from(k * THREADS));
                    let i = lower.b.bin(Binary::Add, Ty::U32, tid, distance);
                    lower.drain_item(outs, types, tile, i);
                }
            },
            |lower| {
                let range = (tid.into(), tile.count.into(), Operand::Imm(THREADS.into()));
                lower.count(Ty::U32, range, false, |lower, i| {
                    lower.drain_item(outs, types, tile, i);
                });
            },
        );
    }

    fn drain_item(&mut self, outs: &[Var], types: &[ScalarType], tile: &Tile, i: Reg) {
        let distance = self.wide(i);
        let point = self.b.bin(Binary::Add, Ty::U64, tile.first, distance);
        let values = self.load_item(types, tile, i);
        for ((out, ty), value) in outs.iter().zip(types).zip(values) {
            let place = self.place(self.value(*out), *ty, point.into());
            self.store(*ty, place, value);
        }
    }
}
