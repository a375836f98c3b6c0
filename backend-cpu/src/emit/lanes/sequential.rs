//! Loops that all lanes go through together.
//!
//! A counted loop takes as many steps in every lane. One that goes on while a condition holds does so while it holds in any
//! lane; where it does not any more, the lane keeps what it carries:
//!
//! ```text
//! loop (z = z0, n = 0) while p z do (f z, n + 1)
//! →  loop (zs = z0.., ns = 0..) while any (p zs) do (blend (p zs) (f zs) zs, blend (p zs) (ns + 1) ns)
//! ```
//!
//! What is not used behind the loop need not be kept. It goes on in all lanes then, and which lanes are still in the loop is carried:
//!
//! ```text
//! →  loop (zs = z0.., ns = 0.., in = true..) while any (in && p zs) do (f zs, ns + if in && p zs then 1 else 0, in && p zs)
//! ```
//!
//! Steps of few operations are taken several at a time with one look at whether a lane is still inside: those that no lane takes change nothing.

use super::arrays::has_arrays;
use super::mask::mask_type;
use super::narrow::narrow;
use super::steps::Aside;
use super::strips::{steps_at_once, strips};
use super::{Group, Lanes, Plan, Shape};
use crate::emit::Emit;
use cranelift_codegen::ir::{InstBuilder, Value};
use midend::analysis::kernels::has_value;
use midend::fired::fired;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};

/// What a loop carries that has a value: the number of the parameter, and how.
pub(super) type Carried = Vec<(usize, Shape)>;

/// A loop that lanes leave at different steps.
pub(super) struct Diverging<'a> {
    stm: &'a Stm<Mem>,
    pub(super) params: &'a [LoopParam],
    pub(super) carried: &'a Carried,
    pub(super) order: &'a Order,
    pub(super) vars: &'a [Var],
    /// Of how many values the loop carries the parameters consist. Behind them are masks of the lanes that are inside, with so many lanes in
    /// a vector, if what nothing uses behind the loop goes on.
    own: usize,
    per: Option<usize>,
    pub(super) cond: &'a Body<Mem>,
    pub(super) body: &'a Body<Mem>,
}

impl<'a> Diverging<'a> {
    /// The places of the masks of the lanes that are inside among what the loop carries.
    pub(super) fn masks(&self) -> Vec<usize> {
        let places = self.order.0.iter().enumerate();
        let masks = places.filter(|(_, k)| **k >= self.own);
        masks.map(|(place, _)| place).collect()
    }

    /// The places of what goes on in all lanes.
    pub(super) fn going_on(&self, plan: &Plan) -> Vec<usize> {
        let mut goes_on = Vec::new();
        for (i, shape) in self.carried {
            let unused = plan.unused.contains(&self.stm.binds[*i]);
            goes_on.extend((0..shape.count(plan.width)).map(|_| unused));
        }
        let places = self.order.0.iter().enumerate();
        let going = places.filter(|(_, k)| goes_on.get(**k).is_some_and(|goes_on| *goes_on));
        going.map(|(place, _)| place).collect()
    }

    /// The same loop for a part of the lanes.
    pub(super) fn part<'b>(
        &self,
        (carried, order, own): (&'b Carried, &'b Order, usize),
    ) -> Diverging<'b>
    where
        'a: 'b,
    {
        Diverging {
            carried,
            order,
            own,
            ..*self
        }
    }
}

/// In which order a loop carries vectors: the first of each parameter, the second ones, and so on. What is computed is put where it is asked
/// for, so that with this order one register of points is through with a step before the next one begins, and fewer are in use at a time.
pub(super) struct Order(Vec<usize>);

