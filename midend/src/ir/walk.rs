//! Walking over programs: operands, nested bodies, all statements, and what is free in a piece of code.
//!
//! A *use* of a variable is an operand, a certificate, a result of a body, or a size in the type of a variable that
//! is bound: that size must be in scope where the variable is bound. Whoever uses a ragged array as an operand uses its
//! offsets.

use super::dialect::Dialect;
use super::id::Var;
use super::syntax::{Atom, Body, Exp, Fun, Lambda, LoopForm, MessagePart, Stm, Vars};
use super::types::{Dim, Type};
use crate::hash::HashSet;

/// Runs `f` with enough stack for another level of nesting. Every recursion over bodies goes through this, so that
/// deeply nested programs need no limit.
pub fn deep<R>(f: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(128 * 1024, 1024 * 1024, f)
}

impl<D: Dialect> Exp<D> {
    /// Calls `f` on every operand of the expression itself, not of the bodies in it.
    pub fn operands(&self, f: &mut dyn FnMut(Atom)) {
        match self {
            Self::Atom(a) => f(*a),
            Self::Scalar(_, args) | Self::Call { fun: _, args } => args.iter().for_each(|a| f(*a)),
            Self::Assert { cond, message } => {
                f(*cond);
                for part in &message.parts {
                    match part {
                        MessagePart::Text(_) => {}
                        MessagePart::Value(a) => f(*a),
                    }
                }
            }
            Self::Guard { measure, .. } => f(*measure),
            Self::If { cond, .. } => f(*cond),
            Self::Loop { params, form, .. } => {
                params.iter().for_each(|p| f(p.init));
                match form {
                    LoopForm::For { index: _, bound } => f(*bound),
                    LoopForm::While(_) => {}
                }
            }
            Self::Op(op) => op.operands(f),
        }
    }

    /// Replaces every operand of the expression itself. Where a variable is needed, `f` must yield a variable.
    pub fn map_operands(&mut self, f: &mut dyn FnMut(Atom) -> Atom) {
        match self {
            Self::Atom(a) => *a = f(*a),
            Self::Scalar(_, args) | Self::Call { fun: _, args } => {
                args.iter_mut().for_each(|a| *a = f(*a));
            }
            Self::Assert { cond, message } => {
                *cond = f(*cond);
                for part in &mut message.parts {
                    match part {
                        MessagePart::Text(_) => {}
                        MessagePart::Value(a) => *a = f(*a),
                    }
                }
            }
            Self::Guard { measure, .. } => *measure = f(*measure),
            Self::If { cond, .. } => *cond = f(*cond),
            Self::Loop { params, form, .. } => {
                params.iter_mut().for_each(|p| p.init = f(p.init));
                match form {
                    LoopForm::For { index: _, bound } => *bound = f(*bound),
                    LoopForm::While(_) => {}
                }
            }
            Self::Op(op) => op.map_operands(f),
        }
    }

    /// Calls `f` on every nested body with the variables bound for it. The two bodies of a `while` loop share the
    /// parameters of the loop, which are given with each of them.
    pub fn scopes<'a>(&'a self, f: &mut dyn FnMut(&[Var], &'a Body<D>)) {
        match self {
            Self::Atom(_)
            | Self::Scalar(..)
            | Self::Assert { .. }
            | Self::Guard { .. }
            | Self::Call { .. } => {}
            Self::If {
                cond: _,
                then,
                otherwise,
            } => {
                f(&[], then);
                f(&[], otherwise);
            }
            Self::Loop { params, form, body } => {
                let mut bound: Vec<Var> = params.iter().map(|p| p.var).collect();
                match form {
                    LoopForm::For { index, bound: _ } => bound.push(*index),
                    LoopForm::While(cond) => f(&bound, cond),
                }
                f(&bound, body);
            }
            Self::Op(op) => op.scopes(f),
        }
    }

    /// Calls `f` on every nested body, for editing.
    pub fn bodies_mut(&mut self, f: &mut dyn FnMut(&mut Body<D>)) {
        match self {
            Self::Atom(_)
            | Self::Scalar(..)
            | Self::Assert { .. }
            | Self::Guard { .. }
            | Self::Call { .. } => {}
            Self::If {
                cond: _,
                then,
                otherwise,
            } => {
                f(then);
                f(otherwise);
            }
            Self::Loop {
                params: _,
                form,
                body,
            } => {
                match form {
                    LoopForm::For { .. } => {}
                    LoopForm::While(cond) => f(cond),
                }
                f(body);
            }
            Self::Op(op) => op.scopes_mut(&mut |_, body| f(body)),
        }
    }

