//! Operators without inputs do the same for each of their elements: they do it once.
//!
//! ```text
//!                                                 let c = lt.i64(0, n)
//! let ys = map n () \() { let y = map m (xs) .. reduce ..   let y = if c { let y' = map m (xs) .. reduce ..   yield y' } else { yield 0 }
//!                         yield y }   ──►         let ys = map n () \() { yield y }
//! ```
//!
//! Where there may be no elements, the code runs only if there are some: it may fail, or take long. Inside of other operators
//! this is left to scalar code, which needs no such choice.

use super::Operators;
use crate::analysis::totality::is_total_code;
use crate::fired::fired;
use crate::ir::array::ArrayOp;
use crate::ir::scalar::{CmpOp, Const, ScalarOp};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, Stm};
use crate::ir::types::{ScalarType, Size, Type};
use crate::ir::walk::all_stms;

impl Operators<'_> {
    /// Moves the code of an operator without inputs before it.
    pub(super) fn invariant(&mut self, stm: &mut Stm<Soac>, out: &mut Vec<Stm<Soac>>) {
        let Exp::Op(Soac::Screma {
            width, arrays, lam, ..
        }) = &mut stm.exp
        else {
            return;
        };
        if !arrays.is_empty() || lam.body.stms.is_empty() || !is_repeatable(lam) {
            return;
        }
        let certain = match width {
            Size::Const(n) => *n > 0,
            Size::Var(_) => lam.body.stms.iter().all(is_total_code),
        };
        let (width, certs) = (Atom::from(*width), stm.certs.clone());
        let code = if certain {
            fired("operators/invariant");
            std::mem::take(&mut lam.body.stms)
        } else {
            let types = lam.body.result.iter().map(|a| a.ty(self.vars));
            let types: Vec<Type> = types.collect();
            if self.inside > 0 || types.iter().any(|ty| !matches!(ty, Type::Scalar(_))) {
                return;
            }
            fired("operators/invariant-if-any");
            let some = self.fresh("some", Type::BOOL);
            let op = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
            let values = types.iter().map(|ty| self.fresh("once", ty.clone()));
            let values: Vec<_> = values.collect();
            let none = types.iter().map(|ty| {
                let elem = ty.elem().unwrap_or(ScalarType::I64);
                Atom::Const(Const::zero(elem))
            });
            let none = none.collect();
            let then = std::mem::replace(
                &mut lam.body,
                Body {
                    stms: Vec::new(),
                    result: values.iter().copied().map(Atom::Var).collect(),
                },
            );
            let otherwise = Body {
                stms: Vec::new(),
                result: none,
            };
            let choice = Exp::If {
                cond: some.into(),
                then,
                otherwise,
            };
            let one = |binds, exp| Stm {
                binds,
                certs: Vec::new(),
                exp,
                span: stm.span,
            };
            vec![
                one(vec![some], Exp::Scalar(op, vec![Atom::ZERO, width])),
                one(values, choice),
            ]
        };
        out.extend(code.into_iter().map(|mut inner| {
            let new = certs.iter().filter(|c| !inner.certs.contains(c));
            let new: Vec<_> = new.copied().collect();
            inner.certs.extend(new);
            inner
        }));
    }
}

/// Whether the code of a lambda has no effect but its results.
fn is_repeatable(lam: &Lambda<Soac>) -> bool {
    let mut pure = true;
    all_stms(&lam.body, &mut |stm| {
        pure &= !matches!(
            &stm.exp,
            Exp::Op(Soac::UpdateAcc(_) | Soac::Array(ArrayOp::Trace(_) | ArrayOp::Stream(_)))
        );
    });
    pure
}
