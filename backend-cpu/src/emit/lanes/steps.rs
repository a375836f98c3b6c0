//! The steps of counted loops, of which some are gone through at a time where something is computed for all of them before or later.

mod columns;

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

pub(super) use columns::Filled;
use columns::{Columns, columns};

/// What of a loop's steps is computed for several of them at once, before and later.
pub(super) struct Aside {
    ahead: Option<Ahead>,
    later: Option<Rc<Later>>,
    columns: Option<Columns>,
}

impl Aside {
    pub(super) fn of(
        vars: &Vars,
        group: &Group<'_>,
        counted: (Var, &[LoopParam]),
        body: &Body<Mem>,
    ) -> Self {
        // What is read on a side is there for lanes that take it.
        let everywhere = group.sides.is_empty();
        let later = later(vars, group.plan, counted, body).filter(|_| everywhere);
        Self {
            ahead: ahead(vars, group.plan, counted, body),
            later: later.map(Rc::new),
            columns: columns(vars, group.plan, counted, body).filter(|_| everywhere),
        }
    }

    const fn is_nothing(&self) -> bool {
        self.ahead.is_none() && self.later.is_none() && self.columns.is_none()
    }
}

impl Emit<'_, '_> {
    /// The steps of a loop whose bound is the same for all lanes.
    pub(super) fn lanes_steps(
        &mut self,
        group: &mut Group<'_>,
        (vars, carried, inits): (&[Var], &[(usize, Shape)], &[Value]),
        (index, ty, bound): (Var, ScalarType, Value),
        (body, aside): (&Body<Mem>, &Aside),
    ) -> Vec<Value> {
        let strip = control::strip(body);
        let order = Order::of(group.plan, carried, None);
        let inits = &order.arranged(inits);
        if aside.is_nothing() {
            let results = self.counted(ty, bound, strip, inits, |emit, i, values| {
                emit.bind(index, i);
                emit.lanes_step(group, (vars, carried, &order), body, values)
            });
            return order.restored(&results);
        }
        let ahead = aside.ahead.as_ref();
        let ahead = ahead.map(|ahead| (ahead, self.room_ahead(ahead)));
        let later = aside.later.as_ref();
        let later = later.map(|later| (later, self.queue(later)));
        let columns = aside.columns.as_ref();
        let columns = columns.map(|columns| (columns, self.rooms(group.plan, columns, STEPS)));
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
            let filled = columns.as_ref().map(|(columns, rooms)| {
                emit.fill_columns(group, (columns, rooms), (index, first, end))
            });
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
                let around = (group.later.take(), group.columns.take());
                group.columns = filled.as_ref().map(|filled| filled.in_step(step));
                if let Some((later, queue)) = &later {
                    group.later = Some((Rc::clone(later), queue.in_step(step, many[0])));
                }
                let mut next = emit.lanes_step(group, (vars, carried, &order), body, now);
                next.extend(group.later.take().map(|(_, queue)| queue.many()));
                (group.later, group.columns) = around;
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
