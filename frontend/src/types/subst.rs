//! Substitution in types and sizes, and the small maps over types that the checker needs.

use super::opaque::opaque;
use super::ty::{
    ArrayType, Atom, FunType, Name, NamedType, RetType, Size, Type, TypeArg, TypeParam,
};
use super::walk::{self, Visitor};
use crate::typed::{Exp, ExpKind, NameInfo, NameKind, Names};
use midend::hash::HashMap;
use std::sync::Arc;

/// What a type name stands for: parameters and a result that may bind sizes.
#[derive(Clone, Debug)]
pub(crate) struct TypeFun {
    pub(crate) params: Vec<TypeParam>,
    pub(crate) rhs: RetType,
}

/// A simultaneous substitution of types, sizes and values.
#[derive(Default, Clone, Debug)]
pub(crate) struct Subst {
    pub(crate) types: HashMap<Name, TypeFun>,
    pub(crate) sizes: HashMap<Name, Size>,
    /// For values that occur inside opaque sizes.
    pub(crate) exps: HashMap<Name, Exp>,
    /// Values renamed.
    pub(crate) values: HashMap<Name, Name>,
}

impl Subst {
    pub(crate) fn is_empty(&self) -> bool {
        self.types.is_empty()
            && self.sizes.is_empty()
            && self.exps.is_empty()
            && self.values.is_empty()
    }

    /// One type name for a type without parameters.
    pub(crate) fn bind_type(&mut self, name: Name, ty: Type) {
        let rhs = RetType {
            exts: Vec::new(),
            ty,
        };
        self.types.insert(
            name,
            TypeFun {
                params: Vec::new(),
                rhs,
            },
        );
    }

    /// Substitutes in a type; existential sizes that come to the top are added to `exts`.
    pub(crate) fn ty(&self, names: &mut Names, ty: &Type, exts: &mut Vec<Name>) -> Type {
        if self.is_empty() {
            return ty.clone();
        }
        match ty {
            Type::Prim(_) | Type::Meta(_) => ty.clone(),
            Type::Array(a) => Type::Array(Arc::new(ArrayType {
                size: self.size(names, &a.size),
                elem: self.ty(names, &a.elem, exts),
                unique: a.unique,
            })),
            Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| self.ty(names, t, exts)).collect()),
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(f, t)| (f.clone(), self.ty(names, t, exts)))
                    .collect(),
            ),
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| {
                        (
                            c.clone(),
                            ts.iter().map(|t| self.ty(names, t, exts)).collect(),
                        )
                    })
                    .collect(),
            ),
            Type::Fun(f) => Type::Fun(Arc::new(FunType {
                param: f.param,
                arg: self.ty(names, &f.arg, exts),
                ret: match &f.ret.ty {
                    // A size that a later parameter brings in is any size: it is bound outside of the whole function type.
                    Type::Fun(_) => RetType {
                        exts: f.ret.exts.clone(),
                        ty: self.ty(names, &f.ret.ty, exts),
                    },
                    Type::Prim(_)
                    | Type::Array(_)
                    | Type::Tuple(_)
                    | Type::Record(_)
                    | Type::Sum(_)
                    | Type::Named(_)
                    | Type::Meta(_) => self.ret(names, &f.ret),
                },
            })),
            Type::Named(n) => self.named(names, n, exts),
        }
    }

    fn named(&self, names: &mut Names, n: &NamedType, exts: &mut Vec<Name>) -> Type {
        let args: Vec<TypeArg> = n
            .args
            .iter()
            .map(|arg| match arg {
                TypeArg::Size(s) => TypeArg::Size(self.size(names, s)),
                TypeArg::Type(t) => TypeArg::Type(self.ty(names, t, exts)),
            })
            .collect();
        let Some(fun) = self.types.get(&n.name) else {
            return Type::Named(Arc::new(NamedType {
                name: n.name,
                args,
                unique: n.unique,
            }));
        };
        let result = apply_type_fun(names, fun, &args);
        exts.extend(result.exts);
        if n.unique {
            set_unique(&result.ty)
        } else {
            result.ty
        }
    }

    /// Substitutes in a result type.
    pub(crate) fn ret(&self, names: &mut Names, ret: &RetType) -> RetType {
        if self.is_empty() {
            return ret.clone();
        }
        let mut exts = ret.exts.clone();
        let ty = self.ty(names, &ret.ty, &mut exts);
        RetType { exts, ty }
    }

    /// Substitutes in a size.
    pub(crate) fn size(&self, names: &mut Names, size: &Size) -> Size {
        let touched = |atom: &Atom| match atom {
            Atom::Name(n) => {
                self.sizes.contains_key(n)
                    || self.values.contains_key(n)
                    || self.exps.contains_key(n)
            }
            Atom::Opaque(o) => {
                !self.types.is_empty()
                    || o.free.iter().any(|n| {
                        self.sizes.contains_key(n)
                            || self.exps.contains_key(n)
                            || self.values.contains_key(n)
                    })
            }
            Atom::Meta(_) => false,
        };
        if !size.terms.keys().flatten().any(touched) {
            return size.clone();
        }
        rebuild(size, &mut |atom| match atom {
            Atom::Name(n) => match (self.sizes.get(n), self.values.get(n), self.exps.get(n)) {
                (Some(size), _, _) => size.clone(),
                (None, Some(renamed), _) => Size::name(*renamed),
                (None, None, Some(exp)) => super::opaque::size_of_exp(names, exp)
                    .unwrap_or_else(|| opaque(names, exp.clone())),
                (None, None, None) => Size::name(*n),
            },
            Atom::Opaque(o) => {
                let mut exp = o.exp.clone();
                walk::exp(&mut exp, &mut Rewrite { subst: self, names });
                super::opaque::size_of_exp(names, &exp).unwrap_or_else(|| opaque(names, exp))
            }
            Atom::Meta(m) => Size::atom(Atom::Meta(*m)),
        })
    }
}

