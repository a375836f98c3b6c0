//! Functions: their parameters, their results, and the marks of uniqueness in types.

use super::place::{Als, Set};
use super::{Checker, Kind, Var};
use crate::typed::{Atom, Exp, FunType, Pat, RetType, Type};
use crate::types::opaque::each_size;
use crate::types::subst;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use crate::types::subst::{any_unique, order_zero};

/// A function, lambda or constant.
pub(super) struct Function<'e> {
    pub(super) params: &'e [Pat],
    pub(super) body: &'e Exp,
    pub(super) ret: &'e Type,
    /// Whether the marks in the result type stand.
    pub(super) declared: bool,
}

/// A part of a result.
struct Leaf {
    unique: bool,
    function: bool,
    set: Set,
}

impl Checker<'_> {
    /// Checks a function; gives what it captures, and the result type with its marks.
    pub(super) fn function(&mut self, fun: &Function<'_>) -> (Set, Type) {
        let (ret, captured) = self.framed(|this| {
            let mut vars = Vec::new();
            for param in fun.params {
                vars.extend(this.bind(param, &Als::Fresh, Kind::Param));
            }
            if this.depth() == 1 {
                fun.params.iter().for_each(|p| this.sizes(&p.ty));
            }
            let (als, _) = this.contain(|this| this.exp(fun.body));
            this.check_result(fun, &als);
            let ret = if fun.declared {
                fun.ret.clone()
            } else {
                this.inferred(fun, &als)
            };
            this.unscope(&vars);
            ret
        });
        (self.places_of(&captured), ret)
    }

    /// The expressions in the sizes of a top-level function's parameters: they consume nothing.
    fn sizes(&mut self, ty: &Type) {
        let mut exps = Vec::new();
        each_size(ty, &mut |size| {
            exps.extend(size.terms.keys().flatten().filter_map(|atom| match atom {
                Atom::Opaque(opaque) => Some(opaque.exp.clone()),
                Atom::Name(_) | Atom::Meta(_) => None,
            }));
        });
        for exp in exps {
            self.framed(|this| this.contain(|this| this.exp(&exp)));
        }
    }

    fn check_result(&mut self, fun: &Function<'_>, als: &Als) {
        let mut leaves = Vec::new();
        self.result_leaves(fun.ret, als, &mut leaves);
        let span = result_span(fun.body);
        let (mut unique, mut all) = (Set::default(), Set::default());
        for leaf in &leaves {
            let against = if leaf.unique { &all } else { &unique };
            if let Some(place) = self.places.common(against, &leaf.set) {
                self.result_overlap(span, place);
                return;
            }
            let fixed = leaf.set.iter().find(|p| self.is_fixed(*p));
            if let Some(place) = fixed.filter(|_| leaf.unique) {
                self.result_shared(span, place);
                return;
            }
            let global = leaf.set.iter().find(|p| {
                let var = self.places.var(*p);
                self.vars[var as usize].kind == Kind::Global
            });
            if let Some(place) = global.filter(|_| !fun.params.is_empty() && !leaf.function) {
                self.result_global(span, place);
                return;
            }
            all = all.union(&leaf.set);
            if leaf.unique {
                unique = unique.union(&leaf.set);
            }
        }
    }

    fn result_leaves(&mut self, ty: &Type, als: &Als, out: &mut Vec<Leaf>) {
        match self.places.components(als, ty) {
            Some(parts) => {
                for (part, t) in &parts {
                    self.result_leaves(t, part, out);
                }
            }
            None => out.push(Leaf {
                unique: any_unique(ty),
                function: matches!(ty, Type::Fun(_)),
                set: als.all(),
            }),
        }
    }

    /// The result type with the marks that the body allows.
    fn inferred(&mut self, fun: &Function<'_>, als: &Als) -> Type {
        if fun.params.is_empty() {
            return subst::clear_unique(fun.ret);
        }
        let mut seen = BTreeSet::new();
        let mut forbidden = BTreeSet::new();
        self.several(fun.ret, als, &mut seen, &mut forbidden);
        self.infer(fun.ret, als, &forbidden)
    }

    /// The variables that several parts of a result share memory with.
    fn several(
        &mut self,
        ty: &Type,
        als: &Als,
        seen: &mut BTreeSet<Var>,
        several: &mut BTreeSet<Var>,
    ) {
        if let Some(parts) = self.places.components(als, ty) {
            for (part, t) in &parts {
                self.several(t, part, seen, several);
            }
            return;
        }
        let vars: BTreeSet<Var> = als.all().iter().map(|p| self.places.var(p)).collect();
        for var in vars {
            // An abstract value may have several parts itself.
            if !seen.insert(var) || matches!(ty, Type::Named(_)) {
                several.insert(var);
            }
        }
    }

    fn infer(&mut self, ty: &Type, als: &Als, forbidden: &BTreeSet<Var>) -> Type {
        match ty {
            Type::Prim(_) | Type::Fun(_) | Type::Meta(_) => ty.clone(),
            Type::Array(_) | Type::Named(_) => {
                let set = als.all();
                let fixed = set
                    .iter()
                    .any(|p| self.is_fixed(p) || forbidden.contains(&self.places.var(p)));
                marked(ty, !fixed)
            }
            Type::Tuple(_) | Type::Record(_) => {
                let parts = self.places.components(als, ty).unwrap_or_default();
                let types = parts.iter().map(|(part, t)| self.infer(t, part, forbidden));
                let types: Vec<Type> = types.collect();
                rebuilt(ty, types)
            }
            Type::Sum(cs) => {
                let mut cons = Vec::new();
                for (con, ts) in cs.iter() {
                    let mut types = Vec::new();
                    for (i, t) in ts.iter().enumerate() {
                        let part = self.places.con_part(als, con, ty, i, t);
                        types.push(self.infer(t, &part, forbidden));
                    }
                    cons.push((con.clone(), types));
                }
                Type::Sum(cons.into())
            }
        }
    }
}

