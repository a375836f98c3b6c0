//! Long sides of choices that are computed later, for the lanes that take them alone. In a counted loop whose steps store what is chosen in arrays
//! of the lanes, all lanes get the other side at first, and the places of those that want the long one stand in a queue, which is gone through
//! in full vectors after some steps:
//!
//! ```text
//!                                                 loop t < n, many = 0 {
//! loop t < n {                                      a[t] = short xs; kept[t] = xs
//!   a[t] = if p x then long x else short x   →      queue[many..] = the places of lanes with p xs, one after the other
//! }                                               }
//!                                                 loop k < many { a[queue[k..]] = long kept[queue[k..]] }
//! ```
//!
//! A side that one lane of twenty takes is taken in every other group of sixteen, which nobody foresees, and computed for all of them there. Now it is
//! computed about as often as it is wanted. A lane computes what it would have computed, so results are the same to the bit. The last vector is
//! filled with the first place, where the same is stored again.

use super::ahead::STEPS;
use super::choose::{BLENDED, arithmetic, computed};
use super::plan::Plan;
use super::taken::is_long;
use super::vector::vector;
use super::{Group, Lanes, Shape};
use crate::emit::{Emit, clif, plain};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, ScalarOp, UnOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopParam, Stm, Vars};
use midend::ir::types::{ScalarType, Type};
use midend::ir::walk::{body_binders, free_in_body, free_in_stm};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// The least operations of a side that is worth it, and how many statements deep what is kept for it may be made again.
const LONG: usize = 2 * BLENDED;
const DEEP: usize = 4;
/// The most numbers of a lane that are kept for it.
const KEPT: usize = 6;

/// A side that is computed later.
pub(super) struct Later {
    /// The choice, its condition, and for which truth value the side is.
    bind: Var,
    cond: Var,
    wanted: bool,
    other: Body<Mem>,
    /// What is kept of each step, and what is computed of it later, with what comes behind the choice.
    inputs: Vec<Var>,
    body: Body<Mem>,
    /// Where it is stored: so many elements behind the counter.
    buffer: Var,
    behind: Option<Atom>,
    plan: Plan,
}

/// Memory for what is kept, and the queue, with how many are in it, in a step which is so many behind the first of them.
#[derive(Clone)]
pub(super) struct Queue {
    places: Value,
    kept: Vec<Value>,
    many: Value,
    step: Value,
}

impl Queue {
    /// The same in a step before which so many are in it.
    pub(super) fn in_step(&self, step: Value, many: Value) -> Self {
        Self {
            step,
            many,
            ..self.clone()
        }
    }

    pub(super) const fn many(&self) -> Value {
        self.many
    }
}

/// The side of a choice in a loop's body that is worth it.
pub(super) fn later(
    vars: &Vars,
    plan: &Plan,
    (index, params): (Var, &[LoopParam]),
    body: &Body<Mem>,
) -> Option<Later> {
    if !plan.has_arrays() || vars[index].ty.elem() != Some(ScalarType::I64) {
        return None;
    }
    let mut inside: BTreeSet<Var> = params.iter().map(|param| param.var).collect();
    inside.insert(index);
    body_binders(body, &mut |v| {
        inside.insert(v);
    });
    let walk = Walk {
        vars,
        plan,
        index,
        inside,
        body,
    };
    (0..body.stms.len()).find_map(|at| walk.choice(at))
}

struct Walk<'a> {
    vars: &'a Vars,
    plan: &'a Plan,
    index: Var,
    /// What may differ from step to step.
    inside: BTreeSet<Var>,
    body: &'a Body<Mem>,
}

