//! What nothing needs inside: a number that only points at the ends of rows make use of is not read by others.

use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, Exp, Stm};
use midend::ir::walk::deep;
use std::collections::BTreeSet;

/// Leaves out statements whose results nothing uses, and that do nothing else. `used` is what is used behind the body.
pub(super) fn prune(body: &mut Body<Mem>, used: &mut BTreeSet<Var>) {
    used.extend(body.result.iter().filter_map(|atom| atom.as_var()));
    let mut stms: Vec<Stm<Mem>> = Vec::new();
    for mut stm in std::mem::take(&mut body.stms).into_iter().rev() {
        let is_pure = matches!(
            stm.exp,
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Op(Mem::Load { .. })
        );
        if is_pure && !stm.binds.iter().any(|v| used.contains(v)) {
            continue;
        }
        stm.exp.bodies_mut(&mut |inner| deep(|| prune(inner, used)));
        stm.exp.operands(&mut |atom| used.extend(atom.as_var()));
        stms.push(stm);
    }
    stms.reverse();
    body.stms = stms;
}