/// A tuple or record type with other components.
fn rebuilt(ty: &Type, types: Vec<Type>) -> Type {
    match ty {
        Type::Record(fields) => {
            let names = fields.iter().map(|(f, _)| f.clone());
            Type::Record(names.zip(types).collect())
        }
        Type::Prim(_)
        | Type::Array(_)
        | Type::Tuple(_)
        | Type::Sum(_)
        | Type::Fun(_)
        | Type::Named(_)
        | Type::Meta(_) => Type::tuple(types),
    }
}

/// Where the value of a body is written.
fn result_span(body: &Exp) -> crate::source::Span {
    use crate::typed::ExpKind;
    let mut at = body;
    while let ExpKind::Let { body, .. } | ExpKind::LetFun { body, .. } = &at.kind {
        at = body;
    }
    at.span
}

/// The type with all or no marks.
pub(super) fn marked(ty: &Type, unique: bool) -> Type {
    if unique {
        subst::set_unique(ty)
    } else {
        subst::clear_unique(ty)
    }
}

/// The type as it is, or without marks.
pub(super) fn marked_if(ty: &Type, keep: bool) -> Type {
    if keep {
        ty.clone()
    } else {
        subst::clear_unique(ty)
    }
}

/// Whether a value, or a component of a tuple or record, is marked; a sum's constructors do not count.
pub(super) fn visibly_unique(ty: &Type) -> bool {
    match ty {
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Tuple(ts) => ts.iter().any(visibly_unique),
        Type::Record(fs) => fs.iter().any(|(_, t)| visibly_unique(t)),
        Type::Prim(_) | Type::Sum(_) | Type::Fun(_) | Type::Meta(_) => false,
    }
}

/// Whether all memory of a value of the type is unique.
pub(super) fn all_unique(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) => true,
        Type::Array(a) => a.unique,
        Type::Named(n) => n.unique,
        Type::Fun(_) | Type::Meta(_) => false,
        Type::Tuple(ts) => ts.iter().all(all_unique),
        Type::Record(fs) => fs.iter().all(|(_, t)| all_unique(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(all_unique)),
    }
}

/// Whether a result of the type may share memory with the arguments.
pub(super) fn any_shared(ty: &Type) -> bool {
    !all_unique(ty)
}

/// A function type whose result, after so many parameters, is another.
pub(super) fn with_result(ty: &Type, params: usize, ret: &Type) -> Type {
    if params == 0 {
        return ret.clone();
    }
    match ty {
        Type::Fun(f) => Type::Fun(Arc::new(FunType {
            param: f.param,
            arg: f.arg.clone(),
            ret: RetType {
                exts: f.ret.exts.clone(),
                ty: with_result(&f.ret.ty, params - 1, ret),
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

/// An instance of a type, with the marks that the results of the type have.
pub(super) fn marked_like(ty: &Type, like: &Type) -> Type {
    match (ty, like) {
        (Type::Fun(f), Type::Fun(l)) => Type::Fun(Arc::new(FunType {
            param: f.param,
            arg: f.arg.clone(),
            ret: RetType {
                exts: f.ret.exts.clone(),
                ty: marked_like(&f.ret.ty, &l.ret.ty),
            },
        })),
        (Type::Tuple(ts), Type::Tuple(ls)) => Type::Tuple(
            ts.iter()
                .zip(ls.iter())
                .map(|(t, l)| marked_like(t, l))
                .collect(),
        ),
        (Type::Record(fs), Type::Record(ls)) => {
            let pairs = fs.iter().zip(ls.iter());
            let fields = pairs.map(|((f, t), (_, l))| (f.clone(), marked_like(t, l)));
            Type::Record(fields.collect())
        }
        (Type::Sum(cs), Type::Sum(ls)) => {
            let pairs = cs.iter().zip(ls.iter());
            let cons = pairs.map(|((c, ts), (_, ls))| {
                let parts = ts.iter().zip(ls).map(|(t, l)| marked_like(t, l));
                (c.clone(), parts.collect())
            });
            Type::Sum(cons.collect())
        }
        (_, Type::Array(_) | Type::Named(_)) if any_unique(like) => subst::set_unique(ty),
        (other, _) => other.clone(),
    }
}
