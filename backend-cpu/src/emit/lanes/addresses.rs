//! Which numbers are for finding elements only. They are computed for each lane on its own, in general registers, where
//! addresses have to be; what is found goes into vectors.
//!
//! ```text
//! let k = load keys[i]           one by one
//! let ok = assert k < n          one by one
//! let x = load a[k]              one by one, put in vectors
//! let y = x * 2                  in vectors
//! ```

use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, Stm};
use std::collections::BTreeSet;

/// The variables that are more than parts of addresses, or of what is checked of them: values that are stored, chosen by,
/// carried or computed with.
pub(super) fn valued(body: &Body<Mem>) -> BTreeSet<Var> {
    let mut valued = BTreeSet::new();
    within(body, &mut valued);
    valued
}

fn within(body: &Body<Mem>, valued: &mut BTreeSet<Var>) {
    valued.extend(body.result.iter().filter_map(|atom| atom.as_var()));
    for stm in body.stms.iter().rev() {
        used(stm, valued);
    }
}

fn used(stm: &Stm<Mem>, valued: &mut BTreeSet<Var>) {
    match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => {
            if stm.binds.iter().any(|v| valued.contains(v)) {
                stm.exp.operands(&mut |atom| valued.extend(atom.as_var()));
            }
        }
        Exp::Assert { .. } | Exp::Op(Mem::Load { .. }) => {}
        Exp::Op(Mem::Store { value, .. }) => valued.extend(value.as_var()),
        Exp::If {
            cond,
            then,
            otherwise,
        } => {
            valued.extend(cond.as_var());
            within(then, valued);
            within(otherwise, valued);
        }
        Exp::Loop { params, form, body } => {
            valued.extend(params.iter().filter_map(|param| param.init.as_var()));
            within(body, valued);
            match form {
                LoopForm::For { bound, .. } => valued.extend(bound.as_var()),
                LoopForm::While(cond) => within(cond, valued),
            }
        }
        Exp::Guard { .. } | Exp::Call { .. } | Exp::Op(_) => {
            stm.exp
                .operands(&mut |atom: Atom| valued.extend(atom.as_var()));
        }
    }
}
