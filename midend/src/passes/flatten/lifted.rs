//! Loops that hold parallelism and take another number of steps at each point: one loop of the host, which in each step
//! executes the body for the points that still run, its *active set*, and ends when there are none.
//!
//! ```text
//! map (\x -> loop y = x while p y do reduce (+) 0 (f y)) xs
//! ──►
//! loop (k, at, ys) = (..the points for which p holds.., copy xs) while k > 0 do
//!   zs  = ..the body over (q < k), where y is ys[at[q]]..
//!   ys' = segscatter (q < k) { at[q], zs[q] } into (ys)
//!   (k', at') = ..those of the k points for which p holds with ys'..
//! ```
//!
//! A step costs what its active points cost. Arrays that the loop carries keep their shapes.

use super::context::{Axis, Context};
use super::distribute::{Frame, Wanted};
use super::{Cx, int};
use crate::fired::fired;
use crate::hash::HashSet;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp};
use crate::ir::seg::{Seg, SegKind};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm};
use crate::ir::types::{ScalarType, Size, Type};

/// A loop of the source.
#[derive(Clone, Copy)]
pub(super) struct Source<'s> {
    pub(super) params: &'s [LoopParam],
    pub(super) form: &'s LoopForm<Soac>,
    pub(super) body: &'s Body<Soac>,
}