impl Walk<'_> {
    fn choice(&self, at: usize) -> Option<Later> {
        let stm = &self.body.stms[at];
        let Exp::If {
            cond: Atom::Var(cond),
            then,
            otherwise,
        } = &stm.exp
        else {
            return None;
        };
        let &[bind] = &stm.binds[..] else {
            return None;
        };
        let counts = [arithmetic(then)?, arithmetic(otherwise)?];
        let is_number = |v: Var| matches!(self.vars[v].ty, Type::Scalar(elem) if self.plan.vectors(elem).is_some());
        if counts.into_iter().max() < Some(LONG) || !self.plan.varies(*cond) || !is_number(bind) {
            return None;
        }
        let wanted = counts[0] >= counts[1];
        let (side, other) = if wanted {
            (then, otherwise)
        } else {
            (otherwise, then)
        };
        let (behind_it, store) = self.behind(at, bind)?;
        let Exp::Op(Mem::Store {
            buffer,
            index,
            value,
        }) = &self.body.stms[store].exp
        else {
            return None;
        };
        let behind = self.distance(*index)?;
        if !self.is_alone(*buffer, store) || !is_number(value.as_var()?) {
            return None;
        }
        let mut stms = side.stms.clone();
        stms.push(Stm {
            binds: vec![bind],
            certs: Vec::new(),
            exp: Exp::Atom(side.result[0]),
            span: stm.span,
        });
        stms.extend(behind_it.into_iter().cloned());
        let result = vec![*value];
        let (inputs, body) = self.with_inputs(Body { stms, result })?;
        let mut varying = self.plan.varying.clone();
        body_binders(&body, &mut |v| {
            varying.remove(&v);
        });
        varying.extend(&inputs);
        vary(self.vars, &body, &mut varying);
        Some(Later {
            bind,
            cond: *cond,
            wanted,
            other: other.clone(),
            inputs,
            body,
            buffer: *buffer,
            behind,
            plan: Plan {
                varying,
                ..self.plan.clone()
            },
        })
    }

    /// What is computed of a choice, and the statement that stores that, which nothing else uses.
    fn behind(&self, at: usize, bind: Var) -> Option<(Vec<&Stm<Mem>>, usize)> {
        let mut of_it = BTreeSet::from([bind]);
        let mut computes = Vec::new();
        let mut count = 0;
        let mut stored = None;
        for (k, stm) in self.body.stms.iter().enumerate().skip(at + 1) {
            let free = free_in_stm(self.vars, stm);
            if !free.iter().any(|v| of_it.contains(v)) {
                continue;
            }
            if let Exp::Op(Mem::Store { index, .. }) = &stm.exp {
                let elsewhere = index.as_var().is_some_and(|v| of_it.contains(&v));
                if elsewhere || stored.is_some() {
                    return None;
                }
                stored = Some(k);
                continue;
            }
            let one = Body {
                stms: vec![stm.clone()],
                result: Vec::new(),
            };
            count += arithmetic(&one)?;
            of_it.extend(&stm.binds);
            computes.push(stm);
        }
        let mut carried = self.body.result.iter().filter_map(|atom| atom.as_var());
        let stays = !carried.any(|v| of_it.contains(&v)) && count <= BLENDED / 2;
        Some((computes, stored.filter(|_| stays)?))
    }

    /// How far behind the counter an index is, so that each step has an element of its own.
    fn distance(&self, at: Atom) -> Option<Option<Atom>> {
        let counter = Atom::Var(self.index);
        if at == counter {
            return Some(None);
        }
        let defined = |stm: &&Stm<Mem>| stm.binds.iter().any(|v| at == Atom::Var(*v));
        let stm = self.body.stms.iter().find(defined)?;
        let Exp::Scalar(ScalarOp::Bin(BinOp::Add, ScalarType::I64), args) = &stm.exp else {
            return None;
        };
        let other = if args[0] == counter { args[1] } else { args[0] };
        let alike = !other
            .as_var()
            .is_some_and(|v| self.inside.contains(&v) || self.plan.varies(v));
        (alike && args.contains(&counter)).then_some(Some(other))
    }

    /// Whether an array that was there before is stored to by one statement of the loop and not gone to otherwise.
    fn is_alone(&self, buffer: Var, store: usize) -> bool {
        let goes = |(k, stm): (usize, &Stm<Mem>)| {
            let free = free_in_stm(self.vars, stm);
            let mut arrays = free.iter().filter(|v| self.plan.own.contains(v));
            // What goes under another name may be the same array.
            arrays.all(|v| self.plan.is_array(*v)) && (k == store || !free.contains(&buffer))
        };
        self.plan.is_array(buffer)
            && !self.inside.contains(&buffer)
            && self.body.stms.iter().enumerate().all(goes)
    }

    /// What has to be kept for what is computed later, and that with what is made again.
    fn with_inputs(&self, mut body: Body<Mem>) -> Option<(Vec<Var>, Body<Mem>)> {
        let free = free_in_body(self.vars, &body).into_iter();
        let differs = |v: &Var| has_value(&self.vars[*v].ty) && self.differs(*v);
        let mut inputs: BTreeSet<Var> = free.filter(differs).collect();
        let mut again = BTreeSet::new();
        for stm in self.body.stms.iter().rev() {
            for v in &stm.binds {
                let mut others = inputs.clone();
                if others.remove(v)
                    && let Some(made) = self.made_of(*v, &others, DEEP)
                {
                    again.extend(made);
                    inputs = others;
                }
            }
        }
        let is_scalar = |v: &Var| matches!(self.vars[*v].ty, Type::Scalar(_));
        if inputs.len() > KEPT || !inputs.iter().all(is_scalar) {
            return None;
        }
        let first = again.into_iter().map(|k: usize| self.body.stms[k].clone());
        body.stms.splice(0..0, first);
        Some((inputs.into_iter().collect(), body))
    }

    /// Whether a number may differ from step to step or from lane to lane.
    fn differs(&self, v: Var) -> bool {
        self.inside.contains(&v) || self.plan.varies(v)
    }

    /// The statements that make a number of others, if these are few and cheap.
    fn made_of(&self, v: Var, others: &BTreeSet<Var>, deep: usize) -> Option<BTreeSet<usize>> {
        if others.contains(&v) || !self.differs(v) {
            return Some(BTreeSet::new());
        }
        let stms = &self.body.stms;
        let at = stms.iter().position(|stm| stm.binds.contains(&v))?;
        let Exp::Scalar(op, args) = &stms[at].exp else {
            return None;
        };
        let slow = matches!(
            op,
            ScalarOp::Bin(BinOp::Div, _) | ScalarOp::Un(UnOp::Sqrt, _)
        );
        if slow || computed(*op, args) != Some(1) || deep == 0 {
            return None;
        }
        let mut made = BTreeSet::from([at]);
        for arg in args.iter().filter_map(|arg| arg.as_var()) {
            made.extend(self.made_of(arg, others, deep - 1)?);
        }
        Some(made)
    }
}

