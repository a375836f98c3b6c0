//! Scalar operations, as `midend::interp::scalar` defines them.
//!
//! Integers of 8 and 16 bits are 32-bit registers, sign- or zero-extended; each operation that could leave other bits there
//! extends anew. A `bool` is a predicate. A binary16 is a 16-bit register; what PTX has no instruction for is computed in
//! binary32 and rounded, which is exact for sums, products, quotients and roots.

mod convert;
mod float;
mod half;
mod int;
mod library;

use super::{Lower, ty_of};
use crate::ptx::ops::{Binary, Cmp, Ternary, Unary};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, TernOp, UnOp};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// The value of an operation.
    pub(super) fn scalar(&mut self, op: ScalarOp, args: &[Operand]) -> Operand {
        if let Some(result) = self.defined(op, args) {
            return result;
        }
        match op {
            ScalarOp::Un(op, ty) => self.unary(op, ty, args[0]),
            ScalarOp::Bin(op, ty) => self.binary(op, ty, args[0], args[1]),
            ScalarOp::Cmp(op, ty) => self.compare(op, ty, args[0], args[1]),
            ScalarOp::Tern(op, ty) => self.ternary(op, ty, [args[0], args[1], args[2]]),
            ScalarOp::Convert(from, to) => self.convert(from, to, args[0]),
            ScalarOp::ToBits(ty) => self.bits_of_float(ty, args[0]),
            ScalarOp::FromBits(ty) => self.float_of_bits(ty, args[0]),
            ScalarOp::Select(ty) => self.choose(ty, args[0], args[1], args[2]),
        }
    }

    fn unary(&mut self, op: UnOp, ty: ScalarType, a: Operand) -> Operand {
        match ty {
            ScalarType::F16 => self.half_unary(op, a),
            ScalarType::F32 | ScalarType::F64 => self.float_unary(op, ty, a),
            ScalarType::Bool => self.b.un(Unary::Not, Ty::Pred, a).into(),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => self.int_unary(op, ty, a),
        }
    }

    fn binary(&mut self, op: BinOp, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        match ty {
            ScalarType::F16 => self.half_binary(op, a, b),
            ScalarType::F32 | ScalarType::F64 => self.float_binary(op, ty, a, b),
            ScalarType::Bool => self.bool_binary(op, a, b),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64 => self.int_binary(op, ty, a, b),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the table of operations rules out what truth values do not have"
    )]
    fn bool_binary(&mut self, op: BinOp, a: Operand, b: Operand) -> Operand {
        let op = match op {
            BinOp::And | BinOp::Min => Binary::And,
            BinOp::Or | BinOp::Max => Binary::Or,
            _ => Binary::Xor,
        };
        self.b.bin(op, Ty::Pred, a, b).into()
    }

    fn ternary(&mut self, op: TernOp, ty: ScalarType, [a, b, c]: [Operand; 3]) -> Operand {
        match op {
            TernOp::Fma => {
                let args = [a, b, c].map(|x| self.plain(ty, x));
                self.b.tern(Ternary::Fma, ty_of(ty), args).into()
            }
            TernOp::Mad => {
                let product = self.binary(BinOp::Mul, ty, a, b);
                self.binary(BinOp::Add, ty, product, c)
            }
            TernOp::MadHi => {
                let product = self.binary(BinOp::MulHi, ty, a, b);
                self.binary(BinOp::Add, ty, product, c)
            }
            TernOp::Lerp => {
                let span = self.binary(BinOp::Sub, ty, b, a);
                let part = self.binary(BinOp::Mul, ty, span, c);
                self.binary(BinOp::Add, ty, a, part)
            }
        }
    }

    fn compare(&mut self, op: CmpOp, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        if ty == ScalarType::Bool {
            // Equal: not different. Less: only the second holds. Less or equal: not only the first.
            return match op {
                CmpOp::Eq => {
                    let differ = self.b.bin(Binary::Xor, Ty::Pred, a, b);
                    self.b.un(Unary::Not, Ty::Pred, differ).into()
                }
                CmpOp::Lt => {
                    let not = self.b.un(Unary::Not, Ty::Pred, a);
                    self.b.bin(Binary::And, Ty::Pred, not, b).into()
                }
                CmpOp::Le => {
                    let not = self.b.un(Unary::Not, Ty::Pred, a);
                    self.b.bin(Binary::Or, Ty::Pred, not, b).into()
                }
            };
        }
        let op = match op {
            CmpOp::Eq => Cmp::Eq,
            CmpOp::Lt => Cmp::Lt,
            CmpOp::Le => Cmp::Le,
        };
        self.cmp(op, ty, a, b).into()
    }

    /// A comparison of numbers.
    pub(super) fn cmp(&mut self, op: Cmp, ty: ScalarType, a: Operand, b: Operand) -> Reg {
        let (a, b) = (self.plain(ty, a), self.plain(ty, b));
        self.b.cmp(op, ty_of(ty), a, b)
    }

    /// One of two values.
    pub(super) fn choose(
        &mut self,
        ty: ScalarType,
        cond: Operand,
        yes: Operand,
        no: Operand,
    ) -> Operand {
        let cond = self.reg(ScalarType::Bool, cond);
        if ty == ScalarType::Bool {
            let yes = self.b.bin(Binary::And, Ty::Pred, cond, yes);
            let not = self.b.un(Unary::Not, Ty::Pred, cond);
            let no = self.b.bin(Binary::And, Ty::Pred, not, no);
            return self.b.bin(Binary::Or, Ty::Pred, yes, no).into();
        }
        let (yes, no) = (self.plain(ty, yes), self.plain(ty, no));
        let bits = Ty::of_class(ty_of(ty).class());
        self.b.select(bits, cond, yes, no).into()
    }

    /// A value in a register.
    pub(super) fn reg(&mut self, ty: ScalarType, value: Operand) -> Reg {
        match value {
            Operand::Reg(reg) => reg,
            Operand::Imm(_) => self.b.mov(Ty::of_class(ty_of(ty).class()), value),
        }
    }

    /// A value as instructions of its type take it: a binary16 only in a register.
    fn plain(&mut self, ty: ScalarType, value: Operand) -> Operand {
        if ty == ScalarType::F16 {
            self.reg(ty, value).into()
        } else {
            value
        }
    }

    /// A constant.
    pub(super) fn constant(&self, c: Const) -> Operand {
        Operand::Imm(c.to_slot())
    }
}
