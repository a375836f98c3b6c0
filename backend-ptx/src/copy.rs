//! Copies of strided boxes from the host, as kernels: one for boxes of any kind, one for transpositions.
//!
//! The parameters are the addresses of the destination and of the source, the number of elements, then for each axis its
//! extent and its two strides, in bytes.

use crate::ptx::ops::{Binary, Cache, Cmp, Round, Special, Ternary, Unary};
use crate::ptx::{Address, Builder, Inst, Kind, Module, Operand, Order, Reg, Space, Ty, print};
use midend::device::Axis;

/// Side of a block of a transposition, in elements.
const TILE: u64 = 32;
/// Rows of it that the threads of a block move at once.
const ROWS: u64 = crate::lower::THREADS as u64 / TILE;
/// Slots before those of the axes.
const FIRST: u32 = 3;

/// How a box is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Element by element, in the order of the axes.
    Plain,
    /// The last axis but one is contiguous in the destination, the last one in the source.
    Transposed,
}

/// A kernel: its form, the bytes of an element, and the number of axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct CopyKernel {
    pub(crate) form: Form,
    pub(crate) bytes: usize,
    pub(crate) rank: usize,
}

/// The text of the kernels that copy boxes of up to so many dimensions, by name, for devices of a capability.
pub fn copy_texts(rank: usize, target: u32) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for bytes in [1, 2, 4, 8] {
        for (form, least) in [(Form::Plain, 1), (Form::Transposed, 2)] {
            for rank in least..=rank {
                let copy = CopyKernel { form, bytes, rank };
                texts.push((copy.name(), print::module(&copy.module(), target)));
            }
        }
    }
    texts
}

impl CopyKernel {
    /// The form for a box. Its axes are put in the order that the form asks for.
    pub(crate) fn of(axes: &mut Vec<Axis>, bytes: usize) -> Self {
        // A tile is not worth it where most of it would be outside.
        let is_long = |a: &Axis| a.extent >= TILE as i64 / 2;
        let row = axes.iter().position(|a| a.dst == 1 && is_long(a));
        let column = axes.iter().position(|a| a.src == 1 && is_long(a));
        let form = match (row, column) {
            (Some(row), Some(column)) if row != column => {
                let last = [axes[row], axes[column]];
                axes.retain(|a| !last.contains(a));
                axes.extend(last);
                Form::Transposed
            }
            (Some(_) | None, Some(_) | None) => Form::Plain,
        };
        Self {
            form,
            bytes,
            rank: axes.len(),
        }
    }

    /// The name of the kernel.
    pub(crate) fn name(self) -> String {
        let form = match self.form {
            Form::Plain => "copy",
            Form::Transposed => "transpose",
        };
        format!("{form}_{}_{}", self.bytes, self.rank)
    }

    /// Blocks that copy a box; the axes are those of [`CopyKernel::of`].
    pub(crate) fn blocks(self, axes: &[Axis]) -> u64 {
        let extents = axes.iter().map(|a| a.extent.unsigned_abs());
        match self.form {
            Form::Plain => extents
                .product::<u64>()
                .div_ceil(crate::lower::THREADS.into()),
            Form::Transposed => {
                let outer = self.rank - 2;
                let tiles = |(i, n): (usize, u64)| if i < outer { n } else { n.div_ceil(TILE) };
                extents.enumerate().map(tiles).product()
            }
        }
    }

    /// The slots for a launch.
    pub(crate) fn slots(self, to: u64, from: u64, axes: &[Axis]) -> Vec<u64> {
        let count = axes.iter().map(|a| a.extent.unsigned_abs()).product();
        let step = |stride: i64| (stride * self.bytes as i64) as u64;
        let mut slots = vec![to, from, count];
        for axis in axes {
            slots.extend([axis.extent as u64, step(axis.dst), step(axis.src)]);
        }
        slots
    }

    /// The kernel.
    pub(crate) fn module(self) -> Module {
        let kind = Kind::Entry {
            threads: crate::lower::THREADS,
            params: 8 * (FIRST + 3 * self.rank as u32),
        };
        let mut b = Builder::new(&self.name(), kind);
        match self.form {
            Form::Plain => self.plain(&mut b),
            Form::Transposed => self.transposed(&mut b),
        }
        Module {
            funcs: vec![b.finish()],
        }
    }

    const fn ty(self) -> Ty {
        match self.bytes {
            1 => Ty::U8,
            2 => Ty::U16,
            4 => Ty::U32,
            _ => Ty::U64,
        }
    }