struct Rewrite<'a> {
    subst: &'a Subst,
    names: &'a mut Names,
}

impl Visitor for Rewrite<'_> {
    fn ty(&mut self, ty: &mut Type) {
        *ty = self.subst.ty(self.names, ty, &mut Vec::new());
    }
    fn size(&mut self, size: &mut Size) {
        *size = self.subst.size(self.names, size);
    }
    fn enter(&mut self, e: &mut Exp) -> bool {
        if let ExpKind::Var { name, .. } = &mut e.kind {
            if let Some(size) = self.subst.sizes.get(name) {
                e.kind = ExpKind::Size(size.clone());
                return false;
            }
            if let Some(exp) = self.subst.exps.get(name) {
                *e = exp.clone();
                return false;
            }
            if let Some(renamed) = self.subst.values.get(name) {
                *name = *renamed;
            }
        }
        true
    }
}

/// Applies a type function to arguments; its existential sizes are made fresh.
pub(crate) fn apply_type_fun(names: &mut Names, fun: &TypeFun, args: &[TypeArg]) -> RetType {
    let mut subst = Subst::default();
    for (param, arg) in fun.params.iter().zip(args) {
        match (param, arg) {
            (TypeParam::Size(p), TypeArg::Size(s)) => {
                subst.sizes.insert(*p, s.clone());
            }
            (TypeParam::Type(p, _), TypeArg::Type(t)) => subst.bind_type(*p, t.clone()),
            // The declaration of the type was checked against its uses.
            (TypeParam::Size(_), TypeArg::Type(_)) | (TypeParam::Type(..), TypeArg::Size(_)) => {}
        }
    }
    let renamed = rename_exts(names, &fun.rhs);
    subst.ret(names, &renamed)
}

/// Gives the existential sizes of a result type fresh names.
pub(crate) fn rename_exts(names: &mut Names, ret: &RetType) -> RetType {
    if ret.exts.is_empty() {
        return ret.clone();
    }
    let mut subst = Subst::default();
    let mut exts = Vec::new();
    for ext in &ret.exts {
        let fresh = fresh_size(names, *ext);
        subst.sizes.insert(*ext, Size::name(fresh));
        exts.push(fresh);
    }
    let ty = subst.ty(names, &ret.ty, &mut Vec::new());
    RetType { exts, ty }
}

