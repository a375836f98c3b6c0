//! Unification of types without sizes, with constrained variables: overloaded scalars, records and sums that are known in part.

use crate::source::Span;
use crate::types::subst::clear_unique;
use crate::types::ty::{ArrayType, FunType, Lift, Name, NamedType, RetType, Sym, Type, TypeArg};
use midend::hash::HashMap;
use std::sync::Arc;

pub(crate) use super::kind::{Kind, PrimSet, field_of, payload_of, record_type, unsized_array};

#[derive(Clone, Debug)]
pub(crate) struct Free {
    pub(crate) kind: Kind,
    pub(crate) lift: Lift,
    pub(crate) span: Span,
    /// How many functions it is inside of: no type parameter from deeper inside may become part of it.
    pub(crate) level: u32,
}

#[derive(Clone, Debug)]
pub(super) enum Meta {
    Link(Type),
    Free(Free),
}

/// Why two types do not unify.
#[derive(Debug)]
pub(crate) enum Clash {
    Types(Type, Type),
    Infinite,
    NotOneOf(Type, PrimSet),
    NoField(Type, Sym),
    NoConstructor(Type, Sym),
    Payload(Sym),
    /// A type parameter is not in scope where the type is needed.
    Scope(Name),
    /// The types are larger than any that can be worked with.
    TooLarge,
}

/// The most parts of types that one unification may look at.
const MAX_WORK: usize = 1 << 20;

/// The state of inference.
#[derive(Default, Debug)]
pub(crate) struct Solver {
    metas: Vec<Meta>,
    /// Where each variable is from.
    origins: Vec<Span>,
    /// The parts of types that the unification at hand has looked at.
    work: usize,
    pub(crate) level: u32,
    /// The levels of type parameters.
    pub(crate) params: HashMap<Name, u32>,
}

type Outcome = Result<(), Clash>;

impl Solver {
    pub(crate) fn fresh(&mut self, span: Span, lift: Lift, kind: Kind) -> Type {
        let id = u32::try_from(self.metas.len()).expect("fewer than 2^32 type variables");
        let level = self.level;
        self.origins.push(span);
        self.metas.push(Meta::Free(Free {
            kind,
            lift,
            span,
            level,
        }));
        Type::Meta(id)
    }

    /// The type with its outermost links followed.
    pub(crate) fn head(&mut self, ty: &Type) -> Type {
        let Type::Meta(first) = ty else {
            return ty.clone();
        };
        let mut at = *first;
        let end = loop {
            match &self.metas[at as usize] {
                Meta::Link(Type::Meta(next)) => at = *next,
                Meta::Link(ty) => break ty.clone(),
                Meta::Free(_) => break Type::Meta(at),
            }
        };
        // All variables on the way lead there directly from now on, or long chains would be followed again and again.
        let mut at = *first;
        while let Meta::Link(Type::Meta(next)) = self.metas[at as usize] {
            self.metas[at as usize] = Meta::Link(end.clone());
            at = next;
        }
        end
    }

    pub(super) fn meta(&self, id: u32) -> &Meta {
        &self.metas[id as usize]
    }

    /// Where a variable is from.
    pub(super) fn origin(&self, id: u32) -> Span {
        self.origins[id as usize]
    }

