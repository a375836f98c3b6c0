//! Applications: what a call consumes, and what its result may share.

use super::alias::{Al, Set};
use super::returns::{diet, has_function};
use super::{Checked, Consume};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Exp, ExpKind, Type};

impl<'p> Consume<'p> {
    /// `f a b ..`. The arguments are evaluated before the function, the last one first (those of an operator, the
    /// first one first); the checks here see the function first, as its type says what is consumed.
    pub(super) fn apply(
        &mut self,
        e: &'p Exp,
        fun: &'p Exp,
        args: &'p [Exp],
        infix: bool,
    ) -> Checked {
        let f = self.exp(fun);
        let mut diets = Vec::with_capacity(args.len());
        let mut at = f.ty.clone();
        for _ in args {
            let next = match &at {
                Type::Fun(fun) => {
                    diets.push(diet(&fun.arg));
                    fun.ret.ty.clone()
                }
                Type::Prim(_)
                | Type::Array(_)
                | Type::Tuple(_)
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Named(_)
                | Type::Meta(_) => {
                    diets.push(false);
                    at.clone()
                }
            };
            at = next;
        }
        let mut done: Vec<(usize, Al)> = Vec::with_capacity(args.len());
        let order: Vec<usize> = if infix {
            (0..args.len()).collect()
        } else {
            (0..args.len()).rev().collect()
        };
        for i in order {
            let al = self.arg(&args[i], diets[i], &done, args);
            done.push((i, al));
        }
        done.sort_by_key(|(i, _)| *i);
        let what = if let ExpKind::Var { name, .. } = &fun.kind {
            let name = self.program.names.text(*name);
            format!("the result of applying `{name}`")
        } else {
            String::from("the result of this application")
        };
        let fresh = self.made_up(what);
        let mut closure = f.al.set();
        closure.insert(fresh);
        let mut result = Checked {
            al: Al::Leaf(closure),
            ty: f.ty,
        };
        for ((_, al), consumed) in done.iter().zip(&diets) {
            result = apply_arg(&result, al, *consumed, &e.ty);
        }
        result.ty = if has_function(&e.ty) {
            result.ty
        } else {
            e.ty.clone()
        };
        result
    }

    fn arg(&mut self, arg: &'p Exp, consumed: bool, others: &[(usize, Al)], args: &'p [Exp]) -> Al {
        let ((), checked, new) = self.contained(|cx| ((), cx.exp(arg)));
        self.note_consumed(&new);
        if !new.is_empty() && has_function(&arg.ty) {
            self.functional_consumption(arg.span, "this argument is a function that");
        }
        if consumed {
            self.check_self_alias(&checked.al, arg.span);
            let set = checked.al.set();
            self.consume(&set, arg.span);
            let bound: Vec<u32> = set.iter().filter(|a| !a.free).map(|a| a.id).collect();
            let clash = others.iter().find_map(|(i, al)| {
                let other = al.set();
                let id = other.iter().find(|a| !a.free && bound.contains(&a.id))?;
                Some((*i, id.id))
            });
            if let Some((i, id)) = clash {
                let what = self.describe(id);
                let message =
                    format!("this argument is consumed, but another argument aliases {what}, too");
                let error = Diagnostic::error(Code::SelfAliasing, arg.span, message)
                    .label("Argument is consumed")
                    .also(args[i].span, "the other argument");
                self.errors.push(error);
            }
        }
        checked.al
    }

    /// The parts of what is consumed must not share memory.
    pub(super) fn check_self_alias(&mut self, al: &Al, span: Span) {
        let mut parts = Vec::new();
        al.parts(&mut parts);
        let mut seen = Set::new();
        for part in parts {
            if !part.is_disjoint(&seen) {
                let message = "the argument of a consuming parameter is self-aliased";
                self.error(Code::SelfAliasing, span, message);
                return;
            }
            seen.extend(part);
        }
    }

    /// A function may be applied often: what makes it must consume nothing.
    pub(super) fn functional_consumption(&mut self, span: Span, what: &str) {
        let message = format!("{what} contains consumption, which is not allowed");
        let error = Diagnostic::error(Code::FunctionConsumes, span, message)
            .note("a function may be applied several times, but what it was made from is gone");
        self.errors.push(error);
    }
}

/// The result of applying a function to one argument.
fn apply_arg(f: &Checked, arg: &Al, consumed: bool, whole: &Type) -> Checked {
    let closure = f.al.set();
    match &f.ty {
        Type::Fun(fun) => Checked {
            al: result(&closure, &fun.ret.ty, consumed, arg),
            ty: fun.ret.ty.clone(),
        },
        Type::Prim(_)
        | Type::Array(_)
        | Type::Tuple(_)
        | Type::Record(_)
        | Type::Sum(_)
        | Type::Named(_)
        | Type::Meta(_) => Checked {
            al: result(&closure, whole, consumed, arg),
            ty: whole.clone(),
        },
    }
}

/// What the result of an application aliases: a part marked unique nothing; any other what the function closes over
/// and, unless it was consumed, the argument.
pub(super) fn result(closure: &Set, ty: &Type, consumed: bool, arg: &Al) -> Al {
    let open = |unique: bool| {
        if unique {
            return Al::Leaf(Set::new());
        }
        let mut set = closure.clone();
        if !consumed {
            arg.collect(&mut set);
        }
        Al::Leaf(set)
    };
    match ty {
        Type::Prim(_) | Type::Meta(_) => Al::Leaf(Set::new()),
        Type::Array(a) => open(a.unique),
        Type::Named(n) => open(n.unique),
        Type::Fun(_) => open(false),
        Type::Tuple(ts) => Al::Tuple(
            ts.iter()
                .map(|t| result(closure, t, consumed, arg))
                .collect(),
        ),
        Type::Record(ts) => Al::Record(
            ts.iter()
                .map(|(n, t)| (n.clone(), result(closure, t, consumed, arg)))
                .collect(),
        ),
        Type::Sum(cs) => Al::Sum(
            cs.iter()
                .map(|(n, ts)| {
                    let ts = ts.iter().map(|t| result(closure, t, consumed, arg));
                    (n.clone(), ts.collect())
                })
                .collect(),
        ),
    }
}
