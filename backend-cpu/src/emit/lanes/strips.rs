//! Loops that lanes leave at different steps, in strips: some steps, and then a look at whether a lane is still inside.
//!
//! ```text
//! loop while n < limit && p z       single: in = in && n < limit && p z or exit if none; step; single, or strip if a strip is in bounds
//!   step                       ──►  strip:  single if none in; for each register: (in = in && p z; step) twice; strip or single
//! ```
//!
//! What lanes that have left compute is not seen, so that more steps than it takes do no harm. A counter that begins alike in all lanes is the
//! same in all that are inside, and a number in a general register tells how far it is: it is compared once for all steps of a strip. The
//! first few steps are taken one by one, since loops that end soon would do some in vain.
//!
//! The registers of a group are through with the steps of a strip one after the other, so that few are in use at a time; the
//! processor begins with the next one while it waits for the results of the one before. What is carried is in memory meanwhile, also where
//! it is in a register: what is stored is computed before what comes behind, and Cranelift computes everything else where it is asked for.

use super::choose::arithmetic;
use super::sequential::{Diverging, Order};
use super::{Group, Lanes, Plan, Shape};
use crate::emit::{Emit, block_args, clif, plain};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Type, Value, types};
use midend::analysis::bounded::{Bounded, bounded};
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, LoopParam, Vars};
use std::collections::HashMap;

/// The steps of a strip.
const STEPS: usize = 2;
/// The steps that are taken one by one at first.
const SINGLE: usize = 4;
/// The most statements of a step of which several are emitted one after the other.
const UNROLLED: usize = 24;

/// The most steps that are taken with one look where nothing counts them.
pub(super) const AT_ONCE: usize = 8;

/// How many steps of a loop are taken with one look at whether a lane is still inside: those behind the last one are in vain.
pub(super) fn steps_at_once(cond: &Body<Mem>, body: &Body<Mem>) -> usize {
    let all: Option<usize> = [cond, body].map(arithmetic).into_iter().sum();
    all.map_or(1, |all| (UNROLLED / all.max(1)).clamp(1, AT_ONCE))
}

/// What bounds the counter of a loop, and the rest of its condition.
pub(super) struct Strips {
    bounded: Bounded,
    rest: Body<Mem>,
}

impl Strips {
    /// Whether the rest of the condition differs between lanes. Only then are there masks of it.
    pub(super) fn vary(&self, plan: &Plan) -> bool {
        self.rest.result[0].as_var().is_some_and(|v| plan.varies(v))
    }
}

/// How a loop is done in strips, if it is, where such variables vary before it.
pub(super) fn strips(
    vars: &Vars,
    varies: impl Fn(Var) -> bool,
    params: &[LoopParam],
    (cond, body): (&Body<Mem>, &Body<Mem>),
) -> Option<Strips> {
    let is_short = cond.stms.len() + body.stms.len() <= UNROLLED;
    let bounded = bounded(params, cond, body).filter(|_| is_short)?;
    let rest = bounded.rest(vars, cond)?;
    let alike = |atom: Atom| !atom.as_var().is_some_and(&varies);
    let is_known = alike(params[bounded.place].init) && alike(bounded.limit);
    is_known.then_some(Strips { bounded, rest })
}

/// A part of a group, with the same number of vectors of everything.
struct Piece {
    plan: Plan,
    lanes: HashMap<Var, Lanes>,
    carried: Vec<(usize, Shape)>,
    order: Order,
    own: usize,
}

/// Memory for what a loop carries, and the types of that.
struct Room {
    start: Value,
    step: i32,
    types: Vec<Type>,
}

/// The blocks of a loop: for single steps, to begin with a strip, for that, and to go on behind it.
struct Blocks {
    single: Block,
    enter: Block,
    strip: Block,
    leave: Block,
}