impl Cx<'_> {
    /// A loop of another number of steps at each point.
    pub(super) fn lift_loop(
        &mut self,
        f: &mut Frame<'_>,
        i: usize,
        source: Source<'_>,
        out: &mut Vec<Stm<Seg>>,
    ) {
        fired(match source.form {
            LoopForm::For { .. } => "flatten/lifted-for",
            LoopForm::While(_) => "flatten/lifted-while",
        });
        self.prove_free(f, i, out);
        let context = f.context.clone();
        let starts = self.own_starts(f, source.params, out);
        let mut params = Vec::new();
        // The number of the step, which is the same for all that still run.
        let step = match source.form {
            LoopForm::For { index, .. } => {
                let ty = self.vars[*index].ty.clone();
                let zero = Atom::Const(Const::zero(ty.elem().unwrap_or(ScalarType::I64)));
                let var = self.fresh("step", ty);
                params.push(LoopParam { var, init: zero });
                Some((var, zero))
            }
            LoopForm::While(_) => None,
        };
        self.define_all(source.params, &starts, &context);
        let first = step.map(|step| step.1);
        let (count, at) = self.active(&context, &context, source.form, first, out);
        let running = self.fresh("running", Type::I64);
        params.push(LoopParam {
            var: running,
            init: count.into(),
        });
        let ty = Type::array_of(&Type::I64, &[Size::Var(running)]);
        let mut indices = Vec::new();
        for init in at {
            let var = self.fresh("at", ty.clone());
            indices.push(var);
            let init = init.into();
            params.push(LoopParam { var, init });
        }
        let mut state = Vec::new();
        for &start in &starts {
            let var = self.fresh("state", self.vars[start].ty.clone());
            state.push(var);
            let init = start.into();
            params.push(LoopParam { var, init });
        }
        let body = self.block(|cx, stms| {
            let axis = cx.chosen_axis(Size::Var(running), indices);
            cx.active_step(
                &context,
                axis,
                source,
                (step.map(|step| step.0), &state),
                stms,
            )
        });
        let more = self.block(|cx, stms| {
            let lt = ScalarOp::Cmp(CmpOp::Lt, ScalarType::I64);
            vec![cx.scalar(stms, "more", lt, vec![int(0), running.into()])]
        });
        let ends: Vec<Var> = f
            .stm(i)
            .binds
            .iter()
            .map(|&b| self.stored(b, &context, out))
            .collect();
        ends.iter().for_each(|&end| f.made(end));
        let mut bound = Vec::new();
        let mut left = running;
        for param in &params[..params.len() - ends.len()] {
            // The indices are of as many points as are left at the end.
            let ty = match self.vars[param.var].ty.clone() {
                Type::Array(_) => Type::array_of(&Type::I64, &[Size::Var(left)]),
                ty @ (Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert) => ty,
            };
            let end = self.fresh("end", ty);
            if param.var == running {
                left = end;
            }
            bound.push(end);
        }
        bound.extend(ends);
        let form = LoopForm::While(more);
        let exp = Exp::Loop { params, form, body };
        self.push(out, bound, exp);
    }

    /// Arrays over the context with what a loop starts with, to be overwritten.
    fn own_starts(
        &mut self,
        f: &mut Frame<'_>,
        params: &[LoopParam],
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Var> {
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        // What has a name here, also as a parameter of a loop around this one, may be read again.
        let is_named = |v| f.owner.contains_key(&v) || self.expanded(v, &f.context).is_some();
        let named: Vec<bool> = inits
            .iter()
            .map(|init| init.as_var().is_some_and(is_named))
            .collect();
        let mut claimed = HashSet::default();
        let mut starts = Vec::new();
        for (array, named) in self.arrays(f, &inits, out).into_iter().zip(named) {
            if !named && claimed.insert(array) && f.is_made(array) {
                starts.push(array);
                continue;
            }
            let ty = self.vars[array].ty.clone();
            starts.push(self.array(out, "start", ty, ArrayOp::Copy(array)));
        }
        starts
    }

    fn define_all(&mut self, params: &[LoopParam], arrays: &[Var], context: &[Axis]) {
        for (param, &array) in params.iter().zip(arrays) {
            self.define(param.var, array, context);
        }
    }

    /// One step for the active points; yields what the loop carries.
    fn active_step(
        &mut self,
        context: &Context,
        axis: Axis,
        source: Source<'_>,
        (step, state): (Option<Var>, &[Var]),
        out: &mut Vec<Stm<Seg>>,
    ) -> Vec<Atom> {
        let mut inner = context.clone();
        inner.push(axis);
        self.define_all(source.params, state, context);
        if let (LoopForm::For { index, .. }, Some(step)) = (source.form, step) {
            self.subst.set(*index, Some(step.into()));
        }
        let host = vec![false; source.params.len()];
        let wanted = Wanted::Any {
            host: &host,
            own: &[],
        };
        let results = self.distribute(inner.clone(), source.body, wanted, out);
        let mut next = Vec::new();
        for (k, (param, result)) in source.params.iter().zip(results).enumerate() {
            let same = source.body.result[k] == param.var.into();
            next.push(match result.0.as_var() {
                Some(values) if !same => {
                    self.write_active((context, &inner), (param.var, state[k]), values, out)
                }
                Some(_) | None => state[k],
            });
        }
        self.define_all(source.params, &next, context);
        let mut carried = Vec::new();
        let step = step.map(|step| {
            let ty = self.vars[step].ty.elem().unwrap_or(ScalarType::I64);
            let one = ScalarOp::Bin(BinOp::Add, ty);
            let one = self.scalar(out, "step", one, vec![step.into(), Const::one(ty).into()]);
            carried.push(one);
            one
        });
        let (count, at) = self.active(context, &inner, source.form, step, out);
        carried.push(count.into());
        carried.extend(at.into_iter().map(Atom::Var));
        carried.extend(next.into_iter().map(Atom::Var));
        carried
    }

    /// The points of a context at which there is another step: how many, and their indices in the dimensions of `base`.
    fn active(
        &mut self,
        base: &[Axis],
        context: &[Axis],
        form: &LoopForm<Soac>,
        step: Option<Atom>,
        out: &mut Vec<Stm<Seg>>,
    ) -> (Var, Vec<Var>) {
        let flags = match (form, step) {
            (LoopForm::For { bound, .. }, Some(step)) => {
                let mut point = self.point(context);
                let bound = self.need_atom(&mut point, *bound);
                let ty = bound.ty(&self.vars).elem().unwrap_or(ScalarType::I64);
                let lt = ScalarOp::Cmp(CmpOp::Lt, ty);
                let flag = self.scalar(&mut point.stms, "flag", lt, vec![step, bound]);
                let ty = self.type_over(&Type::BOOL, context, out);
                let flags = self.fresh("flags", ty);
                self.kernel(point, vec![flag], SegKind::Map, vec![flags], out);
                flags
            }
            (LoopForm::While(cond), _) => {
                let wanted = Wanted::Any {
                    host: &[false],
                    own: &[],
                };
                let flags = self.distribute(context.to_vec(), cond, wanted, out);
                let flags = flags.first().and_then(|flag| flag.0.as_var());
                flags.expect("a condition over a context is an array")
            }
            (LoopForm::For { .. }, None) => {
                unreachable!("a loop that counts has a number of its step")
            }
        };
        let ranked = self.ranked(context, flags, out);
        match self.chosen(base, context, (&ranked, true), out) {
            Axis::Chosen {
                count: Size::Var(count),
                pack,
            } => (count, self.packs[pack].clone()),
            Axis::Chosen { .. } | Axis::Regular(_) | Axis::Ragged(_) => {
                unreachable!("chosen points are counted")
            }
        }
    }

    /// Writes the values at active points into an array over all points.
    fn write_active(
        &mut self,
        (context, inner): (&Context, &Context),
        (param, state): (Var, Var),
        values: Var,
        out: &mut Vec<Stm<Seg>>,
    ) -> Var {
        let space = self.around(inner, values);
        let rank = self.vars[param].ty.rank();
        let whole = self.is_ragged(&space, &[state]);
        let dest = self.dest(context, (param, state, rank), whole, out);
        let mut point = self.point(&space);
        let all = point.all();
        let own = all[all.len() - rank..].to_vec();
        let mut result = self.place(&mut point, context, (&dest, whole), &own);
        let elem = self.vars[param].ty.elem().unwrap_or(ScalarType::I64);
        let op = ArrayOp::Index {
            array: values,
            indices: all,
        };
        result.push(
            self.array(&mut point.stms, "x", Type::Scalar(elem), op)
                .into(),
        );
        let next = self.fresh("state", self.vars[state].ty.clone());
        let dests = vec![dest.scatter(context, whole)];
        self.written(point, result, SegKind::Scatter(dests), &[next], out);
        next
    }
}
