//! Transpositions: a block moves a square tile through shared memory, so that both sides are accessed contiguously.

use super::{CopyKernel, load, pointer, stepped, strides, wide};
use crate::lower::THREADS;
use crate::ptx::ops::{Binary, Cmp, Round, Special, Ternary};
use crate::ptx::{Address, Builder, Inst, Operand, Reg, Space, Ty};

/// The side of a tile, in elements of so many bytes: a thread has 64 bytes of it, so that enough of them are under way.
pub(super) const fn side(bytes: usize) -> u64 {
    if bytes < 8 { 64 } else { 32 }
}

/// One of the two axes of a tile.
#[derive(Clone, Copy)]
pub(super) struct Side {
    /// The index of the first element of the tile.
    pub(super) first: Reg,
    extent: Reg,
    /// Strides in bytes, in the destination and in the source.
    pub(super) dst: Reg,
    pub(super) src: Reg,
}

/// A tile, and the thread's place in it.
pub(super) struct Tile {
    pub(super) ty: Ty,
    pub(super) side: u64,
    /// Where the plane of the tile lies in the destination, and in the source.
    pub(super) to: Reg,
    pub(super) from: Reg,
    /// The destination is contiguous along rows, the source along columns.
    pub(super) row: Side,
    pub(super) column: Side,
    /// The address of the tile in shared memory.
    pub(super) shared: Reg,
    /// The element of a line that is the thread's, and the first of its lines.
    lane: Reg,
    line: Reg,
}

/// The code of a kernel.
pub(super) fn code(copy: CopyKernel, b: &mut Builder) {
    let tile = Tile::new(copy, b);
    let whole = {
        let mut is_whole = |axis: Side| {
            let end = b.bin(Binary::Add, Ty::U64, axis.first, Operand::Imm(tile.side));
            b.cmp(Cmp::Le, Ty::U64, end, axis.extent)
        };
        [is_whole(tile.row), is_whole(tile.column)]
    };
    let whole = b.bin(Binary::And, Ty::Pred, whole[0], whole[1]);
    let code = |b: &mut Builder| match tile.aligned(b) {
        Some(aligned) => b.either(aligned, true, |b| tile.quads(b), |b| tile.whole(b)),
        None => tile.whole(b),
    };
    b.either(whole, true, code, |b| tile.part(b));
}

impl Tile {
    fn new(copy: CopyKernel, b: &mut Builder) -> Self {
        let side = side(copy.bytes);
        let (mut to, mut from) = (pointer(b, 0), pointer(b, 1));
        let rows = strides(b, copy.rank - 2);
        let columns = strides(b, copy.rank - 1);
        // There are no more tiles than blocks, so that their numbers have 32 bits, in which division is quick.
        let mut rest = b.special(Special::Ctaid);
        let mut axis = |b: &mut Builder, [extent, dst, src]: [Reg; 3]| {
            let tiles = b.bin(Binary::Add, Ty::U64, extent, Operand::Imm(side - 1));
            let shift = Operand::Imm(side.trailing_zeros().into());
            let tiles = b.bin(Binary::Shr, Ty::U64, tiles, shift);
            let tiles = b.convert(Ty::U32, Ty::U64, Round::Exact, tiles);
            let tile = b.bin(Binary::Rem, Ty::U32, rest, tiles);
            rest = b.bin(Binary::Div, Ty::U32, rest, tiles);
            let first = b.bin(Binary::MulWide, Ty::U32, tile, Operand::Imm(side));
            Side {
                first,
                extent,
                dst,
                src,
            }
        };
        let column = axis(b, columns);
        let row = axis(b, rows);
        for axis in (0..copy.rank - 2).rev() {
            let [extent, dst, src] = strides(b, axis);
            let extent = b.convert(Ty::U32, Ty::U64, Round::Exact, extent);
            let index = b.bin(Binary::Rem, Ty::U32, rest, extent);
            rest = b.bin(Binary::Div, Ty::U32, rest, extent);
            let index = wide(b, index);
            to = stepped(b, to, index, dst);
            from = stepped(b, from, index, src);
        }
        let tid = b.special(Special::Tid);
        let lane = b.bin(Binary::And, Ty::B32, tid, Operand::Imm(side - 1));
        let shift = Operand::Imm(side.trailing_zeros().into());
        let line = b.bin(Binary::Shr, Ty::U32, tid, shift);
        // One element more to a line, so that columns lie in different banks.
        let len = (side * (side + 1)) as u32;
        let shared = b.variable("tile", Space::Shared, copy.bytes as u32, len);
        Self {
            ty: copy.ty(),
            side,
            to,
            from,
            row,
            column,
            shared: b.address_of(shared),
            lane,
            line,
        }
    }

