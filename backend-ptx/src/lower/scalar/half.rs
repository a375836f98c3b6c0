//! Operations on binary16.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what has no instruction is computed in binary32"
)]

use super::super::Lower;
use crate::ptx::ops::{Binary, Cmp, Round, Unary};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::scalar::{BinOp, UnOp};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// Binary16 to binary32.
    pub(super) fn widen(&mut self, a: Operand) -> Operand {
        let a = self.reg(ScalarType::F16, a);
        self.b.convert(Ty::F32, Ty::F16, Round::Exact, a).into()
    }

    /// Binary32 to binary16.
    pub(super) fn narrow(&mut self, a: Operand) -> Operand {
        let a = self.reg(ScalarType::F32, a);
        self.b.convert(Ty::F16, Ty::F32, Round::Nearest, a).into()
    }

    /// The bits of a binary16, in 32.
    pub(in crate::lower) fn half_bits(&mut self, a: Operand) -> Reg {
        let a = self.reg(ScalarType::F16, a);
        self.b.convert(Ty::U32, Ty::B16, Round::Exact, a)
    }

    /// The binary16 with these bits.
    pub(in crate::lower) fn half_of(&mut self, bits: Reg) -> Operand {
        self.b.convert(Ty::B16, Ty::U32, Round::Exact, bits).into()
    }

    pub(super) fn half_unary(&mut self, op: UnOp, a: Operand) -> Operand {
        match op {
            UnOp::Neg | UnOp::Abs => {
                let op = if op == UnOp::Neg {
                    Unary::Neg
                } else {
                    Unary::Abs
                };
                let a = self.reg(ScalarType::F16, a);
                self.b.un(op, Ty::F16, a).into()
            }
            UnOp::IsNan => {
                let a = self.reg(ScalarType::F16, a);
                self.b.cmp(Cmp::Nan, Ty::F16, a, a).into()
            }
            UnOp::IsInf => {
                let wide = self.widen(a);
                self.float_unary(op, ScalarType::F32, wide)
            }
            _ => {
                let wide = self.widen(a);
                let result = self.float_unary(op, ScalarType::F32, wide);
                self.narrow(result)
            }
        }
    }

    pub(super) fn half_binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let own = match op {
            BinOp::Add => Some(Binary::Add),
            BinOp::Sub => Some(Binary::Sub),
            BinOp::Mul => Some(Binary::Mul),
            _ => None,
        };
        if let Some(own) = own {
            let (a, b) = (self.reg(ScalarType::F16, a), self.reg(ScalarType::F16, b));
            return self.b.bin(own, Ty::F16, a, b).into();
        }
        match op {
            BinOp::Copysign => {
                let (a, b) = (self.half_bits(a), self.half_bits(b));
                let size = self.b.bin(Binary::And, Ty::B32, a, Operand::Imm(0x7fff));
                let sign = self.b.bin(Binary::And, Ty::B32, b, Operand::Imm(0x8000));
                let both = self.b.bin(Binary::Or, Ty::B32, size, sign);
                self.half_of(both)
            }
            BinOp::Nextafter => self.half_next_after(a, b),
            _ => {
                let (a, b) = (self.widen(a), self.widen(b));
                let result = self.float_binary(op, ScalarType::F32, a, b);
                self.narrow(result)
            }
        }
    }

    /// The next number from `a` towards `b`, as for the wider types.
    fn half_next_after(&mut self, a: Operand, b: Operand) -> Operand {
        let (wide, to) = (self.widen(a), self.widen(b));
        let of = Ty::F32;
        let (bits, towards) = (self.half_bits(a), self.half_bits(b));
        let up = self.b.cmp(Cmp::Lt, of, wide, to);
        let positive = self.b.cmp(Cmp::Gt, of, wide, Operand::Imm(0));
        let shrinks = self.b.bin(Binary::Xor, Ty::Pred, up, positive);
        let step = self
            .b
            .select(Ty::B32, shrinks, Operand::Imm(u64::MAX), Operand::Imm(1));
        let moved = self.b.bin(Binary::Add, Ty::U32, bits, step);
        let sign = self
            .b
            .bin(Binary::And, Ty::B32, towards, Operand::Imm(0x8000));
        let least = self.b.bin(Binary::Or, Ty::B32, sign, Operand::Imm(1));
        let is_zero = self.b.cmp(Cmp::Eq, of, wide, Operand::Imm(0));
        let moved = self.b.select(Ty::B32, is_zero, least, moved);
        let same = self.b.cmp(Cmp::Eq, of, wide, to);
        let result = self.b.select(Ty::B32, same, towards, moved);
        let nan = self.b.cmp(Cmp::Nan, of, wide, to);
        let result = self.b.select(Ty::B32, nan, Operand::Imm(0x7e00), result);
        self.half_of(result)
    }
}
