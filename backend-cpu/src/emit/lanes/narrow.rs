//! Indices in lanes of 32 bits. What a counted loop carries of `i64` that is only ever a constant or its counter, as the place of the least
//! element so far, fits them where the bound does, and half as many vectors hold it:
//!
//! ```text
//! loop (at = 0, least = inf) for i < n do (select (x < least) i at, ..)      at, i: i64, in vectors of i32 while n < 2^31
//! ```
//!
//! Comparisons and choices among such numbers are done on these; everything else gets them as wide as they are.

use super::{Group, Lanes, Plan, Shape};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::ScalarType;
use std::collections::BTreeSet;

/// The counter of a loop, and what it carries and chooses that is no greater than a constant or that counter; nothing if it carries no such number.
pub(super) fn narrow(
    vars: &Vars,
    plan: &Plan,
    (index, params): (Var, &[LoopParam]),
    body: &Body<Mem>,
) -> BTreeSet<Var> {
    let is_i64 = |v: Var| vars[v].ty.elem() == Some(ScalarType::I64) && plan.varies(v);
    let fills = plan.per_vector(ScalarType::I32).is_some();
    let is_counted = vars[index].ty.elem() == Some(ScalarType::I64);
    if !(plan.integers && fills && is_counted) {
        return BTreeSet::new();
    }
    let begins = |param: &&LoopParam| is_i64(param.var) && is_short(param.init);
    let mut carried: BTreeSet<Var> = params.iter().filter(begins).map(|p| p.var).collect();
    // Until nothing more turns out to be of another kind, since one may become another.
    loop {
        let mut known = carried.clone();
        known.insert(index);
        let fits = |known: &BTreeSet<Var>, atom: Atom| {
            atom.as_var().map_or(is_short(atom), |v| known.contains(&v))
        };
        for stm in &body.stms {
            if chosen(stm).is_some_and(|sides| sides.iter().all(|side| fits(&known, *side))) {
                known.extend(stm.binds.iter().filter(|v| is_i64(**v)));
            }
        }
        let results = params.iter().zip(&body.result);
        let others = results.filter(|(_, next)| !fits(&known, **next));
        let others: Vec<Var> = others.map(|(param, _)| param.var).collect();
        let before = carried.len();
        carried.retain(|v| !others.contains(v));
        if carried.is_empty() {
            return carried;
        }
        if carried.len() == before {
            return known;
        }
    }
}

/// The numbers of which a statement chooses one.
fn chosen(stm: &Stm<Mem>) -> Option<&[Atom]> {
    match &stm.exp {
        Exp::Atom(atom) => Some(std::slice::from_ref(atom)),
        Exp::Scalar(ScalarOp::Select(ScalarType::I64), args) => Some(&args[1..]),
        Exp::Scalar(..)
        | Exp::Assert { .. }
        | Exp::Guard { .. }
        | Exp::If { .. }
        | Exp::Loop { .. }
        | Exp::Call { .. }
        | Exp::Op(_) => None,
    }
}

/// Whether it is a constant of 64 bits that 32 bits hold.
fn is_short(atom: Atom) -> bool {
    matches!(atom, Atom::Const(Const::I64(value)) if i32::try_from(value).is_ok())
}

impl Group<'_> {
    /// Whether 32 bits hold a number of 64 bits in each lane.
    pub(super) fn is_narrow(&self, atom: Atom) -> bool {
        atom.as_var()
            .map_or_else(|| is_short(atom), |v| self.narrow.contains(&v))
    }
}

impl Emit<'_, '_> {
    /// The lanes of such a number in vectors with lanes of 32 bits.
    pub(super) fn narrow_lanes(&mut self, group: &Group<'_>, atom: Atom) -> Vec<Value> {
        let plan = group.plan;
        let count = plan
            .vectors(ScalarType::I32)
            .expect("narrow numbers are put in vectors");
        let Some(var) = atom.as_var().filter(|v| plan.varies(*v)) else {
            let value = self.atom(atom);
            let value = self.b.ins().ireduce(types::I32, value);
            let all = self.b.ins().splat(types::I32X4, value);
            return vec![all; count];
        };
        if let Some(Lanes::Narrow(vectors)) = group.lanes.get(&var) {
            return vectors.clone();
        }
        let lanes: Vec<Value> = (0..plan.width)
            .map(|lane| {
                let value = self.lane(group, var, lane);
                self.b.ins().ireduce(types::I32, value)
            })
            .collect();
        let vectors = lanes.chunks(plan.width / count);
        vectors
            .map(|part| self.in_vector(types::I32X4, part, plan.parts))
            .collect()
    }

    /// How a loop carries its parameters where those that may be are narrow, and what it begins with, of which the others have values.
    pub(super) fn narrow_inits(
        &mut self,
        group: &Group<'_>,
        (params, carried): (&[LoopParam], &[(usize, Shape)]),
        wide: &[Value],
    ) -> (Vec<(usize, Shape)>, Vec<Value>) {
        let (mut shapes, mut inits, mut rest) = (Vec::new(), Vec::new(), wide);
        for (i, shape) in carried {
            let (mine, others) = rest.split_at(shape.count(group.plan.width));
            rest = others;
            if group.narrow.contains(&params[*i].var) {
                let init = self.narrow_lanes(group, params[*i].init);
                shapes.push((*i, Shape::Narrow(init.len())));
                inits.extend(init);
            } else {
                shapes.push((*i, *shape));
                inits.extend(mine);
            }
        }
        (shapes, inits)
    }

    /// What such a loop ends with, as wide as it is.
    pub(super) fn widened_results(
        &mut self,
        group: &Group<'_>,
        shapes: &[(usize, Shape)],
        results: &[Value],
    ) -> Vec<Value> {
        let (mut wide, mut rest) = (Vec::new(), results);
        for (_, shape) in shapes {
            let (mine, others) = rest.split_at(shape.count(group.plan.width));
            rest = others;
            match shape {
                Shape::Narrow(_) => wide.extend(self.wide_lanes(mine, group.plan.parts)),
                Shape::Uniform | Shape::Many | Shape::Packed(_) => wide.extend(mine),
            }
        }
        wide
    }

    /// The same vectors with lanes of 64 bits.
    pub(super) fn wide_lanes(&mut self, vectors: &[Value], parts: usize) -> Vec<Value> {
        vectors
            .iter()
            .flat_map(|v| self.extended(*v, true, parts))
            .collect()
    }
}
