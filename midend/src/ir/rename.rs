//! Substitution, and copies of code with fresh variables. This is the only code that copies a variable's type: sizes
//! in the types of copied variables are substituted too.

use super::dialect::Dialect;
use super::id::Var;
use super::syntax::{Atom, Body, Exp, Lambda, LoopForm, Stm, VarInfo, Vars};
use super::types::{AccType, ArrayType, Dim, Size, Type};
use super::walk::deep;
use crate::hash::HashMap;

/// What variables are replaced by.
#[derive(Clone, Debug, Default)]
pub struct Subst {
    map: HashMap<Var, Atom>,
}

impl Subst {
    /// Replaces nothing.
    pub fn new() -> Self {
        Self::default()
    }
    /// Replaces each of `from` by its partner in `to`.
    pub fn of(from: impl IntoIterator<Item = Var>, to: impl IntoIterator<Item = Atom>) -> Self {
        Self {
            map: from.into_iter().zip(to).collect(),
        }
    }
    /// From now on replaces `from` by `to`. Replacements are not themselves substituted.
    pub fn insert(&mut self, from: Var, to: impl Into<Atom>) {
        self.map.insert(from, to.into());
    }
    /// What a variable is replaced by, if it is.
    pub fn get(&self, v: Var) -> Option<Atom> {
        self.map.get(&v).copied()
    }
    /// Whether nothing is replaced.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }
    /// The atom after substitution.
    pub fn atom(&self, a: Atom) -> Atom {
        match a {
            Atom::Const(_) => a,
            Atom::Var(v) => self.get(v).unwrap_or(a),
        }
    }
    /// The variable after substitution, where only a variable can stand: a constant for it (which the verifier reports
    /// elsewhere) changes nothing.
    pub fn var(&self, v: Var) -> Var {
        self.atom(Atom::Var(v)).as_var().unwrap_or(v)
    }
    /// The size after substitution. What is no size (which the verifier reports elsewhere) changes nothing.
    pub fn size(&self, size: Size) -> Size {
        match size {
            Size::Const(_) => size,
            Size::Var(v) => self.atom(Atom::Var(v)).as_size().unwrap_or(size),
        }
    }
    /// The dimension after substitution.
    pub fn dim(&self, dim: Dim) -> Dim {
        match dim {
            Dim::Size(size) => Dim::Size(self.size(size)),
            Dim::Ragged(v) => Dim::Ragged(self.var(v)),
        }
    }
    fn array(&self, array: &ArrayType) -> ArrayType {
        ArrayType {
            elem: array.elem,
            shape: array.shape.iter().map(|d| self.dim(*d)).collect(),
        }
    }
    /// The type after substitution of its sizes.
    pub fn ty(&self, ty: &Type) -> Type {
        match ty {
            Type::Array(array) => Type::Array(self.array(array)),
            Type::Acc(acc) => Type::Acc(AccType {
                token: self.var(acc.token),
                part: acc.part,
                array: self.array(&acc.array),
            }),
            Type::Scalar(_) | Type::Buffer(_) | Type::Cert => ty.clone(),
        }
    }
}

/// A fresh variable with the name of `v` and its type after substitution; `subst` replaces `v` by it from now on.
pub fn fresh(vars: &mut Vars, subst: &mut Subst, v: Var) -> Var {
    let info = VarInfo {
        name: vars[v].name.clone(),
        ty: subst.ty(&vars[v].ty),
    };
    let new = vars.push(info);
    subst.insert(v, new);
    new
}

/// A copy of a body in which everything bound is fresh and what is free is substituted. `subst` afterwards knows the
/// new names of what the body binds at its top.
pub fn body<D: Dialect>(vars: &mut Vars, subst: &mut Subst, old: &Body<D>) -> Body<D> {
    let mut new = old.clone();
    refresh(vars, subst, &mut new);
    new
}

/// A copy of a lambda, as for [`body`].
pub fn lambda<D: Dialect>(vars: &mut Vars, subst: &mut Subst, old: &Lambda<D>) -> Lambda<D> {
    let mut new = old.clone();
    for p in &mut new.params {
        *p = fresh(vars, subst, *p);
    }
    refresh(vars, subst, &mut new.body);
    new
}