impl Emit<'_, '_> {
    /// The loop: see above. Yields what is carried at its end.
    pub(super) fn in_strips(
        &mut self,
        group: &mut Group<'_>,
        diverging: &Diverging<'_>,
        strips: &Strips,
        inits: &[Value],
    ) -> Vec<Value> {
        fired("cpu/lanes-in-strips");
        let room = Room {
            start: self.stack_slot(inits.len() as u32 * group.plan.step() as u32),
            step: group.plan.step(),
            types: self.types_of(inits),
        };
        let pieces = self.pieces(group, diverging);
        let (far, start) = self.far_from(diverging, &strips.bounded);
        let mut block = || self.b.create_block();
        let blocks = Blocks {
            single: block(),
            enter: block(),
            strip: block(),
            leave: block(),
        };
        let (inside, exit) = (block(), block());
        let first = [start].into_iter().chain(inits.iter().copied());
        self.b.ins().jump(blocks.single, &block_args(first));

        let step = self.params(blocks.single, &[types::I64])[0];
        let carried = self.params(blocks.single, &room.types);
        self.b.switch_to_block(blocks.single);
        self.loops.push(carried[0]);
        self.diverging_holds(group, diverging, diverging.cond, &carried);
        let any = self.any_lane(group, diverging.cond.result[0]);
        self.leave_unless(any, (exit, inside));
        self.b.switch_to_block(inside);
        let next = self.diverging_step(group, diverging, diverging.cond.result[0]);
        self.poll();
        let next_step = self.b.ins().iadd_imm_s(step, 1);
        let is_far = self.b.ins().icmp(IntCC::UnsignedLessThan, next_step, far);
        let args = block_args([next_step].into_iter().chain(next.iter().copied()));
        self.b
            .ins()
            .brif(is_far, blocks.enter, &[], blocks.single, &args);

        // What goes on whatever the masks say stays in registers.
        let masks: Vec<usize> = diverging.masks();
        let quick = diverging.going_on(group.plan);
        let is_quick = |k: &usize| quick.contains(k);
        self.b.switch_to_block(blocks.enter);
        for (k, value) in next.iter().enumerate() {
            self.b
                .ins()
                .store(plain(), *value, room.start, room.step * k as i32);
        }
        let kept = (0..next.len()).filter(is_quick).map(|k| next[k]);
        let args = block_args([next_step].into_iter().chain(kept));
        self.b.ins().jump(blocks.strip, &args);
        self.strip(
            &pieces,
            (diverging, strips),
            (&room, &blocks, far),
            (&quick, &masks),
        );
        self.loops.pop();
        self.b.switch_to_block(exit);
        carried
    }