    /// Calls `f` on every variable that is bound for a nested body (not by the statements in it), each once.
    pub fn inner_binders(&self, f: &mut dyn FnMut(Var)) {
        match self {
            Self::Atom(_)
            | Self::Scalar(..)
            | Self::Assert { .. }
            | Self::Guard { .. }
            | Self::Call { .. }
            | Self::If { .. } => {}
            Self::Loop { params, form, .. } => {
                params.iter().for_each(|p| f(p.var));
                match form {
                    LoopForm::For { index, bound: _ } => f(*index),
                    LoopForm::While(_) => {}
                }
            }
            Self::Op(op) => op.scopes(&mut |bound, _| bound.iter().for_each(|v| f(*v))),
        }
    }

    /// Calls `f` on every array that the expression itself consumes by being an operation of the dialect. What a call
    /// consumes stands in the parameters of the function, what a loop consumes follows from its body.
    pub fn consumed(&self, f: &mut dyn FnMut(Var)) {
        match self {
            Self::Op(op) => op.consumed(f),
            Self::Atom(_)
            | Self::Scalar(..)
            | Self::Assert { .. }
            | Self::Guard { .. }
            | Self::If { .. }
            | Self::Loop { .. }
            | Self::Call { .. } => {}
        }
    }
}

/// Calls `f` on every variable in a type.
pub fn type_vars(ty: &Type, f: &mut dyn FnMut(Var)) {
    if let Type::Acc(acc) = ty {
        f(acc.token);
    }
    ty.shape().iter().filter_map(|d| d.var()).for_each(f);
}

fn operand_uses(vars: &Vars, a: Atom, f: &mut dyn FnMut(Var)) {
    if let Atom::Var(v) = a {
        f(v);
        let shape = vars[v].ty.shape().iter();
        shape.filter_map(Dim::offsets).for_each(f);
    }
}

/// Calls `f` on every use in a statement, not those in nested bodies. Sizes that the statement itself binds are
/// among them (`let n, ys: [n]t = ..` uses `n`).
pub fn stm_uses<D: Dialect>(vars: &Vars, stm: &Stm<D>, f: &mut dyn FnMut(Var)) {
    stm.certs.iter().for_each(|v| f(*v));
    stm.exp.operands(&mut |a| operand_uses(vars, a, f));
    stm.binds.iter().for_each(|v| type_vars(&vars[*v].ty, f));
    stm.exp.inner_binders(&mut |v| type_vars(&vars[v].ty, f));
}

/// Calls `f` on every statement of a body and of the bodies nested in it, outer statements before inner ones.
pub fn all_stms<'a, D: Dialect>(body: &'a Body<D>, f: &mut dyn FnMut(&'a Stm<D>)) {
    for stm in &body.stms {
        f(stm);
        deep(|| stm.exp.scopes(&mut |_, inner| all_stms(inner, f)));
    }
}

/// Calls `f` on every statement for editing, outer statements before inner ones.
pub fn all_stms_mut<D: Dialect>(body: &mut Body<D>, f: &mut dyn FnMut(&mut Stm<D>)) {
    for stm in &mut body.stms {
        f(stm);
        deep(|| stm.exp.bodies_mut(&mut |inner| all_stms_mut(inner, f)));
    }
}

/// Calls `f` on every body, the given one first.
pub fn all_bodies<'a, D: Dialect>(body: &'a Body<D>, f: &mut dyn FnMut(&'a Body<D>)) {
    f(body);
    for stm in &body.stms {
        deep(|| stm.exp.scopes(&mut |_, inner| all_bodies(inner, f)));
    }
}

/// Calls `f` on every use in a body and everything nested in it.
pub fn body_uses<D: Dialect>(vars: &Vars, body: &Body<D>, f: &mut dyn FnMut(Var)) {
    all_bodies(body, &mut |body| {
        body.stms.iter().for_each(|stm| stm_uses(vars, stm, f));
        result_uses(body, f);
    });
}

