//! Operations on vectors of floats.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and most others are functions"
)]

use super::scalar::without_form;
use super::{Lower, Refused, Val};
use crate::vector::ir::{Cond, Conv, Elem, FloatCond, Op, Value, VecOp, VecUn};
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    pub(super) fn float_unary(
        &mut self,
        op: UnOp,
        ty: ScalarType,
        a: Value,
    ) -> Result<Val, Refused> {
        let elem = self.f.elem(a);
        let simple = |this: &mut Self, op: VecUn| {
            let ty = this.f.ty(a);
            this.push(ty, Op::VecUn(op, a))
        };
        Ok(Val::Vector(match op {
            UnOp::Neg => {
                let sign = self.sign_bit(elem);
                self.of_bits(VecOp::Xor, a, sign)
            }
            UnOp::Abs => self.magnitude(a),
            UnOp::Signum => {
                let one = self.float_const(elem, 1.0);
                let sign = self.copysign(one, a);
                let zero = self.vec_const(elem, 0);
                let ordinary = self.float_compare(FloatCond::One, a, zero);
                self.blend(ordinary, sign, a)
            }
            UnOp::IsNan => return Ok(Val::Mask(self.float_compare(FloatCond::Unordered, a, a))),
            UnOp::IsInf => {
                let magnitude = self.magnitude(a);
                let infinity = self.float_const(elem, f64::INFINITY);
                return Ok(Val::Mask(self.float_compare(
                    FloatCond::Eq,
                    magnitude,
                    infinity,
                )));
            }
            UnOp::Sqrt => simple(self, VecUn::Sqrt),
            UnOp::Rsqrt => {
                let root = simple(self, VecUn::Sqrt);
                let one = self.float_const(elem, 1.0);
                self.vec(VecOp::Div, one, root)
            }
            UnOp::Floor => simple(self, VecUn::Floor),
            UnOp::Ceil => simple(self, VecUn::Ceil),
            UnOp::Round => simple(self, VecUn::Nearest),
            UnOp::Trunc => simple(self, VecUn::Trunc),
            _ => return Err(without_form(ScalarOp::Un(op, ty))),
        }))
    }

    pub(super) fn float_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        args: &[Value],
    ) -> Result<Value, Refused> {
        let (a, b) = (args[0], args[1]);
        Ok(match op {
            BinOp::Add => self.vec(VecOp::Add, a, b),
            BinOp::Sub => self.vec(VecOp::Sub, a, b),
            BinOp::Mul => self.vec(VecOp::Mul, a, b),
            BinOp::Div => self.vec(VecOp::Div, a, b),
            BinOp::Min => self.extremum(a, b, true),
            BinOp::Max => self.extremum(a, b, false),
            BinOp::Copysign => self.copysign(a, b),
            BinOp::Mod | BinOp::Nextafter => self.evaluated(ScalarOp::Bin(op, ty), args),
            _ => return Err(without_form(ScalarOp::Bin(op, ty))),
        })
    }

    fn sign_bit(&mut self, elem: Elem) -> Value {
        self.vec_const(elem, 1 << (8 * elem.bytes() - 1))
    }

    fn magnitude(&mut self, a: Value) -> Value {
        let elem = self.f.elem(a);
        let rest = self.vec_const(elem, (1 << (8 * elem.bytes() - 1)) - 1);
        self.of_bits(VecOp::And, a, rest)
    }

    fn copysign(&mut self, a: Value, b: Value) -> Value {
        let elem = self.f.elem(a);
        let sign = self.sign_bit(elem);
        let sign = self.of_bits(VecOp::And, b, sign);
        let magnitude = self.magnitude(a);
        self.of_bits(VecOp::Or, magnitude, sign)
    }

    /// minimumNumber or maximumNumber. The two selections agree but for zeros of both signs, which are merged bitwise, and for NaNs.
    fn extremum(&mut self, a: Value, b: Value, least: bool) -> Value {
        let (x, y) = if least { (a, b) } else { (b, a) };
        let (xy, yx) = (
            self.float_compare(FloatCond::Lt, x, y),
            self.float_compare(FloatCond::Lt, y, x),
        );
        let (first, second) = (self.blend(xy, a, b), self.blend(yx, b, a));
        let merge = if least { VecOp::Or } else { VecOp::And };
        let merged = self.of_bits(merge, first, second);
        let unordered = self.float_compare(FloatCond::Unordered, a, b);
        let a_is_nan = self.float_compare(FloatCond::Unordered, a, a);
        let number = self.blend(a_is_nan, b, a);
        self.blend(unordered, number, merged)
    }

    /// Truncates and saturates; a NaN and the infinities give 0. A negative number gives an unsigned integer the bits that
    /// it gives the signed one.
    pub(super) fn float_to_int(&mut self, to: ScalarType, a: Value) -> Value {
        let elem = self.f.elem(a);
        let (zero, infinity) = (
            self.vec_const(elem, 0),
            self.float_const(elem, f64::INFINITY),
        );
        let magnitude = self.magnitude(a);
        let finite = self.float_compare(FloatCond::Lt, magnitude, infinity);
        let a = self.blend(finite, a, zero);
        let bits = 8 * to.bytes();
        match (to.is_signed(), bits) {
            (true, 32) => self.saturated(Elem::I32, a),
            (true, 64) => self.saturated(Elem::I64, a),
            (false, 64) => {
                let signed = self.saturated(Elem::I64, a);
                let unsigned = self.convert(Conv::TruncU, a, Elem::I64);
                let negative = self.float_compare(FloatCond::Lt, a, zero);
                self.blend(negative, signed, unsigned)
            }
            (signed, _) => {
                let wide = if bits < 32 { Elem::I32 } else { Elem::I64 };
                let limit = 1i64 << (bits - 1);
                let largest = if signed { limit - 1 } else { 2 * limit - 1 };
                let value = self.saturated(wide, a);
                let largest = self.vec_const(wide, largest as u64);
                let value = self.vec(VecOp::MinS, value, largest);
                let least = self.vec_const(wide, (-limit) as u64);
                let value = self.vec(VecOp::MaxS, value, least);
                match wide {
                    Elem::I64 => self.convert(Conv::Wrap, value, Elem::I32),
                    _ => self.wrapped(to, value),
                }
            }
        }
    }

    /// A finite float as a signed integer that stays at the ends of its type. What is too small has the smallest by itself.
    fn saturated(&mut self, to: Elem, a: Value) -> Value {
        let elem = self.f.elem(a);
        let limit = 2f64.powi(8 * to.bytes() as i32 - 1);
        let value = self.convert(Conv::Trunc, a, to);
        let limit = self.float_const(elem, limit);
        let above = self.float_compare(FloatCond::Le, limit, a);
        let largest = match to {
            Elem::I32 => i32::MAX as u64,
            _ => i64::MAX as u64,
        };
        let largest = self.vec_const(to, largest);
        self.blend(above, largest, value)
    }

    /// The quotient of integers, rounded to zero, which floats of 64 bits hold: exact, for a quotient that is no integer differs from the next
    /// one by more than the float is rounded.
    pub(super) fn quotient(&mut self, signed: bool, a: Value, b: Value, to: Elem) -> Value {
        let (to_float, to_int) = match signed {
            true => (Conv::Float, Conv::Trunc),
            false => (Conv::Unsigned, Conv::TruncU),
        };
        let a = self.convert(to_float, a, Elem::F64);
        let b = self.convert(to_float, b, Elem::F64);
        let quotient = self.vec(VecOp::Div, a, b);
        self.convert(to_int, quotient, to)
    }

    /// Whether integers are negative.
    pub(super) fn negative(&mut self, a: Value) -> Value {
        let elem = self.f.elem(a);
        let zero = self.vec_const(elem, 0);
        self.vec_compare(Cond::LtS, a, zero)
    }
}
