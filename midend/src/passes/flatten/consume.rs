//! Which parameters of a lambda its body consumes.

use crate::ir::array::ArrayOp;
use crate::ir::id::{FunId, IdVec, Var};
use crate::ir::soac::Soac;
use crate::ir::syntax::{Atom, Body, Exp, Fun, Lambda, LoopForm};
use std::collections::{BTreeMap, BTreeSet};

/// For each parameter of the lambda, whether its body consumes it or an alias of it.
pub(super) fn consumed_params(lam: &Lambda<Soac>, funs: &IdVec<FunId, Fun<Soac>>) -> Vec<bool> {
    let mut facts = Facts {
        funs,
        sources: BTreeMap::new(),
        consumed: Vec::new(),
    };
    facts.body(&lam.body);
    let reached = facts.close();
    lam.params.iter().map(|p| reached.contains(p)).collect()
}

struct Facts<'a> {
    funs: &'a IdVec<FunId, Fun<Soac>>,
    /// What a variable may be an alias of.
    sources: BTreeMap<Var, Vec<Var>>,
    /// What is consumed by name.
    consumed: Vec<Var>,
}

impl Facts<'_> {
    /// All variables whose memory is consumed.
    fn close(mut self) -> BTreeSet<Var> {
        let mut reached = BTreeSet::new();
        while let Some(var) = self.consumed.pop() {
            if reached.insert(var) {
                self.consumed
                    .extend(self.sources.get(&var).into_iter().flatten());
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
            self.exp(&stm.binds, &stm.exp);
        }
    }

    fn exp(&mut self, binds: &[Var], exp: &Exp<Soac>) {
        match exp {
            Exp::Atom(a) => self.aliases(binds, &[*a]),
            Exp::Scalar(..) | Exp::Assert { .. } => {}
            Exp::If {
                then, otherwise, ..
            } => {
                self.body(then);
                self.body(otherwise);
                self.aliases(binds, &then.result);
                self.aliases(binds, &otherwise.result);
            }
            Exp::Loop { params, form, body } => {
                for (param, &next) in params.iter().zip(&body.result) {
                    self.alias(param.var, param.init);
                    self.alias(param.var, next);
                }
                for (&bind, param) in binds.iter().zip(params) {
                    self.alias(bind, Atom::Var(param.var));
                }
                if let LoopForm::While(cond) = form {
                    self.body(cond);
                }
                self.body(body);
            }
            Exp::Call { fun, args } => self.call(binds, *fun, args),
            Exp::Op(Soac::Array(op)) => self.array_op(binds, op),
            Exp::Op(Soac::Screma { arrays, lam, .. } | Soac::Filter { arrays, lam, .. }) => {
                self.lambda(arrays, lam);
            }
            Exp::Op(Soac::Hist {
                arrays, lam, ops, ..
            }) => {
                self.lambda(arrays, lam);
                self.consume_all(binds, ops.iter().flat_map(|op| op.dests.iter().copied()));
            }
            Exp::Op(Soac::Scatter {
                arrays, lam, dests, ..
            }) => {
                self.lambda(arrays, lam);
                self.consume_all(binds, dests.iter().map(|dest| dest.array));
            }
        }
    }

    fn call(&mut self, binds: &[Var], fun: FunId, args: &[Atom]) {
        for (param, &arg) in self.funs[fun].params.iter().zip(args) {
            let Atom::Var(arg) = arg else { continue };
            if param.unique {
                self.consumed.push(arg);
            }
            for &bind in binds {
                self.alias(bind, Atom::Var(arg));
            }
        }
    }

    fn array_op(&mut self, binds: &[Var], op: &ArrayOp) {
        match op {
            ArrayOp::Index { array, .. }
            | ArrayOp::Slice { array, .. }
            | ArrayOp::Rearrange { array, .. }
            | ArrayOp::Reshape { array, .. } => self.aliases(binds, &[Atom::Var(*array)]),
            ArrayOp::Update { array, .. } => self.consume_all(binds, [*array]),
            ArrayOp::Literal { .. }
            | ArrayOp::Iota { .. }
            | ArrayOp::Replicate { .. }
            | ArrayOp::Scratch { .. }
            | ArrayOp::Copy(_)
            | ArrayOp::Concat { .. }
            | ArrayOp::Manifest { .. } => {}
        }
    }

    fn consume_all(&mut self, binds: &[Var], arrays: impl IntoIterator<Item = Var>) {
        for (array, &bind) in arrays.into_iter().zip(binds) {
            self.consumed.push(array);
            self.alias(bind, Atom::Var(array));
        }
    }

    /// A row that the lambda consumes is part of the input.
    fn lambda(&mut self, arrays: &[Var], lam: &Lambda<Soac>) {
        for (&param, &array) in lam.params.iter().zip(arrays) {
            self.alias(param, Atom::Var(array));
        }
        self.body(&lam.body);
    }
}