/// A copy of a statement, as for [`body`].
pub fn stm<D: Dialect>(vars: &mut Vars, subst: &mut Subst, old: &Stm<D>) -> Stm<D> {
    let mut new = old.clone();
    refresh_stm(vars, subst, &mut new);
    new
}

/// A copy of an operation of the dialect, as for [`body`].
pub fn op<D: Dialect>(vars: &mut Vars, subst: &mut Subst, old: &D) -> D {
    let mut new = old.clone();
    refresh_op(vars, subst, &mut new);
    new
}

/// Gives everything that the body binds a fresh variable and substitutes what is free, in place.
pub fn refresh<D: Dialect>(vars: &mut Vars, subst: &mut Subst, body: &mut Body<D>) {
    for stm in &mut body.stms {
        refresh_stm(vars, subst, stm);
    }
    for a in &mut body.result {
        *a = subst.atom(*a);
    }
}

fn refresh_stm<D: Dialect>(vars: &mut Vars, subst: &mut Subst, stm: &mut Stm<D>) {
    for cert in &mut stm.certs {
        *cert = subst.var(*cert);
    }
    deep(|| refresh_exp(vars, subst, &mut stm.exp));
    for bind in &mut stm.binds {
        *bind = fresh(vars, subst, *bind);
    }
}

fn refresh_exp<D: Dialect>(vars: &mut Vars, subst: &mut Subst, exp: &mut Exp<D>) {
    if let Exp::Op(op) = exp {
        return refresh_op(vars, subst, op);
    }
    exp.map_operands(&mut |a| subst.atom(a));
    if let Exp::Loop {
        params,
        form,
        body: _,
    } = exp
    {
        for p in params {
            p.var = fresh(vars, subst, p.var);
        }
        match form {
            LoopForm::For { index, bound: _ } => *index = fresh(vars, subst, *index),
            LoopForm::While(_) => {}
        }
    }
    exp.bodies_mut(&mut |body| refresh(vars, subst, body));
}

fn refresh_op<D: Dialect>(vars: &mut Vars, subst: &mut Subst, op: &mut D) {
    op.map_operands(&mut |a| subst.atom(a));
    op.scopes_mut(&mut |bound, body| {
        for v in bound {
            *v = fresh(vars, subst, *v);
        }
        refresh(vars, subst, body);
    });
}

/// Substitutes in a body, in place and without renaming what it binds: operands, certificates, results, and the sizes
/// in the types of bound variables.
pub fn substitute<D: Dialect>(vars: &mut Vars, subst: &Subst, body: &mut Body<D>) {
    if subst.is_empty() {
        return;
    }
    for stm in &mut body.stms {
        substitute_stm(vars, subst, stm);
    }
    for a in &mut body.result {
        *a = subst.atom(*a);
    }
}

/// Substitutes in a statement and everything nested in it, as for [`substitute`].
pub fn substitute_stm<D: Dialect>(vars: &mut Vars, subst: &Subst, stm: &mut Stm<D>) {
    substitute_head(vars, subst, stm);
    deep(|| {
        stm.exp
            .bodies_mut(&mut |body| substitute(vars, subst, body));
    });
}

/// Substitutes in a statement without what is inside its bodies: for a walk that goes into the bodies itself.
pub fn substitute_head<D: Dialect>(vars: &mut Vars, subst: &Subst, stm: &mut Stm<D>) {
    if subst.is_empty() {
        return;
    }
    for cert in &mut stm.certs {
        *cert = subst.var(*cert);
    }
    stm.exp.map_operands(&mut |a| subst.atom(a));
    for v in &stm.binds {
        substitute_type(vars, subst, *v);
    }
    stm.exp
        .inner_binders(&mut |v| substitute_type(vars, subst, v));
}

/// Substitutes in the type of a variable.
pub fn substitute_type(vars: &mut Vars, subst: &Subst, v: Var) {
    if vars[v].ty.is_consumable() {
        vars[v].ty = subst.ty(&vars[v].ty);
    }
}
