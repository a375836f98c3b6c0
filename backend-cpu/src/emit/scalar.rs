//! Scalar operations, as `midend::interp::scalar` defines them.

mod convert;
mod float;
mod half;
mod int;

use super::{Emit, clif};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::scalar::{BinOp, CmpOp, ScalarOp, TernOp, UnOp};
use midend::ir::types::ScalarType;
use midend::math::{computed_by, definition};

impl Emit<'_, '_> {
    /// The value of an operation.
    pub(crate) fn scalar(&mut self, op: ScalarOp, args: &[Value]) -> Value {
        match op {
            ScalarOp::Un(op, ty) => self.unary(op, ty, args[0]),
            ScalarOp::Bin(op, ty) => self.binary(op, ty, args[0], args[1]),
            ScalarOp::Cmp(op, ty) => self.compare(op, ty, args[0], args[1]),
            ScalarOp::Tern(op, ty) => self.ternary(op, ty, [args[0], args[1], args[2]]),
            ScalarOp::Convert(from, to) => self.convert(from, to, args[0]),
            ScalarOp::ToBits(ty) => self.bits_of_float(ty, args[0]),
            ScalarOp::FromBits(ty) => self.float_of_bits(ty, args[0]),
            ScalarOp::Select(_) => self.b.ins().select(args[0], args[1], args[2]),
        }
    }

    /// The value of a function that is defined in IR; those of f16 are computed in f32.
    fn defined(&mut self, op: ScalarOp, args: &[Value]) -> Option<Value> {
        let wide = computed_by(op);
        let definition = definition(wide)?;
        if wide == op {
            return Some(self.function(op, definition, args));
        }
        let args: Vec<Value> = args.iter().map(|a| self.widen(*a)).collect();
        let result = self.function(wide, definition, &args);
        Some(self.narrow(result))
    }

    fn unary(&mut self, op: UnOp, ty: ScalarType, a: Value) -> Value {
        if let Some(result) = self.defined(ScalarOp::Un(op, ty), &[a]) {
            return result;
        }
        match ty {
            ScalarType::F16 => self.half_unary(op, a),
            ScalarType::F32 | ScalarType::F64 => self.float_unary(op, ty, a),
            ScalarType::Bool => self.b.ins().bxor_imm_u(a, 1),
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

    fn binary(&mut self, op: BinOp, ty: ScalarType, a: Value, b: Value) -> Value {
        if let Some(result) = self.defined(ScalarOp::Bin(op, ty), &[a, b]) {
            return result;
        }
        if let Some(helper) = crate::calls::binary(op, ty) {
            return self.math(&helper, ty, &[a, b]);
        }
        match ty {
            ScalarType::F16 => self.half_binary(op, a, b),
            ScalarType::F32 | ScalarType::F64 => self.float_binary(op, ty, a, b),
            ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::Bool => self.int_binary(op, ty, a, b),
        }
    }

    fn ternary(&mut self, op: TernOp, ty: ScalarType, [a, b, c]: [Value; 3]) -> Value {
        match op {
            TernOp::Fma if self.has_fma() && ty != ScalarType::F16 => self.b.ins().fma(a, b, c),
            TernOp::Fma => {
                let helper = crate::calls::ternary(op, ty).expect("the operation is one of floats");
                self.math(&helper, ty, &[a, b, c])
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

    pub(super) fn compare(&mut self, op: CmpOp, ty: ScalarType, a: Value, b: Value) -> Value {
        if ty == ScalarType::F16 {
            let (a, b) = (self.widen(a), self.widen(b));
            return self.compare(op, ScalarType::F32, a, b);
        }
        if ty.is_float() {
            return self.float_compare(op, a, b);
        }
        let code = match (op, ty.is_signed()) {
            (CmpOp::Eq, _) => IntCC::Equal,
            (CmpOp::Lt, true) => IntCC::SignedLessThan,
            (CmpOp::Lt, false) => IntCC::UnsignedLessThan,
            (CmpOp::Le, true) => IntCC::SignedLessThanOrEqual,
            (CmpOp::Le, false) => IntCC::UnsignedLessThanOrEqual,
        };
        self.b.ins().icmp(code, a, b)
    }

    /// Calls a mathematical function on floats of one type.
    fn math(&mut self, helper: &crate::calls::Helper, ty: ScalarType, args: &[Value]) -> Value {
        let half = ty == ScalarType::F16;
        let args: Vec<Value> = args
            .iter()
            .map(|a| {
                if half {
                    self.b.ins().uextend(types::I32, *a)
                } else {
                    *a
                }
            })
            .collect();
        let result = self
            .helper(helper, &args)
            .expect("mathematical functions have a result");
        if half {
            self.b.ins().ireduce(types::I16, result)
        } else {
            result
        }
    }

    /// A constant of the type, from the bits of an integer.
    fn int(&mut self, ty: ScalarType, value: i64) -> Value {
        let clif = clif(ty);
        let mask = if clif.bits() == 64 {
            -1
        } else {
            (1i64 << clif.bits()) - 1
        };
        self.b.ins().iconst(clif, value & mask)
    }
}
