//! Choices that differ from lane to lane and have much to do on a side. Both sides are in lanes, and what one of them computes is left out
//! where no lane of a group takes it:
//!
//! ```text
//! if p x then x else long x   →   y = xs; if any (not (p xs)) then blend (p xs) xs (long xs) else xs
//! ```
//!
//! So a group never does more than its points would, one after the other.

use super::choose::{BLENDED, arithmetic};
use super::gather::reads_or_checks;
use super::plan::Plan;
use super::sequential::Carried;
use super::{Group, Lanes, Shape};
use crate::emit::{Emit, block_args, clif};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body};
use midend::ir::types::ScalarType;
use midend::ir::walk::{body_binders, free_in_body};
use std::collections::HashMap;

/// Whether both sides of a choice may be computed, however much that is.
pub(super) fn is_computed(sides: [&Body<Mem>; 2]) -> bool {
    sides.into_iter().all(|side| arithmetic(side).is_some())
}

/// Whether a side of a choice has so much to do that it is left out if no lane takes it. What reads elements is, too, since these may not be there.
pub(super) fn is_long(side: &Body<Mem>) -> bool {
    arithmetic(side).is_none_or(|count| count > BLENDED / 2)
}

impl Emit<'_, '_> {
    /// A choice that differs from lane to lane. Whether all that it yields is put in vectors.
    pub(super) fn lanes_if_taken(
        &mut self,
        group: &mut Group<'_>,
        binds: &[Var],
        cond: Var,
        sides: [&Body<Mem>; 2],
    ) -> bool {
        let kept = (0..binds.len()).filter(|i| has_value(self.ty(binds[*i])));
        let carried: Carried = kept.map(|i| (i, self.shape(group, binds[i]))).collect();
        let packed = |(i, shape): &(usize, Shape)| {
            matches!(shape, Shape::Packed(_)) && !group.narrow.contains(&binds[*i])
        };
        if !carried.iter().all(packed) {
            return false;
        }
        fired("cpu/sides-if-taken");
        // First the side that is computed anyway, if there is one.
        let first = usize::from(is_long(sides[0]) && !is_long(sides[1]));
        let mut values: Option<Vec<Value>> = None;
        for k in [first, 1 - first] {
            if !is_long(sides[k]) {
                values = Some(self.side_over(
                    group,
                    (binds, &carried),
                    (cond, k == 0),
                    sides[k],
                    values,
                ));
                continue;
            }
            let kept = values.is_some();
            let before = match &values {
                Some(values) => values.clone(),
                None => self.nothing(group, (binds, &carried)),
            };
            let reads = reads_or_checks(sides[k]) || !group.sides.is_empty();
            if !reads && self.registers_of_side(group, (binds, cond), sides[k]) == 2 {
                let what = (binds, &carried);
                let before = (before, kept);
                let after = self.side_by_halves(group, what, (cond, k == 0), sides[k], before);
                values = Some(after);
                continue;
            }
            let taken = if reads {
                let per = group.masked(&[Atom::Var(cond)]).unwrap_or(2);
                group.sides.push((cond, k == 0));
                let taken = self.taken_masks(group, per);
                self.any_mask(taken)
            } else {
                self.any_lane_is(group, Atom::Var(cond), k == 0)
            };
            let what = (binds, &carried);
            let after =
                self.taken_side(group, what, (taken, cond, k == 0), sides[k], (before, kept));
            if reads {
                group.sides.pop();
            }
            values = Some(after);
        }
        self.bind_carried(group, binds, &carried, &values.unwrap_or_default());
        true
    }