impl Order {
    /// That for these parameters, and so many masks behind them.
    pub(super) fn of(plan: &Plan, carried: &[(usize, Shape)], masks: Option<usize>) -> Self {
        let counts = carried.iter().map(|(_, shape)| shape.count(plan.width));
        let counts: Vec<usize> = counts.chain(masks).collect();
        let most = counts.iter().copied().max().unwrap_or(1);
        let places = counts
            .iter()
            .flat_map(|&count| (0..count).map(move |i| i * most / count));
        let places: Vec<usize> = places.collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|i| places[*i]);
        Self(order)
    }

    /// Values of one parameter after the other in this order.
    pub(super) fn arranged(&self, values: &[Value]) -> Vec<Value> {
        self.0.iter().map(|i| values[*i]).collect()
    }

    /// Values in this order as those of one parameter after the other.
    pub(super) fn restored(&self, values: &[Value]) -> Vec<Value> {
        let mut restored = values.to_vec();
        for (from, to) in values.iter().zip(&self.0) {
            restored[*to] = *from;
        }
        restored
    }
}

impl Emit<'_, '_> {
    /// A loop for all lanes.
    pub(super) fn lanes_loop(
        &mut self,
        group: &mut Group<'_>,
        stm: &Stm<Mem>,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) {
        let kept = (0..params.len()).filter(|i| has_value(self.ty(params[*i].var)));
        let carried: Carried = kept
            .map(|i| (i, self.shape(group, params[i].var)))
            .collect();
        let mut inits = Vec::new();
        for (i, shape) in &carried {
            inits.extend(self.in_shape(group, *shape, params[*i].init));
        }
        // What is asked for in a loop is asked for in each of its steps.
        let was_long = group.is_long;
        group.is_long &= super::soon::is_long(body);
        let results = match form {
            LoopForm::For { index, bound } => {
                let (loop_, counted) = ((params, &carried, inits.as_slice()), (*index, *bound));
                self.ranked(group, loop_, counted, body, |emit, group| {
                    emit.lanes_for(group, (params, &carried, &inits), counted, body)
                })
            }
            LoopForm::While(cond) => {
                self.lanes_while(group, (stm, params, &carried), inits, (cond, body))
            }
        };
        group.is_long = was_long;
        self.bind_carried(group, &stm.binds, &carried, &results);
    }

    /// A loop whose bound is the same for all lanes.
    fn lanes_for(
        &mut self,
        group: &mut Group<'_>,
        (params, carried, inits): (&[LoopParam], &Carried, &[Value]),
        (index, bound): (Var, Atom),
        body: &Body<Mem>,
    ) -> Vec<Value> {
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let ty = self.elem(index);
        if let Atom::Const(Const::I64(bound)) = bound {
            self.bounds.insert(index, bound);
        }
        let bound = self.atom(bound);
        let aside = Aside::of(self.vars, group, (index, params), body);
        let counter = (index, ty, bound);
        let short = narrow(self.vars, group.plan, (index, params), body);
        let is_short = !short.is_empty() && !group.plan.by_vectors;
        self.with_rows(
            group,
            (index, bound, is_short),
            inits,
            |emit, group, is_short| {
                if !is_short {
                    let loop_ = (vars.as_slice(), carried.as_slice(), inits);
                    return emit.lanes_steps(group, loop_, counter, (body, &aside));
                }
                fired("cpu/narrow-indices");
                let others = group.narrow.clone();
                group.narrow.extend(&short);
                let (shapes, inits) = emit.narrow_inits(group, (params, carried), inits);
                let loop_ = (vars.as_slice(), shapes.as_slice(), inits.as_slice());
                let results = emit.lanes_steps(group, loop_, counter, (body, &aside));
                group.narrow = others;
                emit.widened_results(group, &shapes, &results)
            },
        )
    }

    /// A step of a loop: what is carried, and what the next step gets.
    pub(super) fn lanes_step(
        &mut self,
        group: &mut Group<'_>,
        (vars, carried, order): (&[Var], &[(usize, Shape)], &Order),
        body: &Body<Mem>,
        values: &[Value],
    ) -> Vec<Value> {
        self.bind_carried(group, vars, carried, &order.restored(values));
        // What is put in vectors or taken out of them inside is not there after a loop without iterations.
        let outside = group.lanes.clone();
        if has_arrays(body) {
            self.released(|emit| emit.lanes_body(group, body));
        } else {
            self.lanes_body(group, body);
        }
        let mut next = Vec::new();
        for (i, shape) in carried {
            next.extend(self.in_shape(group, *shape, body.result[*i]));
        }
        group.lanes = outside;
        order.arranged(&next)
    }

