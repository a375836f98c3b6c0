//! Operations on integers.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type"
)]

use super::super::{Lower, ty_of};
use crate::ptx::ops::{Binary, Cmp, Round, Unary};
use crate::ptx::{Class, Operand, Reg, Ty};
use midend::ir::scalar::{BinOp, UnOp};
use midend::ir::types::ScalarType;

/// The untyped register of an integer.
const fn bits(ty: Ty) -> Ty {
    Ty::of_class(ty.class())
}

impl Lower<'_> {
    /// Extends the low bits of a register that holds an integer narrower than that.
    pub(super) fn extend(&mut self, ty: ScalarType, value: Reg) -> Reg {
        let narrow = match ty {
            ScalarType::I8 => Ty::S8,
            ScalarType::I16 => Ty::S16,
            ScalarType::U8 | ScalarType::Bool => Ty::U8,
            ScalarType::U16 => Ty::U16,
            ScalarType::I32
            | ScalarType::I64
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::F16
            | ScalarType::F32
            | ScalarType::F64 => return value,
        };
        let wide = if ty.is_signed() { Ty::S32 } else { Ty::U32 };
        self.b.convert(wide, narrow, Round::Exact, value)
    }

    pub(super) fn int_unary(&mut self, op: UnOp, ty: ScalarType, a: Operand) -> Operand {
        let of = ty_of(ty);
        let width = 8 * ty.bytes() as u64;
        // The operand without the extension of its sign.
        let zero_extended = |this: &mut Self| {
            if ty.is_signed() && width < 32 {
                this.b
                    .bin(Binary::And, Ty::B32, a, Operand::Imm((1 << width) - 1))
                    .into()
            } else {
                a
            }
        };
        match op {
            UnOp::Neg => {
                let result = self.b.bin(Binary::Sub, of, Operand::Imm(0), a);
                self.extend(ty, result).into()
            }
            UnOp::Not => {
                let result = self.b.un(Unary::Not, bits(of), a);
                self.extend(ty, result).into()
            }
            UnOp::Abs if ty.is_signed() => {
                let result = self.b.un(Unary::Abs, of, a);
                self.extend(ty, result).into()
            }
            UnOp::Abs => a,
            UnOp::Signum if ty.is_signed() => {
                let least = self.b.bin(Binary::Max, of, a, Operand::Imm(u64::MAX));
                self.b.bin(Binary::Min, of, least, Operand::Imm(1)).into()
            }
            UnOp::Signum => self.b.bin(Binary::Min, of, a, Operand::Imm(1)).into(),
            UnOp::Popcount => {
                let a = zero_extended(self);
                self.b.un(Unary::Popc, bits(of), a).into()
            }
            UnOp::Clz => {
                let a = zero_extended(self);
                let zeros = self.b.un(Unary::Clz, bits(of), a);
                if width < 32 {
                    let more = Operand::Imm(32 - width);
                    return self.b.bin(Binary::Sub, Ty::U32, zeros, more).into();
                }
                zeros.into()
            }
            _ => {
                let guarded = if width < 32 {
                    self.b
                        .bin(Binary::Or, Ty::B32, a, Operand::Imm(1 << width))
                        .into()
                } else {
                    a
                };
                let reversed = self.b.un(Unary::Brev, bits(of), guarded);
                self.b.un(Unary::Clz, bits(of), reversed).into()
            }
        }
    }

    pub(super) fn int_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let of = ty_of(ty);
        match op {
            BinOp::Add | BinOp::Sub | BinOp::Mul => {
                let op = match op {
                    BinOp::Add => Binary::Add,
                    BinOp::Sub => Binary::Sub,
                    _ => Binary::Mul,
                };
                let result = self.b.bin(op, of, a, b);
                self.extend(ty, result).into()
            }
            BinOp::And => self.b.bin(Binary::And, bits(of), a, b).into(),
            BinOp::Or => self.b.bin(Binary::Or, bits(of), a, b).into(),
            BinOp::Xor => self.b.bin(Binary::Xor, bits(of), a, b).into(),
            BinOp::Min => self.b.bin(Binary::Min, of, a, b).into(),
            BinOp::Max => self.b.bin(Binary::Max, of, a, b).into(),
            BinOp::Shl => {
                let count = self.shift_count(ty, b);
                let result = self.b.bin(Binary::Shl, bits(of), a, count);
                self.extend(ty, result).into()
            }
            BinOp::Shr => {
                let count = self.shift_count(ty, b);
                self.b.bin(Binary::Shr, of, a, count).into()
            }
            BinOp::MulHi if ty.bytes() >= 4 => self.b.bin(Binary::MulHi, of, a, b).into(),
            BinOp::MulHi => {
                let product = self.b.bin(Binary::Mul, of, a, b);
                let width = Operand::Imm(8 * ty.bytes() as u64);
                let upper = self.b.bin(Binary::Shr, of, product, width);
                self.extend(ty, upper).into()
            }
            BinOp::AddSat | BinOp::MulSat => self.saturating(op, a, b).into(),
            BinOp::Pow => self.int_power(ty, a, b),
            _ => self.division(op, ty, a, b),
        }
    }

    /// A sum or product of `i64` that stays at the end of the type that it passes.
    fn saturating(&mut self, op: BinOp, a: Operand, b: Operand) -> Reg {
        let sign =
            |this: &mut Self, of: Operand| this.b.bin(Binary::Shr, Ty::S64, of, Operand::Imm(63));
        let (wrapped, passes, side) = if op == BinOp::AddSat {
            let sum = self.b.bin(Binary::Add, Ty::S64, a, b);
            // The sum has another sign than both numbers.
            let of_a = self.b.bin(Binary::Xor, Ty::B64, sum, a);
            let of_b = self.b.bin(Binary::Xor, Ty::B64, sum, b);
            let turned = self.b.bin(Binary::And, Ty::B64, of_a, of_b);
            let passes = self.b.cmp(Cmp::Lt, Ty::S64, turned, Operand::Imm(0));
            (sum, passes, a)
        } else {
            let product = self.b.bin(Binary::Mul, Ty::S64, a, b);
            let upper = self.b.bin(Binary::MulHi, Ty::S64, a, b);
            let extended = sign(self, product.into());
            let passes = self.b.cmp(Cmp::Ne, Ty::S64, upper, extended);
            let signs = self.b.bin(Binary::Xor, Ty::B64, a, b);
            (product, passes, signs.into())
        };
        let side = sign(self, side);
        let most = Operand::Imm(i64::MAX as u64);
        let end = self.b.bin(Binary::Xor, Ty::B64, side, most);
        self.b.select(Ty::B64, passes, end, wrapped)
    }

    /// The count of a shift, in 32 bits, modulo the width.
    fn shift_count(&mut self, ty: ScalarType, count: Operand) -> Operand {
        let mask = 8 * ty.bytes() as u64 - 1;
        match count {
            Operand::Imm(n) => Operand::Imm(n & mask),
            Operand::Reg(reg) => {
                let low = if self.b.class(reg) == Class::B64 {
                    self.b.convert(Ty::U32, Ty::U64, Round::Exact, reg)
                } else {
                    reg
                };
                self.b
                    .bin(Binary::And, Ty::B32, low, Operand::Imm(mask))
                    .into()
            }
        }
    }

    /// Division of any kind; programs check divisors before.
    fn division(&mut self, op: BinOp, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        let of = ty_of(ty);
        if let Some(result) = self.by_power_of_two(op, ty, a, b) {
            return result;
        }
        let quotient_wanted = matches!(op, BinOp::Div | BinOp::Quot);
        if !ty.is_signed() || matches!(op, BinOp::Quot | BinOp::Rem) {
            let op = if quotient_wanted {
                Binary::Div
            } else {
                Binary::Rem
            };
            let result = self.b.bin(op, of, a, b);
            return self.extend(ty, result).into();
        }
        let quotient = self.b.bin(Binary::Div, of, a, b);
        let product = self.b.bin(Binary::Mul, of, quotient, b);
        let rest = self.b.bin(Binary::Sub, of, a, product);
        // Rounding down differs from rounding to zero where a rest has another sign than the divisor.
        let any = self.b.cmp(Cmp::Ne, of, rest, Operand::Imm(0));
        let signs = self.b.bin(Binary::Xor, bits(of), rest, b);
        let differ = self.b.cmp(Cmp::Lt, of, signs, Operand::Imm(0));
        let adjust = self.b.bin(Binary::And, Ty::Pred, any, differ);
        let result = if op == BinOp::Div {
            let less = self.b.bin(Binary::Sub, of, quotient, Operand::Imm(1));
            self.b.select(bits(of), adjust, less, quotient)
        } else {
            let moved = self.b.bin(Binary::Add, of, rest, b);
            self.b.select(bits(of), adjust, moved, rest)
        };
        self.extend(ty, result).into()
    }

    /// Division by a constant power of two is a shift or a mask: the assembler does not see that.
    fn by_power_of_two(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Operand,
        b: Operand,
    ) -> Option<Operand> {
        let Operand::Imm(divisor) = b else {
            return None;
        };
        let of = ty_of(ty);
        let rounds_down = !ty.is_signed() || matches!(op, BinOp::Div | BinOp::Mod);
        if (divisor as i64) <= 0 || !divisor.is_power_of_two() || !rounds_down {
            return None;
        }
        Some(match op {
            BinOp::Div | BinOp::Quot => {
                let by = Operand::Imm(divisor.trailing_zeros().into());
                self.b.bin(Binary::Shr, of, a, by).into()
            }
            _ => self
                .b
                .bin(Binary::And, bits(of), a, Operand::Imm(divisor - 1))
                .into(),
        })
    }

    /// Power by squaring, modulo the width.
    fn int_power(&mut self, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        let of = ty_of(ty);
        let (base, left) = (self.b.mov(bits(of), a), self.b.mov(bits(of), b));
        let result = self.b.mov(bits(of), Operand::Imm(1));
        self.b.repeat(
            false,
            |b| b.cmp(Cmp::Ne, of, left, Operand::Imm(0)).into(),
            |b| {
                let low = b.bin(Binary::And, bits(of), left, Operand::Imm(1));
                let odd = b.cmp(Cmp::Ne, of, low, Operand::Imm(0));
                let product = b.bin(Binary::Mul, of, result, base);
                let next = b.select(bits(of), odd, product, result);
                b.set(bits(of), result, next);
                b.bin_to(base, Binary::Mul, of, base, base);
                b.bin_to(left, Binary::Shr, of, left, Operand::Imm(1));
            },
        );
        self.extend(ty, result).into()
    }
}
