//! The queue of lanes for which something is computed later.

use super::super::ahead::STEPS;
use super::super::plan::Plan;
use super::super::taken::is_long;
use super::super::vector::vector;
use super::super::{Group, Lanes, Shape};
use super::Later;
use crate::emit::{Emit, block_args, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Stm};
use midend::ir::types::ScalarType;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// Memory for what is kept, and the queue, with how many are in it, in a step which is so many behind the first of them.
#[derive(Clone)]
pub(in crate::emit::lanes) struct Queue {
    places: Value,
    kept: Vec<Value>,
    many: Value,
    step: Value,
}

impl Queue {
    /// The same in a step before which so many are in it.
    pub(in crate::emit::lanes) fn in_step(&self, step: Value, many: Value) -> Self {
        Self {
            step,
            many,
            ..self.clone()
        }
    }

    pub(in crate::emit::lanes) const fn many(&self) -> Value {
        self.many
    }
}

/// The type of the places of lanes, and how many a vector has.
fn of_places(plan: &Plan) -> (ScalarType, usize) {
    if plan.width >= 4 * plan.parts {
        (ScalarType::I32, 4)
    } else {
        (ScalarType::I64, 2)
    }
}

impl Emit<'_, '_> {
    /// Memory for a queue.
    pub(in crate::emit::lanes) fn queue(&mut self, later: &Later) -> Queue {
        fired("cpu/sides-later");
        let steps = STEPS as usize;
        let width = later.plan.width;
        let (ty, _) = of_places(&later.plan);
        let places = self.stack_slot((ty.bytes() * (steps + 1) * width) as u32);
        let kept = later.inputs.iter().map(|v| self.elem(*v).bytes());
        let kept: Vec<usize> = kept.collect();
        let kept = kept
            .into_iter()
            .map(|bytes| self.stack_slot((bytes * steps * width) as u32));
        let kept = kept.collect();
        let zero = self.i64(0);
        Queue {
            places,
            kept,
            many: zero,
            step: zero,
        }
    }

    /// A statement whose long side is computed later. Whether it was one.
    pub(in crate::emit::lanes) fn lanes_later(
        &mut self,
        group: &mut Group<'_>,
        stm: &Stm<Mem>,
    ) -> bool {
        let is_it = |(later, _): &(Rc<Later>, Queue)| stm.binds[..] == [later.bind];
        let Some((later, mut queue)) = group.later.take_if(|it| is_it(it)) else {
            return false;
        };
        let width = group.plan.width;
        let first = self.b.ins().imul_imm_s(queue.step, width as i64);
        for (v, room) in later.inputs.iter().zip(&queue.kept) {
            let elem = self.elem(*v);
            let place = self.element(*room, elem, first);
            let stride = elem.bytes() as i64;
            self.lanes_store(group, (None, elem), (place, stride), Atom::Var(*v));
        }
        let (ty, per) = of_places(group.plan);
        let masks = self.mask(group, Atom::Var(later.cond), per);
        let numbers = Plan::of_numbers(width, group.plan.parts, BTreeSet::new());
        let first = self.resize(first, types::I64, clif(ty), true);
        let places = self.grown(&numbers, ty, (first, 1));
        let places = places.expect("there are enough lanes");
        for (place, mut mask) in places.into_iter().zip(masks) {
            if !later.wanted {
                mask = self.b.ins().bnot(mask);
            }
            let to = self.element(queue.places, ty, queue.many);
            let count = self.store_kept(place, (mask, group.plan.parts), to);
            queue.many = self.b.ins().iadd(queue.many, count);
        }
        let (binds, carried) = ([later.bind], {
            let vectors = group.plan.vectors(self.elem(later.bind));
            vec![(0, Shape::Packed(vectors.expect("it is in vectors")))]
        });
        let values = if is_long(&later.other) {
            let taken = self.any_lane_is(group, Atom::Var(later.cond), !later.wanted);
            let what = (&binds[..], &carried);
            let before = self.nothing(group, what);
            let taken = (taken, later.cond, !later.wanted);
            self.taken_side(group, what, taken, &later.other, (before, false))
        } else {
            self.lanes_body(group, &later.other);
            self.packed(group, later.other.result[0])
        };
        group.lanes.insert(later.bind, Lanes::Packed(values));
        group.later = Some((later, queue));
        true
    }

