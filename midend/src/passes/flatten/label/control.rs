//! Labels of control flow: conditionals and loops that hold parallelism, and whether they go the same way for all points.

use super::{Label, Labeller, Labels};
use crate::ir::id::Var;
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, LoopForm, LoopParam, Stm, Vars};
use crate::ir::walk::{all_stms, free_in_stm, type_vars};

impl Labels {
    /// Labels of code that is sequential, and in which a size differs from point to point.
    pub(in super::super) fn varying(size: Var) -> Self {
        let mut labels = Self::default();
        labels.variant.insert(size);
        labels
    }

    /// Whether a conditional that holds parallelism changes places with the nest: all points go the same way, and lengths of its
    /// results do not depend on it.
    pub(in super::super) fn is_uniform_if(&self, stm: &Stm<Soac>, cond: Atom, vars: &Vars) -> bool {
        !self.nothing_regular && self.uniform(cond) && !binds_lengths(stm, vars)
    }

    /// Whether a loop takes the same number of steps at all points.
    pub(in super::super) fn is_steady(&self, form: &LoopForm<Soac>) -> bool {
        !self.nothing_regular
            && match form {
                LoopForm::For { bound, .. } => self.uniform(*bound),
                LoopForm::While(cond) => cond.result.iter().all(|&a| self.uniform(a)),
            }
    }

    /// Whether the host computes everything in a body.
    pub(in super::super) fn is_of_host(&self, body: &Body<Soac>) -> bool {
        body.stms.iter().all(|stm| self.of(stm) == Label::Uniform)
    }

    /// Whether code of the host for a body would go on, or cost much, though there is no point for which to execute it. A call is
    /// not made for no points.
    pub(in super::super) fn repeats(&self, body: &Body<Soac>) -> bool {
        let mut repeats = false;
        all_stms(body, &mut |stm| {
            let again = matches!(&stm.exp, Exp::Loop { .. });
            repeats |= again && self.of(stm) == Label::Par;
        });
        repeats
    }

    /// Whether all results of a body can be stored for all points.
    pub(super) fn yields_shared(&self, body: &Body<Soac>) -> bool {
        let mut vars = body.result.iter().filter_map(|a| a.as_var());
        vars.all(|v| !self.irregular(v))
    }
}

/// Whether a statement binds arrays and their lengths.
fn binds_lengths(stm: &Stm<Soac>, vars: &Vars) -> bool {
    let mut lengths = false;
    for &v in &stm.binds {
        type_vars(&vars[v].ty, &mut |n| lengths |= stm.binds.contains(&n));
    }
    lengths
}

impl Labeller<'_> {
    /// A conditional is parallel if a branch is.
    pub(super) fn conditional(
        &mut self,
        stm: &Stm<Soac>,
        cond: Atom,
        (then, otherwise): (&Body<Soac>, &Body<Soac>),
    ) -> Label {
        let first = self.body(then);
        let second = self.body(otherwise);
        let shared = self.labels.yields_shared(then) && self.labels.yields_shared(otherwise);
        if !(shared && (first || second)) {
            return Label::Seq;
        }
        if self.labels.is_uniform_if(stm, cond, self.vars) {
            return self.parallel(stm, true);
        }
        // Lengths that branches find must be known outside of them before their loops.
        let repeats = || self.labels.repeats(then) || self.labels.repeats(otherwise);
        let free = free_in_stm(self.vars, stm);
        let irregular = free.iter().any(|&v| self.labels.irregular(v));
        if irregular || binds_lengths(stm, self.vars) && repeats() {
            return Label::Seq;
        }
        Label::Par
    }

    /// Whether a loop holds parallelism: it is exchanged with the maps around it (rule G7), or lifted.
    pub(super) fn looping(
        &mut self,
        params: &[LoopParam],
        form: &LoopForm<Soac>,
        body: &Body<Soac>,
    ) -> bool {
        // Scalars that start uniform may stay so; each that does not is found out, and all are given up soon.
        let mut known: Vec<bool> = params
            .iter()
            .map(|p| self.labels.uniform(p.init) && !self.vars[p.var].ty.is_consumable())
            .collect();
        for attempt in 0..4 {
            if attempt == 2 {
                known.fill(false);
            }
            for (param, &known) in params.iter().zip(&known) {
                if !known {
                    // Its lengths must be those that it starts with.
                    let mut shared = true;
                    type_vars(&self.vars[param.var].ty, &mut |n| {
                        shared &= !params.iter().any(|p| p.var == n);
                    });
                    self.vary(param.var, shared);
                }
            }
            if let LoopForm::While(cond) = form {
                self.body(cond);
            }
            let steady = self.labels.is_steady(form);
            let parallel = self.body(body);
            let kept = known
                .iter()
                .zip(&body.result)
                .map(|(&known, &next)| known && steady && self.labels.uniform(next));
            let kept: Vec<bool> = kept.collect();
            if kept == known {
                let regular = params.iter().all(|p| !self.labels.irregular(p.var));
                return parallel && regular && self.labels.yields_shared(body);
            }
            known = kept;
        }
        false
    }
}
