//! The first pass: resolves names and infers types, without sizes. Its result is the resolved tree of [`super::raw`].

pub(crate) mod attribute;
pub(crate) mod control;
pub(crate) mod data;
pub(crate) mod def;
pub(crate) mod exp;
pub(crate) mod kind;
pub(crate) mod name;
pub(crate) mod parts;
pub(crate) mod pattern;
pub(crate) mod scope;
pub(crate) mod section;
pub(crate) mod solve;
pub(crate) mod tyexp;
pub(crate) mod unused;

use super::context::{Cx, Res};
use super::print;
use super::raw::RExp;
use super::ty::{Atom, Lift, Name, Prim, Scheme, Size, Type};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::Names;
use scope::Scope;
use solve::{Clash, Kind, PrimSet, Solver};

/// A type parameter was instantiated: is the type allowed for it?
pub(crate) struct InstCheck {
    pub(crate) span: Span,
    pub(crate) of: Name,
    pub(crate) lift: Lift,
    pub(crate) ty: Type,
}

/// The state of the first pass over one definition.
pub(crate) struct Infer<'c, 'a> {
    pub(crate) cx: &'c mut Cx<'a>,
    pub(crate) solver: Solver,
    pub(crate) scope: Scope,
    pub(crate) insts: Vec<InstCheck>,
    /// The types of polymorphic bindings where they are used.
    pub(crate) instances: Vec<(Span, Type)>,
    /// Types that must support `==`.
    pub(crate) equalities: Vec<(Span, Type)>,
    /// The definition being checked, and whether its body has referred to it.
    pub(crate) this: Option<Name>,
    pub(crate) this_used: bool,
    /// Size expressions of the type being read.
    pub(crate) pending: Vec<RExp>,
    /// Named parameters of the function types around the one being read.
    pub(crate) arrow_params: Vec<super::ty::Sym>,
    /// Which local names are used.
    pub(crate) uses: unused::Uses,
}

impl<'c, 'a> Infer<'c, 'a> {
    pub(crate) fn new(cx: &'c mut Cx<'a>) -> Infer<'c, 'a> {
        Infer {
            cx,
            solver: Solver::default(),
            scope: Scope::default(),
            insts: Vec::new(),
            instances: Vec::new(),
            equalities: Vec::new(),
            this: None,
            this_used: false,
            pending: Vec::new(),
            arrow_params: Vec::new(),
            uses: unused::Uses::default(),
        }
    }

    pub(crate) fn any(&mut self, span: Span) -> Type {
        self.solver.fresh(span, Lift::Full, Kind::Any)
    }

    pub(crate) fn elem(&mut self, span: Span) -> Type {
        self.solver.fresh(span, Lift::Plain, Kind::Any)
    }

    pub(crate) fn number(&mut self, span: Span, set: PrimSet) -> Type {
        self.solver.fresh(span, Lift::Plain, Kind::Prims(set))
    }

    /// Unifies what is there with what is wanted.
    pub(crate) fn expect(
        &mut self,
        span: Span,
        what: &str,
        actual: &Type,
        wanted: &Type,
    ) -> Res<()> {
        match self.solver.unify(actual, wanted) {
            Ok(()) => Ok(()),
            Err(Clash::TooLarge) => parts::too_large(span),
            Err(clash) => {
                let (actual, wanted) = (self.solver.shown(actual), self.solver.shown(wanted));
                Err(mismatch(
                    &self.cx.names,
                    &mut self.solver,
                    span,
                    what,
                    &actual,
                    &wanted,
                    clash,
                ))
            }
        }
    }

    /// An expression that must be one of some scalar types.
    pub(crate) fn require(&mut self, e: &RExp, what: &str, set: PrimSet) -> Res<()> {
        let wanted = self.number(e.span, set);
        self.expect(e.span, what, &e.ty, &wanted)
    }

    /// The type of a binding at an instance of its scheme, and the instance.
    pub(crate) fn instantiate(
        &mut self,
        span: Span,
        name: Name,
        scheme: &Scheme,
    ) -> (Type, Vec<Type>) {
        let overload = self.cx.overload(name);
        let mut subst = super::subst::Subst::default();
        let mut inst = Vec::new();
        for (param, lift) in &scheme.types {
            let meta = match overload {
                Some(set) => self.number(span, set),
                None => self.solver.fresh(span, *lift, Kind::Any),
            };
            self.insts.push(InstCheck {
                span,
                of: name,
                lift: *lift,
                ty: meta.clone(),
            });
            subst.bind_type(*param, meta.clone());
            inst.push(meta);
        }
        if self.cx.is_equality(name) {
            self.equalities
                .extend(inst.first().map(|t| (span, t.clone())));
        }
        let ty = subst.ty(&mut self.cx.names, &scheme.ty, &mut Vec::new());
        if !inst.is_empty() {
            self.instances.push((span, ty.clone()));
        }
        (ty, inst)
    }
}

