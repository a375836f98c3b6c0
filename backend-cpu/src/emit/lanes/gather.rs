//! Elements that lanes find for themselves by vectors of addresses, in registers of 512 bits, where an instruction loads them all at once.
//! Indices are computed and checked in vectors, and may be found like that, too, also in loops:
//!
//! ```text
//! let k = load keys[i]           a vector
//! let ok = assert k < n          whether it holds for all lanes
//! let x = load a[k]              gather 4 * (a / 4 + ks)
//! ```
//!
//! So sides of choices may read elements and check indices. Lanes that do not take a side read the first element there, which exists since another lane
//! has one, and nothing of theirs is checked:
//!
//! ```text
//! if c then a[k] else x   →   y = xs; if any c then blend c (gather 4 * (a / 4 + (ks & c))) xs
//! ```

use super::choose::{Finder, computed};
use super::functions::InLanes;
use super::plan::Plan;
use super::vector::{lanes_per_vector, vector};
use super::{Group, Lanes};
use crate::emit::Emit;
use crate::emit::library::RAW;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::{SpanId, Var};
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Atom, Body, Exp, Message, MessagePart, Stm, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::all_stms;

/// How many parts such registers have.
pub(super) const PARTS: usize = 4;
/// How many operations it is to load a vector of elements that lie anywhere.
const OPERATIONS: usize = 8;

/// Whether elements are found like that in registers of so many vectors at most.
pub(super) fn gathers_in(asked: usize) -> bool {
    asked >= PARTS
}

/// The plan for a map that reads elements which lanes find, if they are found by vectors of addresses.
pub(super) fn by_vectors(
    kernel: &Kernel,
    vars: &Vars,
    (asked, functions): (usize, &InLanes),
) -> Option<Plan> {
    if !gathers_in(asked) {
        return None;
    }
    let mut finder = Finder::new(kernel, vars, true)?;
    finder.by_vectors = true;
    finder.functions = Some(functions);
    finder.body(&kernel.body)?;
    let finds = finder.counts.gathered > 0 && finder.counts.diverging == 0;
    finder
        .plan(asked)
        .filter(|plan| finds && plan.parts == PARTS)
}

/// Whether elements of a type are found like that.
pub(super) fn is_found(elem: ScalarType) -> bool {
    elem.bytes() >= 4 && lanes_per_vector(elem, true).is_some()
}

/// Whether a body reads elements or checks something.
pub(super) fn reads_or_checks(body: &Body<Mem>) -> bool {
    let mut any = false;
    all_stms(body, &mut |stm| {
        any |= matches!(stm.exp, Exp::Assert { .. } | Exp::Op(Mem::Load { .. }));
    });
    any
}

impl Finder<'_> {
    /// Whether a varying statement reads elements that lanes find, or checks something of them.
    pub(super) fn gathers(&mut self, stm: &Stm<Mem>) -> bool {
        if !self.by_vectors {
            return false;
        }
        let operations = match &stm.exp {
            Exp::Op(Mem::Load { buffer, index }) => {
                let side_by_side = index.as_var().is_some_and(|v| self.unit.contains(&v));
                let Some(elem) = self.elem(*buffer).filter(|elem| is_found(*elem)) else {
                    return false;
                };
                if side_by_side || !self.varies(*index) || self.varies(Atom::Var(*buffer)) {
                    return false;
                }
                self.counts.gathered += 1;
                for ty in [elem, ScalarType::I64] {
                    self.counts.fills(lanes_per_vector(ty, true));
                }
                OPERATIONS
            }
            Exp::Assert { cond, .. } if self.varies(*cond) => 1,
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => return false,
        };
        self.counts.packed += operations;
        self.counts.inner[0] += if self.counts.depth > 0 { operations } else { 0 };
        true
    }

    /// Whether a choice yields what is put in vectors, and its sides do nothing but compute, read elements that are put in vectors, and check
    /// something.
    pub(super) fn finds_on_sides(&self, stm: &Stm<Mem>, sides: [&Body<Mem>; 2]) -> bool {
        let in_vectors = |v: &Var| {
            let elem = self
                .elem(*v)
                .filter(|_| matches!(self.vars[*v].ty, Type::Scalar(_)));
            elem.is_some_and(|elem| lanes_per_vector(elem, true).is_some())
        };
        let fits = |stm: &Stm<Mem>| match &stm.exp {
            Exp::Atom(_) | Exp::Assert { .. } => true,
            Exp::Scalar(op, args) => computed(*op, args).is_some(),
            Exp::Op(Mem::Load { buffer, .. }) => {
                let elem = self.elem(*buffer);
                !self.varies(Atom::Var(*buffer)) && elem.is_some_and(is_found)
            }
            Exp::If {
                then, otherwise, ..
            } => self.finds_on_sides(stm, [then, otherwise]),
            Exp::Guard { .. } | Exp::Loop { .. } | Exp::Call { .. } | Exp::Op(_) => false,
        };
        self.by_vectors
            && stm.binds.iter().all(in_vectors)
            && sides.iter().all(|side| side.stms.iter().all(fits))
    }
}

