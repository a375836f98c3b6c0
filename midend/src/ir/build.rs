//! Building code: fresh variables, statements appended to the body at hand, bodies built by closures.
//!
//! The builder folds what is trivial with constants in integer arithmetic and truth values, no more: simplification
//! is for passes.

use super::array::{ArrayOp, SliceDim};
use super::dialect::Dialect;
use super::id::{SpanId, Var};
use super::rename::Subst;
use super::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use super::span::Spans;
use super::syntax::{
    Atom, Body, Exp, Lambda, LoopForm, LoopParam, Message, MessagePart, Stm, TrapKind, VarInfo,
    Vars,
};
use super::types::{Dim, ScalarType, Size, Type};
use super::typing;

mod arith;
mod array;

/// Appends statements to a body. [`Builder::enter`] and [`Builder::leave`], or the closures that do both, build nested
/// bodies.
pub struct Builder<'a, D> {
    /// The table of variables.
    pub vars: &'a mut Vars,
    /// The place given to the statements that follow.
    pub span: SpanId,
    /// Certificates given to the statements that follow.
    pub certs: Vec<Var>,
    stms: Vec<Stm<D>>,
    outer: Vec<Vec<Stm<D>>>,
}

/// A variable to be made: name and type.
pub type Formal<'n> = (&'n str, Type);

impl<'a, D: Dialect> Builder<'a, D> {
    /// A builder of an empty body.
    pub fn new(vars: &'a mut Vars) -> Self {
        Self {
            vars,
            span: Spans::NONE,
            certs: Vec::new(),
            stms: Vec::new(),
            outer: Vec::new(),
        }
    }

    /// A fresh variable.
    pub fn fresh(&mut self, name: &str, ty: Type) -> Var {
        let name = clean_name(name);
        self.vars.push(VarInfo { name, ty })
    }

    /// A fresh variable with the name and type of another.
    pub fn fresh_like(&mut self, v: Var) -> Var {
        let info = self.vars[v].clone();
        self.vars.push(info)
    }

