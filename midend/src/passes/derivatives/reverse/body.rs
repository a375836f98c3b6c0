//! A body is executed and undone.
//!
//! A variable is *active* if it is a float and the statement that binds it reads something active. Statements that read nothing
//! active are executed only. What a statement consumes is copied before, because undoing what came earlier may read it; where it does not, the
//! copy goes again ([`crate::passes::elide`]).

use super::Derive;
use super::loops::Kept;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::walk::{self, deep};
use crate::math::derivative;

/// An executed statement.
pub(super) enum Step {
    Plain(Stm<Soac>),
    Loop(Kept),
}

/// How far a statement is prepared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// As the program has it.
    Raw,
    /// What it consumes is a copy.
    Copied,
}

impl Derive<'_> {
    /// Executes statements, takes the adjoints of results, and undoes the statements.
    pub(super) fn sweep(&mut self, stms: Vec<Stm<Soac>>, results: &[Atom], seeds: &[Option<Atom>]) {
        let steps = self.execute(stms);
        self.unwind(steps, results, seeds);
    }

    pub(super) fn unwind(&mut self, steps: Vec<Step>, results: &[Atom], seeds: &[Option<Atom>]) {
        for (atom, seed) in results.iter().zip(seeds) {
            if let Some(seed) = seed {
                self.add(*atom, *seed);
            }
        }
        for step in steps.into_iter().rev() {
            let stm = match &step {
                Step::Plain(stm) => stm,
                Step::Loop(kept) => &kept.stm,
            };
            let certs = std::mem::replace(&mut self.certs, stm.certs.clone());
            let span = std::mem::replace(&mut self.span, stm.span);
            deep(|| self.undo(step));
            self.certs = certs;
            self.span = span;
        }
    }

    pub(super) fn execute(&mut self, stms: Vec<Stm<Soac>>) -> Vec<Step> {
        let mut steps = Vec::new();
        let stms = stms.into_iter().rev();
        let mut todo: Vec<(Stage, Stm<Soac>)> = stms.map(|stm| (Stage::Raw, stm)).collect();
        while let Some((stage, mut stm)) = todo.pop() {
            if stage == Stage::Raw {
                let copies = self.copies(&mut stm);
                if !copies.is_empty() {
                    todo.push((Stage::Copied, stm));
                    todo.extend(copies.into_iter().map(|copy| (Stage::Copied, copy)));
                    continue;
                }
            }
            if !self.reads_active(&stm) {
                self.at_home(&stm);
                self.stms.push(stm);
                continue;
            }
            let certs = std::mem::replace(&mut self.certs, stm.certs.clone());
            let span = std::mem::replace(&mut self.span, stm.span);
            match deep(|| self.normal(&stm)) {
                Some(parts) => {
                    let parts = parts.into_iter().rev();
                    todo.extend(parts.map(|part| (Stage::Copied, part)));
                }
                None => {
                    self.at_home(&stm);
                    for v in stm.binds.clone() {
                        if self.is_float(v) {
                            self.activate(v);
                        }
                    }
                    steps.push(self.forward(stm));
                }
            }
            self.certs = certs;
            self.span = span;
        }
        steps
    }

    /// Copies of what a statement consumes, which it consumes now.
    fn copies(&mut self, stm: &mut Stm<Soac>) -> Vec<Stm<Soac>> {
        let mut copies = Vec::new();
        let mut subst = Subst::new();
        for v in self.consumed(stm) {
            if !self.vars[v].ty.is_array() {
                continue;
            }
            let copy = self.like(v);
            subst.insert(v, copy);
            copies.push(Stm {
                binds: vec![copy],
                certs: stm.certs.clone(),
                exp: ArrayOp::Copy(v).into(),
                span: stm.span,
            });
        }
        rename::substitute_stm(self.vars, &subst, stm);
        copies
    }

    fn reads_active(&self, stm: &Stm<Soac>) -> bool {
        if stm
            .binds
            .last()
            .is_some_and(|v| self.back.counts.contains(v))
        {
            return false;
        }
        let free = walk::free_in_stm(self.vars, stm);
        free.iter().any(|v| self.back.active.contains(v))
    }

    fn at_home(&mut self, stm: &Stm<Soac>) {
        for v in &stm.binds {
            self.settle_at(*v);
        }
        if let (Exp::Op(Soac::Array(ArrayOp::Index { array, indices })), [v]) =
            (&stm.exp, &stm.binds[..])
            && self.vars[*v].ty.is_array()
        {
            self.back.views.insert(*v, (*array, indices.clone()));
        }
    }

    /// Says that a variable is bound here.
    pub(super) fn settle_at(&mut self, v: Var) {
        if self.back.depth > 0 {
            self.back.home.insert(v, self.back.depth);
        }
    }

    /// Whether a variable is bound inside of the innermost parallel operation.
    pub(super) fn is_local(&self, v: Var) -> bool {
        self.back.home.get(&v).copied().unwrap_or(0) == self.back.depth
    }

    fn forward(&mut self, stm: Stm<Soac>) -> Step {
        if let Exp::Loop { .. } = stm.exp {
            return self.keep(stm);
        }
        self.stms.push(stm.clone());
        Step::Plain(stm)
    }

    fn undo(&mut self, step: Step) {
        let stm = match step {
            Step::Plain(stm) => stm,
            Step::Loop(kept) => return self.undo_loop(kept),
        };
        if !stm.binds.iter().any(|v| self.back.of.contains_key(v)) {
            return;
        }
        match stm.exp {
            Exp::Atom(a) => {
                if let Some(adjoint) = stm.binds.first().and_then(|v| self.taken(*v)) {
                    self.add(a, adjoint);
                }
            }
            Exp::Scalar(op, args) => {
                let [v] = stm.binds[..] else { return };
                let Some(adjoint) = self.taken(v) else { return };
                for i in 0..args.len() {
                    if !self.depends(args[i]) {
                        continue;
                    }
                    let part = derivative::reverse(self, op, &args, &v.into(), i, &adjoint);
                    if let Some(part) = part {
                        self.add(args[i], part);
                    }
                }
            }
            Exp::If {
                cond,
                then,
                otherwise,
            } => self.undo_conditional(&stm.binds, cond, [then, otherwise]),
            Exp::Call { fun, args } => self.undo_call(&stm.binds, fun, &args),
            Exp::Op(Soac::Array(op)) => self.undo_array(&stm.binds, op),
            Exp::Op(op) => self.undo_soac(&stm.binds, op),
            Exp::Assert { .. } | Exp::Guard { .. } | Exp::Loop { .. } => {}
        }
    }

    fn undo_soac(&mut self, binds: &[Var], op: Soac) {
        match op {
            Soac::Screma {
                width,
                arrays,
                lam,
                scans,
                reds,
            } => match (scans.into_iter().next(), reds.into_iter().next()) {
                (None, None) => self.undo_map(binds, width, &arrays, &lam),
                (None, Some(_)) => self.undo_sum(binds, width, &arrays),
                (Some(op), _) => self.undo_scan(binds, width, &arrays, op),
            },
            Soac::Hist {
                width, arrays, ops, ..
            } => self.undo_histogram(binds, width, &arrays, ops),
            Soac::Scatter {
                width,
                arrays,
                dests,
                ..
            } => self.undo_scatter(binds, width, &arrays, &dests),
            Soac::Filter { arrays, .. } => self.undo_filter(binds, &arrays),
            Soac::FlatMap {
                width,
                arrays,
                lam,
                rows,
                ..
            } => self.undo_flat_map(binds, width, &arrays, &lam, rows),
            Soac::WithAcc { .. } | Soac::UpdateAcc(_) => self.refuse("accumulators"),
            Soac::Array(_) => {}
        }
    }
}