    /// A loop that goes on while the condition holds in any lane. Yields what is carried at its end.
    fn lanes_while(
        &mut self,
        group: &mut Group<'_>,
        (stm, params, carried): (&Stm<Mem>, &[LoopParam], &Carried),
        mut inits: Vec<Value>,
        (cond, body): (&Body<Mem>, &Body<Mem>),
    ) -> Vec<Value> {
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let outside = group.lanes.clone();
        let go_on = cond.result[0];
        if !go_on.as_var().is_some_and(|v| group.plan.varies(v)) {
            return self.lanes_alike(group, (params, carried), &inits, (cond, body));
        }
        // What nothing uses behind the loop, and lanes per vector of a mask of those that are in it.
        let unused = |i: usize| group.plan.unused.contains(&stm.binds[i]);
        let goes_on = carried.iter().filter(|(i, _)| unused(*i));
        let masks = goes_on.filter_map(|(i, shape)| match shape {
            Shape::Packed(count) => Some((*count, self.elem(vars[*i]))),
            Shape::Uniform | Shape::Many | Shape::Narrow(_) => None,
        });
        let inside = masks.max_by_key(|(count, _)| *count);
        let inside = inside.filter(|_| go_on.as_var().is_some_and(|v| group.plan.varies(v)));
        let per = inside.and_then(|(_, ty)| group.plan.per_vector(ty));
        let own = inits.len();
        if let (Some((count, _)), Some(per)) = (inside, per) {
            let all = self.lanes_of(mask_type(per), &[0xff; 16]);
            inits.resize(own + count, all);
        }
        let masks = inside.filter(|_| per.is_some()).map(|(count, _)| count);
        let order = Order::of(group.plan, carried, masks);
        let inits = order.arranged(&inits);
        let diverging = Diverging {
            order: &order,
            stm,
            params,
            carried,
            vars: &vars,
            own,
            per,
            cond,
            body,
        };
        let varies = |v| group.plan.varies(v);
        let strips = strips(self.vars, varies, params, (cond, body));
        let values = match strips.filter(|strips| per.is_some() && strips.vary(group.plan)) {
            Some(strips) => self.in_strips(group, &diverging, &strips, &inits),
            None => self.conditional_loop(
                &inits,
                group,
                |emit, group, values| {
                    emit.diverging_holds(group, &diverging, cond, values);
                    emit.any_lane(group, go_on)
                },
                |emit, group, values| {
                    let steps = steps_at_once(cond, body);
                    emit.many_steps(group, (&diverging, steps), values, |emit, group| {
                        let mut next = emit.diverging_step(group, &diverging, go_on);
                        for _ in 1..steps {
                            emit.diverging_holds(group, &diverging, cond, &next);
                            next = emit.diverging_step(group, &diverging, go_on);
                        }
                        next
                    })
                },
            ),
        };
        let mut values = order.restored(&values);
        values.truncate(own);
        group.lanes = outside;
        values
    }

    /// The condition of a step, `cond`, in lanes that have not left the loop.
    pub(super) fn diverging_holds(
        &mut self,
        group: &mut Group<'_>,
        diverging: &Diverging<'_>,
        cond: &Body<Mem>,
        values: &[Value],
    ) {
        let Diverging { own, per, .. } = *diverging;
        let values = diverging.order.restored(values);
        self.bind_carried(group, diverging.vars, diverging.carried, &values[..own]);
        self.lanes_body(group, cond);
        if let (Some(per), Some(go_on)) = (per, cond.result[0].as_var()) {
            let holds = self.mask(group, Atom::Var(go_on), per).into_iter();
            let inside = holds.zip(&values[own..]);
            let inside = inside.map(|(a, b)| self.b.ins().band(a, *b)).collect();
            group.lanes.insert(go_on, Lanes::Mask(inside));
        }
    }