    /// What there is after a side that is left out unless it is taken; before there are these values, of which some may be kept.
    pub(super) fn taken_side(
        &mut self,
        group: &mut Group<'_>,
        (binds, carried): (&[Var], &Carried),
        (taken, cond, wanted): (Value, Var, bool),
        side: &Body<Mem>,
        (before, kept): (Vec<Value>, bool),
    ) -> Vec<Value> {
        let [inside, join] = std::array::from_fn(|_| self.b.create_block());
        let types = self.types_of(&before);
        let joined = self.params(join, &types);
        let unless = block_args(before.iter().copied());
        self.b.ins().brif(taken, inside, &[], join, &unless);
        self.b.switch_to_block(inside);
        // What is put in vectors or taken out of them there is not there otherwise.
        let outside = group.lanes.clone();
        let before = kept.then_some(before);
        let chosen = self.side_over(group, (binds, carried), (cond, wanted), side, before);
        group.lanes = outside;
        self.b.ins().jump(join, &block_args(chosen));
        self.b.switch_to_block(join);
        joined
    }

    /// How many registers there are at least of each number that a side is made of, or yields.
    fn registers_of_side(
        &self,
        group: &Group<'_>,
        (binds, cond): (&[Var], Var),
        side: &Body<Mem>,
    ) -> usize {
        if !group.lanes.contains_key(&cond) {
            return 1;
        }
        let mut vars = free_in_body(&self.program.vars, side);
        vars.push(cond);
        let lanes = vars.iter().filter_map(|v| group.lanes.get(v));
        let counts = lanes.filter_map(|lanes| match lanes {
            Lanes::Many(_) | Lanes::Linear(..) => None,
            Lanes::Packed(all) | Lanes::Mask(all) => Some(all.len()),
            // They are not taken apart.
            Lanes::Narrow(_) => Some(1),
        });
        let mut least = counts.min().unwrap_or(1);
        let mut made = |v: Var| {
            let elem = self.ty(v).elem().filter(|ty| *ty != ScalarType::Bool);
            if let Some(count) = elem.map(|ty| group.plan.vectors(ty)) {
                least = least.min(count.unwrap_or(1));
            }
        };
        binds.iter().for_each(|v| made(*v));
        body_binders(side, &mut made);
        least
    }

    /// What there is after a side of two registers: where the lanes of one alone take it, that one goes through it, whichever it is.
    fn side_by_halves(
        &mut self,
        group: &mut Group<'_>,
        (binds, carried): (&[Var], &Carried),
        (cond, wanted): (Var, bool),
        side: &Body<Mem>,
        (before, kept): (Vec<Value>, bool),
    ) -> Vec<Value> {
        let plan = Plan {
            width: group.plan.width / 2,
            ..group.plan.clone()
        };
        let mut vars = free_in_body(&self.program.vars, side);
        vars.push(cond);
        vars.retain(|v| group.lanes.contains_key(v));
        let any = [0, 1].map(|half| {
            let lanes = self.piece_of(&group.lanes[&cond], (half, 2), plan.width);
            let mut piece = Group::of_lanes(&plan, HashMap::from([(cond, lanes)]));
            self.any_lane_is(&mut piece, Atom::Var(cond), wanted)
        });
        let [some, both, one, join] = std::array::from_fn(|_| self.b.create_block());
        let types = self.types_of(&before);
        let joined = self.params(join, &types);
        let either = self.b.ins().bor(any[0], any[1]);
        let unless = block_args(before.iter().copied());
        self.b.ins().brif(either, some, &[], join, &unless);
        self.b.switch_to_block(some);
        let all = self.b.ins().band(any[0], any[1]);
        self.b.ins().brif(all, both, &[], one, &[]);

        self.b.switch_to_block(both);
        // What is put in vectors or taken out of them there is not there otherwise.
        let outside = group.lanes.clone();
        let over = kept.then(|| before.clone());
        let chosen = self.side_over(group, (binds, carried), (cond, wanted), side, over);
        group.lanes = outside;
        self.b.ins().jump(join, &block_args(chosen));

        self.b.switch_to_block(one);
        let first = self.b.ins().bmask(types::I64, any[0]);
        let first = self.b.ins().splat(types::I64X2, first);
        let mut lanes = HashMap::new();
        for v in vars {
            let halves = [0, 1].map(|half| self.piece_of(&group.lanes[&v], (half, 2), plan.width));
            lanes.insert(v, self.either_lanes((any[0], first), halves));
        }
        let mut piece = Group::of_lanes(&plan, lanes);
        let part =
            |(i, shape): &(usize, Shape)| (*i, Shape::Packed(shape.count(group.plan.width) / 2));
        let shapes: Carried = carried.iter().map(part).collect();
        let mut halves = [Vec::new(), Vec::new()];
        let mut rest = before.as_slice();
        for (_, shape) in &shapes {
            let (mine, others) = rest.split_at(2 * shape.count(plan.width));
            let (low, high) = mine.split_at(mine.len() / 2);
            halves[0].extend(low);
            halves[1].extend(high);
            rest = others;
        }
        let mask = vec![first; halves[0].len()];
        let over = kept.then(|| self.blended(&mask, &halves[0], &halves[1]));
        let chosen = self.side_over(&mut piece, (binds, &shapes), (cond, wanted), side, over);
        let low = self.blended(&mask, &chosen, &halves[0]);
        let high = self.blended(&mask, &halves[1], &chosen);
        let mut after = Vec::new();
        let mut at = 0;
        for (_, shape) in &shapes {
            let all = at..at + shape.count(plan.width);
            after.extend(&low[all.clone()]);
            after.extend(&high[all.clone()]);
            at = all.end;
        }
        self.b.ins().jump(join, &block_args(after));
        self.b.switch_to_block(join);
        joined
    }