    /// Fresh variables for a list of formals.
    pub fn fresh_all(&mut self, formals: &[Formal<'_>]) -> Vec<Var> {
        formals
            .iter()
            .map(|(name, ty)| self.fresh(name, ty.clone()))
            .collect()
    }

    /// The type of an atom.
    pub fn ty(&self, a: impl Into<Atom>) -> Type {
        a.into().ty(self.vars)
    }

    /// Appends a statement as it is.
    pub fn push(&mut self, stm: Stm<D>) {
        self.stms.push(stm);
    }

    /// Appends statements as they are.
    pub fn extend(&mut self, stms: impl IntoIterator<Item = Stm<D>>) {
        self.stms.extend(stms);
    }

    /// Appends a statement that binds these variables, with the builder's place and certificates.
    pub fn bind(&mut self, binds: Vec<Var>, exp: Exp<D>) {
        self.stms.push(Stm {
            binds,
            certs: self.certs.clone(),
            exp,
            span: self.span,
        });
    }

    /// Binds the one result of an expression to a fresh variable.
    pub fn let_(&mut self, name: &str, ty: Type, exp: Exp<D>) -> Var {
        let v = self.fresh(name, ty);
        self.bind(vec![v], exp);
        v
    }

    /// Binds the results of an expression to fresh variables.
    pub fn let_all(&mut self, formals: &[Formal<'_>], exp: Exp<D>) -> Vec<Var> {
        let binds = self.fresh_all(formals);
        self.bind(binds.clone(), exp);
        binds
    }

    /// Executes `f` with further certificates on every statement.
    pub fn with_certs<R>(&mut self, certs: &[Var], f: impl FnOnce(&mut Self) -> R) -> R {
        let old = self.certs.clone();
        for cert in certs {
            if !self.certs.contains(cert) {
                self.certs.push(*cert);
            }
        }
        let result = f(self);
        self.certs = old;
        result
    }

    /// Executes `f` with another place on every statement.
    pub fn with_span<R>(&mut self, span: SpanId, f: impl FnOnce(&mut Self) -> R) -> R {
        let old = std::mem::replace(&mut self.span, span);
        let result = f(self);
        self.span = old;
        result
    }

    /// Starts a nested body: statements go there until [`Builder::leave`].
    pub fn enter(&mut self) {
        self.outer.push(std::mem::take(&mut self.stms));
    }

    /// Ends the body at hand and returns it; statements go to the enclosing one again.
    pub fn leave(&mut self, result: Vec<Atom>) -> Body<D> {
        let outer = self.outer.pop().unwrap_or_default();
        let stms = std::mem::replace(&mut self.stms, outer);
        Body { stms, result }
    }

    /// Ends the building.
    pub fn finish(mut self, result: Vec<Atom>) -> Body<D> {
        self.leave(result)
    }

    /// A nested body. It starts without certificates: those of the statement around it protect it.
    pub fn body(&mut self, f: impl FnOnce(&mut Self) -> Vec<Atom>) -> Body<D> {
        self.enter();
        let certs = std::mem::take(&mut self.certs);
        let result = f(self);
        self.certs = certs;
        self.leave(result)
    }

    /// A lambda with fresh parameters. Types of later parameters cannot name earlier ones here; make the variables
    /// beforehand and use [`Builder::body`] for that.
    pub fn lambda(
        &mut self,
        params: &[Formal<'_>],
        f: impl FnOnce(&mut Self, &[Var]) -> Vec<Atom>,
    ) -> Lambda<D> {
        let params = self.fresh_all(params);
        let body = self.body(|b| f(b, &params));
        Lambda { params, body }
    }

    /// A conditional that binds the formals.
    pub fn if_(
        &mut self,
        cond: Atom,
        formals: &[Formal<'_>],
        then: impl FnOnce(&mut Self) -> Vec<Atom>,
        otherwise: impl FnOnce(&mut Self) -> Vec<Atom>,
    ) -> Vec<Var> {
        let then = self.body(then);
        let otherwise = self.body(otherwise);
        let exp = Exp::If {
            cond,
            then,
            otherwise,
        };
        self.let_all(formals, exp)
    }

    /// A counted loop. The function gets the index and the parameters and yields their next values. The result
    /// variables have the names and types of the parameters, later types naming earlier results.
    pub fn for_(
        &mut self,
        bound: Atom,
        params: &[(Var, Atom)],
        f: impl FnOnce(&mut Self, Var, &[Var]) -> Vec<Atom>,
    ) -> Vec<Var> {
        let ty = self.ty(bound);
        let index = self.fresh("i", ty);
        let vars: Vec<Var> = params.iter().map(|p| p.0).collect();
        let body = self.body(|b| f(b, index, &vars));
        self.loop_(params, LoopForm::For { index, bound }, body)
    }

    /// A loop that runs while a condition over the parameters holds; otherwise as [`Builder::for_`].
    pub fn while_(
        &mut self,
        params: &[(Var, Atom)],
        cond: impl FnOnce(&mut Self, &[Var]) -> Atom,
        f: impl FnOnce(&mut Self, &[Var]) -> Vec<Atom>,
    ) -> Vec<Var> {
        let vars: Vec<Var> = params.iter().map(|p| p.0).collect();
        let cond = self.body(|b| vec![cond(b, &vars)]);
        let body = self.body(|b| f(b, &vars));
        self.loop_(params, LoopForm::While(cond), body)
    }

    /// A loop from its parts: parameters with their starts, form and body. Binds copies of the parameters.
    pub fn loop_(&mut self, params: &[(Var, Atom)], form: LoopForm<D>, body: Body<D>) -> Vec<Var> {
        let mut subst = Subst::new();
        let binds = params
            .iter()
            .map(|(v, _)| super::rename::fresh(self.vars, &mut subst, *v))
            .collect::<Vec<_>>();
        let params = params
            .iter()
            .map(|&(var, init)| LoopParam { var, init })
            .collect();
        self.bind(binds.clone(), Exp::Loop { params, form, body });
        binds
    }

    /// A check. Yields its certificate, or nothing if the condition is the constant `true`.
    pub fn assert(&mut self, cond: Atom, kind: TrapKind, parts: Vec<MessagePart>) -> Option<Var> {
        if cond.as_bool() == Some(true) {
            return None;
        }
        let message = Message { kind, parts };
        Some(self.let_("ok", Type::Cert, Exp::Assert { cond, message }))
    }
}

/// A name fit for printing: letters, digits, `_` and `'`, not starting with a digit, not empty.
pub fn clean_name(name: &str) -> String {
    let mut clean: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' || c == '\'' {
                c
            } else {
                '_'
            }
        })
        .collect();
    clean.truncate(40);
    let clean = clean.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
    match clean.chars().next() {
        None => "v".into(),
        Some(c) if c.is_ascii_digit() || c == '\'' => format!("v{clean}"),
        Some(_) => clean.into(),
    }
}
