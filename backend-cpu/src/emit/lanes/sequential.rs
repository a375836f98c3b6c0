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

use super::ahead::{STEPS, ahead};
use super::mask::mask_type;
use super::{Group, Lanes, Shape};
use crate::emit::{Emit, clif, control};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::scalar::{BinOp, Const, ScalarOp};
use midend::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use midend::ir::types::ScalarType;

/// What a loop carries that has a value: the number of the parameter, and how.
type Carried = Vec<(usize, Shape)>;

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
        let results = match form {
            LoopForm::For { index, bound } => {
                self.lanes_for(group, (params, &carried, &inits), (*index, *bound), body)
            }
            LoopForm::While(cond) => {
                self.lanes_while(group, (stm, params, &carried), inits, (cond, body))
            }
        };
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
        let strip = control::strip(body);
        let ahead = ahead(&self.program.vars, group.plan, (index, params), body);
        self.with_rows(group, (index, bound), inits, |emit, group| {
            let Some(ahead) = &ahead else {
                return emit.counted(ty, bound, strip, inits, |emit, i, values| {
                    emit.bind(index, i);
                    emit.lanes_step(group, (&vars, carried), body, values)
                });
            };
            let room = emit.room_ahead(ahead);
            let zero = emit.i64(0);
            let bound = emit.resize(bound, clif(ty), types::I64, true);
            let bound = emit.b.ins().smax(bound, zero);
            let rounded = emit.b.ins().iadd_imm_s(bound, STEPS - 1);
            let shift = i64::from(STEPS.trailing_zeros());
            let strips = emit.b.ins().ushr_imm_u(rounded, shift);
            emit.counted(ScalarType::I64, strips, strip, inits, |emit, s, values| {
                let first = emit.b.ins().imul_imm_s(s, STEPS);
                emit.look_ahead(ahead, (group.plan.parts, &room), (index, first));
                let end = emit.b.ins().iadd_imm_s(first, STEPS);
                let end = emit.b.ins().smin(end, bound);
                emit.few((first, end), values, |emit, i, values| {
                    let step = emit.b.ins().isub(i, first);
                    emit.read_ahead(ahead, &room, step);
                    let i = emit.resize(i, types::I64, clif(ty), true);
                    emit.bind(index, i);
                    emit.lanes_step(group, (&vars, carried), &ahead.rest, values)
                })
            })
        })
    }

    /// A step of a loop: what is carried, and what the next step gets.
    fn lanes_step(
        &mut self,
        group: &mut Group<'_>,
        (vars, carried): (&[Var], &Carried),
        body: &Body<Mem>,
        values: &[Value],
    ) -> Vec<Value> {
        self.bind_carried(group, vars, carried, values);
        // What is put in vectors or taken out of them inside is not there after a loop without iterations.
        let outside = group.lanes.clone();
        self.lanes_body(group, body);
        let mut next = Vec::new();
        for (i, shape) in carried {
            next.extend(self.in_shape(group, *shape, body.result[*i]));
        }
        group.lanes = outside;
        next
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
        // What nothing uses behind the loop, and lanes per vector of a mask of those that are in it.
        let unused = |i: usize| group.plan.unused.contains(&stm.binds[i]);
        let goes_on = carried.iter().filter(|(i, _)| unused(*i));
        let masks = goes_on.filter_map(|(i, shape)| match shape {
            Shape::Packed(count) => Some((*count, self.elem(vars[*i]))),
            Shape::Uniform | Shape::Many => None,
        });
        let inside = masks.max_by_key(|(count, _)| *count);
        let inside = inside.filter(|_| go_on.as_var().is_some_and(|v| group.plan.varies(v)));
        let per = inside.and_then(|(_, ty)| group.plan.per_vector(ty));
        let own = inits.len();
        if let (Some((count, _)), Some(per)) = (inside, per) {
            let all = self.lanes_of(mask_type(per), &[0xff; 16]);
            inits.resize(own + count, all);
        }
        let mut values = self.conditional_loop(
            &inits,
            group,
            |emit, group, values| {
                emit.bind_carried(group, &vars, carried, &values[..own]);
                emit.lanes_body(group, cond);
                if let (Some(per), Some(go_on)) = (per, go_on.as_var()) {
                    let holds = emit.mask(group, Atom::Var(go_on), per).into_iter();
                    let inside = holds.zip(&values[own..]);
                    let inside = inside.map(|(a, b)| emit.b.ins().band(a, *b)).collect();
                    group.lanes.insert(go_on, Lanes::Mask(inside));
                }
                emit.any_lane(group, go_on)
            },
            |emit, group, _| {
                emit.lanes_body(group, body);
                let mut next = Vec::new();
                for (i, shape) in carried {
                    let (stepped, kept) = (body.result[*i], vars[*i]);
                    if per.is_some() && group.plan.unused.contains(&stm.binds[*i]) {
                        next.extend(emit.in_shape(group, *shape, stepped));
                    } else if let Some(counted) =
                        emit.counts_on(group, (body, kept), go_on, stepped)
                    {
                        next.extend(counted);
                    } else {
                        let sides = [stepped, Atom::Var(kept)];
                        let chosen = emit.lanes_chosen(group, kept, go_on, sides);
                        next.extend(emit.shaped(chosen, *shape, group.plan.parts));
                    }
                }
                if let Some(per) = per {
                    next.extend(emit.mask(group, go_on, per));
                }
                next
            },
        );
        values.truncate(own);
        group.lanes = outside;
        values
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
    fn shape(&self, group: &Group<'_>, var: Var) -> Shape {
        if !group.plan.varies(var) {
            return Shape::Uniform;
        }
        match group.plan.vectors(self.elem(var)) {
            Some(count) if !self.is_buffer(var) => Shape::Packed(count),
            Some(_) | None => Shape::Many,
        }
    }

    fn bind_carried(
        &mut self,
        group: &mut Group<'_>,
        vars: &[Var],
        carried: &Carried,
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
                Shape::Many => {
                    group.lanes.insert(vars[*i], Lanes::Many(mine.to_vec()));
                }
            }
            rest = others;
        }
    }
}
