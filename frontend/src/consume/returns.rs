//! Uniqueness in types: reading and copying marks, and the results of functions.

use super::alias::{Al, Set};
use super::{Consume, each_name};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{ArrayType, FunType, NamedType, Pat, RetType, Type};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Whether an argument of the type is consumed: some part of it is marked.
pub(super) fn diet(ty: &Type) -> bool {
    match ty {
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().any(diet),
        Type::Record(ts) => ts.iter().any(|(_, t)| diet(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(diet)),
        Type::Prim(_) | Type::Fun(_) | Type::Meta(_) => false,
    }
}

/// Whether the value itself is marked unique, or a component of a tuple or record.
pub(super) fn any_unique(ty: &Type) -> bool {
    match ty {
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().any(any_unique),
        Type::Record(ts) => ts.iter().any(|(_, t)| any_unique(t)),
        Type::Prim(_) | Type::Sum(_) | Type::Fun(_) | Type::Meta(_) => false,
    }
}

/// The type with the outermost arrays marked or not.
fn set_unique(ty: &Type, unique: bool) -> Type {
    match ty {
        Type::Array(a) => Type::Array(Arc::new(ArrayType {
            unique,
            ..(**a).clone()
        })),
        Type::Named(n) => Type::Named(Arc::new(NamedType {
            unique,
            ..(**n).clone()
        })),
        Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| set_unique(t, unique)).collect()),
        Type::Record(ts) => Type::Record(
            ts.iter()
                .map(|(n, t)| (n.clone(), set_unique(t, unique)))
                .collect(),
        ),
        Type::Sum(cs) => Type::Sum(
            cs.iter()
                .map(|(n, ts)| {
                    (
                        n.clone(),
                        ts.iter().map(|t| set_unique(t, unique)).collect(),
                    )
                })
                .collect(),
        ),
        Type::Prim(_) | Type::Fun(_) | Type::Meta(_) => ty.clone(),
    }
}

/// The type with the marks of the scheme that it is an instance of.
pub(super) fn marked_as(ty: &Type, scheme: &Type) -> Type {
    match (ty, scheme) {
        (Type::Fun(f), Type::Fun(s)) => Type::Fun(Arc::new(FunType {
            param: f.param,
            arg: marked_as(&f.arg, &s.arg),
            ret: RetType {
                exts: f.ret.exts.clone(),
                ty: marked_as(&f.ret.ty, &s.ret.ty),
            },
        })),
        (Type::Array(_), Type::Array(s)) => set_unique(ty, s.unique),
        (Type::Tuple(ts), Type::Tuple(ss)) => Type::Tuple(
            ts.iter()
                .zip(ss.iter())
                .map(|(t, s)| marked_as(t, s))
                .collect(),
        ),
        (Type::Record(ts), Type::Record(ss)) => Type::Record(
            ts.iter()
                .zip(ss.iter())
                .map(|((n, t), (_, s))| (n.clone(), marked_as(t, s)))
                .collect(),
        ),
        (Type::Sum(ts), Type::Sum(ss)) => Type::Sum(
            ts.iter()
                .zip(ss.iter())
                .map(|((n, ts), (_, ss))| {
                    let ts = ts.iter().zip(ss).map(|(t, s)| marked_as(t, s));
                    (n.clone(), ts.collect())
                })
                .collect(),
        ),
        (Type::Fun(_), _) => ty.clone(),
        (_, Type::Named(s)) => set_unique(ty, s.unique),
        (
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Named(_)
            | Type::Meta(_),
            _,
        ) => ty.clone(),
    }
}

/// The type of a function of `n` parameters with another result type.
pub(super) fn with_result(ty: &Type, n: usize, ret: &Type) -> Type {
    if n == 0 {
        return marked_as(ty, ret);
    }
    match ty {
        Type::Fun(f) => Type::Fun(Arc::new(FunType {
            param: f.param,
            arg: f.arg.clone(),
            ret: RetType {
                exts: f.ret.exts.clone(),
                ty: with_result(&f.ret.ty, n - 1, ret),
            },
        })),
        Type::Prim(_)
        | Type::Array(_)
        | Type::Tuple(_)
        | Type::Record(_)
        | Type::Sum(_)
        | Type::Named(_)
        | Type::Meta(_) => ty.clone(),
    }
}

/// The type of a function with these parameters and this result.
pub(super) fn fun_type(params: &[Pat], ret: Type) -> Type {
    params.iter().rev().fold(ret, |ret, p| {
        Type::Fun(Arc::new(FunType {
            param: None,
            arg: p.ty.clone(),
            ret: RetType {
                exts: Vec::new(),
                ty: ret,
            },
        }))
    })
}

