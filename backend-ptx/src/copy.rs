//! Copies of strided boxes from the host, as kernels: one for boxes of any kind, one for transpositions.
//!
//! The parameters are the addresses of the destination and of the source, the number of elements, then for each axis its
//! extent and its two strides, in bytes.

mod quads;
mod transposed;

use crate::ptx::ops::{Binary, Cache, Cmp, Round, Special, Ternary, Unary};
use crate::ptx::{Address, Builder, Inst, Kind, Module, Order, Reg, Space, Ty, print};
use crate::report;
use midend::device::Axis;

/// So many elements of an axis are worth a tile.
const LONG: i64 = 16;
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

/// The text of the kernels that are those of no program, by name, for devices of a capability: that which reports to the host, and those
/// that copy boxes of up to so many dimensions.
pub fn standing_texts(rank: usize, target: u32) -> Vec<(String, String)> {
    let report = print::module(&report::module(), target);
    let mut texts = vec![(report::NAME.to_owned(), report)];
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
        let is_long = |a: &Axis| a.extent >= LONG;
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

    /// What it is called where somebody counts; `at` has the bits of the addresses.
    pub(crate) fn described(self, axes: &[Axis], at: u64) -> &'static str {
        let [.., row, column] = axes else {
            return "ptx/copy";
        };
        let side = transposed::side(self.bytes) as i64;
        let is_whole = row.extent >= side && column.extent >= side;
        let is_aligned = (at as i64 | (4 * (row.src | column.dst))) % 16 == 0;
        match self.form {
            Form::Plain => "ptx/copy",
            Form::Transposed if is_whole && is_aligned && self.bytes == 4 => {
                "ptx/transposition-by-16-bytes"
            }
            Form::Transposed if is_whole => "ptx/transposition-in-tiles",
            Form::Transposed => "ptx/transposition-in-parts",
        }
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
                let side = transposed::side(self.bytes);
                let tiles = |(i, n): (usize, u64)| if i < outer { n } else { n.div_ceil(side) };
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
            // Of those that transpose, as many as keep memory busy; the code for tiles that are not whole would take more registers. On
            // an H200 they take 0.91 of the time with three blocks, more with more.
            resident: (self.form == Form::Transposed).then_some(3),
        };
        let mut b = Builder::new(&self.name(), kind);
        match self.form {
            Form::Plain => self.plain(&mut b),
            Form::Transposed => transposed::code(self, &mut b),
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

/// An element, which need not be defined.
fn load(b: &mut Builder, space: Space, ty: Ty, at: impl Into<Address>) -> Reg {
    loads(b, space, ty, at, 1)[0]
}

/// Elements side by side, in one access.
fn loads(
    b: &mut Builder,
    space: Space,
    ty: Ty,
    at: impl Into<Address>,
    elements: usize,
) -> Vec<Reg> {
    let dst: Vec<Reg> = (0..elements).map(|_| b.reg(ty.class())).collect();
    b.inst(Inst::Load {
        space,
        order: Order::Weak,
        cache: Cache::Usual,
        ty,
        dst: dst.clone(),
        at: at.into(),
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