/// A fresh size name, called as `like` is.
pub(crate) fn fresh_size(names: &mut Names, like: Name) -> Name {
    let text = names.text(like).to_owned();
    let span = names.get(like).span;
    names.fresh(NameInfo {
        text,
        span,
        kind: NameKind::Size,
        scheme: None,
    })
}

/// Rebuilds a size from what its atoms become.
pub(crate) fn rebuild(size: &Size, atom: &mut dyn FnMut(&Atom) -> Size) -> Size {
    if let (Some(a), None) = (size.as_atom(), &size.written) {
        return atom(a);
    }
    let mut out = Size::default();
    for (product, k) in &size.terms {
        let mut term = Size::constant(*k);
        for a in product {
            term = term.mul(&atom(a));
        }
        out = out.add(&term);
    }
    if let Some(w) = &size.written {
        let (left, right) = (rebuild(&w.left, atom), rebuild(&w.right, atom));
        out = out.with_written(w.op, left, right);
    }
    out
}

/// The type with every size replaced; existential binders stay.
pub(crate) fn map_sizes(ty: &Type, f: &mut dyn FnMut(&Size) -> Size) -> Type {
    changed(ty, f).unwrap_or_else(|| ty.clone())
}

/// The type with every size replaced, if that makes a difference: most types keep their sizes, and so are shared.
fn changed(ty: &Type, f: &mut dyn FnMut(&Size) -> Size) -> Option<Type> {
    match ty {
        Type::Prim(_) | Type::Meta(_) => None,
        Type::Array(a) => {
            let size = f(&a.size);
            let elem = changed(&a.elem, f);
            if elem.is_none() && size.is_same(&a.size) {
                return None;
            }
            Some(Type::Array(Arc::new(ArrayType {
                size,
                elem: elem.unwrap_or_else(|| a.elem.clone()),
                unique: a.unique,
            })))
        }
        Type::Tuple(ts) => all_changed(ts, |t| changed(t, f)).map(|ts| Type::Tuple(ts.into())),
        Type::Record(fs) => {
            let field = |(n, t): &(_, _)| Some((Clone::clone(n), changed(t, f)?));
            all_changed(fs, field).map(|fs| Type::Record(fs.into()))
        }
        Type::Sum(cs) => {
            let constructor = |(c, ts): &(_, Vec<Type>)| {
                Some((Clone::clone(c), all_changed(ts, |t| changed(t, f))?))
            };
            all_changed(cs, constructor).map(|cs| Type::Sum(cs.into()))
        }
        Type::Fun(fun) => {
            let (arg, ret) = (changed(&fun.arg, f), changed(&fun.ret.ty, f));
            if arg.is_none() && ret.is_none() {
                return None;
            }
            Some(Type::Fun(Arc::new(FunType {
                param: fun.param,
                arg: arg.unwrap_or_else(|| fun.arg.clone()),
                ret: RetType {
                    exts: fun.ret.exts.clone(),
                    ty: ret.unwrap_or_else(|| fun.ret.ty.clone()),
                },
            })))
        }
        Type::Named(n) => {
            let arg = |arg: &TypeArg| match arg {
                TypeArg::Size(s) => Some(f(s)).filter(|new| !new.is_same(s)).map(TypeArg::Size),
                TypeArg::Type(t) => changed(t, f).map(TypeArg::Type),
            };
            let args = all_changed(&n.args, arg)?;
            Some(Type::Named(Arc::new(NamedType {
                name: n.name,
                args,
                unique: n.unique,
            })))
        }
    }
}

/// The items with what they become, if any of them changes. All are looked at, in order.
fn all_changed<T: Clone>(items: &[T], mut f: impl FnMut(&T) -> Option<T>) -> Option<Vec<T>> {
    let mut out: Option<Vec<T>> = None;
    for (i, item) in items.iter().enumerate() {
        match (f(item), &mut out) {
            (Some(new), Some(out)) => out.push(new),
            (Some(new), None) => {
                let mut all = items[..i].to_vec();
                all.push(new);
                out = Some(all);
            }
            (None, Some(out)) => out.push(item.clone()),
            (None, None) => {}
        }
    }
    out
}