    fn plain(self, b: &mut Builder) {
        let (to, from) = (pointer(b, 0), pointer(b, 1));
        let count = slot(b, 2);
        let (thread, all) = threads(b);
        let i = b.mov(Ty::B64, thread);
        b.repeat(
            false,
            |b| b.cmp(Cmp::Lt, Ty::U64, i, count).into(),
            |b| {
                let (mut to, mut from, mut rest) = (to, from, i);
                for axis in (0..self.rank).rev() {
                    let [extent, dst, src] = strides(b, axis);
                    let index = if axis == 0 {
                        rest
                    } else {
                        let index = b.bin(Binary::Rem, Ty::U64, rest, extent);
                        rest = b.bin(Binary::Div, Ty::U64, rest, extent);
                        index
                    };
                    to = stepped(b, to, index, dst);
                    from = stepped(b, from, index, src);
                }
                let value = load(b, Space::Global, self.ty(), from);
                b.store(Space::Global, self.ty(), to, value);
                b.bin_to(i, Binary::Add, Ty::U64, i, all);
            },
        );
    }

    /// A block moves a tile through shared memory, so that both sides are accessed contiguously.
    fn transposed(self, b: &mut Builder) {
        let (mut to, mut from) = (pointer(b, 0), pointer(b, 1));
        let [rows, columns] = [self.rank - 2, self.rank - 1].map(|axis| strides(b, axis));
        let block = b.special(Special::Ctaid);
        // There are no more tiles than blocks, so that their numbers have 32 bits, in which division is quick.
        let mut rest = block;
        // The place of the tile in its plane, then the place of the plane.
        let [first_row, first_column] = {
            let mut first = |b: &mut Builder, extent: Reg| {
                let tiles = b.bin(Binary::Add, Ty::U64, extent, Operand::Imm(TILE - 1));
                let tiles = b.bin(Binary::Div, Ty::U64, tiles, Operand::Imm(TILE));
                let tiles = b.convert(Ty::U32, Ty::U64, Round::Exact, tiles);
                let tile = b.bin(Binary::Rem, Ty::U32, rest, tiles);
                rest = b.bin(Binary::Div, Ty::U32, rest, tiles);
                b.bin(Binary::MulWide, Ty::U32, tile, Operand::Imm(TILE))
            };
            let column = first(b, columns[0]);
            [first(b, rows[0]), column]
        };
        for axis in (0..self.rank - 2).rev() {
            let [extent, dst, src] = strides(b, axis);
            let extent = b.convert(Ty::U32, Ty::U64, Round::Exact, extent);
            let index = b.bin(Binary::Rem, Ty::U32, rest, extent);
            rest = b.bin(Binary::Div, Ty::U32, rest, extent);
            let index = wide(b, index);
            to = stepped(b, to, index, dst);
            from = stepped(b, from, index, src);
        }
        let tid = b.special(Special::Tid);
        let lane = b.bin(Binary::And, Ty::B32, tid, Operand::Imm(TILE - 1));
        let group = b.bin(
            Binary::Shr,
            Ty::U32,
            tid,
            Operand::Imm(TILE.trailing_zeros().into()),
        );
        // One element more to a row, so that columns lie in different banks.
        let pitch = (TILE + 1) * self.bytes as u64;
        let len = (TILE * (TILE + 1)) as u32;
        let tile = b.variable("tile", Space::Shared, self.bytes as u32, len);
        let tile = b.address_of(tile);
        let near = |b: &mut Builder, row: Reg, column: Reg| {
            let row = b.tern(
                Ternary::Mad,
                Ty::U32,
                [row.into(), Operand::Imm(pitch), tile.into()],
            );
            b.tern(
                Ternary::Mad,
                Ty::U32,
                [column.into(), Operand::Imm(self.bytes as u64), row.into()],
            )
        };
        let whole = |b: &mut Builder, first: Reg, extent: Reg| {
            let end = b.bin(Binary::Add, Ty::U64, first, Operand::Imm(TILE));
            b.cmp(Cmp::Le, Ty::U64, end, extent)
        };
        let (high, broad) = (
            whole(b, first_row, rows[0]),
            whole(b, first_column, columns[0]),
        );
        let whole = b.bin(Binary::And, Ty::Pred, high, broad);
        b.either(
            whole,
            true,
            |b| {
                // All loads come before the first store, so that they are under way together.
                let from = stepped_twice(b, from, [first_row, first_column], [group, lane], {
                    [rows[2], columns[2]]
                });
                let step = b.bin(Binary::Mul, Ty::U64, rows[2], Operand::Imm(ROWS));
                let mut place = from;
                let values: Vec<Reg> = (0..TILE / ROWS)
                    .map(|k| {
                        if k > 0 {
                            place = b.bin(Binary::Add, Ty::U64, place, step);
                        }
                        load(b, Space::Global, self.ty(), place)
                    })
                    .collect();
                for (k, value) in values.into_iter().enumerate() {
                    let group = b.bin(Binary::Add, Ty::U32, group, Operand::Imm(k as u64 * ROWS));
                    let at = near(b, group, lane);
                    b.store(Space::Shared, self.ty(), at, value);
                }
                b.inst(Inst::Barrier);
                let mut to = stepped_twice(b, to, [first_row, first_column], [lane, group], {
                    [rows[1], columns[1]]
                });
                let step = b.bin(Binary::Mul, Ty::U64, columns[1], Operand::Imm(ROWS));
                for k in 0..TILE / ROWS {
                    let group = b.bin(Binary::Add, Ty::U32, group, Operand::Imm(k * ROWS));
                    let at = near(b, lane, group);
                    let value = load(b, Space::Shared, self.ty(), at);
                    if k > 0 {
                        to = b.bin(Binary::Add, Ty::U64, to, step);
                    }
                    b.store(Space::Global, self.ty(), to, value);
                }
            },
            |b| {
                for k in 0..TILE / ROWS {
                    let group = b.bin(Binary::Add, Ty::U32, group, Operand::Imm(k * ROWS));
                    self.inside(
                        (first_row, group, rows[0]),
                        (first_column, lane, columns[0]),
                        b,
                        |b, row, column| {
                            let from = stepped(b, from, row, rows[2]);
                            let from = stepped(b, from, column, columns[2]);
                            let value = load(b, Space::Global, self.ty(), from);
                            let at = near(b, group, lane);
                            b.store(Space::Shared, self.ty(), at, value);
                        },
                    );
                }
                b.inst(Inst::Barrier);
                for k in 0..TILE / ROWS {
                    let group = b.bin(Binary::Add, Ty::U32, group, Operand::Imm(k * ROWS));
                    self.inside(
                        (first_row, lane, rows[0]),
                        (first_column, group, columns[0]),
                        b,
                        |b, row, column| {
                            let at = near(b, lane, group);
                            let value = load(b, Space::Shared, self.ty(), at);
                            let to = stepped(b, to, row, rows[1]);
                            let to = stepped(b, to, column, columns[1]);
                            b.store(Space::Global, self.ty(), to, value);
                        },
                    );
                }
            },
        );
    }

