//! Operations on binary32 and binary64.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and most others are calls"
)]

use super::super::Emit;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use midend::ir::scalar::{BinOp, CmpOp, UnOp};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    pub(super) fn float_unary(&mut self, op: UnOp, ty: ScalarType, a: Value) -> Value {
        match op {
            UnOp::Neg => self.b.ins().fneg(a),
            UnOp::Abs => self.magnitude(a),
            UnOp::Signum => {
                let one = self.float(ty, 1.0);
                let sign = self.b.ins().fcopysign(one, a);
                let zero = self.float(ty, 0.0);
                let ordinary = self.b.ins().fcmp(FloatCC::OrderedNotEqual, a, zero);
                self.b.ins().select(ordinary, sign, a)
            }
            UnOp::IsNan => self.b.ins().fcmp(FloatCC::Unordered, a, a),
            UnOp::IsInf => {
                let magnitude = self.magnitude(a);
                let infinity = self.float(ty, f64::INFINITY);
                self.b.ins().fcmp(FloatCC::Equal, magnitude, infinity)
            }
            UnOp::Sqrt => self.b.ins().sqrt(a),
            UnOp::Rsqrt => {
                let root = self.b.ins().sqrt(a);
                let one = self.float(ty, 1.0);
                self.b.ins().fdiv(one, root)
            }
            UnOp::Floor => self.b.ins().floor(a),
            UnOp::Ceil => self.b.ins().ceil(a),
            UnOp::Round => self.b.ins().nearest(a),
            UnOp::Trunc => self.b.ins().trunc(a),
            _ => unreachable!("{} is a call or no operation on floats", op.name()),
        }
    }

    pub(super) fn float_binary(&mut self, op: BinOp, ty: ScalarType, a: Value, b: Value) -> Value {
        match op {
            BinOp::Add => self.b.ins().fadd(a, b),
            BinOp::Sub => self.b.ins().fsub(a, b),
            BinOp::Mul => self.b.ins().fmul(a, b),
            BinOp::Div => self.b.ins().fdiv(a, b),
            BinOp::Min => self.extremum(ty, a, b, true),
            BinOp::Max => self.extremum(ty, a, b, false),
            BinOp::Copysign => self.b.ins().fcopysign(a, b),
            _ => unreachable!("{} is a call or no operation on floats", op.name()),
        }
    }

    /// minimumNumber or maximumNumber. The two one-instruction selections agree but for zeros of both signs, which are
    /// merged bitwise, and for NaNs, of which they yield one operand each.
    fn extremum(&mut self, ty: ScalarType, a: Value, b: Value, least: bool) -> Value {
        let bits = if ty == ScalarType::F32 {
            types::I32
        } else {
            types::I64
        };
        let code = FloatCC::LessThan;
        let (first, second) = if least {
            let (ab, ba) = (self.b.ins().fcmp(code, a, b), self.b.ins().fcmp(code, b, a));
            (self.b.ins().select(ab, a, b), self.b.ins().select(ba, b, a))
        } else {
            let (ab, ba) = (self.b.ins().fcmp(code, b, a), self.b.ins().fcmp(code, a, b));
            (self.b.ins().select(ab, a, b), self.b.ins().select(ba, b, a))
        };
        let raw = MemFlagsData::new();
        let (x, y) = (
            self.b.ins().bitcast(bits, raw, first),
            self.b.ins().bitcast(bits, raw, second),
        );
        let merged = if least {
            self.b.ins().bor(x, y)
        } else {
            self.b.ins().band(x, y)
        };
        let merged = self.b.ins().bitcast(super::super::clif(ty), raw, merged);
        // With a NaN, `first` is the second operand and `second` the first.
        let (slow, done) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(slow);
        let result = self.b.append_block_param(done, super::super::clif(ty));
        let unordered = self.b.ins().fcmp(FloatCC::Unordered, a, b);
        self.b
            .ins()
            .brif(unordered, slow, &[], done, &[merged.into()]);
        self.b.switch_to_block(slow);
        let a_is_nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let number = self.b.ins().select(a_is_nan, b, a);
        self.b.ins().jump(done, &[number.into()]);
        self.b.switch_to_block(done);
        result
    }

    pub(super) fn float_compare(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        let code = match op {
            CmpOp::Eq => FloatCC::Equal,
            CmpOp::Lt => FloatCC::LessThan,
            CmpOp::Le => FloatCC::LessThanOrEqual,
        };
        self.b.ins().fcmp(code, a, b)
    }

    /// A constant of a float type.
    pub(super) fn float(&mut self, ty: ScalarType, value: f64) -> Value {
        if ty == ScalarType::F32 {
            self.b.ins().f32const(value as f32)
        } else {
            self.b.ins().f64const(value)
        }
    }
}
