//! Sums of products in sequential loops.

use crate::fired::fired;
use crate::ir::scalar::{BinOp, ScalarOp, TernOp};
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Lambda, Stm};
use crate::ir::types::ScalarType;

/// The step of a sum of float products as one operation, which rounds once. In which order a reduction adds is free, so that every result
/// of it may be rounded in this way, too.
///
/// ```text
/// t = mul.f32(x, y); s = add.f32(acc, t)   ──►   s = fma.f32(x, y, acc)
/// ```
pub(super) fn fused_sum(
    lam: &Lambda<Soac>,
    args: &[Atom],
    stms: &[Stm<Seg>],
) -> Option<(ScalarType, Exp<Seg>)> {
    let [stm] = lam.body.stms.as_slice() else {
        return None;
    };
    let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ty @ (ScalarType::F32 | ScalarType::F64)), summands) =
        &stm.exp
    else {
        return None;
    };
    let params: Vec<Atom> = lam.params.iter().map(|p| (*p).into()).collect();
    let turned = [summands[1], summands[0]];
    let is_sum =
        lam.body.result == [Atom::Var(stm.binds[0])] && (params == *summands || params == turned);
    let (&[acc, mut term], true) = (args, is_sum) else {
        return None;
    };
    loop {
        let made = stms
            .iter()
            .find(|stm| stm.binds.iter().any(|v| term == (*v).into()))?;
        match &made.exp {
            Exp::Atom(same) => term = *same,
            Exp::Scalar(ScalarOp::Bin(BinOp::Mul, _), factors) => {
                fired("flatten/sum-of-products");
                let args = vec![factors[0], factors[1], acc];
                return Some((*ty, Exp::Scalar(ScalarOp::Tern(TernOp::Fma, *ty), args)));
            }
            Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return None,
        }
    }
}