    /// Code for the element of a tile, if it lies within both extents.
    fn inside(
        self,
        row: (Reg, Reg, Reg),
        column: (Reg, Reg, Reg),
        b: &mut Builder,
        f: impl FnOnce(&mut Builder, Reg, Reg),
    ) {
        let mut index = |(first, inner, extent): (Reg, Reg, Reg)| {
            let inner = wide(b, inner);
            let index = b.bin(Binary::Add, Ty::U64, first, inner);
            (index, b.cmp(Cmp::Lt, Ty::U64, index, extent))
        };
        let ((row, in_rows), (column, in_columns)) = (index(row), index(column));
        let inside = b.bin(Binary::And, Ty::Pred, in_rows, in_columns);
        b.when(inside, false, |b| f(b, row, column));
    }
}

fn slot(b: &mut Builder, number: u32) -> Reg {
    b.param(Ty::U64, 8 * number)
}

fn pointer(b: &mut Builder, number: u32) -> Reg {
    let generic = slot(b, number);
    b.un(Unary::ToGlobal, Ty::U64, generic)
}

/// Extent and strides of an axis.
fn strides(b: &mut Builder, axis: usize) -> [Reg; 3] {
    [0, 1, 2].map(|i| slot(b, FIRST + 3 * axis as u32 + i))
}

fn wide(b: &mut Builder, reg: Reg) -> Reg {
    b.convert(Ty::U64, Ty::U32, Round::Exact, reg)
}

/// An address so many strides further.
fn stepped(b: &mut Builder, address: Reg, index: Reg, stride: Reg) -> Reg {
    b.tern(
        Ternary::Mad,
        Ty::U64,
        [index.into(), stride.into(), address.into()],
    )
}

/// An address further by a row and a column, each the sum of two numbers.
fn stepped_twice(
    b: &mut Builder,
    address: Reg,
    first: [Reg; 2],
    within: [Reg; 2],
    strides: [Reg; 2],
) -> Reg {
    let mut address = address;
    for ((first, within), stride) in first.into_iter().zip(within).zip(strides) {
        let within = wide(b, within);
        let index = b.bin(Binary::Add, Ty::U64, first, within);
        address = stepped(b, address, index, stride);
    }
    address
}

/// An element, which need not be defined.
fn load(b: &mut Builder, space: Space, ty: Ty, at: Reg) -> Reg {
    let dst = b.reg(ty.class());
    b.inst(Inst::Load {
        space,
        order: Order::Weak,
        cache: Cache::Usual,
        ty,
        dst: vec![dst],
        at: Address::from(at),
        undefined: true,
    });
    dst
}

/// The number of the thread, and the number of all threads.
fn threads(b: &mut Builder) -> (Reg, Reg) {
    let [block, size, tid, blocks] =
        [Special::Ctaid, Special::Ntid, Special::Tid, Special::Nctaid].map(|s| b.special(s));
    let first = b.bin(Binary::MulWide, Ty::U32, block, size);
    let tid = wide(b, tid);
    let thread = b.bin(Binary::Add, Ty::U64, first, tid);
    let all = b.bin(Binary::MulWide, Ty::U32, blocks, size);
    (thread, all)
}