/// The message for two types that do not agree.
pub(crate) fn mismatch(
    names: &Names,
    solver: &mut Solver,
    span: Span,
    what: &str,
    actual: &Type,
    wanted: &Type,
    clash: Clash,
) -> Box<Diagnostic> {
    let show = |t: &Type| print::ty(names, &without_sizes(t));
    let shown = |t: &Type| (!matches!(t, Type::Meta(_))).then(|| show(t));
    let mut numbers: Option<(Prim, Prim)> = wanted.as_prim().zip(actual.as_prim());
    let or_kind = |solver: &Solver, t: &Type| {
        if let Type::Meta(m) = t {
            solver.free(*m).map(|f| kind_text(names, &f.kind))
        } else {
            Some(show(t))
        }
    };
    let (wanted_text, actual_text) = (or_kind(solver, wanted), or_kind(solver, actual));
    let unknown = || "some type".to_owned();
    let mut d = Diagnostic::error(
        Code::TypeMismatch,
        span,
        format!(
            "{what}: expected `{}`, found `{}`",
            wanted_text.unwrap_or_else(unknown),
            actual_text.unwrap_or_else(unknown)
        ),
    );
    d = match clash {
        Clash::Types(a, b) => {
            let (a, b) = (solver.shown(&a), solver.shown(&b));
            numbers = numbers.or(b.as_prim().zip(a.as_prim()));
            match (shown(&a), shown(&b)) {
                (Some(x), Some(y)) if (&a, &b) != (actual, wanted) => {
                    d.note(format!("`{x}` and `{y}` differ"))
                }
                _ => d,
            }
        }
        Clash::TooLarge => d.note("the types are too large"),
        Clash::Infinite => d.note("the type would have to contain itself"),
        Clash::NotOneOf(t, set) => {
            let t = solver.shown(&t);
            let options: Vec<&str> = set.members().map(Prim::name).collect();
            d.note(format!(
                "`{}` is none of {}",
                shown(&t).unwrap_or_else(unknown),
                options.join(", ")
            ))
        }
        Clash::NoField(t, f) => d.note(format!("`{}` has no field `{f}`", show(&solver.shown(&t)))),
        Clash::NoConstructor(t, c) => d.note(format!(
            "`{}` has no constructor `#{c}`",
            show(&solver.shown(&t))
        )),
        Clash::Scope(n) => d.note(format!(
            "the type parameter `{}` is not in scope outside of its function",
            names.text(n)
        )),
        Clash::Payload(c) => d.note(format!(
            "the constructor `#{c}` is used with payloads of different lengths"
        )),
    };
    // A conversion helps only between different numbers.
    Box::new(match numbers {
        Some((to, from)) if to != from && from != Prim::Bool && to != Prim::Bool => {
            d.hint(format!(
                "`{}.{}` converts a value of type `{}`",
                to.name(),
                from.name(),
                from.name()
            ))
        }
        Some(_) | None => d,
    })
}

fn kind_text(names: &Names, kind: &Kind) -> String {
    match kind {
        Kind::Any => "_".to_owned(),
        Kind::Prims(set) if *set == PrimSet::FLOATS => "a float".to_owned(),
        Kind::Prims(set) if *set == PrimSet::INTEGERS => "an integer".to_owned(),
        Kind::Prims(_) => "a number".to_owned(),
        Kind::Record(fs) => {
            let fields: Vec<String> = fs
                .iter()
                .map(|(f, t)| format!("{f}: {}", print::ty(names, t)))
                .collect();
            format!("{{{}, ...}}", fields.join(", "))
        }
        Kind::Sum(cs) => {
            let cs: Vec<String> = cs.keys().map(|c| format!("#{c}")).collect();
            format!("{} | ...", cs.join(" | "))
        }
    }
}

/// The sizes mean nothing yet: they are shown as open.
fn without_sizes(ty: &Type) -> Type {
    super::subst::map_sizes(ty, &mut |_| Size::atom(Atom::Meta(0)))
}
