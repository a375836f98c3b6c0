//! Finds what lives.

use super::Needs;
use crate::ir::id::{FunId, Id, Var};
use crate::ir::syntax::{Atom, Body, Exp, Fun, LoopForm, Program, Stm};
use crate::ir::walk::{self, deep, type_vars};

/// What lives. Statements are numbered over the whole program, outer ones before inner ones.
pub(super) struct Live {
    /// Variables.
    pub(super) vars: Vec<bool>,
    /// Statements.
    pub(super) stms: Vec<bool>,
    /// For each statement, the number of the one after all that is inside of it.
    pub(super) ends: Vec<usize>,
    /// Functions.
    pub(super) funs: Vec<bool>,
}

/// Marks what lives in a program.
pub(super) fn mark<D: Needs>(program: &Program<D>) -> Live {
    let vars = program.vars.len();
    let mut marker = Marker {
        program,
        stms: Vec::new(),
        ends: Vec::new(),
        sources: vec![Source::Nothing; vars],
        first: Vec::new(),
        calls: vec![Vec::new(); program.funs.len()],
        live: Live {
            vars: vec![false; vars],
            stms: Vec::new(),
            ends: Vec::new(),
            funs: vec![false; program.funs.len()],
        },
        todo: Vec::new(),
    };
    for (id, fun) in program.funs.enumerate() {
        marker.index_fun(id, fun);
    }
    marker.first.push(marker.stms.len());
    marker.live.stms = vec![false; marker.stms.len()];
    marker.roots();
    marker.live.ends = marker.ends;
    marker.live
}

/// Where a variable gets its value.
#[derive(Clone, Copy)]
enum Source {
    /// It is not bound.
    Nothing,
    /// A result of a statement.
    Stm(usize, usize),
    /// A parameter of a loop.
    LoopParam(usize, usize),
    /// Bound for a body of an operation, with the array that it is an element of.
    Inner(usize, Option<Var>),
    /// A parameter of a function.
    Param(FunId, usize),
    /// A result formal of a function.
    Formal(FunId, usize),
}

struct Marker<'p, D> {
    program: &'p Program<D>,
    /// Every statement with the one around it and its function.
    stms: Vec<(&'p Stm<D>, Option<usize>, FunId)>,
    ends: Vec<usize>,
    sources: Vec<Source>,
    /// The number of the first statement of each function, and of all statements.
    first: Vec<usize>,
    /// The living calls of each function.
    calls: Vec<Vec<usize>>,
    live: Live,
    todo: Vec<Var>,
}

impl<'p, D: Needs> Marker<'p, D> {
    fn index_fun(&mut self, id: FunId, fun: &'p Fun<D>) {
        self.first.push(self.stms.len());
        for (i, p) in fun.params.iter().enumerate() {
            self.sources[p.var.index()] = Source::Param(id, i);
        }
        for (i, p) in fun.results.iter().enumerate() {
            self.sources[p.var.index()] = Source::Formal(id, i);
        }
        self.index_body(id, None, &fun.body);
    }

    fn index_body(&mut self, fun: FunId, parent: Option<usize>, body: &'p Body<D>) {
        for stm in &body.stms {
            let number = self.stms.len();
            self.stms.push((stm, parent, fun));
            self.ends.push(0);
            for (i, v) in stm.binds.iter().enumerate() {
                self.sources[v.index()] = Source::Stm(number, i);
            }
            stm.exp
                .inner_binders(&mut |v| self.sources[v.index()] = Source::Inner(number, None));
            match &stm.exp {
                Exp::Loop { params, .. } => {
                    for (i, p) in params.iter().enumerate() {
                        self.sources[p.var.index()] = Source::LoopParam(number, i);
                    }
                }
                Exp::Op(op) => op.elements(&mut |p, array| {
                    self.sources[p.index()] = Source::Inner(number, Some(array));
                }),
                Exp::Atom(_)
                | Exp::Scalar(..)
                | Exp::Assert { .. }
                | Exp::Guard { .. }
                | Exp::If { .. }
                | Exp::Call { .. } => {}
            }
            deep(|| {
                stm.exp
                    .scopes(&mut |_, inner| self.index_body(fun, Some(number), inner));
            });
            self.ends[number] = self.stms.len();
        }
    }

    /// Entry points live; without any, all functions do.
    fn roots(&mut self) {
        let program = self.program;
        let library = program.funs.iter().all(|fun| fun.entry.is_none());
        let effects = effects(program);
        for (id, fun) in program.funs.enumerate() {
            if library || fun.entry.is_some() {
                self.reach(id);
                fun.params
                    .iter()
                    .chain(&fun.results)
                    .for_each(|p| self.var(p.var));
            }
        }
        self.effects(&effects);
    }

    /// Marks what has an effect in the functions reached so far, until no further function is reached.
    fn effects(&mut self, effects: &[bool]) {
        let mut done = vec![false; self.program.funs.len()];
        loop {
            let next = (0..done.len()).find(|f| self.live.funs[*f] && !done[*f]);
            let Some(f) = next else { break };
            done[f] = true;
            for number in self.first[f]..self.first[f + 1] {
                if has_effect(&self.stms[number].0.exp, effects) {
                    self.touch(number);
                }
            }
            while let Some(v) = self.todo.pop() {
                self.visit(v);
            }
        }
    }

