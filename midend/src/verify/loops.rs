//! Consumption by loops. A parameter that the body consumes must have been consumable at the start, and the next value
//! of it must be consumable in the next iteration.

use super::Verify;
use super::consume::{Consume, Roots, meet};
use crate::hash::HashMap;
use crate::ir::id::{Id, Var};
use crate::ir::syntax::{Atom, Body, LoopForm, LoopParam};
use crate::ir::walk;

impl<'p, D: Verify> Consume<'_, 'p, D> {
    pub(super) fn loop_(
        &mut self,
        binds: &[Var],
        params: &'p [LoopParam],
        form: &'p LoopForm<D>,
        body: &'p Body<D>,
    ) {
        let start = self.roots_born();
        self.depth += 1;
        params.iter().for_each(|p| self.fresh(p.var, true));
        if let LoopForm::While(cond) = form {
            // The condition owns less than the body: it is evaluated once more than the body.
            self.depth += 1;
            self.body(cond);
            self.depth -= 1;
        }
        self.body(body);
        self.depth -= 1;
        let results: Vec<Roots> = body.result.iter().map(|a| self.atom_roots(*a)).collect();
        let taken = self.consumed_params(params, start, &results);
        let inits: Vec<Atom> = params.iter().map(|p| p.init).collect();
        let consumed: Vec<Var> = params
            .iter()
            .zip(&taken)
            .filter(|(_, taken)| **taken)
            .filter_map(|(p, _)| p.init.as_var())
            .collect();
        self.consume_all(&consumed, &inits);
        if !consumed.is_empty() {
            self.uses_inside(form, body, start);
        }
        let sets = self.end_roots(params, &taken, &results);
        let mut exported = self.exported(binds, sets, start);
        for (i, bind) in binds.iter().enumerate() {
            if taken.get(i) == Some(&true) {
                exported[i] = vec![*bind];
            }
        }
        self.set_all(binds, exported);
    }

    /// Which parameters are consumed by the body, now or in a later iteration.
    fn consumed_params(
        &mut self,
        params: &[LoopParam],
        start: usize,
        results: &[Roots],
    ) -> Vec<bool> {
        let mut taken: Vec<bool> = params
            .iter()
            .map(|p| self.consumed[p.var.index()])
            .collect();
        let mut todo: Vec<usize> = (0..params.len()).filter(|i| taken[*i]).collect();
        while let Some(i) = todo.pop() {
            let Some(next) = results.get(i) else { continue };
            let name = self.cx.name(params[i].var);
            if next.iter().any(|r| self.born_before(*r, start)) {
                self.cx.fault(format!(
                    "{name} is consumed, but its next value aliases something from outside of the loop"
                ));
            }
            let others = results.iter().enumerate().filter(|(j, _)| *j != i);
            if others.into_iter().any(|(_, other)| meet(next, other)) {
                self.cx.fault(format!(
                    "{name} is consumed, but its next value aliases that of another parameter"
                ));
            }
            for (j, p) in params.iter().enumerate() {
                if next.contains(&p.var) && !taken[j] {
                    taken[j] = true;
                    todo.push(j);
                }
            }
        }
        taken
    }

    /// Looks for uses, in the loop, of what it consumes at its start.
    fn uses_inside(&mut self, form: &'p LoopForm<D>, body: &'p Body<D>, start: usize) {
        let mut uses = Vec::new();
        let vars = &self.cx.program.vars;
        if let LoopForm::While(cond) = form {
            walk::body_uses(vars, cond, &mut |v| uses.push(v));
        }
        walk::body_uses(vars, body, &mut |v| uses.push(v));
        for v in uses {
            let from_outside = self.roots[v.index()]
                .iter()
                .all(|r| self.born_before(*r, start));
            if from_outside && self.is_consumed(v) {
                let name = self.cx.name(v);
                self.cx
                    .fault(format!("{name} is used in a loop that consumes it"));
            }
        }
    }

    /// The roots of the last values of the parameters: those of the starts and of all next values that lead there.
    fn end_roots(&self, params: &[LoopParam], taken: &[bool], results: &[Roots]) -> Vec<Vec<Var>> {
        let places = params.iter().enumerate().map(|(i, p)| (p.var, i));
        let places: HashMap<Var, usize> = places.filter(|(v, _)| self.is_array(*v)).collect();
        (0..params.len())
            .map(|i| {
                if !self.is_array(params[i].var) {
                    return Vec::new();
                }
                let mut seen = vec![false; params.len()];
                let mut todo = vec![i];
                let mut roots = Vec::new();
                while let Some(j) = todo.pop() {
                    if std::mem::replace(&mut seen[j], true) {
                        continue;
                    }
                    if !taken[j] {
                        roots.extend_from_slice(&self.atom_roots(params[j].init));
                    }
                    for r in results.get(j).into_iter().flat_map(|roots| roots.iter()) {
                        match places.get(r) {
                            Some(k) => todo.push(*k),
                            None => roots.push(*r),
                        }
                    }
                }
                roots
            })
            .collect()
    }
}