/// Calls `f` on every variable bound in a body and everything nested in it.
pub fn body_binders<D: Dialect>(body: &Body<D>, f: &mut dyn FnMut(Var)) {
    all_stms(body, &mut |stm| {
        stm.binds.iter().for_each(|v| f(*v));
        stm.exp.inner_binders(f);
    });
}

/// Calls `f` on every variable among the results of a body.
pub fn result_uses<D>(body: &Body<D>, f: &mut dyn FnMut(Var)) {
    for a in &body.result {
        if let Atom::Var(v) = a {
            f(*v);
        }
    }
}

/// Variables in order of first appearance, each once.
#[derive(Clone, Debug, Default)]
struct Ordered {
    order: Vec<Var>,
    seen: HashSet<Var>,
}

impl Ordered {
    fn add(&mut self, v: Var) {
        if self.seen.insert(v) {
            self.order.push(v);
        }
    }
    /// What is not bound inside. Every variable is bound once in the whole program, so scopes need no attention.
    fn without(self, bound: &HashSet<Var>) -> Vec<Var> {
        self.order
            .into_iter()
            .filter(|v| !bound.contains(v))
            .collect()
    }
}

/// The variables free in a body, in order of first use.
pub fn free_in_body<D: Dialect>(vars: &Vars, body: &Body<D>) -> Vec<Var> {
    free_in_scope(vars, &[], body)
}

/// The variables free in a lambda, in order of first use.
pub fn free_in_lambda<D: Dialect>(vars: &Vars, lam: &Lambda<D>) -> Vec<Var> {
    free_in_scope(vars, &lam.params, &lam.body)
}

/// The variables free in a body for which `params` are bound, sizes in the types of `params` among them.
pub fn free_in_scope<D: Dialect>(vars: &Vars, params: &[Var], body: &Body<D>) -> Vec<Var> {
    let mut uses = Ordered::default();
    let mut bound: HashSet<Var> = params.iter().copied().collect();
    params
        .iter()
        .for_each(|v| type_vars(&vars[*v].ty, &mut |v| uses.add(v)));
    body_uses(vars, body, &mut |v| uses.add(v));
    body_binders(body, &mut |v| {
        bound.insert(v);
    });
    uses.without(&bound)
}

/// The variables that a statement needs from outside, those of nested bodies among them, in order of first use.
pub fn free_in_stm<D: Dialect>(vars: &Vars, stm: &Stm<D>) -> Vec<Var> {
    let mut uses = Ordered::default();
    let mut bound: HashSet<Var> = stm.binds.iter().copied().collect();
    stm_uses(vars, stm, &mut |v| uses.add(v));
    stm.exp.inner_binders(&mut |v| {
        bound.insert(v);
    });
    stm.exp.scopes(&mut |_, body| {
        body_uses(vars, body, &mut |v| uses.add(v));
        body_binders(body, &mut |v| {
            bound.insert(v);
        });
    });
    uses.without(&bound)
}

/// The variables free in an expression with everything nested in it, in order of first use.
pub fn free_in_exp<D: Dialect>(vars: &Vars, exp: &Exp<D>) -> Vec<Var> {
    let mut uses = Ordered::default();
    let mut bound = HashSet::default();
    exp.operands(&mut |a| operand_uses(vars, a, &mut |v| uses.add(v)));
    exp.inner_binders(&mut |v| {
        bound.insert(v);
        type_vars(&vars[v].ty, &mut |v| uses.add(v));
    });
    exp.scopes(&mut |_, body| {
        body_uses(vars, body, &mut |v| uses.add(v));
        body_binders(body, &mut |v| {
            bound.insert(v);
        });
    });
    uses.without(&bound)
}

/// The functions that a body calls, once per call.
pub fn calls<D: Dialect>(body: &Body<D>, f: &mut dyn FnMut(super::id::FunId)) {
    all_stms(body, &mut |stm| {
        if let Exp::Call { fun, args: _ } = &stm.exp {
            f(*fun);
        }
    });
}

/// Calls `f` on every variable that a function binds: parameters, result formals, and all in the body.
pub fn fun_binders<D: Dialect>(fun: &Fun<D>, f: &mut dyn FnMut(Var)) {
    fun.params.iter().chain(&fun.results).for_each(|p| f(p.var));
    body_binders(&fun.body, f);
}