    fn reach(&mut self, fun: FunId) {
        self.live.funs[fun.index()] = true;
    }

    fn atom(&mut self, a: Atom) {
        if let Atom::Var(v) = a {
            self.var(v);
        }
    }

    fn var(&mut self, v: Var) {
        if !std::mem::replace(&mut self.live.vars[v.index()], true) {
            self.todo.push(v);
        }
    }

    /// Marks what a living variable needs.
    fn visit(&mut self, v: Var) {
        let program = self.program;
        type_vars(&program.vars[v].ty, &mut |n| self.var(n));
        match self.sources[v.index()] {
            Source::Nothing => {}
            Source::Stm(number, i) => {
                self.touch(number);
                self.result(number, i);
            }
            Source::LoopParam(number, i) => {
                self.touch(number);
                let stm = self.stms[number].0;
                if let Exp::Loop { params, body, .. } = &stm.exp {
                    self.atom(params[i].init);
                    self.atom(body.result[i]);
                    self.var(stm.binds[i]);
                }
            }
            Source::Inner(number, array) => {
                self.touch(number);
                array.into_iter().for_each(|array| self.var(array));
            }
            Source::Param(fun, i) => {
                for call in self.calls[fun.index()].clone() {
                    self.argument(call, i);
                }
            }
            Source::Formal(fun, i) => {
                self.reach(fun);
                self.atom(program.funs[fun].body.result[i]);
                for call in self.calls[fun.index()].clone() {
                    self.var(self.stms[call].0.binds[i]);
                }
            }
        }
    }

    /// What one result of a statement needs.
    fn result(&mut self, number: usize, i: usize) {
        let stm = self.stms[number].0;
        match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                cond: _,
                then,
                otherwise,
            } => {
                self.atom(then.result[i]);
                self.atom(otherwise.result[i]);
            }
            Exp::Loop { params, .. } => self.var(params[i].var),
            Exp::Call { fun, args: _ } => self.var(self.program.funs[*fun].results[i].var),
            Exp::Op(op) => {
                let groups = op.groups(stm.binds.len());
                let group = groups[i];
                op.group_needs(group, &mut |a| self.atom(a));
                let of_group = stm.binds.iter().zip(groups).filter(|(_, g)| *g == group);
                of_group.for_each(|(v, _)| self.var(*v));
            }
        }
    }

    fn argument(&mut self, call: usize, i: usize) {
        if let Exp::Call { fun: _, args } = &self.stms[call].0.exp {
            self.atom(args[i]);
        }
    }

    /// A statement lives: marks what it needs whichever of its results are read, and what is around it.
    fn touch(&mut self, number: usize) {
        if std::mem::replace(&mut self.live.stms[number], true) {
            return;
        }
        let (stm, parent, fun) = self.stms[number];
        self.reach(fun);
        if let Some(parent) = parent {
            self.touch(parent);
        }
        stm.certs.iter().for_each(|v| self.var(*v));
        match &stm.exp {
            Exp::Atom(_) | Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {
                stm.exp.operands(&mut |a| self.atom(a));
            }
            Exp::If { cond, .. } => self.atom(*cond),
            Exp::Loop { form, .. } => match form {
                LoopForm::For { index: _, bound } => self.atom(*bound),
                LoopForm::While(cond) => cond.result.iter().for_each(|a| self.atom(*a)),
            },
            Exp::Call { fun, args: _ } => self.touch_call(number, *fun, stm),
            Exp::Op(op) => {
                op.control(&mut |a| self.atom(a));
                let vars = &self.program.vars;
                stm.exp
                    .inner_binders(&mut |v| type_vars(&vars[v].ty, &mut |n| self.var(n)));
            }
        }
    }

    fn touch_call(&mut self, number: usize, fun: FunId, stm: &'p Stm<D>) {
        self.reach(fun);
        self.calls[fun.index()].push(number);
        let callee = &self.program.funs[fun];
        for (i, p) in callee.params.iter().enumerate() {
            if self.live.vars[p.var.index()] {
                self.argument(number, i);
            }
        }
        for (formal, v) in callee.results.iter().zip(&stm.binds) {
            if self.live.vars[formal.var.index()] {
                self.var(*v);
            }
        }
    }
}

/// Whether an expression itself must stay, whatever is read of it.
fn has_effect<D: Needs>(exp: &Exp<D>, effects: &[bool]) -> bool {
    match exp {
        Exp::Assert { .. } => true,
        Exp::Loop { form, .. } => matches!(form, LoopForm::While(_)),
        Exp::Call { fun, args: _ } => effects[fun.index()],
        Exp::Op(op) => op.has_effect(),
        Exp::Atom(_) | Exp::Scalar(..) | Exp::Guard { .. } | Exp::If { .. } => false,
    }
}

/// For each function, whether it holds something that must stay.
fn effects<D: Needs>(program: &Program<D>) -> Vec<bool> {
    let calls = crate::analysis::calls::calls(program);
    let mut effects = vec![false; program.funs.len()];
    for fun in calls.order {
        let mut found = calls.recursive[fun];
        walk::all_stms(&program.funs[fun].body, &mut |stm| {
            found |= has_effect(&stm.exp, &effects);
        });
        effects[fun.index()] = found;
    }
    effects
}
