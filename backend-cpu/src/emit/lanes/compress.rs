//! Points of which those that are kept go side by side: vectors of them are compressed, in registers of 512 bits, which have an
//! instruction for that.

use super::choose::plan_kept;
use super::plan::Plan;
use super::{Emit, Group};
use crate::emit::library::RAW;
use crate::emit::plain;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::{Extent, Kernel, Mem};
use midend::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, Lambda, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;

/// How points are worked on together of which some are kept.
pub(in crate::emit) struct Compressed {
    pub(in crate::emit) plan: Plan,
    /// What is computed of them.
    body: Body<Mem>,
    keep: Atom,
    /// What is stored of those that are kept, and its type.
    stores: Vec<(Atom, ScalarType)>,
}

/// How the points of a scan are worked on together that counts those that are kept, of which the statement with this number
/// stores these values; nothing if points but the last of all do anything else.
pub(in crate::emit) fn compressed(
    vars: &Vars,
    (kernel, then): (&Kernel, &Lambda<Mem>),
    (statement, stores): (usize, &[(Var, Atom)]),
    asked: usize,
) -> Option<Compressed> {
    let results = &kernel.body.result;
    let of_kernel = |atom: Atom| match atom {
        Atom::Const(_) => Some(atom),
        Atom::Var(v) => {
            let param = then.params.iter().position(|p| *p == v)?;
            (param > 0).then(|| results[param])
        }
    };
    let mut others = then.body.stms.iter().enumerate();
    let at_last = |stm: &Stm<Mem>| match &stm.exp {
        Exp::Atom(_) | Exp::Scalar(..) => true,
        Exp::If { cond, .. } => stm.binds.is_empty() && is_last(kernel, then, *cond),
        Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => false,
    };
    if !others.all(|(n, stm)| n == statement || at_last(stm)) {
        return None;
    }
    let Exp::If { cond, .. } = &then.body.stms[statement].exp else {
        return None;
    };
    let keep = of_kernel(*cond)?;
    let stores: Option<Vec<(Atom, ScalarType)>> = stores
        .iter()
        .map(|(buffer, value)| Some((of_kernel(*value)?, vars[*buffer].ty.elem()?)))
        .collect();
    let stores = stores?;
    // What is counted is what is kept.
    let mut body = kernel.body.clone();
    let counted = results[0];
    let wanted = |stm: &Stm<Mem>| !stm.binds.iter().any(|v| counted == Atom::Var(*v));
    body.stms.retain(wanted);
    let also = |v: &Var| counted == Atom::Var(*v);
    let used = body
        .stms
        .iter()
        .any(|stm| free_in_stm(vars, stm).iter().any(also));
    let in_vectors =
        |ty: &ScalarType| !matches!(ty, ScalarType::Bool) && matches!(ty.bytes(), 4 | 8);
    if used || results[1..].contains(&counted) || !stores.iter().all(|(_, ty)| in_vectors(ty)) {
        return None;
    }
    body.result.clear();
    let tys: Vec<ScalarType> = stores.iter().map(|(_, ty)| *ty).collect();
    let plan = plan_kept(kernel, &body, vars, (&tys, asked))?;
    Some(Compressed {
        plan,
        body,
        keep,
        stores,
    })
}

/// Whether a condition holds at the last point of a row alone: `i + 1 == n`.
fn is_last(kernel: &Kernel, then: &Lambda<Mem>, cond: Atom) -> bool {
    let Some((index, Extent::Regular(extent))) = kernel.space.last() else {
        return false;
    };
    let scalar = |atom: Atom| {
        let var = atom.as_var()?;
        let stm = then.body.stms.iter().find(|stm| stm.binds == [var])?;
        match &stm.exp {
            Exp::Scalar(op, args) => Some((*op, &args[..])),
            Exp::Atom(_)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        }
    };
    let Some((ScalarOp::Cmp(CmpOp::Eq, ScalarType::I64), [next, end])) = scalar(cond) else {
        return false;
    };
    let Some((ScalarOp::Bin(BinOp::Add, ScalarType::I64), [at, one])) = scalar(*next) else {
        return false;
    };
    let param = then.params.iter().position(|p| *at == Atom::Var(*p));
    let of_index = param.is_some_and(|k| k > 0 && kernel.body.result[k] == Atom::Var(*index));
    of_index && end == extent && *one == Atom::Const(Const::I64(1))
}

impl Emit<'_, '_> {
    /// A group of points, the first of which has the index `start`: stores what is kept of them one after the other, `at` elements
    /// behind the starts of these strips. Yields how many are kept.
    pub(in crate::emit) fn group_kept(
        &mut self,
        job: &Compressed,
        (index, start): (Var, Value),
        strips: &[Value],
        at: Value,
    ) -> Value {
        let mut group = Group::new(&job.plan, index, start);
        self.lanes_body(&mut group, &job.body);
        let mut end = at;
        for ((value, elem), strip) in job.stores.iter().zip(strips) {
            let per = job
                .plan
                .per_vector(*elem)
                .expect("the plan is for such stores");
            let masks = self.mask(&mut group, job.keep, per);
            let vectors = self.packed(&mut group, *value);
            end = at;
            for (mask, vector) in masks.into_iter().zip(vectors) {
                let place = self.element(*strip, *elem, end);
                // Marks what Cranelift has not: see `wide`.
                let [kept, lanes] =
                    [vector, mask].map(|v| self.b.ins().bitcast(types::I16X8, RAW, v));
                let dense = self.b.ins().ssub_sat(kept, lanes);
                self.b.ins().store(plain(), dense, place, 0);
                for part in self.parts_of(mask, job.plan.parts) {
                    let bits = self.b.ins().vhigh_bits(types::I32, part);
                    let count = self.b.ins().popcnt(bits);
                    let count = self.b.ins().uextend(types::I64, count);
                    end = self.b.ins().iadd(end, count);
                }
            }
        }
        self.b.ins().isub(end, at)
    }
}
