//! Which scalar operations cannot fail, so that they may be computed where the program would not have: before a loop that may do
//! nothing, or on the side of a branch that is not taken.

use crate::ir::scalar::{BinOp, Const, ScalarOp};
use crate::ir::syntax::{Atom, Exp, Stm};

/// Whether a statement is scalar code that has a value for all operands.
pub fn is_total_code<D>(stm: &Stm<D>) -> bool {
    match &stm.exp {
        Exp::Atom(_) => true,
        Exp::Scalar(op, args) => is_total(*op, args),
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    }
}

/// Whether an operation has a value whatever those of its operands are that are no constants. Quotients by a constant other than zero
/// have one: the least number divided by -1 wraps.
pub fn is_total(op: ScalarOp, args: &[Atom]) -> bool {
    match op {
        ScalarOp::Bin(BinOp::Div | BinOp::Mod | BinOp::Quot | BinOp::Rem, ty) => {
            let divisor = args.get(1).and_then(|a| a.as_const());
            !ty.is_integer() || divisor.is_some_and(|by| by != Const::zero(ty))
        }
        ScalarOp::Bin(BinOp::Pow, ty) => !ty.is_integer(),
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => true,
    }
}