    /// A strip, and the way back to single steps.
    fn strip(
        &mut self,
        pieces: &[Piece],
        (diverging, strips): (&Diverging<'_>, &Strips),
        (room, blocks, far): (&Room, &Blocks, Value),
        (quick, masks): (&[usize], &[usize]),
    ) {
        let at = |k: usize| room.step * k as i32;
        let read = |emit: &mut Self, k: usize| {
            emit.b.ins().load(room.types[k], plain(), room.start, at(k))
        };
        let quick_types: Vec<Type> = quick.iter().map(|k| room.types[*k]).collect();
        let step = self.params(blocks.strip, &[types::I64])[0];
        let kept = self.params(blocks.strip, &quick_types);
        self.b.switch_to_block(blocks.strip);
        let inside: Vec<Value> = masks.iter().map(|k| read(self, *k)).collect();
        let any = self.any_mask(inside);
        let none = self.b.ins().icmp_imm_s(IntCC::Equal, any, 0);
        let some = self.b.create_block();
        let left = block_args([step]);
        self.b.ins().brif(none, blocks.leave, &left, some, &[]);
        self.b.switch_to_block(some);
        self.poll();
        let many = room.types.len() / pieces.len();
        let mut next_kept = Vec::new();
        for (number, piece) in pieces.iter().enumerate() {
            let all = number * many..(number + 1) * many;
            let mut values = Vec::new();
            for k in all.clone() {
                let place = quick.iter().position(|q| *q == k);
                values.push(place.map_or_else(|| read(self, k), |place| kept[place]));
            }
            let mut group = Group::of_lanes(&piece.plan, piece.lanes.clone());
            let part = diverging.part((&piece.carried, &piece.order, piece.own));
            for _ in 0..STEPS {
                self.diverging_holds(&mut group, &part, &strips.rest, &values);
                values = self.diverging_step(&mut group, &part, strips.rest.result[0]);
            }
            // Masks first, since less is needed for what comes then.
            let (going, others): (Vec<_>, Vec<_>) =
                all.zip(values).partition(|(k, _)| quick.contains(k));
            for (k, value) in others.into_iter().chain(going.iter().copied()) {
                self.b.ins().store(plain(), value, room.start, at(k));
            }
            next_kept.extend(going.into_iter().map(|(_, value)| value));
        }
        let step = self.b.ins().iadd_imm_s(step, STEPS as i64);
        let is_far = self.b.ins().icmp(IntCC::UnsignedLessThan, step, far);
        let again = block_args([step].into_iter().chain(next_kept));
        let left = block_args([step]);
        self.b
            .ins()
            .brif(is_far, blocks.strip, &again, blocks.leave, &left);
        let step = self.params(blocks.leave, &[types::I64])[0];
        self.b.switch_to_block(blocks.leave);
        let values: Vec<Value> = (0..room.types.len()).map(|k| read(self, k)).collect();
        let args = block_args([step].into_iter().chain(values));
        self.b.ins().jump(blocks.single, &args);
    }

    /// Below how many steps a strip is in bounds, as an unsigned number, and with how many the loop begins: there are some of which each is
    /// looked at, which are less than none.
    fn far_from(&mut self, diverging: &Diverging<'_>, bounded: &Bounded) -> (Value, Value) {
        let first = self.atom(diverging.params[bounded.place].init);
        let limit = self.atom(bounded.limit);
        let [first, limit] =
            [first, limit].map(|v| self.resize(v, clif(bounded.ty), types::I64, true));
        let zero = self.i64(0);
        let steps = self.b.ins().isub(limit, first);
        let any = self.b.ins().icmp(IntCC::SignedLessThan, first, limit);
        let steps = self.b.ins().select(any, steps, zero);
        let least = (SINGLE + STEPS) as i64 - 1;
        let most = IntCC::UnsignedGreaterThan;
        let enough = self.b.ins().icmp_imm_u(most, steps, least);
        let end = self.b.ins().iadd_imm_s(steps, -least);
        let end = self.b.ins().select(enough, end, zero);
        (end, self.i64(-(SINGLE as i64)))
    }

    /// The group in as many parts as there are vectors of what the loop carries, or as one.
    fn pieces(&mut self, group: &Group<'_>, diverging: &Diverging<'_>) -> Vec<Piece> {
        let counts = |lanes: &Lanes| match lanes {
            Lanes::Many(_) | Lanes::Linear(..) => None,
            Lanes::Packed(all) | Lanes::Narrow(all) | Lanes::Mask(all) => Some(all.len()),
        };
        let vectors = |shape: Shape| match shape {
            Shape::Packed(count) | Shape::Narrow(count) => Some(count),
            Shape::Many | Shape::Uniform => None,
        };
        let carried = diverging.carried.iter().filter_map(|(_, s)| vectors(*s));
        let outside = group.lanes.values().filter_map(counts);
        let count = carried.chain(outside).min().unwrap_or(1);
        let plan = Plan {
            width: group.plan.width / count,
            ..group.plan.clone()
        };
        let carried: Vec<(usize, Shape)> = diverging
            .carried
            .iter()
            .map(|(i, shape)| {
                let part = match shape {
                    Shape::Packed(all) => Shape::Packed(all / count),
                    Shape::Narrow(all) => Shape::Narrow(all / count),
                    Shape::Many | Shape::Uniform => *shape,
                };
                (*i, part)
            })
            .collect();
        let masks = diverging.masks().len() / count;
        let own = carried.iter().map(|(_, s)| s.count(plan.width)).sum();
        let piece = |number: usize| {
            let lanes = group.lanes.iter().map(|(var, lanes)| {
                let lanes = self.piece_of(lanes, (number, count), plan.width);
                (*var, lanes)
            });
            Piece {
                lanes: lanes.collect(),
                carried: carried.clone(),
                order: Order::of(&plan, &carried, Some(masks)),
                own,
                plan: plan.clone(),
            }
        };
        (0..count).map(piece).collect()
    }

    /// One of so many parts of lanes, which are as many.
    pub(super) fn piece_of(
        &mut self,
        lanes: &Lanes,
        (number, count): (usize, usize),
        width: usize,
    ) -> Lanes {
        let of = |all: &[Value]| {
            let many = all.len() / count;
            all[number * many..(number + 1) * many].to_vec()
        };
        match lanes {
            Lanes::Many(all) => Lanes::Many(of(all)),
            Lanes::Packed(all) => Lanes::Packed(of(all)),
            Lanes::Narrow(all) => Lanes::Narrow(of(all)),
            Lanes::Mask(all) => Lanes::Mask(of(all)),
            Lanes::Linear(first, step) => {
                let ahead = step * (number * width) as i64;
                Lanes::Linear(self.b.ins().iadd_imm_s(*first, ahead), *step)
            }
        }
    }
}
