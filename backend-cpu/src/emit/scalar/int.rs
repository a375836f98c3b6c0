//! Operations on integers and truth values.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and most others are calls"
)]

use super::super::{Emit, clif};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, InstructionData, Type, Value, types};
use midend::ir::scalar::{BinOp, UnOp};
use midend::ir::types::ScalarType;

impl Emit<'_, '_> {
    pub(super) fn int_unary(&mut self, op: UnOp, ty: ScalarType, a: Value) -> Value {
        let narrow = ty.bytes() < 4;
        let bits = 8 * ty.bytes() as i64;
        match op {
            UnOp::Neg => self.b.ins().ineg(a),
            UnOp::Not => self.b.ins().bnot(a),
            UnOp::Abs if ty.is_signed() => {
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0);
                let opposite = self.b.ins().ineg(a);
                self.b.ins().select(negative, opposite, a)
            }
            UnOp::Abs => a,
            UnOp::Signum => {
                let positive = if ty.is_signed() {
                    IntCC::SignedGreaterThan
                } else {
                    IntCC::NotEqual
                };
                let positive = self.b.ins().icmp_imm_s(positive, a, 0);
                let positive = self.resize(positive, types::I8, clif(ty), false);
                if !ty.is_signed() {
                    return positive;
                }
                let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, a, 0);
                let negative = self.resize(negative, types::I8, clif(ty), false);
                self.b.ins().isub(positive, negative)
            }
            UnOp::Popcount | UnOp::Clz if narrow => {
                let wide = self.b.ins().uextend(types::I32, a);
                if op == UnOp::Popcount {
                    return self.b.ins().popcnt(wide);
                }
                let zeros = self.b.ins().clz(wide);
                self.b.ins().iadd_imm_s(zeros, bits - 32)
            }
            UnOp::Ctz if narrow => {
                let wide = self.b.ins().uextend(types::I32, a);
                let guarded = self.b.ins().bor_imm_u(wide, 1 << bits);
                self.b.ins().ctz(guarded)
            }
            UnOp::Popcount | UnOp::Clz | UnOp::Ctz => {
                let count = match op {
                    UnOp::Popcount => self.b.ins().popcnt(a),
                    UnOp::Clz => self.b.ins().clz(a),
                    _ => self.b.ins().ctz(a),
                };
                self.resize(count, clif(ty), types::I32, false)
            }
            _ => unreachable!("{} is no operation on integers", op.name()),
        }
    }

    pub(in crate::emit) fn int_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Value,
        b: Value,
    ) -> Value {
        let signed = ty.is_signed();
        match op {
            BinOp::Add => self.b.ins().iadd(a, b),
            BinOp::Sub => self.b.ins().isub(a, b),
            BinOp::Mul => self.b.ins().imul(a, b),
            BinOp::And if ty == ScalarType::Bool => match self.within(a, b) {
                Some(within) => within,
                None => self.b.ins().band(a, b),
            },
            BinOp::And => self.b.ins().band(a, b),
            BinOp::Or => self.b.ins().bor(a, b),
            BinOp::Xor => self.b.ins().bxor(a, b),
            BinOp::Shl => self.b.ins().ishl(a, b),
            BinOp::Shr if signed => self.b.ins().sshr(a, b),
            BinOp::Shr => self.b.ins().ushr(a, b),
            BinOp::Min | BinOp::Max => {
                let code = match (op == BinOp::Min, signed) {
                    (true, true) => IntCC::SignedLessThan,
                    (true, false) => IntCC::UnsignedLessThan,
                    (false, true) => IntCC::SignedGreaterThan,
                    (false, false) => IntCC::UnsignedGreaterThan,
                };
                let first = self.b.ins().icmp(code, a, b);
                self.b.ins().select(first, a, b)
            }
            BinOp::MulHi => self.upper_product(ty, a, b),
            BinOp::AddSat | BinOp::MulSat => self.saturating(op, a, b),
            BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => self.division(op, ty, a, b),
            BinOp::Pow => {
                let from = clif(ty);
                let base = self.resize(a, from, types::I64, false);
                let exponent = self.resize(b, from, types::I64, false);
                let power = self
                    .helper(&crate::calls::POW_INT, &[base, exponent])
                    .expect("the function has a result");
                self.resize(power, types::I64, from, false)
            }
            _ => unreachable!("{} is no operation on integers", op.name()),
        }
    }

    /// That an index is not negative and less than a bound, in one comparison.
    fn within(&mut self, a: Value, b: Value) -> Option<Value> {
        let compared = |emit: &Self, value: Value| {
            let dfg = &emit.b.func.dfg;
            match dfg.insts[dfg.value_def(value).inst()?] {
                InstructionData::IntCompare { args, cond, .. } => Some((cond, args)),
                _ => None,
            }
        };
        let (IntCC::SignedLessThanOrEqual, [zero, index]) = compared(self, a)? else {
            return None;
        };
        let (IntCC::SignedLessThan, [same, bound]) = compared(self, b)? else {
            return None;
        };
        let fits = same == index && self.known(zero) == Some(0);
        if !fits || self.b.func.dfg.value_type(index) != types::I64 {
            return None;
        }
        // What is negative is large without a sign, unless the bound is negative, too.
        let zero = self.zero(types::I64);
        let bound = self.b.ins().smax(bound, zero);
        Some(self.b.ins().icmp(IntCC::UnsignedLessThan, index, bound))
    }

    /// Widens or narrows an integer.
    pub(in crate::emit) fn resize(
        &mut self,
        a: Value,
        from: Type,
        to: Type,
        signed: bool,
    ) -> Value {
        if to.bits() < from.bits() {
            self.b.ins().ireduce(to, a)
        } else if to == from {
            a
        } else if let Some(wide) = self.widened(a, signed) {
            if to == types::I64 {
                wide
            } else {
                self.b.ins().ireduce(to, wide)
            }
        } else if signed {
            self.b.ins().sextend(to, a)
        } else {
            self.b.ins().uextend(to, a)
        }
    }

    fn upper_product(&mut self, ty: ScalarType, a: Value, b: Value) -> Value {
        let signed = ty.is_signed();
        let narrow = clif(ty);
        if narrow == types::I64 {
            return if signed {
                self.b.ins().smulhi(a, b)
            } else {
                self.b.ins().umulhi(a, b)
            };
        }
        let a = self.resize(a, narrow, types::I64, signed);
        let b = self.resize(b, narrow, types::I64, signed);
        let product = self.b.ins().imul(a, b);
        let upper = self.b.ins().ushr_imm_u(product, i64::from(narrow.bits()));
        self.b.ins().ireduce(narrow, upper)
    }

    /// A sum or product of `i64` that stays at the end of the type that it passes.
    fn saturating(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let (wrapped, passes, sign) = if op == BinOp::AddSat {
            let sum = self.b.ins().iadd(a, b);
            // The sum has another sign than both numbers.
            let (of_a, of_b) = (self.b.ins().bxor(sum, a), self.b.ins().bxor(sum, b));
            let turned = self.b.ins().band(of_a, of_b);
            let passes = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, turned, 0);
            (sum, passes, a)
        } else {
            let (product, upper) = (self.b.ins().imul(a, b), self.b.ins().smulhi(a, b));
            let sign = self.b.ins().sshr_imm_u(product, 63);
            let passes = self.b.ins().icmp(IntCC::NotEqual, upper, sign);
            (product, passes, self.b.ins().bxor(a, b))
        };
        let sign = self.b.ins().sshr_imm_u(sign, 63);
        let most = self.b.ins().iconst(types::I64, i64::MAX);
        let end = self.b.ins().bxor(sign, most);
        self.b.ins().select(passes, end, wrapped)
    }

    /// Division of any kind. Programs check divisors before; here a zero only must not bring the process down, nor may
    /// the smallest number divided by -1, which the processor refuses.
    fn division(&mut self, op: BinOp, ty: ScalarType, a: Value, b: Value) -> Value {
        let narrow = clif(ty);
        if ty.bytes() < 4 {
            // In 32 bits nothing overflows but a division by zero.
            let signed = ty.is_signed();
            let a = self.resize(a, narrow, types::I32, signed);
            let b = self.resize(b, narrow, types::I32, signed);
            let wide = if signed {
                ScalarType::I32
            } else {
                ScalarType::U32
            };
            let result = self.division(op, wide, a, b);
            return self.b.ins().ireduce(narrow, result);
        }
        let quotient_wanted = matches!(op, BinOp::Div | BinOp::Quot);
        if !ty.is_signed() {
            let divisor = match self.known_divisor(b) {
                Some(_) => b,
                None => {
                    let zero = self.b.ins().icmp_imm_s(IntCC::Equal, b, 0);
                    let one = self.int(ty, 1);
                    self.b.ins().select(zero, one, b)
                }
            };
            return if quotient_wanted {
                self.b.ins().udiv(a, divisor)
            } else {
                self.b.ins().urem(a, divisor)
            };
        }
        match self.known_divisor(b) {
            Some(n) if n > 0 && n & (n - 1) == 0 && op == BinOp::Div => {
                return self.b.ins().sshr_imm_u(a, i64::from(n.trailing_zeros()));
            }
            Some(n) if n > 0 && n & (n - 1) == 0 && op == BinOp::Mod => {
                return self.b.ins().band_imm_s(a, n - 1);
            }
            Some(_) | None => {}
        }
        let (quotient, divisor) = self.truncating(ty, a, b);
        if op == BinOp::Quot {
            return quotient;
        }
        let product = self.b.ins().imul(quotient, divisor);
        let rest = self.b.ins().isub(a, product);
        if op == BinOp::Rem {
            return rest;
        }
        // Rounding down differs from rounding to zero where a rest has another sign than the divisor.
        let nonzero = self.b.ins().icmp_imm_s(IntCC::NotEqual, rest, 0);
        let signs = self.b.ins().bxor(rest, divisor);
        let differ = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, signs, 0);
        let adjust = self.b.ins().band(nonzero, differ);
        if op == BinOp::Div {
            let one = self.resize(adjust, types::I8, narrow, false);
            self.b.ins().isub(quotient, one)
        } else {
            let moved = self.b.ins().iadd(rest, divisor);
            self.b.ins().select(adjust, moved, rest)
        }
    }

    /// The quotient rounded to zero of 32- or 64-bit signed integers, and the divisor that was used.
    fn truncating(&mut self, ty: ScalarType, a: Value, b: Value) -> (Value, Value) {
        if self.known_divisor(b).is_some() {
            return (self.b.ins().sdiv(a, b), b);
        }
        // 0 and -1 are divided as 1; the quotient by -1 is the opposite.
        let above = self.b.ins().iadd_imm_s(b, 1);
        let special = self
            .b
            .ins()
            .icmp_imm_s(IntCC::UnsignedLessThanOrEqual, above, 1);
        let one = self.int(ty, 1);
        let divisor = self.b.ins().select(special, one, b);
        let quotient = self.b.ins().sdiv(a, divisor);
        let opposite = self.b.ins().ineg(a);
        let minus = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        (self.b.ins().select(minus, opposite, quotient), b)
    }

    /// A constant divisor that needs no care: neither 0 nor -1.
    fn known_divisor(&self, b: Value) -> Option<i64> {
        let bits = self.b.func.dfg.value_type(b).bits();
        let raw = self.known(b)?;
        let value = (raw << (64 - bits)) >> (64 - bits);
        (value != 0 && value != -1).then_some(value)
    }
}
