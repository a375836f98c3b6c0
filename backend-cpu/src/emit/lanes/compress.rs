//! Points of which those that are kept go side by side: vectors of them are compressed, in registers of 512 bits, which have an
//! instruction for that.

use super::choose::plan_kept;
use super::plan::Plan;
use super::{Emit, Group};
use crate::emit::library::RAW;
use crate::emit::plain;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::filters::Kept;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
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

/// How the points of a scan are worked on together that counts those that are kept; nothing if points but the last of all do anything
/// else.
pub(in crate::emit) fn compressed(
    vars: &Vars,
    (kernel, then): (&Kernel, &Lambda<Mem>),
    kept: &Kept,
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
    if !kept.else_at_end {
        return None;
    }
    let Exp::If { cond, .. } = &then.body.stms[kept.statement].exp else {
        return None;
    };
    let keep = of_kernel(*cond)?;
    let stores: Option<Vec<(Atom, ScalarType)>> = kept
        .stores
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
