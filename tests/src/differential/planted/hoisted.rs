//! Mistakes of what moves code out of loops.

use super::binary;
use midend::ir::scalar::{BinOp, ScalarOp};
use midend::ir::syntax::{Atom, Exp, Stm, Vars};
use midend::ir::types::ScalarType;

pub(super) fn no_disjunction<D>(_: &Vars, stm: &mut Stm<D>) {
    let is_or = matches!(binary(stm), Some((BinOp::Or, _)));
    if let (true, Exp::Scalar(ScalarOp::Bin(_, ScalarType::Bool), args)) = (is_or, &stm.exp) {
        stm.exp = Exp::Atom(args[0]);
    }
}

pub(super) fn nothing_left<D>(_: &Vars, stm: &mut Stm<D>) {
    if let Exp::If {
        cond, otherwise, ..
    } = &mut stm.exp
        && otherwise.stms.is_empty()
        && otherwise.result.iter().all(|a| a.as_var().is_none())
    {
        *cond = Atom::bool(false);
    }
}
