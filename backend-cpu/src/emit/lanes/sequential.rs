//! Loops that all lanes go through together.
//!
//! A counted loop takes as many steps in every lane. One that goes on while a condition holds does so while it holds in any
//! lane; where it does not any more, the lane keeps what it carries:
//!
//! ```text
//! loop (z = z0, n = 0) while p z do (f z, n + 1)
//! →  loop (zs = z0.., ns = 0..) while any (p zs) do (blend (p zs) (f zs) zs, blend (p zs) (ns + 1) ns)
//! ```

use super::ahead::{STEPS, ahead};
use super::{Group, Lanes, Shape};
use crate::emit::{Emit, clif, control};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use midend::analysis::kernels::has_value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Atom, Body, LoopForm, LoopParam, Stm};
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
                self.lanes_while(group, (params, &carried, &inits), cond, body)
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
        (params, carried, inits): (&[LoopParam], &Carried, &[Value]),
        cond: &Body<Mem>,
        body: &Body<Mem>,
    ) -> Vec<Value> {
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let outside = group.lanes.clone();
        let go_on = cond.result[0];
        let values = self.conditional_loop(
            inits,
            group,
            |emit, group, values| {
                emit.bind_carried(group, &vars, carried, values);
                emit.lanes_body(group, cond);
                emit.any_lane(group, go_on)
            },
            |emit, group, _| {
                emit.lanes_body(group, body);
                let mut next = Vec::new();
                for (i, shape) in carried {
                    let (stepped, kept) = (body.result[*i], Atom::Var(vars[*i]));
                    let chosen = emit.lanes_chosen(group, vars[*i], go_on, [stepped, kept]);
                    next.extend(emit.shaped(chosen, *shape, group.plan.parts));
                }
                next
            },
        );
        group.lanes = outside;
        values
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
