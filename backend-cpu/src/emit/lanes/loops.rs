//! What varies in loops that all lanes go through together.

use super::Group;
use super::choose::Finder;
use super::sequential::{Carried, Order};
use super::vector::lanes_per_vector;
use crate::emit::Emit;
use cranelift_codegen::ir::Value;
use midend::ir::id::Var;
use midend::ir::mem::Mem;
use midend::ir::syntax::{Body, Exp, LoopForm, LoopParam, Stm};
use midend::ir::walk::all_stms;
use std::collections::BTreeMap;

impl Finder<'_> {
    /// A loop. Lanes leave one that goes on while a condition holds at different steps if the condition differs.
    pub(super) fn repeated(
        &mut self,
        stm: &Stm<Mem>,
        params: &[LoopParam],
        form: &LoopForm<Mem>,
        body: &Body<Mem>,
    ) -> Option<()> {
        match form {
            LoopForm::For { bound, .. } if self.varies(*bound) => None,
            LoopForm::For { .. } => self.together(stm, params, (None, body)),
            LoopForm::While(cond) => {
                let mut alike = self.clone();
                let found = alike.together(stm, params, (Some(cond), body));
                if found.is_some() && !alike.varies(cond.result[0]) {
                    *self = alike;
                    return found;
                }
                self.diverging(stm, params, cond, body)
            }
        }
    }

    /// A loop of as many steps in all lanes.
    fn together(
        &mut self,
        stm: &Stm<Mem>,
        params: &[LoopParam],
        (cond, body): (Option<&Body<Mem>>, &Body<Mem>),
    ) -> Option<()> {
        self.counts.loops += 1;
        self.counts.depth += 1;
        let packed = self.counts.packed;
        for param in params {
            if self.varies(param.init) {
                self.varying.insert(param.var);
            }
        }
        // Until nothing more is found to vary, since one parameter may vary by another.
        loop {
            let before = self.varying.len();
            let counted = self.counts;
            if let Some(cond) = cond {
                self.body(cond)?;
            }
            self.body(body)?;
            for (param, next) in params.iter().zip(&body.result) {
                if self.varies(*next) {
                    self.varying.insert(param.var);
                }
            }
            if self.varying.len() == before {
                break;
            }
            self.counts = counted;
        }
        self.carries_no_array(params, body)?;
        self.counts.chained += usize::from(self.waits_for_stores(body));
        self.counts.depth -= 1;
        let before = self.counts.carried;
        let mut lanes = None;
        for (param, bind) in params.iter().zip(&stm.binds) {
            if self.varying.contains(&param.var) {
                self.counts.carried += 1;
                self.varying.insert(*bind);
                let elem = self.elem(param.var);
                lanes = elem.and_then(|ty| lanes_per_vector(ty, self.integers));
            }
        }
        self.counts.held = self.counts.held.max(self.counts.carried - before);
        if let Some(lanes) = lanes.filter(|_| self.counts.carried == before + 1) {
            let step = (self.counts.packed - packed, lanes);
            let known = self.counts.tightest.unwrap_or(step);
            self.counts.tightest = Some(known.min(step));
        }
        Some(())
    }

    /// Whether a step of a loop may read what the one before has stored, of an array of the lanes or side by side.
    fn waits_for_stores(&self, body: &Body<Mem>) -> bool {
        let (mut stored, mut loaded) = (BTreeMap::new(), Vec::new());
        all_stms(body, &mut |stm| match &stm.exp {
            Exp::Op(Mem::Store { buffer, index, .. }) => {
                stored.insert(*buffer, *index);
            }
            Exp::Op(Mem::Load { buffer, index }) => loaded.push((*buffer, *index)),
            Exp::Atom(_)
            | Exp::Scalar(..)
            | Exp::Assert { .. }
            | Exp::Guard { .. }
            | Exp::If { .. }
            | Exp::Loop { .. }
            | Exp::Call { .. }
            | Exp::Op(_) => {}
        });
        loaded.iter().any(|(buffer, index)| {
            let other = stored.get(buffer).is_some_and(|stored| stored != index);
            let beside = index.as_var().is_some_and(|v| self.unit.contains(&v));
            other && (beside || self.own.contains(buffer))
        })
    }
}

impl Emit<'_, '_> {
    /// A loop that goes on while a condition holds that is the same for all lanes. Yields what is carried at its end.
    pub(super) fn lanes_alike(
        &mut self,
        group: &mut Group<'_>,
        (params, carried): (&[LoopParam], &Carried),
        inits: &[Value],
        (cond, body): (&Body<Mem>, &Body<Mem>),
    ) -> Vec<Value> {
        let vars: Vec<Var> = params.iter().map(|p| p.var).collect();
        let order = Order::of(group.plan, carried, None);
        let outside = group.lanes.clone();
        let values = self.conditional_loop(
            &order.arranged(inits),
            group,
            |emit, group, values| {
                emit.bind_carried(group, &vars, carried, &order.restored(values));
                emit.lanes_body(group, cond);
                emit.atom(cond.result[0])
            },
            |emit, group, values| emit.lanes_step(group, (&vars, carried, &order), body, values),
        );
        group.lanes = outside;
        order.restored(&values)
    }
}