/// Finds what of a body of arithmetic varies if these variables do.
fn vary(vars: &Vars, body: &Body<Mem>, varying: &mut BTreeSet<Var>) {
    for stm in &body.stms {
        if let Exp::If {
            then, otherwise, ..
        } = &stm.exp
        {
            vary(vars, then, varying);
            vary(vars, otherwise, varying);
        }
        if free_in_stm(vars, stm).iter().any(|v| varying.contains(v)) {
            varying.extend(&stm.binds);
        }
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
    pub(super) fn queue(&mut self, later: &Later) -> Queue {
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
    pub(super) fn lanes_later(&mut self, group: &mut Group<'_>, stm: &Stm<Mem>) -> bool {
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
    pub(super) fn catch_up(&mut self, later: &Later, (queue, many): (&Queue, Value), first: Value) {
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
            let places = (0..width).map(|lane| {
                let offset = (lane * ty.bytes() as i64) as i32;
                match ty {
                    ScalarType::I32 => emit.b.ins().uload32(plain(), from, offset),
                    _ => emit.load(ty, from, offset),
                }
            });
            let places: Vec<Value> = places.collect();
            let mut lanes = HashMap::new();
            for (v, room) in later.inputs.iter().zip(&queue.kept) {
                let elem = emit.elem(*v);
                let values = places.iter().map(|place| {
                    let from = emit.element(*room, elem, *place);
                    emit.load(elem, from, 0)
                });
                lanes.insert(*v, Lanes::Many(values.collect()));
            }
            let mut group = Group::of_lanes(plan, lanes);
            emit.lanes_body(&mut group, &later.body);
            let values = emit.in_shape(&mut group, Shape::Many, later.body.result[0]);
            for (place, value) in places.into_iter().zip(values) {
                let to = emit.element(start, elem, place);
                emit.b.ins().store(plain(), value, to, 0);
            }
            vec![]
        });
    }
}
