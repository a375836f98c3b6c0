//! Which scalar operations may be computed more often, or where the program would not have.

use crate::ir::scalar::{BinOp, Const, ScalarOp, UnOp};
use crate::ir::syntax::Atom;

/// Whether an operation has a result for all operands.
pub(super) fn is_total(op: ScalarOp, args: &[Atom]) -> bool {
    match op {
        ScalarOp::Bin(op, ty) => {
            let divides = matches!(op, BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem);
            let divisor = args.get(1).and_then(|a| a.as_const());
            let by_zero = divisor.is_none_or(|c| c == Const::zero(ty));
            !(ty.is_integer() && (op == BinOp::Pow || divides && by_zero))
        }
        ScalarOp::Un(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => true,
    }
}

/// Whether an operation costs next to nothing.
pub(super) fn is_cheap(op: ScalarOp) -> bool {
    match op {
        ScalarOp::Cmp(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_)
        | ScalarOp::Tern(..) => true,
        ScalarOp::Un(op, _) => matches!(op, UnOp::Neg | UnOp::Not | UnOp::Abs),
        ScalarOp::Bin(op, ty) => match op {
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::And
            | BinOp::Or
            | BinOp::Xor
            | BinOp::Shl
            | BinOp::Shr => true,
            BinOp::Min | BinOp::Max => ty.is_integer(),
            BinOp::Div
            | BinOp::Mod
            | BinOp::Quot
            | BinOp::Rem
            | BinOp::Pow
            | BinOp::MulHi
            | BinOp::AddSat
            | BinOp::MulSat
            | BinOp::Atan2
            | BinOp::Atan2pi
            | BinOp::Hypot
            | BinOp::DivNear
            | BinOp::Copysign
            | BinOp::Nextafter
            | BinOp::Ldexp => false,
        },
    }
}
