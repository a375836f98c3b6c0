//! Calls: what they consume, and what their results share memory with.

use super::Checker;
use super::exp::may_be_consumed;
use super::place::{Als, Set};
use super::returns;
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Type};
use std::sync::Arc;

/// An argument that has been evaluated.
struct Arg {
    span: Span,
    als: Als,
    /// How much had been consumed when it had been evaluated.
    after: usize,
}

impl Checker<'_> {
    pub(super) fn apply(&mut self, call: &Exp, fun: &Exp, args: &[Exp], infix: bool) -> Als {
        let function = self.exp(fun);
        let captured = function.all();
        let mut at = match function {
            Als::Fun(_, ty) => Type::Fun(ty),
            Als::Fresh | Als::Any(_) | Als::At(_) | Als::Parts(_) | Als::Cons(_) => fun.ty.clone(),
        };
        let params = parameters(&at, args.len());
        let before = self.trail.len();
        let mut done: Vec<Option<Als>> = args.iter().map(|_| None).collect();
        let mut order: Vec<usize> = (0..args.len()).collect();
        if !infix {
            order.reverse();
        }
        let errors = self.errors.len();
        let mut evaluated = Vec::new();
        for i in order {
            let als = self.arg(params[i].as_ref(), &args[i], &evaluated);
            let span = args[i].span;
            let after = self.trail.len();
            evaluated.push(Arg {
                span,
                als: als.clone(),
                after,
            });
            done[i] = Some(als);
        }
        if self.errors.len() == errors {
            for arg in &evaluated {
                self.still_there(arg.span, &arg.als, arg.after);
            }
        }
        if self.trail.len() > before {
            let name = variable_of(fun);
            self.observe(name, fun.span, &captured);
        }
        let mut shared = captured;
        for (i, als) in done.into_iter().flatten().enumerate() {
            let consumed = params[i].as_ref().is_some_and(returns::any_unique);
            if !consumed {
                shared = shared.union(&als.all());
            }
            at = match at {
                Type::Fun(f) => f.ret.ty.clone(),
                other @ (Type::Prim(_)
                | Type::Array(_)
                | Type::Tuple(_)
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Named(_)
                | Type::Meta(_)) => other,
            };
        }
        self.result(call.span, &describe(self, fun), shared, &at)
    }

    /// What a result of this type shares memory with: its unique parts nothing, the others all of these places.
    fn result(&mut self, span: Span, what: &str, shared: Set, ty: &Type) -> Als {
        if !returns::any_shared(ty) {
            return Als::Fresh;
        }
        let shared = if shared.is_empty() {
            Set::one(self.result_place(what, span))
        } else {
            shared
        };
        returned(ty, &shared)
    }

    /// An argument for a parameter of this type, if it is known.
    pub(super) fn consumed_arg(&mut self, param: &Type, span: Span, als: &Als) -> Set {
        self.distinct_parts(span, als, param);
        let set = self.consumed_parts(param, als);
        self.consume(span, &set);
        set
    }

    fn arg(&mut self, param: Option<&Type>, arg: &Exp, evaluated: &[Arg]) -> Als {
        let before = self.trail.len();
        let als = self.exp(arg);
        if self.trail.len() > before && !returns::order_zero(&arg.ty) {
            self.consuming_function(arg.span, before, "this functional argument");
        }
        let Some(param) = param.filter(|t| may_be_consumed(t)) else {
            return als;
        };
        let set = self.consumed_arg(param, arg.span, &als);
        for other in evaluated {
            if let Some(place) = self.places.common(&set, &other.als.all()) {
                self.argument_overlap(arg.span, other.span, place);
                break;
            }
        }
        als
    }

    /// The places that the marks of a parameter's type consume.
    pub(super) fn consumed_parts(&mut self, param: &Type, als: &Als) -> Set {
        if !returns::any_unique(param) {
            return Set::default();
        }
        match self.places.components(als, param) {
            Some(parts) => parts.iter().fold(Set::default(), |set, (part, t)| {
                set.union(&self.consumed_parts(t, part))
            }),
            None => als.all(),
        }
    }

    /// The components of a consumed argument must not share memory with each other.
    fn distinct_parts(&mut self, span: Span, als: &Als, ty: &Type) {
        let mut leaves = Vec::new();
        self.leaves(als, ty, &mut leaves);
        let mut seen = Set::default();
        for leaf in leaves {
            if let Some(place) = self.places.common(&seen, &leaf) {
                self.self_overlap(span, place);
                return;
            }
            seen = seen.union(&leaf);
        }
    }

    fn leaves(&mut self, als: &Als, ty: &Type, out: &mut Vec<Set>) {
        match self.places.components(als, ty) {
            Some(parts) => parts.iter().for_each(|(part, t)| self.leaves(part, t, out)),
            None => out.push(als.all()),
        }
    }
}

/// The types of the first parameters of a function type.
fn parameters(ty: &Type, count: usize) -> Vec<Option<Type>> {
    let mut at = Some(ty);
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        match at {
            Some(Type::Fun(f)) => {
                out.push(Some(f.arg.clone()));
                at = Some(&f.ret.ty);
            }
            Some(_) | None => {
                out.push(None);
                at = None;
            }
        }
    }
    out
}

/// What a result of this type shares memory with.
pub(super) fn returned(ty: &Type, shared: &Set) -> Als {
    match ty {
        Type::Prim(_) => Als::Fresh,
        Type::Array(_) | Type::Named(_) | Type::Meta(_) => {
            if returns::any_unique(ty) {
                Als::Fresh
            } else {
                Als::any(shared.clone(), ty)
            }
        }
        Type::Fun(f) => Als::Fun(shared.clone(), Arc::clone(f)),
        Type::Tuple(ts) => Als::Parts(ts.iter().map(|t| returned(t, shared)).collect()),
        Type::Record(fs) => Als::Parts(fs.iter().map(|(_, t)| returned(t, shared)).collect()),
        Type::Sum(cs) => {
            let cons = cs.iter().map(|(con, ts)| {
                (
                    con.clone(),
                    ts.iter().map(|t| returned(t, shared)).collect(),
                )
            });
            Als::Cons(cons.collect())
        }
    }
}

fn variable_of(fun: &Exp) -> Option<crate::typed::Name> {
    match &fun.kind {
        ExpKind::Var { name, .. } => Some(*name),
        ExpKind::Lit(_)
        | ExpKind::String(_)
        | ExpKind::Hole
        | ExpKind::Size(_)
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Construct(..)
        | ExpKind::Range { .. }
        | ExpKind::Coerce(_)
        | ExpKind::Apply { .. }
        | ExpKind::Negate(_)
        | ExpKind::Not(_)
        | ExpKind::Field(..)
        | ExpKind::TupleField(..)
        | ExpKind::Lambda { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::If { .. }
        | ExpKind::Match { .. }
        | ExpKind::Loop { .. }
        | ExpKind::Index { .. }
        | ExpKind::Update { .. }
        | ExpKind::Assert { .. }
        | ExpKind::Attr(..) => None,
    }
}

fn describe(checker: &Checker<'_>, fun: &Exp) -> String {
    match variable_of(fun) {
        Some(name) => format!("the result of `{}`", checker.names.text(name)),
        None => "the result of this call".to_owned(),
    }
}
