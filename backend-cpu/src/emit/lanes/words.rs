//! Operations on integers in vectors for which processors have no instruction of their own:
//!
//! ```text
//! x % 8, x / 8 (rounded down)    x & 7, x >> 3
//! 5 * x, of 64 bits              (x << 2) + x; by other numbers the products of halves
//! x >> k, of 64 bits with sign   ((x ^ sign) >>> k) - (sign >>> k)
//! min x y, of 64 bits            a choice by a comparison
//! ```

use super::{Group, Lanes};
use crate::emit::Emit;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Opcode, Value, types};
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::Atom;
use midend::ir::types::ScalarType;

/// How a number becomes a constant of some type.
type Of = fn(u64) -> Const;

/// A constant integer that is not negative, and others of its type.
fn natural(atom: Atom) -> Option<(u64, Of)> {
    let Atom::Const(number) = atom else {
        return None;
    };
    let (value, of): (Option<u64>, Of) = match number {
        Const::I8(n) => (n.try_into().ok(), |n| Const::I8(n as i8)),
        Const::I16(n) => (n.try_into().ok(), |n| Const::I16(n as i16)),
        Const::I32(n) => (n.try_into().ok(), |n| Const::I32(n as i32)),
        Const::I64(n) => (n.try_into().ok(), |n| Const::I64(n as i64)),
        Const::U8(n) => (Some(n.into()), |n| Const::U8(n as u8)),
        Const::U16(n) => (Some(n.into()), |n| Const::U16(n as u16)),
        Const::U32(n) => (Some(n.into()), |n| Const::U32(n as u32)),
        Const::U64(n) => (Some(n), Const::U64),
        Const::F16(_) | Const::F32(_) | Const::F64(_) | Const::Bool(_) => return None,
    };
    value.map(|value| (value, of))
}

/// A remainder or quotient by a power of two, rounded down, as a mask or a shift.
pub(super) fn masked(op: ScalarOp, args: &[Atom]) -> Option<(ScalarOp, [Atom; 2])> {
    let (ScalarOp::Bin(op, ty), [number, by]) = (op, args) else {
        return None;
    };
    let (value, of) = natural(*by).filter(|(value, _)| value.is_power_of_two())?;
    let towards_zero = matches!(op, BinOp::Quot | BinOp::Rem);
    if towards_zero && ty.is_signed() {
        return None;
    }
    let (op, by) = if matches!(op, BinOp::Mod | BinOp::Rem) {
        (BinOp::And, value - 1)
    } else if matches!(op, BinOp::Div | BinOp::Quot) {
        (BinOp::Shr, u64::from(value.trailing_zeros()))
    } else {
        return None;
    };
    Some((ScalarOp::Bin(op, ty), [*number, Atom::Const(of(by))]))
}

impl Emit<'_, '_> {
    /// Operations with constants that are masks, shifts and sums of such.
    pub(super) fn by_bits(
        &mut self,
        group: &mut Group<'_>,
        op: ScalarOp,
        args: &[Atom],
    ) -> Option<Lanes> {
        if op == ScalarOp::Bin(BinOp::Mul, ScalarType::I64)
            || op == ScalarOp::Bin(BinOp::Mul, ScalarType::U64)
        {
            return self.multiple(group, op.result(), args);
        }
        let (op, args) = masked(op, args)?;
        self.packed_scalar(group, op, &args)
    }

    /// A number of 64 bits times a constant of which two bits are set.
    fn multiple(&mut self, group: &mut Group<'_>, ty: ScalarType, args: &[Atom]) -> Option<Lanes> {
        let [a, b] = args else { return None };
        let by =
            |atom: Atom| natural(atom).filter(|(value, _)| (1..=2).contains(&value.count_ones()));
        let (number, (by, _)) = match by(*b) {
            Some(by) => (*a, by),
            None => (*b, by(*a)?),
        };
        group.plan.per_vector(ty)?;
        let numbers = self.packed(group, number).into_iter();
        let low = i64::from(by.trailing_zeros());
        let high = i64::from(63 - by.leading_zeros());
        let products = numbers.map(|a| {
            let [few, many] = [low, high].map(|bits| match bits {
                0 => a,
                _ => self.b.ins().ishl_imm_u(a, bits),
            });
            if low == high {
                return many;
            }
            self.b.ins().iadd(few, many)
        });
        Some(Lanes::Packed(products.collect()))
    }

    /// Products of integers. Those of numbers that were made wider Cranelift computes from these as they were, of other lanes than are meant in wider
    /// registers: one factor is one more then, for which the other is taken away again.
    pub(super) fn packed_product(&mut self, a: Value, b: Value) -> Value {
        if self.parts == 4 && self.b.func.dfg.value_type(a) == types::I64X2 {
            return self.products_of(a, b);
        }
        let wider = [Opcode::SwidenLow, Opcode::UwidenLow];
        let is_wider = |of: Value| wider.iter().any(|op| self.operand_of(*op, of).is_some());
        if self.parts == 1 || !is_wider(a) || !is_wider(b) {
            return self.b.ins().imul(a, b);
        }
        let ty = self.b.func.dfg.value_type(a);
        let one = self.b.ins().iconst(ty.lane_type(), 1);
        let one = self.b.ins().splat(ty, one);
        let more = self.b.ins().iadd(a, one);
        let product = self.b.ins().imul(more, b);
        self.b.ins().isub(product, b)
    }

    /// Numbers of 64 bits shifted by as much in all lanes, with copies of their signs.
    pub(super) fn shifted_with_sign(&mut self, a: Value, amount: Value) -> Value {
        let sign = self.lanes_of(types::I64X2, &[0, 0, 0, 0, 0, 0, 0, 0x80].repeat(2));
        let positive = self.b.ins().bxor(a, sign);
        let positive = self.b.ins().ushr(positive, amount);
        let sign = self.b.ins().ushr(sign, amount);
        self.b.ins().isub(positive, sign)
    }

    /// The least or the greatest of numbers of 64 bits.
    pub(super) fn wide_extremum(
        &mut self,
        ty: ScalarType,
        (a, b): (Value, Value),
        least: bool,
    ) -> Value {
        if self.parts == 4 && ty.is_signed() && a != b {
            return self.extreme_of(ty, (a, b), least);
        }
        let (mut left, mut right) = (a, b);
        if !ty.is_signed() {
            let sign = self.lanes_of(types::I64X2, &[0, 0, 0, 0, 0, 0, 0, 0x80].repeat(2));
            [left, right] = [a, b].map(|v| self.b.ins().bxor(v, sign));
        }
        let less = self.b.ins().icmp(IntCC::SignedLessThan, left, right);
        let (yes, no) = if least { (a, b) } else { (b, a) };
        self.b.ins().bitselect(less, yes, no)
    }

    /// Sums of `i64` that stay at the end of the type that they pass.
    pub(super) fn packed_saturated(&mut self, a: Value, b: Value) -> Value {
        let sum = self.b.ins().iadd(a, b);
        let zero = self.lanes_of(types::I64X2, &[0; 16]);
        let most = self.lanes_of(types::I64X2, &i64::MAX.to_le_bytes().repeat(2));
        // A sum that has another sign than both numbers.
        let (of_a, of_b) = (self.b.ins().bxor(sum, a), self.b.ins().bxor(sum, b));
        let turned = self.b.ins().band(of_a, of_b);
        let passes = self.b.ins().icmp(IntCC::SignedLessThan, turned, zero);
        let negative = self.b.ins().icmp(IntCC::SignedLessThan, a, zero);
        let end = self.b.ins().bxor(negative, most);
        self.b.ins().bitselect(passes, end, sum)
    }
}
