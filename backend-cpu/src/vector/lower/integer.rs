//! Operations on integers, uniform ones and vectors of them.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and most others are functions"
)]

use super::scalar::without_form;
use super::{Lower, Refused};
use crate::vector::ir::{Cond, Conv, Elem, IntOp, MaskOp, Op, Type, Value, VecOp};
use midend::ir::scalar::{BinOp, CmpOp, ScalarOp, TernOp, UnOp};
use midend::ir::types::ScalarType;

/// Quotients of integers of so many bits are exact in floats of 64 bits, once they are truncated.
const EXACT: u64 = 53;

/// The bits of a type.
const fn bits(ty: ScalarType) -> i64 {
    8 * ty.bytes() as i64
}

impl Lower<'_> {
    /// An operation on uniform integers and truth values.
    pub(super) fn uniform(&mut self, op: ScalarOp, args: &[Value]) -> Result<Value, Refused> {
        Ok(match op {
            ScalarOp::Select(_) => self.select(args[0], args[1], args[2]),
            ScalarOp::Cmp(cmp, ty) => {
                let cond = match (cmp, ty.is_signed()) {
                    (CmpOp::Eq, _) => Cond::Eq,
                    (CmpOp::Lt, true) => Cond::LtS,
                    (CmpOp::Lt, false) => Cond::LtU,
                    (CmpOp::Le, true) => Cond::LeS,
                    (CmpOp::Le, false) => Cond::LeU,
                };
                self.compare(cond, args[0], args[1])
            }
            ScalarOp::Convert(from, to) => self.uniform_converted(from, to, args[0]),
            ScalarOp::Un(UnOp::Not, ScalarType::Bool) => self.op_const(IntOp::Xor, args[0], 1),
            ScalarOp::Un(un, ty) => self.uniform_unary(un, ty, args[0])?,
            ScalarOp::Bin(bin, ty) => self.uniform_binary(bin, ty, args[0], args[1])?,
            ScalarOp::Tern(tern, ty) => {
                let (first, a) = match tern {
                    TernOp::Mad => (BinOp::Mul, args[0]),
                    TernOp::MadHi => (BinOp::MulHi, args[0]),
                    TernOp::Fma | TernOp::Lerp => return Err(without_form(op)),
                };
                let product = self.uniform_binary(first, ty, a, args[1])?;
                self.uniform_binary(BinOp::Add, ty, product, args[2])?
            }
            ScalarOp::ToBits(_) | ScalarOp::FromBits(_) => return Err(without_form(op)),
        })
    }

    fn uniform_converted(&mut self, from: ScalarType, to: ScalarType, a: Value) -> Value {
        if to == ScalarType::Bool {
            let ty = self.f.ty(a);
            let zero = self.int(ty, 0);
            return self.compare(Cond::Ne, a, zero);
        }
        match (self.f.ty(a), to.bytes()) {
            (Type::I64, 8) => a,
            (_, 8) => self.push(Type::I64, Op::Extend(a, 32, from.is_signed())),
            (Type::I64, _) => {
                let low = self.push(Type::I32, Op::Low(a));
                self.uniform_wrapped(to, low)
            }
            _ => self.uniform_wrapped(to, a),
        }
    }

    /// The low bits of an integer as one of a narrow type.
    fn uniform_wrapped(&mut self, ty: ScalarType, a: Value) -> Value {
        match ty {
            ScalarType::I8 | ScalarType::U8 | ScalarType::I16 | ScalarType::U16 => {
                self.push(Type::I32, Op::Extend(a, bits(ty) as u8, ty.is_signed()))
            }
            ScalarType::I32
            | ScalarType::I64
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F16
            | ScalarType::F32
            | ScalarType::F64
            | ScalarType::Bool => a,
        }
    }

    fn uniform_unary(&mut self, op: UnOp, ty: ScalarType, a: Value) -> Result<Value, Refused> {
        let held = self.f.ty(a);
        let zero = self.int(held, 0);
        let value = match op {
            UnOp::Neg => self.op(IntOp::Sub, zero, a),
            UnOp::Not => self.op_const(IntOp::Xor, a, -1),
            UnOp::Abs if ty.is_signed() => {
                let negative = self.compare(Cond::LtS, a, zero);
                let opposite = self.op(IntOp::Sub, zero, a);
                self.select(negative, opposite, a)
            }
            UnOp::Abs => a,
            UnOp::Signum => {
                let (one, minus) = (self.int(held, 1), self.int(held, -1));
                let nonzero = self.compare(Cond::Ne, a, zero);
                let positive = self.select(nonzero, one, zero);
                if !ty.is_signed() {
                    return Ok(positive);
                }
                let negative = self.compare(Cond::LtS, a, zero);
                self.select(negative, minus, positive)
            }
            _ => return Err(without_form(ScalarOp::Un(op, ty))),
        };
        Ok(self.uniform_wrapped(ty, value))
    }

    fn uniform_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Value,
        b: Value,
    ) -> Result<Value, Refused> {
        let signed = ty.is_signed();
        let simple = match op {
            BinOp::Add => Some(IntOp::Add),
            BinOp::Sub => Some(IntOp::Sub),
            BinOp::Mul => Some(IntOp::Mul),
            BinOp::And => Some(IntOp::And),
            BinOp::Or => Some(IntOp::Or),
            BinOp::Xor => Some(IntOp::Xor),
            _ => None,
        };
        if let Some(simple) = simple {
            let value = self.op(simple, a, b);
            return Ok(self.uniform_wrapped(ty, value));
        }
        Ok(match op {
            BinOp::Shl | BinOp::Shr => {
                let amount = match bits(ty) < 32 {
                    true => self.op_const(IntOp::And, b, bits(ty) - 1),
                    false => b,
                };
                let shift = match (op, signed) {
                    (BinOp::Shl, _) => IntOp::Shl,
                    (_, true) => IntOp::Sar,
                    (_, false) => IntOp::Shr,
                };
                let value = self.op(shift, a, amount);
                self.uniform_wrapped(ty, value)
            }
            BinOp::Min | BinOp::Max => {
                let cond = if signed { Cond::LtS } else { Cond::LtU };
                let first = match op {
                    BinOp::Min => self.compare(cond, a, b),
                    _ => self.compare(cond, b, a),
                };
                self.select(first, a, b)
            }
            BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => {
                let value = self.uniform_division(op, ty, a, b);
                self.uniform_wrapped(ty, value)
            }
            BinOp::Pow => {
                let wide = |this: &mut Self, v: Value| match this.f.ty(v) {
                    Type::I64 => v,
                    _ => this.push(Type::I64, Op::Extend(v, 32, signed)),
                };
                let (a, b) = (wide(self, a), wide(self, b));
                let helper = crate::calls::POW_INT.address();
                let power = self.push(Type::I64, Op::Call(helper, vec![a, b]));
                match ty.bytes() {
                    8 => power,
                    _ => {
                        let low = self.push(Type::I32, Op::Low(power));
                        self.uniform_wrapped(ty, low)
                    }
                }
            }
            BinOp::MulHi if ty.bytes() < 8 => {
                let [x, y] = [a, b].map(|v| self.push(Type::I64, Op::Extend(v, 32, signed)));
                let product = self.op(IntOp::Mul, x, y);
                let upper = self.op_const(IntOp::Shr, product, bits(ty));
                let upper = self.push(Type::I32, Op::Low(upper));
                self.uniform_wrapped(ty, upper)
            }
            _ => return Err(without_form(ScalarOp::Bin(op, ty))),
        })
    }

    /// Division of any kind. Programs check divisors before; here a zero only must not bring the process down, nor may
    /// the smallest number divided by -1, which the processor refuses.
    fn uniform_division(&mut self, op: BinOp, ty: ScalarType, a: Value, b: Value) -> Value {
        let held = self.f.ty(a);
        let wants_quotient = matches!(op, BinOp::Div | BinOp::Quot);
        let known = self.known(b);
        if !ty.is_signed() {
            let divisor = match known {
                Some(n) if n != 0 => b,
                _ => {
                    let (zero, one) = (self.int(held, 0), self.int(held, 1));
                    let is_zero = self.compare(Cond::Eq, b, zero);
                    self.select(is_zero, one, b)
                }
            };
            let op = if wants_quotient {
                IntOp::DivU
            } else {
                IntOp::RemU
            };
            return self.op(op, a, divisor);
        }
        if let Some(n) = known.filter(|n| *n > 0 && n & (n - 1) == 0) {
            match op {
                BinOp::Div => return self.op_const(IntOp::Sar, a, i64::from(n.trailing_zeros())),
                BinOp::Mod => return self.op_const(IntOp::And, a, n - 1),
                _ => {}
            }
        }
        let quotient = match known {
            Some(n) if n != 0 && n != -1 => self.op(IntOp::DivS, a, b),
            _ => {
                // 0 and -1 are divided as 1; the quotient by -1 is the opposite.
                let (zero, one) = (self.int(held, 0), self.int(held, 1));
                let above = self.op_const(IntOp::Add, b, 1);
                let special = self.compare(Cond::LeU, above, one);
                let divisor = self.select(special, one, b);
                let quotient = self.op(IntOp::DivS, a, divisor);
                let opposite = self.op(IntOp::Sub, zero, a);
                let minus = self.int(held, -1);
                let is_minus = self.compare(Cond::Eq, b, minus);
                self.select(is_minus, opposite, quotient)
            }
        };
        if op == BinOp::Quot {
            return quotient;
        }
        let product = self.op(IntOp::Mul, quotient, b);
        let rest = self.op(IntOp::Sub, a, product);
        if op == BinOp::Rem {
            return rest;
        }
        // Rounding down differs from rounding to zero where a rest has another sign than the divisor.
        let zero = self.int(held, 0);
        let nonzero = self.compare(Cond::Ne, rest, zero);
        let signs = self.op(IntOp::Xor, rest, b);
        let differ = self.compare(Cond::LtS, signs, zero);
        let adjust = self.op(IntOp::And, nonzero, differ);
        if op == BinOp::Div {
            let less = self.op_const(IntOp::Sub, quotient, 1);
            self.select(adjust, less, quotient)
        } else {
            let moved = self.op(IntOp::Add, rest, b);
            self.select(adjust, moved, rest)
        }
    }

    /// Vectors of the low bits of integers as those of a narrow type.
    pub(super) fn wrapped(&mut self, ty: ScalarType, a: Value) -> Value {
        match ty {
            ScalarType::I8 | ScalarType::I16 => {
                let amount = self.vec_const(Elem::I32, (32 - bits(ty)) as u64);
                let high = self.vec(VecOp::Shl, a, amount);
                self.vec(VecOp::Sar, high, amount)
            }
            ScalarType::U8 | ScalarType::U16 => {
                let low = self.vec_const(Elem::I32, (1 << bits(ty)) - 1);
                self.vec(VecOp::And, a, low)
            }
            ScalarType::I32
            | ScalarType::I64
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F16
            | ScalarType::F32
            | ScalarType::F64
            | ScalarType::Bool => a,
        }
    }

    pub(super) fn int_unary(
        &mut self,
        op: UnOp,
        ty: ScalarType,
        a: Value,
    ) -> Result<Value, Refused> {
        let elem = self.f.elem(a);
        let zero = self.vec_const(elem, 0);
        let value = match op {
            UnOp::Neg => self.vec(VecOp::Sub, zero, a),
            UnOp::Not => {
                let ones = self.vec_const(elem, u64::MAX);
                self.vec(VecOp::Xor, a, ones)
            }
            UnOp::Abs if ty.is_signed() => {
                let opposite = self.vec(VecOp::Sub, zero, a);
                self.vec(VecOp::MaxS, a, opposite)
            }
            UnOp::Abs => a,
            UnOp::Signum => {
                let (one, minus) = (self.vec_const(elem, 1), self.vec_const(elem, u64::MAX));
                let nonzero = self.vec_compare(Cond::Ne, a, zero);
                let positive = self.blend(nonzero, one, zero);
                if !ty.is_signed() {
                    return Ok(positive);
                }
                let negative = self.negative(a);
                self.blend(negative, minus, positive)
            }
            _ => return Err(without_form(ScalarOp::Un(op, ty))),
        };
        Ok(self.wrapped(ty, value))
    }

    /// The integer that all lanes of a vector have, if it is a constant.
    fn known_vector(&self, value: Value) -> Option<i64> {
        let bits = self.known(value)?;
        Some(match self.f.elem(value).bytes() {
            4 => i64::from(bits as i32),
            _ => bits,
        })
    }

    pub(super) fn int_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Value,
        b: Value,
    ) -> Result<Value, Refused> {
        let signed = ty.is_signed();
        let elem = self.f.elem(a);
        let simple = match (op, signed) {
            (BinOp::Add, _) => Some(VecOp::Add),
            (BinOp::Sub, _) => Some(VecOp::Sub),
            (BinOp::Mul, _) => Some(VecOp::Mul),
            (BinOp::And, _) => Some(VecOp::And),
            (BinOp::Or, _) => Some(VecOp::Or),
            (BinOp::Xor, _) => Some(VecOp::Xor),
            (BinOp::Min, true) => Some(VecOp::MinS),
            (BinOp::Min, false) => Some(VecOp::MinU),
            (BinOp::Max, true) => Some(VecOp::MaxS),
            (BinOp::Max, false) => Some(VecOp::MaxU),
            _ => None,
        };
        if let Some(simple) = simple {
            let value = self.vec(simple, a, b);
            return Ok(self.wrapped(ty, value));
        }
        match op {
            BinOp::Shl | BinOp::Shr => {
                let in_range = self
                    .known_vector(b)
                    .is_some_and(|n| (0..bits(ty)).contains(&n));
                let amount = match in_range {
                    true => b,
                    false => {
                        let most = self.vec_const(elem, bits(ty) as u64 - 1);
                        self.vec(VecOp::And, b, most)
                    }
                };
                let shift = match (op, signed) {
                    (BinOp::Shl, _) => VecOp::Shl,
                    (_, true) => VecOp::Sar,
                    (_, false) => VecOp::Shr,
                };
                let value = self.vec(shift, a, amount);
                Ok(self.wrapped(ty, value))
            }
            BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem => {
                let value = self.division(op, ty, a, b)?;
                Ok(self.wrapped(ty, value))
            }
            BinOp::MulHi if ty.bytes() < 8 => {
                let extend = if signed {
                    Conv::SignExtend
                } else {
                    Conv::ZeroExtend
                };
                let [x, y] = [a, b].map(|v| self.convert(extend, v, Elem::I64));
                let product = self.vec(VecOp::Mul, x, y);
                let amount = self.vec_const(Elem::I64, bits(ty) as u64);
                let upper = self.vec(VecOp::Shr, product, amount);
                let upper = self.convert(Conv::Wrap, upper, Elem::I32);
                Ok(self.wrapped(ty, upper))
            }
            BinOp::Pow => self.lane_by_lane(&[a, b], elem, |this, scalars| {
                this.uniform_binary(op, ty, scalars[0], scalars[1])
            }),
            _ => Err(without_form(ScalarOp::Bin(op, ty))),
        }
    }

    fn division(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Value,
        b: Value,
    ) -> Result<Value, Refused> {
        let elem = self.f.elem(a);
        let signed = ty.is_signed();
        if let Some(n) = self.known_vector(b).filter(|n| *n > 0 && n & (n - 1) == 0) {
            let shift = if signed { VecOp::Sar } else { VecOp::Shr };
            match (op, signed) {
                (BinOp::Div, _) | (BinOp::Quot, false) => {
                    let amount = self.vec_const(elem, u64::from(n.trailing_zeros()));
                    return Ok(self.vec(shift, a, amount));
                }
                (BinOp::Mod, _) | (BinOp::Rem, false) => {
                    let low = self.vec_const(elem, n as u64 - 1);
                    return Ok(self.vec(VecOp::And, a, low));
                }
                _ => {}
            }
        }
        if elem == Elem::I64 {
            return self.wide_division(op, ty, a, b);
        }
        let quotient = self.quotient(signed, a, b, Elem::I32);
        Ok(self.rounded_division(op, signed, quotient, (a, b)))
    }

    /// A division of 64-bit integers: in floats, which hold integers of up to 53 bits and round no quotient of them to the next integer, else
    /// lane by lane.
    fn wide_division(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Value,
        b: Value,
    ) -> Result<Value, Refused> {
        let signed = ty.is_signed();
        let least = if signed { 1 << (EXACT - 1) } else { 0 };
        let fits = [a, b].map(|v| {
            let least = self.vec_const(Elem::I64, least);
            let count = self.vec_const(Elem::I64, 1 << EXACT);
            let from_least = self.vec(VecOp::Add, v, least);
            self.vec_compare(Cond::LtU, from_least, count)
        });
        let fit = self.mask_op(MaskOp::And, fits[0], fits[1]);
        let large = match self.mask {
            Some(active) => self.mask_op(MaskOp::AndNot, active, fit),
            None => self.mask_not(fit),
        };
        let any = self.any(large);
        let (slow, fast) = (self.cold(), self.block(&[]));
        let done = self.block(&[Type::Vector(Elem::I64)]);
        self.branch(any, (slow, vec![]), (fast, vec![]));
        self.switch(fast);
        let quotient = self.quotient(signed, a, b, Elem::I64);
        let value = self.rounded_division(op, signed, quotient, (a, b));
        self.jump(done, vec![value]);
        self.switch(slow);
        let before = self.cost;
        let value = self.lane_by_lane(&[a, b], Elem::I64, |this, scalars| {
            Ok(this.uniform_division(op, ty, scalars[0], scalars[1]))
        })?;
        self.cost = before;
        self.jump(done, vec![value]);
        Ok(self.switch(done)[0])
    }

    /// What a division of a kind yields, from the quotient rounded to zero.
    fn rounded_division(
        &mut self,
        op: BinOp,
        signed: bool,
        quotient: Value,
        (a, b): (Value, Value),
    ) -> Value {
        let elem = self.f.elem(a);
        if op == BinOp::Quot || (op == BinOp::Div && !signed) {
            return quotient;
        }
        let product = self.vec(VecOp::Mul, quotient, b);
        let rest = self.vec(VecOp::Sub, a, product);
        if op == BinOp::Rem || !signed {
            return rest;
        }
        // Rounding down differs from rounding to zero where a rest has another sign than the divisor.
        let zero = self.vec_const(elem, 0);
        let signs = self.vec(VecOp::Xor, rest, b);
        let differ = self.negative(signs);
        let nonzero = self.vec_compare(Cond::Ne, rest, zero);
        let adjust = self.mask_op(MaskOp::And, differ, nonzero);
        if op == BinOp::Div {
            let one = self.vec_const(elem, 1);
            let less = self.vec(VecOp::Sub, quotient, one);
            self.blend(adjust, less, quotient)
        } else {
            let moved = self.vec(VecOp::Add, rest, b);
            self.blend(adjust, moved, rest)
        }
    }
}
