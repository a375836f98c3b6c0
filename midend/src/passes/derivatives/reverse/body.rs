//! A body is executed and undone.
//!
//! A variable is *active* if it is differentiable and the statement that binds it reads something active. Statements that read nothing
//! active are executed only. What a statement consumes is copied before, because undoing it, or what came earlier, may read it; where neither
//! does, the copy goes again ([`crate::passes::elide`]).

use super::Derive;
use super::loops::Kept;
use crate::ir::array::ArrayOp;
use crate::ir::id::Var;
use crate::ir::rename::{self, Subst};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Exp, Stm};
use crate::ir::types::Type;
use crate::ir::walk::{self, deep};
use crate::math::derivative;

/// An executed statement.
pub(super) enum Step {
    Plain(Stm<Soac>),
    Loop(Kept),
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
        let mut todo: Vec<Stm<Soac>> = stms.into_iter().rev().collect();
        while let Some(stm) = todo.pop() {
            if !self.reads_active(&stm) {
                self.at_home(&stm);
                if let Exp::Op(Soac::Array(ArrayOp::Scratch { .. })) = stm.exp {
                    self.back.scratch.extend(&stm.binds);
                }
                let run = self.on_copies(stm);
                self.stms.push(run);
                continue;
            }
            let certs = std::mem::replace(&mut self.certs, stm.certs.clone());
            let span = std::mem::replace(&mut self.span, stm.span);
            match deep(|| self.normal(&stm)) {
                Some(parts) => todo.extend(parts.into_iter().rev()),
                None => {
                    self.at_home(&stm);
                    for v in stm.binds.clone() {
                        if self.differentiable(v) {
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

    /// The statement, which consumes copies.
    fn on_copies(&mut self, mut stm: Stm<Soac>) -> Stm<Soac> {
        let mut subst = Subst::new();
        for v in self.consumed(&stm) {
            if !self.vars[v].ty.is_array() {
                continue;
            }
            let copy = self.like(v);
            subst.insert(v, copy);
            self.stms.push(Stm {
                binds: vec![copy],
                certs: stm.certs.clone(),
                exp: self.copy_of(v).into(),
                span: stm.span,
            });
        }
        rename::substitute_stm(self.vars, &subst, &mut stm);
        stm
    }

    /// A copy of an array. Of one with nothing in it that is another one: a copy would read what was never written.
    pub(super) fn copy_of(&self, array: Var) -> ArrayOp {
        match &self.vars[array].ty {
            Type::Array(ty) if self.back.scratch.contains(&array) => ArrayOp::Scratch {
                elem: ty.elem,
                shape: ty.shape.clone(),
            },
            Type::Array(_) | Type::Scalar(_) | Type::Acc(_) | Type::Buffer(_) | Type::Cert => {
                ArrayOp::Copy(array)
            }
        }
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
        if let (
            Exp::Op(Soac::Array(ArrayOp::Iota {
                start: Atom::ZERO,
                step: Atom::ONE,
                ..
            })),
            [v],
        ) = (&stm.exp, &stm.binds[..])
        {
            self.back.ranges.insert(*v);
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
        let run = self.on_copies(stm.clone());
        if let Exp::Loop { .. } = stm.exp {
            return self.keep(stm, run);
        }
        self.stms.push(run);
        Step::Plain(stm)
    }

    fn undo(&mut self, step: Step) {
        let stm = match step {
            Step::Plain(stm) => stm,
            Step::Loop(kept) => return self.undo_loop(kept),
        };
        if !stm.binds.iter().any(|v| self.has_adjoint(*v)) {
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
                (None, Some(op)) => self.undo_reduction(binds, width, &arrays, &op),
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
            Soac::WithAcc {
                width,
                arrays,
                lam,
                acc,
            } => self.undo_accumulation(binds, (width, &arrays, &lam), &acc),
            Soac::UpdateAcc(_) => self.refuse("accumulators from outside"),
            Soac::Array(_) => {}
        }
    }
}
