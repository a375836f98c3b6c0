//! From row-major numbers of points to indices. In a ragged dimension, the row that a point is in is found by binary search
//! among the offsets.

use super::Lower;
use crate::ptx::ops::{Binary, Cmp, Round};
use crate::ptx::{Class, Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Extent;
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// Binds the indices of a space to those of the point with a row-major number.
    pub(super) fn indices(&mut self, space: &[(Var, Extent)], point: Reg) {
        let mut rest = point;
        for (i, (index, extent)) in space.iter().enumerate().rev() {
            match *extent {
                Extent::Regular(_) if i == 0 => self.bind_scalar(*index, rest),
                Extent::Regular(extent) => {
                    let extent = self.atom(extent);
                    let (row, inner) = self.divide(rest, extent);
                    self.bind_scalar(*index, inner);
                    rest = row;
                }
                Extent::Ragged { offsets, start } => {
                    let rows = self.count_of(&space[..i]);
                    let row = self.search(offsets, rows, rest);
                    let first = self.offset(offsets, row.into());
                    self.bind_scalar(start, first);
                    let inner = self.b.bin(Binary::Sub, Ty::U64, rest, first);
                    self.bind_scalar(*index, inner);
                    rest = row;
                }
            }
        }
    }

    /// Quotient and remainder without signs. Division in 64 bits takes several times as long as in 32 bits, and numbers
    /// are seldom that large.
    pub(super) fn divide(&mut self, number: Reg, by: Operand) -> (Reg, Reg) {
        let quotient = self.b.reg(Class::B64);
        let (short, long, join) = (self.b.block(), self.b.block(), self.b.block());
        let both = self.b.bin(Binary::Or, Ty::B64, number, by);
        let fits = self
            .b
            .cmp(Cmp::Le, Ty::U64, both, Operand::Imm(u32::MAX.into()));
        self.b.branch(fits, short, long, false);
        self.b.begin(short);
        let by_register = self.b.mov(Ty::B64, by);
        let low =
            [number, by_register].map(|reg| self.b.convert(Ty::U32, Ty::U64, Round::Exact, reg));
        let low = self.b.bin(Binary::Div, Ty::U32, low[0], low[1]);
        let low = self.wide(low);
        self.b.set(Ty::B64, quotient, low);
        self.b.jump(join);
        self.b.begin(long);
        let high = self.b.bin(Binary::Div, Ty::U64, number, by);
        self.b.set(Ty::B64, quotient, high);
        self.b.jump(join);
        self.b.begin(join);
        let product = self.b.bin(Binary::Mul, Ty::U64, quotient, by);
        let rest = self.b.bin(Binary::Sub, Ty::U64, number, product);
        (quotient, rest)
    }

    /// The number of points of a space.
    fn count_of(&mut self, space: &[(Var, Extent)]) -> Operand {
        let mut count = Operand::Imm(1);
        for (_, extent) in space {
            count = match *extent {
                Extent::Regular(extent) => {
                    let extent = self.atom(extent);
                    self.b.bin(Binary::Mul, Ty::U64, count, extent).into()
                }
                Extent::Ragged { offsets, .. } => self.offset(offsets, count).into(),
            };
        }
        count
    }

    /// An element of the offsets of a ragged dimension.
    pub(super) fn offset(&mut self, offsets: Var, row: Operand) -> Reg {
        let place = self.place(self.value(offsets), ScalarType::I64, row);
        self.load(ScalarType::I64, place, false)
    }

    /// The row that a point is in: the last one that does not begin behind it.
    fn search(&mut self, offsets: Var, rows: Operand, point: Reg) -> Reg {
        let (low, high) = (
            self.b.mov(Ty::B64, Operand::Imm(0)),
            self.b.mov(Ty::B64, rows),
        );
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        // The row is in low..high.
        self.b.begin(head);
        let next = self.b.bin(Binary::Add, Ty::U64, low, Operand::Imm(1));
        let more = self.b.cmp(Cmp::Lt, Ty::U64, next, high);
        self.b.branch(more, inside, exit, false);
        self.b.begin(inside);
        let sum = self.b.bin(Binary::Add, Ty::U64, low, high);
        let middle = self.b.bin(Binary::Shr, Ty::U64, sum, Operand::Imm(1));
        let first = self.offset(offsets, middle.into());
        let behind = self.b.cmp(Cmp::Le, Ty::U64, first, point);
        let new_low = self.b.select(Ty::B64, behind, middle, low);
        let new_high = self.b.select(Ty::B64, behind, high, middle);
        self.b.set(Ty::B64, low, new_low);
        self.b.set(Ty::B64, high, new_high);
        self.b.jump(head);
        self.b.begin(exit);
        low
    }

    /// The first point of a segment of the innermost dimension and the number of its points.
    pub(super) fn segment_bounds(&mut self, extent: Extent, segment: Reg) -> (Reg, Operand) {
        match extent {
            Extent::Regular(extent) => {
                let extent = self.atom(extent);
                let first = self.b.bin(Binary::Mul, Ty::U64, segment, extent);
                (first, extent)
            }
            Extent::Ragged { offsets, start } => {
                let first = self.offset(offsets, segment.into());
                self.bind_scalar(start, first);
                let next = self.b.bin(Binary::Add, Ty::U64, segment, Operand::Imm(1));
                let end = self.offset(offsets, next.into());
                let extent = self.b.bin(Binary::Sub, Ty::U64, end, first);
                (first, extent.into())
            }
        }
    }
}