    /// Computes the `many` that are in the queue, of steps of which the first is `first`.
    pub(in crate::emit::lanes) fn catch_up(
        &mut self,
        later: &Later,
        (queue, many): (&Queue, Value),
        first: Value,
    ) {
        let plan = &later.plan;
        let width = plan.width as i64;
        let (ty, per) = of_places(plan);
        let any = self.load(ty, queue.places, 0);
        let all = self.b.ins().splat(vector(ty), any);
        let all = vec![all; plan.filled(per)];
        let end = self.element(queue.places, ty, many);
        self.store_vectors((None, end), (&all, plan.step()));
        let rounded = self.b.ins().iadd_imm_s(many, width - 1);
        let rounded = self.b.ins().band_imm_s(rounded, -width);
        let elem = self.elem(later.buffer);
        let index = match later.behind {
            Some(behind) => {
                let behind = self.atom(behind);
                self.b.ins().iadd(first, behind)
            }
            None => first,
        };
        let index = self.b.ins().imul_imm_s(index, width);
        let start = self.var(later.buffer);
        let start = self.element(start, elem, index);
        let zero = self.i64(0);
        self.few_by(width, (zero, rounded), &[], |emit, k, _| {
            let from = emit.element(queue.places, ty, k);
            let [one, last] = [0, width - 1].map(|lane| emit.place_in_queue(plan, from, lane));
            let span = emit.b.ins().isub(last, one);
            // Where most lanes take the side, many are next to each other.
            let near = emit.b.ins().icmp_imm_s(IntCC::Equal, span, width - 1);
            let mut group = emit.what_is_kept(later, queue, (from, one, near));
            emit.lanes_body(&mut group, &later.body);
            let values = emit.packed(&mut group, later.body.result[0]);
            let [beside, apart, join] = [(); 3].map(|()| emit.b.create_block());
            emit.b.ins().brif(near, beside, &[], apart, &[]);
            emit.b.switch_to_block(beside);
            let to = emit.element(start, elem, one);
            emit.store_vectors((None, to), (&values, plan.step()));
            emit.b.ins().jump(join, &[]);
            emit.b.switch_to_block(apart);
            let values = emit.unpacked(&values, plan.parts);
            for (lane, value) in (0..).zip(values) {
                let place = emit.place_in_queue(plan, from, lane);
                let to = emit.element(start, elem, place);
                emit.b.ins().store(plain(), value, to, 0);
            }
            emit.b.ins().jump(join, &[]);
            emit.b.switch_to_block(join);
            vec![]
        });
    }

    /// The place of a lane, of those that are in the queue from some one on.
    fn place_in_queue(&mut self, plan: &Plan, from: Value, lane: i64) -> Value {
        let (ty, _) = of_places(plan);
        let offset = (lane * ty.bytes() as i64) as i32;
        if ty == ScalarType::I32 {
            self.b.ins().uload32(plain(), from, offset)
        } else {
            self.load(ty, from, offset)
        }
    }

    /// What is kept for the lanes that are in the queue from some one on, of which the first has this place, and whether the others come next to it.
    fn what_is_kept<'p>(
        &mut self,
        later: &'p Later,
        queue: &Queue,
        (from, one, near): (Value, Value, Value),
    ) -> Group<'p> {
        let plan = &later.plan;
        let [beside, apart, join] = [(); 3].map(|()| self.b.create_block());
        self.b.ins().brif(near, beside, &[], apart, &[]);
        let rooms = later.inputs.iter().zip(&queue.kept);
        let rooms: Vec<(Var, Value, ScalarType)> =
            rooms.map(|(v, room)| (*v, *room, self.elem(*v))).collect();
        let mut group = Group::of_lanes(plan, HashMap::new());
        let mut types = Vec::new();
        for (_, _, elem) in &rooms {
            let lanes = match plan.vectors(*elem) {
                Some(vectors) => vec![vector(*elem); vectors],
                None => vec![clif(*elem); plan.width],
            };
            types.extend(lanes);
        }
        let joined = self.params(join, &types);
        for block in [beside, apart] {
            self.b.switch_to_block(block);
            let mut all = Vec::new();
            for (v, room, elem) in &rooms {
                let bytes = elem.bytes() as i64;
                let lanes = if block == beside {
                    let start = self.element(*room, *elem, one);
                    self.lanes_load(&group, *elem, start, bytes)
                } else {
                    let values = (0..plan.width as i64).map(|lane| {
                        let place = self.place_in_queue(plan, from, lane);
                        let start = self.element(*room, *elem, place);
                        self.load(*elem, start, 0)
                    });
                    Lanes::Many(values.collect())
                };
                group.lanes.insert(*v, lanes);
                let shape = match plan.vectors(*elem) {
                    Some(vectors) => Shape::Packed(vectors),
                    None => Shape::Many,
                };
                all.extend(self.in_shape(&mut group, shape, Atom::Var(*v)));
            }
            self.b.ins().jump(join, &block_args(all));
        }
        self.b.switch_to_block(join);
        let mut rest = &joined[..];
        for (v, _, elem) in rooms {
            let vectors = plan.vectors(elem);
            let (mine, others) = rest.split_at(vectors.unwrap_or(plan.width));
            let mine = mine.to_vec();
            let lanes = match vectors {
                Some(_) => Lanes::Packed(mine),
                None => Lanes::Many(mine),
            };
            group.lanes.insert(v, lanes);
            rest = others;
        }
        group
    }
}