    /// Lines that the threads of a block have at once.
    fn lines(&self) -> u64 {
        u64::from(THREADS) / self.side
    }

    /// The lines of the thread.
    fn own_lines(&self, b: &mut Builder) -> Vec<Reg> {
        let line = |k: u64| {
            let distance = Operand::Imm(k * self.lines());
            b.bin(Binary::Add, Ty::U32, self.line, distance)
        };
        (0..self.side / self.lines()).map(line).collect()
    }

    /// The place of an element in shared memory.
    pub(super) fn near(&self, b: &mut Builder, row: Reg, column: Reg) -> Reg {
        let bytes = u64::from(self.ty.bytes());
        let pitch = Operand::Imm((self.side + 1) * bytes);
        let row = b.tern(
            Ternary::Mad,
            Ty::U32,
            [row.into(), pitch, self.shared.into()],
        );
        let column = [column.into(), Operand::Imm(bytes), row.into()];
        b.tern(Ternary::Mad, Ty::U32, column)
    }

    /// All elements of the tile are there. All loads come before the first store, so that they are under way together.
    fn whole(&self, b: &mut Builder) {
        let along = |b: &mut Builder, address: Reg, axes: [(Side, Reg, Reg); 2]| {
            axes.into_iter()
                .fold(address, |address, (axis, within, stride)| {
                    let within = wide(b, within);
                    let index = b.bin(Binary::Add, Ty::U64, axis.first, within);
                    stepped(b, address, index, stride)
                })
        };
        let (row, column) = (self.row, self.column);
        let lines = self.own_lines(b);
        let mut from = along(
            b,
            self.from,
            [(row, self.line, row.src), (column, self.lane, column.src)],
        );
        let step = b.bin(Binary::Mul, Ty::U64, row.src, Operand::Imm(self.lines()));
        let mut values = Vec::new();
        for k in 0..lines.len() {
            if k > 0 {
                from = b.bin(Binary::Add, Ty::U64, from, step);
            }
            values.push(load(b, Space::Global, self.ty, from));
        }
        let bytes = u64::from(self.ty.bytes());
        let base = self.near(b, self.line, self.lane);
        for (k, value) in values.into_iter().enumerate() {
            let offset = (k as u64 * self.lines() * (self.side + 1) * bytes) as i32;
            b.store(Space::Shared, self.ty, Address { base, offset }, value);
        }
        b.inst(Inst::Barrier);
        let mut to = along(
            b,
            self.to,
            [(row, self.lane, row.dst), (column, self.line, column.dst)],
        );
        let step = b.bin(Binary::Mul, Ty::U64, column.dst, Operand::Imm(self.lines()));
        let base = self.near(b, self.lane, self.line);
        for k in 0..lines.len() {
            let offset = (k as u64 * self.lines() * bytes) as i32;
            let value = load(b, Space::Shared, self.ty, Address { base, offset });
            if k > 0 {
                to = b.bin(Binary::Add, Ty::U64, to, step);
            }
            b.store(Space::Global, self.ty, to, value);
        }
    }

    /// Some elements of the tile are not there.
    fn part(&self, b: &mut Builder) {
        let (row, column) = (self.row, self.column);
        let lines = self.own_lines(b);
        for line in &lines {
            self.if_inside(b, (*line, self.lane), |b, at, [i, j]| {
                let from = stepped(b, self.from, i, row.src);
                let from = stepped(b, from, j, column.src);
                let value = load(b, Space::Global, self.ty, from);
                b.store(Space::Shared, self.ty, at, value);
            });
        }
        b.inst(Inst::Barrier);
        for line in &lines {
            self.if_inside(b, (self.lane, *line), |b, at, [i, j]| {
                let value = load(b, Space::Shared, self.ty, at);
                let to = stepped(b, self.to, i, row.dst);
                let to = stepped(b, to, j, column.dst);
                b.store(Space::Global, self.ty, to, value);
            });
        }
    }

    /// Code for an element, if it is there; it gets the place in shared memory, and the indices along both axes.
    fn if_inside(
        &self,
        b: &mut Builder,
        (row, column): (Reg, Reg),
        f: impl FnOnce(&mut Builder, Reg, [Reg; 2]),
    ) {
        let mut index = |axis: Side, within: Reg| {
            let within = wide(b, within);
            let index = b.bin(Binary::Add, Ty::U64, axis.first, within);
            (index, b.cmp(Cmp::Lt, Ty::U64, index, axis.extent))
        };
        let (i, in_rows) = index(self.row, row);
        let (j, in_columns) = index(self.column, column);
        let inside = b.bin(Binary::And, Ty::Pred, in_rows, in_columns);
        b.when(inside, false, |b| {
            let at = self.near(b, row, column);
            f(b, at, [i, j]);
        });
    }
}
