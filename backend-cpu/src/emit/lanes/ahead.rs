//! Functions of a loop's counter alone, computed for several steps at once.
//!
//! Where all lanes go through a loop together, what does not differ from lane to lane is computed once for them all. A sine or an
//! exponential still takes as long for one number as for a whole vector of them, so that it is computed for the next steps in
//! lanes, and each step reads its own:
//!
//! ```text
//! loop for w < n {                     loop for s < (n + 15) / 16 {
//!   let c = cos (step * w)               table = cos (step * (16 * s + 0..16))
//!   .. c * x ..                    →     loop for w from 16 * s to less than n, 16 times at most {
//! }                                        let c = table[w - 16 * s]
//!                                          .. c * x ..
//! ```
//!
//! Only arithmetic is computed so, which fails nowhere, also for steps that are not made. A lane computes what a single number would
//! become, so results are the same to the bit.

use super::convert::converts;
use super::plan::Plan;
use super::vector::{lanes_per_vector, packed_type};
use super::{Group, Lanes};
use crate::emit::control::is_cheap_scalar;
use crate::emit::{Emit, plain};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::ScalarOp;
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::ScalarType;
use midend::ir::walk::free_in_stm;
use midend::math::definition;
use std::collections::BTreeSet;

/// Steps that are computed for at once.
pub(super) const STEPS: i64 = 16;
/// The most numbers of a step that are kept.
const KEPT: usize = 8;

/// What is computed for several steps at once.
pub(super) struct Ahead {
    /// What computes it.
    slice: Vec<Stm<Mem>>,
    /// What each step reads of it.
    kept: Vec<Var>,
    /// What is left for each step.
    pub(super) rest: Body<Mem>,
}

/// What of a loop's body is worth it: functions of its counter and of what is the same in all steps and lanes.
pub(super) fn ahead(
    vars: &Vars,
    plan: &Plan,
    (index, params): (Var, &[LoopParam]),
    body: &Body<Mem>,
) -> Option<Ahead> {
    if !matches!(
        vars[index].ty.elem(),
        Some(ScalarType::I32 | ScalarType::I64)
    ) {
        return None;
    }
    let params = params.iter().map(|param| param.var);
    let own: BTreeSet<Var> = body
        .stms
        .iter()
        .flat_map(|stm| stm.binds.iter().copied())
        .chain(params)
        .collect();
    let mut known = BTreeSet::from([index]);
    let mut costly = BTreeSet::new();
    for stm in &body.stms {
        let Exp::Scalar(op, args) = &stm.exp else {
            continue;
        };
        let outside = |v: Var| !own.contains(&v) && !plan.varies(v);
        let mut operands = args.iter().filter_map(|arg| arg.as_var());
        let alike = operands.all(|v| known.contains(&v) || outside(v));
        let of = |set: &BTreeSet<Var>| {
            let mut operands = args.iter().filter_map(|arg| arg.as_var());
            operands.any(|v| set.contains(&v))
        };
        if alike && stm.certs.is_empty() && in_vectors(*op, args) && of(&known) {
            known.insert(stm.binds[0]);
            if definition(*op).is_some() || of(&costly) {
                costly.insert(stm.binds[0]);
            }
        }
    }
    let is_costly = |stm: &Stm<Mem>| stm.binds.iter().any(|v| costly.contains(v));
    let (ahead, stms): (Vec<_>, Vec<_>) = body.stms.iter().cloned().partition(is_costly);
    let mut read: BTreeSet<Var> = body
        .result
        .iter()
        .filter_map(|atom| atom.as_var())
        .collect();
    for stm in &stms {
        read.extend(free_in_stm(vars, stm));
    }
    let kept = ahead.iter().map(|stm| stm.binds[0]);
    let kept: Vec<Var> = kept.filter(|v| read.contains(v)).collect();
    if kept.is_empty() || kept.len() > KEPT {
        return None;
    }
    let mut needed: BTreeSet<Var> = kept.iter().copied().collect();
    let mut slice = Vec::new();
    for stm in body.stms.iter().rev() {
        if needed.contains(&stm.binds.first().copied().unwrap_or(index)) {
            stm.exp.operands(&mut |atom| needed.extend(atom.as_var()));
            slice.push(stm.clone());
        }
    }
    slice.reverse();
    let result = body.result.clone();
    let rest = Body { stms, result };
    Some(Ahead { slice, kept, rest })
}

/// Whether an operation makes numbers that are put in vectors, and cannot fail.
fn in_vectors(op: ScalarOp, args: &[Atom]) -> bool {
    let is_safe = match op {
        ScalarOp::Convert(from, to) => {
            converts(from, to, true) || (from.is_integer() && to.is_float())
        }
        ScalarOp::Un(..)
        | ScalarOp::Bin(..)
        | ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => packed_type(op, true).is_some() || is_cheap_scalar(op, args),
    };
    is_safe && lanes_per_vector(op.result(), true).is_some()
}

impl Emit<'_, '_> {
    /// Memory for what steps read.
    pub(super) fn room_ahead(&mut self, ahead: &Ahead) -> Vec<Value> {
        let bytes = |v: &Var| STEPS as u32 * self.elem(*v).bytes() as u32;
        let sizes: Vec<u32> = ahead.kept.iter().map(bytes).collect();
        sizes
            .into_iter()
            .map(|size| self.stack_slot(size))
            .collect()
    }

    /// Computes what the steps from `first` on read.
    pub(super) fn look_ahead(
        &mut self,
        ahead: &Ahead,
        (parts, room): (usize, &[Value]),
        (index, first): (Var, Value),
    ) {
        let binds = ahead.slice.iter().map(|stm| stm.binds[0]);
        let varying = binds.chain([index]).collect();
        let plan = Plan::of_numbers(STEPS as usize, parts, varying);
        let mut group = Group::new(&plan, index, first);
        let ty = self.elem(index);
        if ty != ScalarType::I64
            && let Some(numbers) = self.growing(&group, ty, Atom::Var(index))
        {
            group.lanes.insert(index, Lanes::Packed(numbers));
        }
        for stm in &ahead.slice {
            self.lanes_stm(&mut group, stm);
        }
        for (var, place) in ahead.kept.iter().zip(room) {
            let vectors = self.packed(&mut group, Atom::Var(*var));
            for (i, vector) in vectors.into_iter().enumerate() {
                let offset = plan.step() * i as i32;
                self.b.ins().store(plain(), vector, *place, offset);
            }
        }
    }

    /// Binds what the step reads that is so many behind the first one.
    pub(super) fn read_ahead(&mut self, ahead: &Ahead, room: &[Value], step: Value) {
        for (var, place) in ahead.kept.iter().zip(room) {
            let ty = self.elem(*var);
            let from = self.element(*place, ty, step);
            let value = self.load(ty, from, 0);
            self.bind(*var, value);
        }
    }
}
