//! Which arrays of a function of the nested dialect may share memory, and what statements consume.

use crate::hash::{HashMap, HashSet};
use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Lambda, LoopForm, Stm};
use crate::ir::walk::deep;
use std::collections::BTreeMap;

/// What each array may be an alias of.
#[derive(Clone, Debug, Default)]
pub struct Aliases {
    /// The arrays that a variable may be a part of, or another name for.
    sources: BTreeMap<Var, Vec<Var>>,
}

impl Aliases {
    /// The facts about everything that a body binds.
    pub fn of(body: &Body<Soac>) -> Self {
        let mut aliases = Self::default();
        aliases.body(body);
        aliases
    }

    /// Adds what a statement binds that was not there before.
    pub fn learn(&mut self, stm: &Stm<Soac>) {
        self.exp(&stm.binds, &stm.exp);
    }

    /// Whether an array may share memory with one of those whose [`Aliases::closure`] is given.
    pub fn meets(&self, array: Var, closure: &HashSet<Var>) -> bool {
        if closure.is_empty() {
            return false;
        }
        let mut todo = vec![array];
        let mut reached = HashSet::default();
        while let Some(var) = todo.pop() {
            if closure.contains(&var) {
                return true;
            }
            if reached.insert(var) {
                todo.extend(self.sources.get(&var).into_iter().flatten());
            }
        }
        false
    }

    /// Whether one of some arrays may share memory with one of others.
    pub fn meet_any(&self, some: Vec<Var>, others: Vec<Var>) -> bool {
        let some = self.closure(some);
        others.into_iter().any(|v| self.meets(v, &some))
    }

    /// Everything that variables may be aliases of, they themselves among it.
    pub fn closure(&self, mut todo: Vec<Var>) -> HashSet<Var> {
        let mut reached = HashSet::default();
        while let Some(var) = todo.pop() {
            if reached.insert(var) {
                todo.extend(self.sources.get(&var).into_iter().flatten());
            }
        }
        reached
    }

    /// All variables that may share memory with one of some arrays, in time linear in the number of aliases.
    pub fn touching(&self, some: Vec<Var>) -> HashSet<Var> {
        if some.is_empty() {
            return HashSet::default();
        }
        let mut parts: HashMap<Var, Vec<Var>> = HashMap::default();
        for (&var, sources) in &self.sources {
            for &source in sources {
                parts.entry(source).or_default().push(var);
            }
        }
        let mut todo: Vec<Var> = self.closure(some).into_iter().collect();
        let mut reached = HashSet::default();
        while let Some(var) = todo.pop() {
            if reached.insert(var) {
                todo.extend(parts.get(&var).into_iter().flatten());
            }
        }
        reached
    }

    fn alias(&mut self, var: Var, of: Atom) {
        if let Atom::Var(source) = of {
            self.sources.entry(var).or_default().push(source);
        }
    }

    fn aliases(&mut self, vars: &[Var], of: &[Atom]) {
        for (&var, &source) in vars.iter().zip(of) {
            self.alias(var, source);
        }
    }

    fn body(&mut self, body: &Body<Soac>) {
        for stm in &body.stms {
            deep(|| self.exp(&stm.binds, &stm.exp));
        }
    }

    fn exp(&mut self, binds: &[Var], exp: &Exp<Soac>) {
        match exp {
            Exp::Atom(a) => self.aliases(binds, &[*a]),
            Exp::Scalar(..) | Exp::Assert { .. } | Exp::Guard { .. } => {}
            Exp::If {
                then, otherwise, ..
            } => {
                self.body(then);
                self.body(otherwise);
                self.aliases(binds, &then.result);
                self.aliases(binds, &otherwise.result);
            }
            Exp::Loop { params, form, body } => {
                for ((param, &next), &bind) in params.iter().zip(&body.result).zip(binds) {
                    self.alias(param.var, param.init);
                    self.alias(param.var, next);
                    self.alias(bind, Atom::Var(param.var));
                }
                if let LoopForm::While(cond) = form {
                    self.body(cond);
                }
                self.body(body);
            }
            Exp::Call { args, .. } => {
                for &bind in binds {
                    args.iter().for_each(|&arg| self.alias(bind, arg));
                }
            }
            Exp::Op(Soac::Array(op)) => self.array_op(binds, op),
            Exp::Op(Soac::Screma {
                arrays,
                lam,
                scans,
                reds,
                ..
            }) => {
                self.lambda(arrays, lam);
                for op in scans.iter().chain(reds) {
                    self.body(&op.lam.body);
                }
            }
            Exp::Op(Soac::Filter { arrays, lam, .. } | Soac::FlatMap { arrays, lam, .. }) => {
                self.lambda(arrays, lam)
            }
            Exp::Op(Soac::Hist {
                arrays, lam, ops, ..
            }) => {
                self.lambda(arrays, lam);
                let dests: Vec<Atom> = ops
                    .iter()
                    .flat_map(|op| &op.dests)
                    .map(|&d| d.into())
                    .collect();
                self.aliases(binds, &dests);
                ops.iter().for_each(|op| self.body(&op.op.lam.body));
            }
            Exp::Op(Soac::Scatter {
                arrays, lam, dests, ..
            }) => {
                self.lambda(arrays, lam);
                let dests: Vec<Atom> = dests.iter().map(|dest| dest.array.into()).collect();
                self.aliases(binds, &dests);
            }
            Exp::Op(Soac::WithAcc {
                arrays, lam, acc, ..
            }) => {
                let dests: Vec<Atom> = acc.dests.iter().map(|&d| d.into()).collect();
                self.aliases(&acc.params, &dests);
                self.lambda(arrays, lam);
                self.aliases(binds, &dests);
                acc.op.iter().for_each(|op| self.body(&op.lam.body));
            }
            Exp::Op(Soac::UpdateAcc(update)) => {
                let accs: Vec<Atom> = update.accs.iter().map(|&a| a.into()).collect();
                self.aliases(binds, &accs);
            }
        }
    }

    fn array_op(&mut self, binds: &[Var], op: &ArrayOp) {
        match op {
            ArrayOp::Index { array, .. }
            | ArrayOp::Slice { array, .. }
            | ArrayOp::Update { array, .. }
            | ArrayOp::Rearrange { array, .. }
            | ArrayOp::Reshape { array, .. } => self.aliases(binds, &[Atom::Var(*array)]),
            ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. }
            | ArrayOp::Trace(_)
            | ArrayOp::Stream(_) => {}
        }
    }

    /// The parameters of a lambda are parts of the inputs.
    fn lambda(&mut self, arrays: &[Var], lam: &Lambda<Soac>) {
        for (&param, &array) in lam.params.iter().zip(arrays) {
            self.alias(param, Atom::Var(array));
        }
        self.body(&lam.body);
    }
}

/// Calls `f` on every array that a statement or one nested in it consumes.
pub fn consumed(stm: &Stm<Soac>, funs: &IdVec<FunId, Fun<Soac>>, f: &mut dyn FnMut(Var)) {
    stm.exp.consumed(f);
    if let Exp::Call { fun, args } = &stm.exp {
        let taken = funs[*fun].params.iter().zip(args).filter(|(p, _)| p.unique);
        taken.filter_map(|(_, a)| a.as_var()).for_each(&mut *f);
    }
    stm.exp.scopes(&mut |_, body| {
        for inner in &body.stms {
            deep(|| consumed(inner, funs, f));
        }
    });
}