    /// What the next step gets, where lanes go on in which `go_on` holds.
    pub(super) fn diverging_step(
        &mut self,
        group: &mut Group<'_>,
        diverging: &Diverging<'_>,
        go_on: Atom,
    ) -> Vec<Value> {
        let Diverging {
            stm,
            carried,
            vars,
            per,
            body,
            ..
        } = *diverging;
        self.lanes_body(group, body);
        let mut next = Vec::new();
        for (i, shape) in carried {
            let (stepped, kept) = (body.result[*i], vars[*i]);
            if per.is_some() && group.plan.unused.contains(&stm.binds[*i]) {
                next.extend(self.in_shape(group, *shape, stepped));
            } else if let Some(counted) = self.counts_on(group, (body, kept), go_on, stepped) {
                next.extend(counted);
            } else {
                let sides = [stepped, Atom::Var(kept)];
                let chosen = self.lanes_chosen(group, kept, go_on, sides);
                next.extend(self.shaped(chosen, *shape, group.plan.parts));
            }
        }
        if let Some(per) = per {
            next.extend(self.mask(group, go_on, per));
        }
        diverging.order.arranged(&next)
    }

    /// The next values of a carried integer that constants are added to: nothing is added where lanes have left the loop.
    fn counts_on(
        &mut self,
        group: &mut Group<'_>,
        (body, kept): (&Body<Mem>, Var),
        go_on: Atom,
        stepped: Atom,
    ) -> Option<Vec<Value>> {
        let ty = self.elem(kept);
        let per = group.plan.per_vector(ty)?;
        let step = body.stms.iter().find_map(|stm| match &stm.exp {
            Exp::Scalar(ScalarOp::Bin(BinOp::Add, ty), args) if ty.is_integer() => {
                let is_step = Atom::Var(stm.binds[0]) == stepped;
                let step = match args[..] {
                    [Atom::Var(v), Atom::Const(step)] | [Atom::Const(step), Atom::Var(v)] => {
                        (v == kept).then_some(step)
                    }
                    _ => None,
                };
                step.filter(|_| is_step)
            }
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => None,
        })?;
        if group.masked(&[go_on]) != Some(per) {
            return None;
        }
        let masks = self.mask(group, go_on, per);
        let numbers = self.packed(group, Atom::Var(kept));
        // A mask is -1 where it holds.
        let one = step.word() == 1;
        let step = self.packed(group, Atom::Const(step));
        let both = masks.into_iter().zip(numbers).zip(step);
        let added = both.map(|((mask, number), step)| {
            if one {
                return self.b.ins().isub(number, mask);
            }
            let step = self.b.ins().band(mask, step);
            self.b.ins().iadd(number, step)
        });
        Some(added.collect())
    }

    /// Chosen values, as a loop carries them.
    fn shaped(&mut self, lanes: Lanes, shape: Shape, parts: usize) -> Vec<Value> {
        match (lanes, shape) {
            (Lanes::Packed(vectors), Shape::Packed(_)) => vectors,
            (Lanes::Mask(masks), Shape::Many) => self.truths(&masks, parts),
            (Lanes::Many(values), Shape::Many) => values,
            (lanes, shape) => unreachable!("{lanes:?} are not chosen for {shape:?}"),
        }
    }

    /// How a loop carries a parameter.
    pub(super) fn shape(&self, group: &Group<'_>, var: Var) -> Shape {
        if !group.plan.varies(var) || group.plan.own.contains(&var) {
            return Shape::Uniform;
        }
        match group.plan.vectors(self.elem(var)) {
            Some(count) if !self.is_buffer(var) => Shape::Packed(count),
            Some(_) | None => Shape::Many,
        }
    }

    pub(super) fn bind_carried(
        &mut self,
        group: &mut Group<'_>,
        vars: &[Var],
        carried: &[(usize, Shape)],
        values: &[Value],
    ) {
        let mut rest = values;
        for (i, shape) in carried {
            let (mine, others) = rest.split_at(shape.count(group.plan.width));
            match shape {
                Shape::Uniform => self.bind(vars[*i], mine[0]),
                Shape::Packed(_) => {
                    group.lanes.insert(vars[*i], Lanes::Packed(mine.to_vec()));
                }
                Shape::Narrow(_) => {
                    group.lanes.insert(vars[*i], Lanes::Narrow(mine.to_vec()));
                }
                Shape::Many => {
                    group.lanes.insert(vars[*i], Lanes::Many(mine.to_vec()));
                }
            }
            rest = others;
        }
    }
}
