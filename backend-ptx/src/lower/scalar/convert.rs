//! Conversions between scalar types, and between floats and their bits.

use super::super::{Lower, ty_of};
use super::float::float;
use crate::ptx::ops::{Binary, Cmp, Round};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    pub(super) fn convert(&mut self, from: ScalarType, to: ScalarType, a: Operand) -> Operand {
        if from == to {
            return a;
        }
        match (from, to) {
            (ScalarType::Bool, _) => self.of_truth(to, a),
            (ScalarType::F16, ScalarType::F64) => {
                let a = self.reg(from, a);
                self.b.convert(Ty::F64, Ty::F16, Round::Exact, a).into()
            }
            (ScalarType::F16, ScalarType::F32) => self.widen(a),
            (ScalarType::F16, _) => {
                let wide = self.widen(a);
                self.convert(ScalarType::F32, to, wide)
            }
            (ScalarType::F32, ScalarType::F64) => {
                let a = self.reg(from, a);
                self.b.convert(Ty::F64, Ty::F32, Round::Exact, a).into()
            }
            (ScalarType::F32 | ScalarType::F64, ScalarType::Bool) => self
                .b
                .cmp(Cmp::Neu, ty_of(from), a, float(from, 0.0))
                .into(),
            (ScalarType::F32 | ScalarType::F64, _) if !to.is_float() => {
                self.float_to_int(from, to, a)
            }
            // To a narrower float, or from an integer to any.
            (_, ScalarType::F16 | ScalarType::F32 | ScalarType::F64) => {
                let a = self.reg(from, a);
                self.b
                    .convert(ty_of(to), ty_of(from), Round::Nearest, a)
                    .into()
            }
            (_, ScalarType::Bool) => self.b.cmp(Cmp::Ne, ty_of(from), a, Operand::Imm(0)).into(),
            (_, _) => self.int_to_int(from, to, a),
        }
    }

    /// 0 or 1.
    fn of_truth(&mut self, to: ScalarType, a: Operand) -> Operand {
        let cond = self.reg(ScalarType::Bool, a);
        let one = match to {
            ScalarType::F16 => {
                let one = self.b.mov(Ty::B16, Operand::Imm(0x3c00));
                let zero = self.b.mov(Ty::B16, Operand::Imm(0));
                return self.b.select(Ty::B16, cond, one, zero).into();
            }
            ScalarType::F32 | ScalarType::F64 => float(to, 1.0),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::Bool => Operand::Imm(1),
        };
        let bits = Ty::of_class(ty_of(to).class());
        self.b.select(bits, cond, one, Operand::Imm(0)).into()
    }

    fn int_to_int(&mut self, from: ScalarType, to: ScalarType, a: Operand) -> Operand {
        let a = self.reg(from, a);
        match (from.bytes() == 8, to.bytes() == 8) {
            (true, true) => a.into(),
            (false, true) => {
                let wide = if from.is_signed() { Ty::S64 } else { Ty::U64 };
                self.b.convert(wide, ty_of(from), Round::Exact, a).into()
            }
            (true, false) => {
                let low = self.b.convert(Ty::U32, Ty::U64, Round::Exact, a);
                self.extend(to, low).into()
            }
            (false, false) => self.extend(to, a).into(),
        }
    }

    /// Truncates and saturates; a NaN and the infinities give 0. A negative number gives an unsigned integer the bits that
    /// it gives the signed one.
    fn float_to_int(&mut self, from: ScalarType, to: ScalarType, a: Operand) -> Operand {
        let finite = self.is_finite(from, a);
        let source = self.reg(from, a);
        let of = ty_of(from);
        let turn = |this: &mut Self, to: Ty| this.b.convert(to, of, Round::IntZero, source);
        let value: Reg = match to {
            ScalarType::I32 => turn(self, Ty::S32),
            ScalarType::I64 => turn(self, Ty::S64),
            ScalarType::U64 => {
                let (signed, unsigned) = (turn(self, Ty::S64), turn(self, Ty::U64));
                let negative = self.b.cmp(Cmp::Lt, of, source, float(from, 0.0));
                self.b.select(Ty::B64, negative, signed, unsigned)
            }
            ScalarType::U32 => {
                let wide = turn(self, Ty::S64);
                let wide = self.clamped(Ty::S64, wide, -(1 << 31), (1 << 32) - 1);
                self.b.convert(Ty::U32, Ty::U64, Round::Exact, wide)
            }
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::F16
            | ScalarType::F32
            | ScalarType::F64
            | ScalarType::Bool => {
                let limit = 1i64 << (8 * to.bytes() - 1);
                let most = if to.is_signed() {
                    limit - 1
                } else {
                    2 * limit - 1
                };
                let wide = turn(self, Ty::S32);
                let wide = self.clamped(Ty::S32, wide, -limit, most);
                self.extend(to, wide)
            }
        };
        let bits = Ty::of_class(ty_of(to).class());
        self.b.select(bits, finite, value, Operand::Imm(0)).into()
    }

    fn clamped(&mut self, ty: Ty, value: Reg, least: i64, most: i64) -> Reg {
        let low = self
            .b
            .bin(Binary::Max, ty, value, Operand::Imm(least as u64));
        self.b.bin(Binary::Min, ty, low, Operand::Imm(most as u64))
    }

    /// The bits of a float; of a NaN the canonical ones.
    pub(super) fn bits_of_float(&mut self, ty: ScalarType, a: Operand) -> Operand {
        let value = self.reg(ty, a);
        let nan = self.b.cmp(Cmp::Nan, ty_of(ty), value, value);
        match ty {
            ScalarType::F16 => {
                let bits = self.half_bits(value.into());
                self.b
                    .select(Ty::B32, nan, Operand::Imm(0x7e00), bits)
                    .into()
            }
            ScalarType::F32 => {
                let canonical = Operand::Imm(0x7fc0_0000);
                self.b.select(Ty::B32, nan, canonical, value).into()
            }
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F64
            | ScalarType::Bool => {
                let canonical = Operand::Imm(0x7ff8 << 48);
                self.b.select(Ty::B64, nan, canonical, value).into()
            }
        }
    }

    /// The float with the given bits.
    pub(super) fn float_of_bits(&mut self, ty: ScalarType, a: Operand) -> Operand {
        if ty == ScalarType::F16 {
            let bits = self.reg(ScalarType::U16, a);
            return self.half_of(bits);
        }
        a
    }
}
