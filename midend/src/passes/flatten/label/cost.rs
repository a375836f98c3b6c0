//! Which scalar operations may be computed more often.

use crate::ir::scalar::{BinOp, ScalarOp, UnOp};

/// Whether an operation costs next to nothing.
pub(in super::super) fn is_cheap(op: ScalarOp) -> bool {
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
