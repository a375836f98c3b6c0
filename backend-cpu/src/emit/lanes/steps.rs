//! The steps of counted loops, of which some are gone through at a time where something is computed for all of them before or later.

use super::Group;
use super::ahead::{Ahead, STEPS, ahead};
use super::later::{Later, later};
use super::sequential::Order;
use super::shape::Shape;
use crate::emit::{Emit, clif, control};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, LoopParam, Vars};
use midend::ir::types::ScalarType;
use std::rc::Rc;

/// What of a loop's steps is computed for several of them at once, before and later.
pub(super) struct Aside {
    ahead: Option<Ahead>,
    later: Option<Rc<Later>>,
}

impl Aside {
    pub(super) fn of(
        vars: &Vars,
        group: &Group<'_>,
        counted: (Var, &[LoopParam]),
        body: &Body<Mem>,
    ) -> Self {
        // What is read on a side is there for lanes that take it.
        let later = later(vars, group.plan, counted, body).filter(|_| group.sides.is_empty());
        Self {
            ahead: ahead(vars, group.plan, counted, body),
            later: later.map(Rc::new),
        }
    }
}

impl Emit<'_, '_> {
    /// The steps of a loop whose bound is the same for all lanes.
    pub(super) fn lanes_steps(
        &mut self,
        group: &mut Group<'_>,
        (vars, carried, inits): (&[Var], &[(usize, Shape)], &[Value]),
        (index, ty, bound): (Var, ScalarType, Value),
        (body, Aside { ahead, later }): (&Body<Mem>, &Aside),
    ) -> Vec<Value> {
        let strip = control::strip(body);
        let order = Order::of(group.plan, carried, None);
        let inits = &order.arranged(inits);
        if ahead.is_none() && later.is_none() {
            let results = self.counted(ty, bound, strip, inits, |emit, i, values| {
                emit.bind(index, i);
                emit.lanes_step(group, (vars, carried, &order), body, values)
            });
            return order.restored(&results);
        }
        let ahead = ahead.as_ref().map(|ahead| (ahead, self.room_ahead(ahead)));
        let later = later.as_ref().map(|later| (later, self.queue(later)));
        let body = ahead.as_ref().map_or(body, |(ahead, _)| &ahead.rest);
        let zero = self.i64(0);
        let bound = self.resize(bound, clif(ty), types::I64, true);
        let bound = self.b.ins().smax(bound, zero);
        let rounded = self.b.ins().iadd_imm_s(bound, STEPS - 1);
        let shift = i64::from(STEPS.trailing_zeros());
        let strips = self.b.ins().ushr_imm_u(rounded, shift);
        let results = self.counted(ScalarType::I64, strips, strip, inits, |emit, s, values| {
            let first = emit.b.ins().imul_imm_s(s, STEPS);
            if let Some((ahead, room)) = &ahead {
                emit.look_ahead(ahead, (group.plan.parts, room), (index, first));
            }
            let end = emit.b.ins().iadd_imm_s(first, STEPS);
            let end = emit.b.ins().smin(end, bound);
            // Behind what is carried is how many are in the queue.
            let mut inits = values.to_vec();
            inits.extend(later.as_ref().map(|_| zero));
            let mut next = emit.few((first, end), &inits, |emit, i, now| {
                let step = emit.b.ins().isub(i, first);
                if let Some((ahead, room)) = &ahead {
                    emit.read_ahead(ahead, room, step);
                }
                let i = emit.resize(i, types::I64, clif(ty), true);
                emit.bind(index, i);
                let (now, many) = now.split_at(values.len());
                let around = group.later.take();
                if let Some((later, queue)) = &later {
                    group.later = Some((Rc::clone(later), queue.in_step(step, many[0])));
                }
                let mut next = emit.lanes_step(group, (vars, carried, &order), body, now);
                next.extend(group.later.take().map(|(_, queue)| queue.many()));
                group.later = around;
                next
            });
            if let Some((later, queue)) = &later {
                let many = next.pop().expect("it is carried");
                emit.catch_up(later, (queue, many), first);
            }
            next
        });
        order.restored(&results)
    }
}
