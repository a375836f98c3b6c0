//! Choices that differ from lane to lane and have much to do on a side. Both sides are in lanes, and what one of them computes is left out
//! where no lane of a group takes it:
//!
//! ```text
//! if p x then x else long x   →   y = xs; if any (not (p xs)) then blend (p xs) xs (long xs) else xs
//! ```
//!
//! So a group never does more than its points would, one after the other.

use super::Group;
use super::Shape;
use super::choose::{BLENDED, arithmetic};
use super::gather::reads_or_checks;
use super::sequential::Carried;
use crate::emit::{Emit, block_args, clif};
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body};

/// Whether both sides of a choice may be computed, however much that is.
pub(super) fn is_computed(sides: [&Body<Mem>; 2]) -> bool {
    sides.into_iter().all(|side| arithmetic(side).is_some())
}

/// Whether a side of a choice has so much to do that it is left out if no lane takes it. What reads elements is, too, since these may not be there.
fn is_long(side: &Body<Mem>) -> bool {
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
            let before = match &values {
                Some(values) => values.clone(),
                None => self.nothing(group, (binds, &carried)),
            };
            let reads = reads_or_checks(sides[k]) || !group.sides.is_empty();
            let taken = if reads {
                let per = group.masked(&[Atom::Var(cond)]).unwrap_or(2);
                group.sides.push((cond, k == 0));
                let taken = self.taken_masks(group, per);
                self.any_mask(taken)
            } else {
                self.any_lane_is(group, Atom::Var(cond), k == 0)
            };
            let [inside, join] = std::array::from_fn(|_| self.b.create_block());
            let types = self.types_of(&before);
            let joined = self.params(join, &types);
            self.b
                .ins()
                .brif(taken, inside, &[], join, &block_args(before));
            self.b.switch_to_block(inside);
            // What is put in vectors or taken out of them there is not there otherwise.
            let outside = group.lanes.clone();
            let chosen = self.side_over(group, (binds, &carried), (cond, k == 0), sides[k], values);
            group.lanes = outside;
            if reads {
                group.sides.pop();
            }
            self.b.ins().jump(join, &block_args(chosen));
            self.b.switch_to_block(join);
            values = Some(joined);
        }
        self.bind_carried(group, binds, &carried, &values.unwrap_or_default());
        true
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
    fn nothing(&mut self, group: &Group<'_>, (binds, carried): (&[Var], &Carried)) -> Vec<Value> {
        let mut zeros = Vec::new();
        for (i, _) in carried {
            let ty = self.elem(binds[*i]);
            let zero = self.zero(clif(ty));
            zeros.extend(self.spread(group.plan, ty, zero));
        }
        zeros
    }
}