    pub(crate) fn free(&self, id: u32) -> Option<&Free> {
        match self.metas.get(id as usize)? {
            Meta::Free(free) => Some(free),
            Meta::Link(_) => None,
        }
    }

    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.metas.len()).expect("fewer than 2^32 type variables")
    }

    /// Decides a variable.
    pub(crate) fn set(&mut self, id: u32, ty: Type) {
        self.metas[id as usize] = Meta::Link(ty);
    }

    /// The type with all that is known put in.
    pub(crate) fn zonk(&mut self, ty: &Type) -> Type {
        let ty = self.head(ty);
        match &ty {
            Type::Prim(_) | Type::Meta(_) => ty,
            Type::Array(a) => Type::Array(Arc::new(ArrayType {
                size: a.size.clone(),
                elem: self.zonk(&a.elem),
                unique: a.unique,
            })),
            Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| self.zonk(t)).collect()),
            Type::Record(fs) => {
                Type::Record(fs.iter().map(|(f, t)| (f.clone(), self.zonk(t))).collect())
            }
            Type::Sum(cs) => Type::Sum(
                cs.iter()
                    .map(|(c, ts)| (c.clone(), ts.iter().map(|t| self.zonk(t)).collect()))
                    .collect(),
            ),
            Type::Fun(f) => Type::Fun(Arc::new(FunType {
                param: f.param,
                arg: self.zonk(&f.arg),
                ret: RetType {
                    exts: f.ret.exts.clone(),
                    ty: self.zonk(&f.ret.ty),
                },
            })),
            Type::Named(n) => Type::Named(Arc::new(NamedType {
                name: n.name,
                args: n
                    .args
                    .iter()
                    .map(|arg| match arg {
                        TypeArg::Size(s) => TypeArg::Size(s.clone()),
                        TypeArg::Type(t) => TypeArg::Type(self.zonk(t)),
                    })
                    .collect(),
                unique: n.unique,
            })),
        }
    }

    pub(crate) fn unify(&mut self, a: &Type, b: &Type) -> Outcome {
        self.work = 0;
        self.unify_parts(a, b)
    }

    fn unify_parts(&mut self, a: &Type, b: &Type) -> Outcome {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.unify_inner(a, b))
    }

    /// Counts a part that is looked at.
    fn step(&mut self) -> Outcome {
        self.work += 1;
        if self.work > MAX_WORK {
            return Err(Clash::TooLarge);
        }
        Ok(())
    }

    fn unify_inner(&mut self, a: &Type, b: &Type) -> Outcome {
        self.step()?;
        let (a, b) = (self.head(a), self.head(b));
        match (&a, &b) {
            (Type::Meta(x), Type::Meta(y)) => {
                if x == y {
                    Ok(())
                } else {
                    self.join(*x, *y)
                }
            }
            (Type::Meta(x), _) => self.link(*x, &b),
            (_, Type::Meta(y)) => self.link(*y, &a),
            (Type::Prim(p), Type::Prim(q)) if p == q => Ok(()),
            (Type::Array(x), Type::Array(y)) => self.unify_parts(&x.elem, &y.elem),
            (Type::Tuple(xs), Type::Tuple(ys)) if xs.len() == ys.len() => {
                self.unify_all(xs.iter().zip(ys.iter()))
            }
            (Type::Record(xs), Type::Record(ys))
                if xs.len() == ys.len() && xs.iter().zip(ys.iter()).all(|(x, y)| x.0 == y.0) =>
            {
                self.unify_all(xs.iter().zip(ys.iter()).map(|(x, y)| (&x.1, &y.1)))
            }
            (Type::Sum(xs), Type::Sum(ys))
                if xs.len() == ys.len()
                    && xs
                        .iter()
                        .zip(ys.iter())
                        .all(|(x, y)| x.0 == y.0 && x.1.len() == y.1.len()) =>
            {
                self.unify_all(
                    xs.iter()
                        .zip(ys.iter())
                        .flat_map(|(x, y)| x.1.iter().zip(&y.1)),
                )
            }
            (Type::Fun(x), Type::Fun(y)) => {
                self.unify_parts(&x.arg, &y.arg)?;
                self.unify_parts(&x.ret.ty, &y.ret.ty)
            }
            (Type::Named(x), Type::Named(y))
                if x.name == y.name && x.args.len() == y.args.len() =>
            {
                for pair in x.args.iter().zip(&y.args) {
                    if let (TypeArg::Type(s), TypeArg::Type(t)) = pair {
                        self.unify_parts(s, t)?;
                    }
                }
                Ok(())
            }
            (
                Type::Prim(_)
                | Type::Array(_)
                | Type::Tuple(_)
                | Type::Record(_)
                | Type::Sum(_)
                | Type::Fun(_)
                | Type::Named(_),
                _,
            ) => Err(Clash::Types(a, b)),
        }
    }

    fn unify_all<'t>(&mut self, pairs: impl Iterator<Item = (&'t Type, &'t Type)>) -> Outcome {
        for (a, b) in pairs {
            self.unify_parts(a, b)?;
        }
        Ok(())
    }

    fn take_free(&self, id: u32) -> Free {
        self.free(id)
            .cloned()
            .expect("the head of a type is a free variable")
    }

    fn join(&mut self, x: u32, y: u32) -> Outcome {
        let (fx, fy) = (self.take_free(x), self.take_free(y));
        let lift = fx.lift.min(fy.lift);
        let (tx, ty) = (Type::Meta(x), Type::Meta(y));
        let mut later: Vec<(Type, Type)> = Vec::new();
        let kind = match (fx.kind, fy.kind) {
            (Kind::Any, k) | (k, Kind::Any) => k,
            (Kind::Prims(p), Kind::Prims(q)) => {
                let both = p.and(q);
                if both.members().next().is_none() {
                    return Err(Clash::NotOneOf(tx, q));
                }
                Kind::Prims(both)
            }
            (Kind::Record(mut fs), Kind::Record(gs)) => {
                for (f, t) in gs {
                    if let Some(old) = fs.insert(f, t.clone()) {
                        later.push((old, t));
                    }
                }
                Kind::Record(fs)
            }
            (Kind::Sum(mut cs), Kind::Sum(ds)) => {
                for (c, ts) in ds {
                    if let Some(old) = cs.insert(c.clone(), ts.clone()) {
                        if old.len() != ts.len() {
                            return Err(Clash::Payload(c));
                        }
                        later.extend(old.into_iter().zip(ts));
                    }
                }
                Kind::Sum(cs)
            }
            (Kind::Prims(p), Kind::Record(_) | Kind::Sum(_)) => return Err(Clash::NotOneOf(ty, p)),
            (Kind::Record(_) | Kind::Sum(_), Kind::Prims(p)) => return Err(Clash::NotOneOf(tx, p)),
            (Kind::Record(_), Kind::Sum(_)) | (Kind::Sum(_), Kind::Record(_)) => {
                return Err(Clash::Types(tx, ty));
            }
        };
        self.metas[x as usize] = Meta::Link(ty.clone());
        self.metas[y as usize] = Meta::Free(Free {
            kind: kind.clone(),
            lift,
            span: fy.span,
            level: fx.level.min(fy.level),
        });
        for (a, b) in later {
            self.unify_parts(&a, &b)?;
        }
        self.no_cycle(y, &kind)
    }

    fn no_cycle(&mut self, id: u32, kind: &Kind) -> Outcome {
        let parts: Vec<Type> = match kind {
            Kind::Any | Kind::Prims(_) => Vec::new(),
            Kind::Record(fs) => fs.values().cloned().collect(),
            Kind::Sum(cs) => cs.values().flatten().cloned().collect(),
        };
        for part in parts {
            self.occurs(id, &part)?;
        }
        Ok(())
    }

    fn link(&mut self, id: u32, ty: &Type) -> Outcome {
        let free = self.take_free(id);
        self.occurs(id, ty)?;
        match free.kind {
            Kind::Any => {}
            Kind::Prims(set) => match ty.as_prim() {
                Some(p) if set.has(p) => {}
                Some(_) | None => return Err(Clash::NotOneOf(ty.clone(), set)),
            },
            Kind::Record(fields) => {
                for (f, t) in fields {
                    let Some(actual) = field_of(ty, &f) else {
                        return Err(Clash::NoField(ty.clone(), f));
                    };
                    self.unify_parts(&actual, &t)?;
                }
            }
            Kind::Sum(constructors) => {
                for (c, ts) in constructors {
                    let Some(actual) = payload_of(ty, &c) else {
                        return Err(Clash::NoConstructor(ty.clone(), c));
                    };
                    if actual.len() != ts.len() {
                        return Err(Clash::Payload(c));
                    }
                    self.unify_all(actual.iter().zip(&ts))?;
                }
            }
        }
        // The constraints may have led back to this very variable.
        if let Some(now) = self.free(id) {
            let lift = now.lift;
            self.metas[id as usize] = Meta::Link(clear_unique(ty));
            self.lower(ty, lift);
            Ok(())
        } else {
            let now = Type::Meta(id);
            self.unify_parts(&now, ty)
        }
    }

    /// Says that a type stands for data, as far as it is not known yet.
    pub(crate) fn data(&mut self, ty: &Type) {
        self.work = 0;
        self.lower(ty, Lift::Size);
    }

    /// Variables inside a type that is decided for a plain variable become plain.
    fn lower(&mut self, ty: &Type, lift: Lift) {
        // What is too large is found when the definition is finished.
        if lift == Lift::Full || self.step().is_err() {
            return;
        }
        match self.head(ty) {
            Type::Prim(_) => {}
            Type::Meta(m) => {
                let kind = match &mut self.metas[m as usize] {
                    Meta::Free(free) if free.lift > lift => {
                        free.lift = lift;
                        free.kind.clone()
                    }
                    Meta::Free(_) | Meta::Link(_) => return,
                };
                match kind {
                    Kind::Any | Kind::Prims(_) => {}
                    Kind::Record(fs) => fs.values().for_each(|t| self.lower(t, lift)),
                    Kind::Sum(cs) => cs.values().flatten().for_each(|t| self.lower(t, lift)),
                }
            }
            Type::Array(a) => self.lower(&a.elem, lift),
            Type::Tuple(ts) => ts.iter().for_each(|t| self.lower(t, lift)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| self.lower(t, lift)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| self.lower(t, lift)),
            Type::Fun(f) => {
                self.lower(&f.arg, lift);
                self.lower(&f.ret.ty, lift);
            }
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(_) => {}
                TypeArg::Type(t) => self.lower(t, lift),
            }),
        }
    }

    fn occurs(&mut self, id: u32, ty: &Type) -> Outcome {
        self.step()?;
        match self.head(ty) {
            Type::Prim(_) => Ok(()),
            Type::Meta(m) if m == id => Err(Clash::Infinite),
            Type::Meta(m) => {
                let level = self.level_of(id);
                match &mut self.metas[m as usize] {
                    Meta::Free(free) => {
                        free.level = free.level.min(level);
                        let kind = free.kind.clone();
                        self.no_cycle(id, &kind)
                    }
                    Meta::Link(_) => Ok(()),
                }
            }
            Type::Array(a) => self.occurs(id, &a.elem),
            Type::Tuple(ts) => ts.iter().try_for_each(|t| self.occurs(id, t)),
            Type::Record(fs) => fs.iter().try_for_each(|(_, t)| self.occurs(id, t)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .try_for_each(|t| self.occurs(id, t)),
            Type::Fun(f) => {
                self.occurs(id, &f.arg)?;
                self.occurs(id, &f.ret.ty)
            }
            Type::Named(n) => {
                if self
                    .params
                    .get(&n.name)
                    .is_some_and(|l| *l > self.level_of(id))
                {
                    return Err(Clash::Scope(n.name));
                }
                n.args.iter().try_for_each(|arg| match arg {
                    TypeArg::Size(_) => Ok(()),
                    TypeArg::Type(t) => self.occurs(id, t),
                })
            }
        }
    }

    fn level_of(&self, id: u32) -> u32 {
        self.free(id).map_or(u32::MAX, |f| f.level)
    }

    /// The free variables of a type, in order of first occurrence.
    pub(crate) fn metas_of(&mut self, ty: &Type, out: &mut Vec<u32>) {
        match self.head(ty) {
            Type::Prim(_) => {}
            Type::Meta(m) => {
                if !out.contains(&m) {
                    out.push(m);
                    match self.free(m).map(|f| f.kind.clone()) {
                        None | Some(Kind::Any | Kind::Prims(_)) => {}
                        Some(Kind::Record(fs)) => fs.values().for_each(|t| self.metas_of(t, out)),
                        Some(Kind::Sum(cs)) => {
                            cs.values().flatten().for_each(|t| self.metas_of(t, out))
                        }
                    }
                }
            }
            Type::Array(a) => self.metas_of(&a.elem, out),
            Type::Tuple(ts) => ts.iter().for_each(|t| self.metas_of(t, out)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| self.metas_of(t, out)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| self.metas_of(t, out)),
            Type::Fun(f) => {
                self.metas_of(&f.arg, out);
                self.metas_of(&f.ret.ty, out);
            }
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(_) => {}
                TypeArg::Type(t) => self.metas_of(t, out),
            }),
        }
    }
}
