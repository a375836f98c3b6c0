//! Operations on binary16: computed in binary32 and rounded, which is exact for sums, products, quotients and roots.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and most others are calls"
)]

use super::super::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::scalar::{BinOp, UnOp};
use midend::ir::types::ScalarType;

/// The sign bit.
const SIGN: i64 = 0x8000;
/// Everything but the sign bit.
const MAGNITUDE: i64 = 0x7fff;
/// The bits of infinity.
const INFINITY: i64 = 0x7c00;

impl Emit<'_, '_> {
    /// Binary16 to binary32.
    pub(super) fn widen(&mut self, a: Value) -> Value {
        let a = self.b.ins().uextend(types::I32, a);
        self.helper(&crate::calls::F16_TO_F32, &[a])
            .expect("the function has a result")
    }

    /// Binary32 to binary16.
    pub(super) fn narrow(&mut self, a: Value) -> Value {
        let bits = self
            .helper(&crate::calls::F32_TO_F16, &[a])
            .expect("the function has a result");
        self.b.ins().ireduce(types::I16, bits)
    }

    pub(super) fn half_unary(&mut self, op: UnOp, a: Value) -> Value {
        match op {
            UnOp::Neg => self.b.ins().bxor_imm_u(a, SIGN),
            UnOp::Abs => self.b.ins().band_imm_u(a, MAGNITUDE),
            UnOp::IsNan => {
                let magnitude = self.b.ins().band_imm_u(a, MAGNITUDE);
                self.b
                    .ins()
                    .icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, INFINITY)
            }
            UnOp::IsInf => {
                let magnitude = self.b.ins().band_imm_u(a, MAGNITUDE);
                self.b.ins().icmp_imm_u(IntCC::Equal, magnitude, INFINITY)
            }
            _ => {
                let wide = self.widen(a);
                let result = self.float_unary(op, ScalarType::F32, wide);
                self.narrow(result)
            }
        }
    }

    pub(super) fn half_binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        if op == BinOp::Copysign {
            let magnitude = self.b.ins().band_imm_u(a, MAGNITUDE);
            let sign = self.b.ins().band_imm_u(b, SIGN);
            return self.b.ins().bor(magnitude, sign);
        }
        let (a, b) = (self.widen(a), self.widen(b));
        let result = self.float_binary(op, ScalarType::F32, a, b);
        self.narrow(result)
    }
}
