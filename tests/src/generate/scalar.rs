//! Scalars: constants, choices from the scope, operations.

use super::{Gen, Random};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use midend::ir::syntax::Atom;
use midend::ir::types::{ScalarType, Type};

/// The scalar types that programs use.
pub(super) const TYPES: [ScalarType; 16] = [
    ScalarType::I64,
    ScalarType::I64,
    ScalarType::I32,
    ScalarType::F64,
    ScalarType::Bool,
    ScalarType::I8,
    ScalarType::I16,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
    ScalarType::F16,
    ScalarType::I32,
    ScalarType::F64,
    ScalarType::Bool,
    ScalarType::F32,
    ScalarType::U8,
];

/// A random constant, often a small one.
pub(super) fn constant(rng: &mut Random, ty: ScalarType) -> Const {
    let small = rng.below(21) as i128 - 5;
    if let Some(c) = Const::int(
        ty,
        if rng.chance(10) {
            rng.bits().into()
        } else {
            small
        },
    ) {
        return c;
    }
    let quarters = small as f64 / 4.0;
    match ty {
        ScalarType::F32 => Const::f32(quarters as f32),
        ScalarType::F64 => Const::f64(quarters),
        ScalarType::F16 => Const::F16(half::f16::from_f64(quarters).to_bits()),
        ScalarType::Bool
        | ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => Const::Bool(small % 2 == 0),
    }
}

impl Gen<'_> {
    /// A scalar of the type: something in scope, or a constant.
    pub(super) fn scalar(&mut self, ty: ScalarType) -> Atom {
        let wanted = Type::Scalar(ty);
        let known: Vec<_> = self
            .scope
            .iter()
            .filter(|i| i.ty == wanted)
            .map(|i| i.var)
            .collect();
        if known.is_empty() || self.rng.chance(20) {
            return Atom::Const(constant(&mut self.rng, ty));
        }
        Atom::Var(*self.rng.pick(&known))
    }

    /// A random scalar type.
    pub(super) fn scalar_type(&mut self) -> ScalarType {
        *self.rng.pick(&TYPES)
    }

    /// A statement with a scalar operation. Its result comes into scope unless it is a constant.
    pub(super) fn scalar_statement(&mut self) {
        let ty = self.scalar_type();
        let op = self.operation(ty);
        if let ScalarOp::Bin(BinOp::Div, ty) = op {
            // Only by what is not zero.
            let (a, number) = (self.scalar(ty), self.rng.below(7) as i128 + 1);
            let Some(by) = Const::int(ty, number) else {
                return;
            };
            let kinds = [BinOp::Div, BinOp::Mod, BinOp::Quot, BinOp::Rem];
            let op = ScalarOp::Bin(*self.rng.pick(&kinds), ty);
            if let Atom::Var(v) = self.b.scalar("x", op, vec![a, by.into()]) {
                self.add(v, Type::Scalar(ty), false);
            }
            return;
        }
        let args = (0..op.arity())
            .map(|i| self.scalar(op.operand(i)))
            .collect();
        if let Atom::Var(v) = self.b.scalar("x", op, args) {
            self.add(v, Type::Scalar(op.result()), false);
        }
    }

    /// An operation that has a value for all operands of the type.
    fn operation(&mut self, ty: ScalarType) -> ScalarOp {
        use BinOp::{Add, And, Max, Min, Mul, MulHi, Or, Pow, Shl, Shr, Sub, Xor};
        match self.rng.below(10) {
            0 => return ScalarOp::Convert(ty, self.scalar_type()),
            1 => return ScalarOp::Select(ty),
            4 if ty.is_integer() => return ScalarOp::Bin(BinOp::Div, ty),
            2 => return ScalarOp::Cmp(*self.rng.pick(CmpOp::ALL), ty),
            3 => {
                let all = [
                    UnOp::Neg,
                    UnOp::Not,
                    UnOp::Abs,
                    UnOp::Signum,
                    UnOp::Floor,
                    UnOp::Ceil,
                    UnOp::Trunc,
                    UnOp::Clz,
                    UnOp::Ctz,
                    UnOp::Sqrt,
                    UnOp::Exp,
                    UnOp::Popcount,
                ];
                let fit: Vec<UnOp> = all.into_iter().filter(|op| op.accepts(ty)).collect();
                return ScalarOp::Un(*self.rng.pick(&fit), ty);
            }
            _ => {}
        }
        // A power may have a negative exponent, which is an error of integers only.
        let all = [Add, Sub, Mul, Min, Max, And, Or, Xor, Shl, Shr, MulHi, Pow];
        let fits = |op: &BinOp| op.accepts(ty) && (*op != Pow || ty.is_float() || ty.is_unsigned());
        let fit: Vec<BinOp> = all.into_iter().filter(fits).collect();
        ScalarOp::Bin(*self.rng.pick(&fit), ty)
    }
}
