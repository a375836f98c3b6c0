//! Buckets that are changed by compare-and-swap, for what is no atomic operation: what is there is combined with the value, and
//! replaced unless somebody else was faster. Elements of fewer than 32 bits are changed together with the rest of their word,
//! which stays as it is.

use super::atomic::Update;
use crate::lower::Lower;
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Unary};
use crate::ptx::{Address, Inst, Operand, Order, Reg, Scope, Space, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::ScalarOp;
use midend::ir::soac::Operator;
use midend::ir::types::ScalarType;

/// An element within a word of 32 bits.
#[derive(Clone, Copy)]
struct Part {
    /// The lowest of its bits.
    shift: Reg,
    /// The bits of the rest of the word.
    rest: Reg,
}

/// The bits of an element of fewer than 32.
const fn mask(elem: ScalarType) -> u64 {
    (1 << (8 * elem.bytes())) - 1
}

impl Lower<'_> {
    /// Combines a bucket with a value.
    pub(super) fn update_by_swap(
        &mut self,
        (operator, dest): (&Operator<Mem>, Var),
        update: Update,
        bucket: Operand,
        value: Operand,
    ) {
        let elem = update.elem;
        let place = self.place(self.value(dest), elem, bucket);
        let (at, part) = if elem.bytes() < 4 {
            let (at, part) = self.part_at(elem, place.at);
            (at, Some(part))
        } else {
            (place.at, None)
        };
        let (ty, bits) = match elem.bytes() {
            8 => (Ty::U64, Ty::B64),
            _ => (Ty::U32, Ty::B32),
        };
        let order = Order::Relaxed(Scope::Gpu);
        let old = self.b.load_as(Space::Global, order, ty, at);
        let (head, swap, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let now = match part {
            Some(part) => self.part_of(elem, old, part),
            None => old.into(),
        };
        let new = match update.op {
            Some(op) => self.scalar(ScalarOp::Bin(op, elem), &[now, value]),
            None => {
                self.combined(std::slice::from_ref(operator), &[elem], &[now], &[value])[0].into()
            }
        };
        let new = match part {
            Some(part) => self.with_part(elem, old, part, new),
            None => self.reg(elem, new),
        };
        // Minima seldom change.
        let changes = self.b.cmp(Cmp::Ne, ty, new, old);
        self.b.branch(changes, swap, exit, false);
        self.b.begin(swap);
        let seen = self.b.reg(bits.class());
        self.b.inst(Inst::Atom {
            op: AtomOp::Cas,
            space: Space::Global,
            order,
            ty: bits,
            dst: Some(seen),
            at,
            a: old.into(),
            b: Some(new.into()),
        });
        let missed = self.b.cmp(Cmp::Ne, ty, seen, old);
        self.b.set(bits, old, seen);
        self.b.branch(missed, head, exit, false);
        self.b.begin(exit);
    }

    /// The word that an element is in, and where.
    fn part_at(&mut self, elem: ScalarType, at: Address) -> (Address, Part) {
        let offset = Operand::Imm(i64::from(at.offset) as u64);
        let address = self.b.bin(Binary::Add, Ty::U64, at.base, offset);
        let word = self.b.bin(Binary::And, Ty::B64, address, Operand::Imm(!3));
        let low = self.b.convert(Ty::U32, Ty::U64, Round::Exact, address);
        let byte = self.b.bin(Binary::And, Ty::B32, low, Operand::Imm(3));
        let shift = self.b.bin(Binary::Shl, Ty::B32, byte, Operand::Imm(3));
        let own = Operand::Imm(mask(elem));
        let own = self.b.bin(Binary::Shl, Ty::B32, own, shift);
        let rest = self.b.un(Unary::Not, Ty::B32, own);
        (word.into(), Part { shift, rest })
    }

    /// The element in a word.
    fn part_of(&mut self, elem: ScalarType, word: Reg, part: Part) -> Operand {
        let low = self.b.bin(Binary::Shr, Ty::U32, word, part.shift);
        match elem {
            ScalarType::I8 | ScalarType::I16 => {
                let above = Operand::Imm(32 - 8 * elem.bytes() as u64);
                let high = self.b.bin(Binary::Shl, Ty::B32, low, above);
                self.b.bin(Binary::Shr, Ty::S32, high, above).into()
            }
            ScalarType::U8
            | ScalarType::U16
            | ScalarType::F16
            | ScalarType::Bool
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F32
            | ScalarType::F64 => {
                let bits = self
                    .b
                    .bin(Binary::And, Ty::B32, low, Operand::Imm(mask(elem)));
                self.of_words(elem, &[bits])
            }
        }
    }

    /// The word with another element in its place.
    fn with_part(&mut self, elem: ScalarType, word: Reg, part: Part, new: Operand) -> Reg {
        let bits = self.words(elem, new)[0];
        let bits = self
            .b
            .bin(Binary::And, Ty::B32, bits, Operand::Imm(mask(elem)));
        let bits = self.b.bin(Binary::Shl, Ty::B32, bits, part.shift);
        let rest = self.b.bin(Binary::And, Ty::B32, word, part.rest);
        self.b.bin(Binary::Or, Ty::B32, rest, bits)
    }
}
