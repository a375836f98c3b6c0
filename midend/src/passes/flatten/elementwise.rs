//! Operators that are one map over their operands, which overwrite the first of them.

use super::Cx;
use crate::fired::fired;
use crate::ir::id::Var;
use crate::ir::seg::Seg;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Lambda, LoopParam, Stm};
use crate::ir::types::Type;

impl Cx<'_> {
    /// An operator that is one map over its operands, applied so that the first operands are overwritten.
    pub(super) fn apply_elementwise(
        &mut self,
        lam: &Lambda<Soac>,
        args: &[Atom],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        for (&param, &arg) in lam.params.iter().zip(args) {
            self.subst.set(param, Some(arg));
        }
        let Some(Exp::Op(Soac::Screma {
            width,
            arrays,
            lam: inner,
            ..
        })) = lam.body.stms.first().map(|s| &s.exp)
        else {
            return self.apply(lam, args, out);
        };
        fired("flatten/elementwise");
        let k = lam.params.len() / 2;
        let width = self.size(*width);
        // Inside of the loop, the accumulators are its parameters.
        let mut params = Vec::new();
        for (&param, &arg) in lam.params[..k].iter().zip(args) {
            let var = self.fresh("acc", self.type_of(param));
            params.push(LoopParam { var, init: arg });
            self.subst.set(param, Some(var.into()));
        }
        let index = self.fresh("j", Type::I64);
        let mut stms = Vec::new();
        let values = self.apply_at((arrays, inner), index, &mut stms);
        let mut result = Vec::new();
        for (param, value) in params.iter().zip(values) {
            result.push(self.put(param.var, &[index.into()], value, &mut stms));
        }
        let binds: Vec<Var> = params
            .iter()
            .map(|p| p.var)
            .collect::<Vec<_>>()
            .into_iter()
            .map(|v| self.fresh("acc", self.vars[v].ty.clone()))
            .collect();
        self.for_loop(
            (index, width),
            params,
            Body { stms, result },
            binds.clone(),
            out,
        );
        binds.into_iter().map(Atom::Var).collect()
    }
}

/// Whether an operator is one map over its operands (and other arrays), element by element, so that it can
/// overwrite its first operands: `map2 (+)`.
pub(in crate::passes) fn is_elementwise(lam: &Lambda<Soac>) -> bool {
    let [stm] = &lam.body.stms[..] else {
        return false;
    };
    let Exp::Op(Soac::Screma {
        arrays,
        lam: inner,
        scans,
        reds,
        ..
    }) = &stm.exp
    else {
        return false;
    };
    let results: Vec<Atom> = stm.binds.iter().map(|&v| v.into()).collect();
    let k = lam.params.len() / 2;
    scans.is_empty()
        && reds.is_empty()
        && lam.body.result == results
        && lam.params[..k].iter().all(|p| arrays.contains(p))
        && inner.body.stms.iter().all(|stm| match &stm.exp {
            Exp::Atom(a) => !lam.params.iter().any(|&p| Atom::Var(p) == *a),
            Exp::Scalar(..) => true,
            Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => false,
        })
}