    /// The one or the other lanes of the same kind, as a truth value and a mask say.
    fn either_lanes(&mut self, (first, mask): (Value, Value), [low, high]: [Lanes; 2]) -> Lanes {
        let mut vectors = |low: &[Value], high: &[Value]| {
            let masks = vec![mask; low.len()];
            self.blended(&masks, low, high)
        };
        match (low, high) {
            (Lanes::Packed(low), Lanes::Packed(high)) => Lanes::Packed(vectors(&low, &high)),
            (Lanes::Mask(low), Lanes::Mask(high)) => Lanes::Mask(vectors(&low, &high)),
            (Lanes::Linear(low, step), Lanes::Linear(high, _)) => {
                Lanes::Linear(self.b.ins().select(first, low, high), step)
            }
            (Lanes::Many(low), Lanes::Many(high)) => {
                let both = low.into_iter().zip(high);
                let one = both.map(|(low, high)| self.b.ins().select(first, low, high));
                Lanes::Many(one.collect())
            }
            (low, high) => unreachable!("{low:?} and {high:?} are of one kind"),
        }
    }

    /// What a side yields, for lanes in which the condition is `wanted`; in others what there is before.
    fn side_over(
        &mut self,
        group: &mut Group<'_>,
        (binds, carried): (&[Var], &Carried),
        (cond, wanted): (Var, bool),
        side: &Body<Mem>,
        before: Option<Vec<Value>>,
    ) -> Vec<Value> {
        self.lanes_body(group, side);
        let mut values = Vec::new();
        for (i, shape) in carried {
            let yields = self.in_shape(group, *shape, side.result[*i]);
            let Some(before) = &before else {
                values.extend(yields);
                continue;
            };
            let per = group.plan.per_vector(self.elem(binds[*i]));
            let masks = self.mask(group, Atom::Var(cond), per.expect("it is in vectors"));
            let before = &before[values.len()..][..yields.len()];
            values.extend(if wanted {
                self.blended(&masks, &yields, before)
            } else {
                self.blended(&masks, before, &yields)
            });
        }
        values
    }

    /// Zeros, as a choice yields its values.
    pub(super) fn nothing(
        &mut self,
        group: &Group<'_>,
        (binds, carried): (&[Var], &Carried),
    ) -> Vec<Value> {
        let mut zeros = Vec::new();
        for (i, _) in carried {
            let ty = self.elem(binds[*i]);
            let zero = self.zero(clif(ty));
            zeros.extend(self.spread(group.plan, ty, zero));
        }
        zeros
    }
}