/// The type with the parameters of functions renamed.
pub(crate) fn map_params(ty: &Type, f: &dyn Fn(Name) -> Name) -> Type {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Array(_) => ty.clone(),
        Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| map_params(t, f)).collect()),
        Type::Record(fs) => Type::Record(
            fs.iter()
                .map(|(n, t)| (n.clone(), map_params(t, f)))
                .collect(),
        ),
        Type::Sum(cs) => Type::Sum(
            cs.iter()
                .map(|(c, ts)| (c.clone(), ts.iter().map(|t| map_params(t, f)).collect()))
                .collect(),
        ),
        Type::Fun(fun) => Type::Fun(Arc::new(FunType {
            param: fun.param.map(f),
            arg: map_params(&fun.arg, f),
            ret: RetType {
                exts: fun.ret.exts.clone(),
                ty: map_params(&fun.ret.ty, f),
            },
        })),
        Type::Named(n) => Type::Named(Arc::new(NamedType {
            name: n.name,
            args: n
                .args
                .iter()
                .map(|arg| match arg {
                    TypeArg::Size(s) => TypeArg::Size(s.clone()),
                    TypeArg::Type(t) => TypeArg::Type(map_params(t, f)),
                })
                .collect(),
            unique: n.unique,
        })),
    }
}

/// `*t`.
pub(crate) fn set_unique(ty: &Type) -> Type {
    with_unique(ty, true)
}

/// The type without marks of uniqueness at its top (function types keep theirs).
pub(crate) fn clear_unique(ty: &Type) -> Type {
    if any_unique(ty) {
        with_unique(ty, false)
    } else {
        ty.clone()
    }
}

/// Whether the type carries a mark of uniqueness at its top: as a parameter it is consumed.
pub(crate) fn any_unique(ty: &Type) -> bool {
    match ty {
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().any(any_unique),
        Type::Record(fs) => fs.iter().any(|(_, t)| any_unique(t)),
        Type::Sum(cs) => cs.iter().any(|(_, ts)| ts.iter().any(any_unique)),
        Type::Prim(_) | Type::Fun(_) | Type::Meta(_) => false,
    }
}

fn with_unique(ty: &Type, unique: bool) -> Type {
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Fun(_) => ty.clone(),
        Type::Array(a) => Type::Array(Arc::new(ArrayType {
            size: a.size.clone(),
            elem: a.elem.clone(),
            unique,
        })),
        Type::Named(n) => Type::Named(Arc::new(NamedType {
            name: n.name,
            args: n.args.clone(),
            unique,
        })),
        Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| with_unique(t, unique)).collect()),
        Type::Record(fs) => Type::Record(
            fs.iter()
                .map(|(f, t)| (f.clone(), with_unique(t, unique)))
                .collect(),
        ),
        Type::Sum(cs) => Type::Sum(
            cs.iter()
                .map(|(c, ts)| {
                    (
                        c.clone(),
                        ts.iter().map(|t| with_unique(t, unique)).collect(),
                    )
                })
                .collect(),
        ),
    }
}

/// Whether a value of the type holds no function, as far as the type itself shows.
pub(crate) fn order_zero(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Named(_) | Type::Meta(_) => true,
        Type::Array(a) => order_zero(&a.elem),
        Type::Tuple(ts) => ts.iter().all(order_zero),
        Type::Record(fs) => fs.iter().all(|(_, t)| order_zero(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(order_zero)),
        Type::Fun(_) => false,
    }
}

/// The named types in a type.
pub(crate) fn type_names(ty: &Type, out: &mut Vec<Name>) {
    match ty {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array(a) => type_names(&a.elem, out),
        Type::Tuple(ts) => ts.iter().for_each(|t| type_names(t, out)),
        Type::Record(fs) => fs.iter().for_each(|(_, t)| type_names(t, out)),
        Type::Sum(cs) => cs
            .iter()
            .for_each(|(_, ts)| ts.iter().for_each(|t| type_names(t, out))),
        Type::Fun(f) => {
            type_names(&f.arg, out);
            type_names(&f.ret.ty, out);
        }
        Type::Named(n) => {
            out.push(n.name);
            for arg in &n.args {
                match arg {
                    TypeArg::Size(_) => {}
                    TypeArg::Type(t) => type_names(t, out),
                }
            }
        }
    }
}
