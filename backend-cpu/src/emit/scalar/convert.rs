//! Conversions between scalar types, and between floats and their bits.

use super::super::{Emit, clif};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    pub(super) fn convert(&mut self, from: ScalarType, to: ScalarType, a: Value) -> Value {
        if from == to {
            return a;
        }
        match (from, to) {
            (ScalarType::F16, _) => {
                let wide = self.widen(a);
                self.convert(ScalarType::F32, to, wide)
            }
            (ScalarType::F64, ScalarType::F16) => {
                let bits = self
                    .helper(&crate::calls::F64_TO_F16, &[a])
                    .expect("the function has a result");
                self.b.ins().ireduce(types::I16, bits)
            }
            (ScalarType::F32, ScalarType::F16) => self.narrow(a),
            (_, ScalarType::F16) => {
                // What binary32 does not hold exactly is beyond the largest binary16 anyway.
                let wide = self.convert(from, ScalarType::F32, a);
                self.narrow(wide)
            }
            (ScalarType::F32, ScalarType::F64) => self.b.ins().fpromote(types::F64, a),
            (ScalarType::F64, ScalarType::F32) => self.b.ins().fdemote(types::F32, a),
            (ScalarType::F32 | ScalarType::F64, ScalarType::Bool) => {
                let zero = self.float(from, 0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, a, zero)
            }
            (ScalarType::F32 | ScalarType::F64, _) => self.float_to_int(from, to, a),
            (_, ScalarType::F32 | ScalarType::F64) => self.int_to_float(from, to, a),
            (_, ScalarType::Bool) => self.b.ins().icmp_imm_s(IntCC::NotEqual, a, 0),
            (_, _) => self.resize(a, clif(from), clif(to), from.is_signed()),
        }
    }

    /// Truncates and saturates; a NaN and the infinities give 0. A negative number gives an unsigned integer the bits that
    /// it gives the signed one.
    fn float_to_int(&mut self, from: ScalarType, to: ScalarType, a: Value) -> Value {
        let (zero, infinity) = (self.float(from, 0.0), self.float(from, f64::INFINITY));
        let size = self.magnitude(a);
        let infinite = self.b.ins().fcmp(FloatCC::Equal, size, infinity);
        let a = self.b.ins().select(infinite, zero, a);
        let bits = 8 * to.bytes();
        let target = clif(to);
        match (to.is_signed(), bits) {
            (true, 32 | 64) => self.b.ins().fcvt_to_sint_sat(target, a),
            (false, 64) => {
                let signed = self.b.ins().fcvt_to_sint_sat(target, a);
                let unsigned = self.b.ins().fcvt_to_uint_sat(target, a);
                let negative = self.b.ins().fcmp(FloatCC::LessThan, a, zero);
                self.b.ins().select(negative, signed, unsigned)
            }
            (signed, _) => {
                let (wide, ty) = if bits < 32 {
                    (types::I32, ScalarType::I32)
                } else {
                    (types::I64, ScalarType::I64)
                };
                let limit = 1i64 << (bits - 1);
                let largest = if signed { limit - 1 } else { 2 * limit - 1 };
                let value = self.b.ins().fcvt_to_sint_sat(wide, a);
                let value = self.clamp(ty, value, IntCC::SignedGreaterThan, largest);
                let value = self.clamp(ty, value, IntCC::SignedLessThan, -limit);
                self.b.ins().ireduce(target, value)
            }
        }
    }

    /// The limit if the value is beyond it, else the value.
    fn clamp(&mut self, ty: ScalarType, value: Value, beyond: IntCC, limit: i64) -> Value {
        let limit = self.int(ty, limit);
        let outside = self.b.ins().icmp(beyond, value, limit);
        self.b.ins().select(outside, limit, value)
    }

    fn int_to_float(&mut self, from: ScalarType, to: ScalarType, a: Value) -> Value {
        let source = clif(from);
        let wide = if from.bytes() < 4 { types::I32 } else { source };
        let a = self.resize(a, source, wide, from.is_signed());
        // Narrow unsigned integers are not negative in 32 bits, and signed conversions are the cheaper ones.
        if from.is_signed() || from.bytes() < 4 {
            self.b.ins().fcvt_from_sint(clif(to), a)
        } else {
            self.b.ins().fcvt_from_uint(clif(to), a)
        }
    }

    /// The bits of a float; of a NaN the canonical ones.
    pub(super) fn bits_of_float(&mut self, ty: ScalarType, a: Value) -> Value {
        if ty == ScalarType::F16 {
            let magnitude = self.b.ins().band_imm_u(a, 0x7fff);
            let nan = self
                .b
                .ins()
                .icmp_imm_u(IntCC::UnsignedGreaterThan, magnitude, 0x7c00);
            let canonical = self.b.ins().iconst(types::I16, 0x7e00);
            return self.b.ins().select(nan, canonical, a);
        }
        let (int, canonical) = if ty == ScalarType::F32 {
            (types::I32, 0x7fc0_0000)
        } else {
            (types::I64, 0x7ff8_0000_0000_0000)
        };
        let nan = self.b.ins().fcmp(FloatCC::Unordered, a, a);
        let canonical = self.b.ins().iconst(int, canonical);
        let bits = self.b.ins().bitcast(int, MemFlagsData::new(), a);
        self.b.ins().select(nan, canonical, bits)
    }

    /// The float with the given bits.
    pub(super) fn float_of_bits(&mut self, ty: ScalarType, a: Value) -> Value {
        if ty == ScalarType::F16 {
            return a;
        }
        self.b.ins().bitcast(clif(ty), MemFlagsData::new(), a)
    }
}
