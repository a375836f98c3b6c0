//! Operations on binary32 and binary64.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the table of operations rules out what is not of the type, and functions are defined in IR"
)]

use super::super::{Lower, ty_of};
use crate::ptx::ops::{Binary, Cmp, Round, Ternary, Unary};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::scalar::{BinOp, Const, UnOp};
use midend::ir::types::ScalarType;

/// A constant of a float type.
pub(super) fn float(ty: ScalarType, value: f64) -> Operand {
    let value = if ty == ScalarType::F32 {
        Const::f32(value as f32)
    } else {
        Const::f64(value)
    };
    Operand::Imm(value.to_slot())
}

impl Lower<'_> {
    pub(super) fn float_unary(&mut self, op: UnOp, ty: ScalarType, a: Operand) -> Operand {
        let of = ty_of(ty);
        let round = |this: &mut Self, round: Round| {
            let a = this.reg(ty, a);
            this.b.convert(of, of, round, a).into()
        };
        match op {
            UnOp::Neg => self.b.un(Unary::Neg, of, a).into(),
            UnOp::Abs => self.b.un(Unary::Abs, of, a).into(),
            UnOp::Signum => {
                let sign = self.b.bin(Binary::Copysign, of, a, float(ty, 1.0));
                // Neither zero nor NaN.
                let ordinary = self.b.cmp(Cmp::Ne, of, a, float(ty, 0.0));
                let bits = Ty::of_class(of.class());
                self.b.select(bits, ordinary, sign, a).into()
            }
            UnOp::IsNan => self.b.cmp(Cmp::Nan, of, a, a).into(),
            UnOp::IsInf => {
                let magnitude = self.b.un(Unary::Abs, of, a);
                self.b
                    .cmp(Cmp::Eq, of, magnitude, float(ty, f64::INFINITY))
                    .into()
            }
            UnOp::Sqrt => self.b.un(Unary::Sqrt, of, a).into(),
            UnOp::SqrtNear => self.b.un(Unary::SqrtNear, of, a).into(),
            UnOp::RsqrtNear => self.b.un(Unary::Rsqrt, of, a).into(),
            UnOp::ExpNear => self.exp_near(a),
            UnOp::Rsqrt => {
                let root = self.b.un(Unary::Sqrt, of, a);
                self.b.un(Unary::Rcp, of, root).into()
            }
            UnOp::Floor => round(self, Round::IntDown),
            UnOp::Ceil => round(self, Round::IntUp),
            UnOp::Round => round(self, Round::IntNearest),
            UnOp::Trunc => round(self, Round::IntZero),
            _ => unreachable!("{} is defined in IR or no operation on floats", op.name()),
        }
    }

    pub(super) fn float_binary(
        &mut self,
        op: BinOp,
        ty: ScalarType,
        a: Operand,
        b: Operand,
    ) -> Operand {
        let of = ty_of(ty);
        let simple = match op {
            BinOp::Add => Binary::Add,
            BinOp::Sub => Binary::Sub,
            BinOp::Mul => Binary::Mul,
            // Both are rounded once; the reciprocal takes fewer instructions.
            BinOp::Div if a == float(ty, 1.0) => return self.b.un(Unary::Rcp, of, b).into(),
            BinOp::Div => Binary::Div,
            BinOp::DivNear => Binary::DivNear,
            BinOp::Min => Binary::Min,
            BinOp::Max => Binary::Max,
            BinOp::Copysign => return self.b.bin(Binary::Copysign, of, b, a).into(),
            BinOp::Mod => return self.float_mod(ty, a, b),
            BinOp::Nextafter => return self.next_after(ty, a, b),
            _ => unreachable!("{} is defined in IR or no operation on floats", op.name()),
        };
        self.b.bin(simple, of, a, b).into()
    }

    /// e^x of a binary32 as 2^k 2^f with a whole k and |f| <= 1/2. Beyond `LARGE` results are infinite or zero.
    fn exp_near(&mut self, x: Operand) -> Operand {
        const LARGE: f64 = 104.0;
        /// Adding it leaves no room for fractions.
        const WHOLE: f64 = 12_582_912.0;
        let of = Ty::F32;
        let number = |value: f64| float(ScalarType::F32, value);
        let mut x = x;
        for (beyond, bound) in [(Cmp::Lt, -LARGE), (Cmp::Gt, LARGE)] {
            // A NaN stays a NaN.
            let is_beyond = self.b.cmp(beyond, of, x, number(bound));
            x = self.b.select(Ty::B32, is_beyond, number(bound), x).into();
        }
        let log2_e = std::f64::consts::LOG2_E;
        let (first, rest) = (number(log2_e), number(log2_e - f64::from(log2_e as f32)));
        let k = self.b.bin(Binary::Mul, of, x, first);
        let k = self.b.bin(Binary::Add, of, k, number(WHOLE));
        let k = self.b.bin(Binary::Sub, of, k, number(WHOLE));
        let less = self.b.un(Unary::Neg, of, k);
        let f = self.b.tern(Ternary::Fma, of, [x, first, less.into()]);
        let f = self.b.tern(Ternary::Fma, of, [x, rest, f.into()]);
        let [k, f] = [k, f].map(|power| self.b.un(Unary::Ex2, of, power));
        self.b.bin(Binary::Mul, of, k, f).into()
    }

    /// What is left of `a` after taking multiples of `b`, with the sign of `b`. All steps but the last are exact: `t` runs
    /// through the doubles of `b`, up and down, and is taken from what is left where it fits.
    fn float_mod(&mut self, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        let of = ty_of(ty);
        let bits = Ty::of_class(of.class());
        let (left, divisor) = (self.b.un(Unary::Abs, of, a), self.b.un(Unary::Abs, of, b));
        let result = self.b.mov(bits, float(ty, f64::NAN));
        let finite = self.b.cmp(Cmp::Lt, of, left, float(ty, f64::INFINITY));
        let positive = self.b.cmp(Cmp::Gt, of, divisor, float(ty, 0.0));
        let defined = self.b.bin(Binary::And, Ty::Pred, finite, positive);
        self.b.when(defined, false, |b_| {
            let t = b_.mov(bits, divisor);
            let half = b_.bin(Binary::Mul, of, left, float(ty, 0.5));
            b_.repeat(
                false,
                |b| b.cmp(Cmp::Le, of, t, half).into(),
                |b| b.bin_to(t, Binary::Add, of, t, t),
            );
            b_.repeat(
                false,
                |b| b.cmp(Cmp::Ge, of, t, divisor).into(),
                |b| {
                    let less = b.bin(Binary::Sub, of, left, t);
                    let fits = b.cmp(Cmp::Ge, of, left, t);
                    let next = b.select(bits, fits, less, left);
                    b.set(bits, left, next);
                    // Half of the divisor ends the loop; half of the smallest number may be that number again.
                    let smaller = b.bin(Binary::Mul, of, t, float(ty, 0.5));
                    let last = b.cmp(Cmp::Le, of, t, divisor);
                    let next = b.select(bits, last, Operand::Imm(0), smaller);
                    b.set(bits, t, next);
                },
            );
            let rest = b_.bin(Binary::Copysign, of, a, left);
            let zero = b_.cmp(Cmp::Eq, of, rest, float(ty, 0.0));
            let signed = b_.bin(Binary::Copysign, of, b, rest);
            let same = b_.cmp(Cmp::Eq, bits, signed, rest);
            let moved = b_.bin(Binary::Add, of, rest, b);
            let other = b_.select(bits, same, rest, moved);
            let value = b_.select(bits, zero, signed, other);
            b_.set(bits, result, value);
        });
        result.into()
    }

    /// The next number from `a` towards `b`.
    pub(super) fn next_after(&mut self, ty: ScalarType, a: Operand, b: Operand) -> Operand {
        let of = ty_of(ty);
        let (bits, int) = if of == Ty::F32 {
            (Ty::B32, Ty::S32)
        } else {
            (Ty::B64, Ty::S64)
        };
        let zero = float(ty, 0.0);
        let (up, positive) = (
            self.b.cmp(Cmp::Lt, of, a, b),
            self.b.cmp(Cmp::Gt, of, a, zero),
        );
        // Away from zero the bits grow, towards it they shrink.
        let towards = self.b.bin(Binary::Xor, Ty::Pred, up, positive);
        let step = self
            .b
            .select(bits, towards, Operand::Imm(u64::MAX), Operand::Imm(1));
        let moved = self.b.bin(Binary::Add, int, a, step);
        let least = self.b.bin(Binary::Copysign, of, b, Operand::Imm(1));
        let is_zero = self.b.cmp(Cmp::Eq, of, a, zero);
        let moved = self.b.select(bits, is_zero, least, moved);
        let same = self.b.cmp(Cmp::Eq, of, a, b);
        let result = self.b.select(bits, same, b, moved);
        let sum = self.b.bin(Binary::Add, of, a, b);
        let nan = self.b.cmp(Cmp::Nan, of, a, b);
        self.b.select(bits, nan, sum, result).into()
    }

    /// Whether a float is neither infinite nor a NaN.
    pub(super) fn is_finite(&mut self, ty: ScalarType, a: Operand) -> Reg {
        let of = ty_of(ty);
        let magnitude = self.b.un(Unary::Abs, of, a);
        self.b.cmp(Cmp::Lt, of, magnitude, float(ty, f64::INFINITY))
    }
}