/// The components of a result: whether each is to be unique, and what it aliases.
fn components(ty: &Type, al: &Al, out: &mut Vec<(bool, Set)>) {
    match (ty, al) {
        (Type::Tuple(ts), Al::Tuple(als)) => {
            for (t, a) in ts.iter().zip(als) {
                components(t, a, out);
            }
        }
        (Type::Record(ts), Al::Record(als)) => {
            for ((_, t), (_, a)) in ts.iter().zip(als) {
                components(t, a, out);
            }
        }
        (
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_),
            _,
        ) => out.push((diet(ty), al.set())),
    }
}

/// Aliases of the arrays in a value, not those of functions.
fn of_arrays(ty: &Type, al: &Al, out: &mut Set) {
    match (ty, al) {
        (Type::Fun(_) | Type::Prim(_), _) => {}
        (Type::Tuple(ts), Al::Tuple(als)) => {
            for (t, a) in ts.iter().zip(als) {
                of_arrays(t, a, out);
            }
        }
        (Type::Record(ts), Al::Record(als)) => {
            for ((_, t), (_, a)) in ts.iter().zip(als) {
                of_arrays(t, a, out);
            }
        }
        (
            Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Named(_)
            | Type::Meta(_),
            _,
        ) => al.collect(out),
    }
}

impl Consume<'_> {
    /// Checks that unique components of a result alias neither each other nor parameters that the function does not own.
    pub(super) fn check_result(&mut self, params: &[Pat], declared: &Type, al: &Al, span: Span) {
        let mut parts = Vec::new();
        components(declared, al, &mut parts);
        let mut frozen: BTreeSet<u32> = BTreeSet::new();
        for param in params {
            each_name(param, &mut |name, ty| {
                if !owned(ty) {
                    frozen.insert(name.0);
                }
            });
        }
        let mut unique_seen = Set::new();
        let mut seen = Set::new();
        for (unique, set) in parts {
            let clash = if unique { &seen } else { &unique_seen };
            if !set.is_disjoint(clash) {
                let message =
                    "a unique part of the result is aliased to some other component of the result";
                let error = Diagnostic::error(Code::ResultAliases, span, message);
                self.errors
                    .push(error.hint("use `copy` to break the aliasing"));
            }
            if unique && let Some(bad) = set.iter().find(|a| frozen.contains(&a.id)) {
                let what = self.describe(bad.id);
                let message =
                    format!("the unique result is aliased to {what}, which is not consumable");
                let error = Diagnostic::error(Code::ResultAliases, span, message)
                    .note("a caller may go on using what it gave for a parameter without `*`");
                self.errors
                    .push(error.hint("use `copy` to break the aliasing"));
            }
            if unique {
                unique_seen.extend(&set);
            }
            seen.extend(set);
        }
    }

    /// A function gives no array of the top level away.
    pub(super) fn check_global_result(&mut self, params: &[Pat], al: &Al, span: Span) {
        if params.is_empty() {
            return;
        }
        let set = al.set();
        let bad = set.iter().find(|a| !a.free && self.is_global(a.id));
        if let Some(bad) = bad {
            let what = self.describe(bad.id);
            let message = format!("the result of the function aliases the free variable {what}");
            let error = Diagnostic::error(Code::ResultAliases, span, message);
            self.errors
                .push(error.hint("use `copy` to break the aliasing"));
        }
    }

    /// The result type with the marks that the body allows.
    pub(super) fn infer_unique(&self, params: &[Pat], declared: &Type, al: &Al) -> Type {
        if params.is_empty() {
            return declared.clone();
        }
        let shared = al.shared();
        let mut owned_names: BTreeSet<u32> = BTreeSet::new();
        for param in params {
            each_name(param, &mut |name, ty| {
                if diet(ty) {
                    owned_names.insert(name.0);
                }
            });
        }
        let params: BTreeSet<u32> = super::names_of(params);
        infer(declared, al, &|set| {
            set.iter().all(|a| {
                let bound = !a.free || params.contains(&a.id);
                !shared.contains(&a.id) && (!bound || owned_names.contains(&a.id))
            })
        })
    }
}

fn infer(ty: &Type, al: &Al, ok: &dyn Fn(&Set) -> bool) -> Type {
    match (ty, al) {
        (Type::Tuple(ts), Al::Tuple(als)) => {
            Type::Tuple(ts.iter().zip(als).map(|(t, a)| infer(t, a, ok)).collect())
        }
        (Type::Record(ts), Al::Record(als)) => Type::Record(
            ts.iter()
                .zip(als)
                .map(|((n, t), (_, a))| (n.clone(), infer(t, a, ok)))
                .collect(),
        ),
        (
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_),
            _,
        ) => {
            let mut set = Set::new();
            of_arrays(ty, al, &mut set);
            set_unique(ty, diet(ty) || ok(&set))
        }
    }
}

/// Whether a function owns everything in a parameter of the type.
fn owned(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Meta(_) => true,
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().all(owned),
        Type::Record(ts) => ts.iter().all(|(_, t)| owned(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(owned)),
        Type::Fun(_) => false,
    }
}

/// Whether a type has functions in it.
pub(super) fn has_function(ty: &Type) -> bool {
    crate::lower::module::has_function(ty)
}