impl Emit<'_, '_> {
    /// Elements that lanes find by vectors of addresses, if they do.
    pub(super) fn gathered(
        &mut self,
        group: &mut Group<'_>,
        (buffer, index): (Var, Atom),
    ) -> Option<Lanes> {
        let plan = group.plan;
        let var = index.as_var().filter(|v| plan.varies(*v))?;
        let elem = self.elem(buffer);
        if !plan.by_vectors || plan.varies(buffer) || !is_found(elem) {
            return None;
        }
        let bytes = elem.bytes();
        // Addresses are counted in elements.
        let bits = i64::from(bytes.trailing_zeros());
        let start = self.var(buffer);
        let start = self.b.ins().ushr_imm_u(start, bits);
        let on_side = !group.sides.is_empty();
        let places = match group.lanes.get(&var) {
            Some(Lanes::Linear(_, 1)) if !on_side => return None,
            Some(Lanes::Linear(first, step)) if !on_side => {
                let (first, step) = (*first, *step);
                self.rows_soon(group, (buffer, elem), (first, step));
                let first = self.b.ins().iadd(start, first);
                self.grown(plan, ScalarType::I64, (first, step))?
            }
            Some(_) | None => {
                let mut indices = self.packed(group, index);
                if on_side {
                    let taken = self.taken_masks(group, 2);
                    let both = indices.into_iter().zip(taken);
                    indices = both.map(|(at, mask)| self.b.ins().band(at, mask)).collect();
                }
                let start = self.b.ins().splat(types::I64X2, start);
                let places = indices.into_iter().map(|at| self.b.ins().iadd(start, at));
                places.collect()
            }
        };
        fired("cpu/gathers-in-vectors");
        let found: Vec<Value> = places
            .into_iter()
            .map(|at| self.found_at(at, bytes))
            .collect();
        let whole: Vec<Value> = match bytes {
            8 => found,
            _ => found
                .chunks(2)
                .map(|two| self.pairs(two[0], two[1]))
                .collect(),
        };
        let ty = vector(elem);
        let lanes = whole.into_iter().map(|all| {
            if self.b.func.dfg.value_type(all) == ty {
                return all;
            }
            self.b.ins().bitcast(ty, RAW, all)
        });
        Some(Lanes::Packed(lanes.collect()))
    }

    /// The lanes that take the sides of choices that this is on, as masks with so many lanes in a vector.
    pub(super) fn taken_masks(&mut self, group: &mut Group<'_>, per: usize) -> Vec<Value> {
        let mut taken: Option<Vec<Value>> = None;
        for (cond, wanted) in group.sides.clone() {
            let mut masks = self.mask(group, Atom::Var(cond), per);
            if !wanted {
                masks = masks
                    .into_iter()
                    .map(|mask| self.b.ins().bnot(mask))
                    .collect();
            }
            taken = Some(match taken {
                None => masks,
                Some(taken) => {
                    let both = taken.into_iter().zip(masks);
                    both.map(|(a, b)| self.b.ins().band(a, b)).collect()
                }
            });
        }
        taken.expect("this is on the side of a choice")
    }

    /// A check that differs from lane to lane, of those lanes that come to it. Where it fails, it tells of the first of them.
    pub(super) fn lanes_assert(
        &mut self,
        group: &mut Group<'_>,
        cond: Var,
        (message, span): (&Message, SpanId),
    ) {
        let per = group.masked(&[Atom::Var(cond)]).unwrap_or(2);
        let holds = self.mask(group, Atom::Var(cond), per).into_iter();
        let mut fails: Vec<Value> = holds.map(|mask| self.b.ins().bnot(mask)).collect();
        if !group.sides.is_empty() {
            let taken = self.taken_masks(group, per);
            let both = fails.into_iter().zip(taken);
            fails = both.map(|(a, b)| self.b.ins().band(a, b)).collect();
        }
        let any = self.any_mask(fails.clone());
        let [bad, good] = std::array::from_fn(|_| self.b.create_block());
        self.b.set_cold_block(bad);
        self.b.ins().brif(any, bad, &[], good, &[]);
        self.b.switch_to_block(bad);
        let outside = group.lanes.clone();
        let fails = self.truths(&fails, group.plan.parts);
        for part in &message.parts {
            if let MessagePart::Value(Atom::Var(v)) = part
                && group.plan.varies(*v)
            {
                self.unpack(group, *v);
                let width = group.plan.width;
                let mut told = self.lane(group, *v, width - 1);
                for lane in (0..width - 1).rev() {
                    let value = self.lane(group, *v, lane);
                    told = self.b.ins().select(fails[lane], value, told);
                }
                self.bind(*v, told);
            }
        }
        self.report(message, span);
        group.lanes = outside;
        self.b.switch_to_block(good);
    }
}
