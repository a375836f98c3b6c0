//! Definitions in the first pass, and what is decided when one is finished.

use super::attribute::{Position, attribute};
use super::exp::fun_type;
use super::name::poison;
use super::scope::Local;
use super::solve::{Free, Kind, Solver};
use super::{Infer, InstCheck};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast;
use crate::typed::NameKind;
use crate::types::context::{Res, err};
use crate::types::env::TypeAbbr;
use crate::types::raw::{RDef, RExp, RPat, RType};
use crate::types::subst::{order_zero, type_names};
use crate::types::ty::{Lift, Name, Prim, Scheme, Type, TypeParam};
use std::sync::Arc;

/// The parts that top-level and local functions share.
pub(crate) struct Parts<'s> {
    pub(crate) name: Name,
    pub(crate) name_span: Span,
    pub(crate) type_params: &'s [ast::TypeParam],
    pub(crate) params: &'s [ast::Pat],
    pub(crate) ret: Option<&'s ast::TypeExp>,
    pub(crate) body: &'s ast::Exp,
    pub(crate) attrs: &'s [ast::Attr],
    pub(crate) span: Span,
}

/// The lift of a type parameter.
pub(crate) fn lift(l: ast::Lift) -> Lift {
    match l {
        ast::Lift::Unlifted => Lift::Plain,
        ast::Lift::SizeLifted => Lift::Size,
        ast::Lift::Lifted => Lift::Full,
    }
}

impl Infer<'_, '_> {
    /// Binds type and size parameters.
    pub(crate) fn type_params(&mut self, params: &[ast::TypeParam]) -> Res<Vec<TypeParam>> {
        let mut out = Vec::new();
        for (at, p) in params.iter().enumerate() {
            if params[..at].iter().any(|q| q.name.name == p.name.name) {
                return err(
                    Code::DuplicateName,
                    p.span,
                    format!("the parameter `{}` is bound twice", p.name.name),
                );
            }
            match p.kind {
                ast::TypeParamKind::Size => out.push(TypeParam::Size(self.bind_size(&p.name))),
                ast::TypeParamKind::Type(l) => {
                    let l = lift(l);
                    let name = self.cx.fresh_ident(&p.name, NameKind::Type);
                    let at = p.name.span;
                    self.cx.note(at, crate::types::index::Space::Type, Some(at));
                    self.cx.lifts.insert(name, l);
                    self.solver.params.insert(name, self.solver.level);
                    let abbr = TypeAbbr {
                        lift: l,
                        ..TypeAbbr::plain(Type::named(name))
                    };
                    self.scope.bind_type(p.name.name.clone(), abbr);
                    out.push(TypeParam::Type(name, l));
                }
            }
        }
        Ok(out)
    }

    fn parts(&mut self, parts: &Parts<'_>, recursive: Option<&ast::Ident>) -> Res<RDef> {
        let mark = self.scope.mark();
        self.solver.level += 1;
        let mut types = Vec::new();
        let mut sizes = Vec::new();
        for p in self.type_params(parts.type_params)? {
            match p {
                TypeParam::Size(n) => sizes.push(n),
                TypeParam::Type(n, l) => types.push((n, l)),
            }
        }
        let params = parts
            .params
            .iter()
            .map(|p| self.pattern(p))
            .collect::<Res<Vec<RPat>>>()?;
        self.distinct_params(&params)?;
        let ret = parts.ret.map(|t| self.type_exp(t)).transpose()?;
        let own = recursive.map(|ident| {
            let ty = self.any(parts.name_span);
            self.scope
                .bind(ident.name.clone(), Local::Mono(parts.name, ty.clone()));
            ty
        });
        // The parameters hide the function where they share its name.
        if own.is_some() {
            for n in &sizes {
                let text = self.cx.names.text(*n).into();
                let size = Local::Mono(*n, Type::Prim(Prim::I64));
                self.scope.bind(text, size);
            }
            for p in &params {
                self.rebind(p);
            }
        }
        let top = recursive.is_some();
        if top {
            self.this = Some(parts.name);
        }
        let body = self.exp(parts.body);
        let recursive = top && self.this_used;
        let body = body.map_err(|mut d| {
            // Whoever retries needs to know whether the body referred to its own name.
            if recursive {
                d.notes
                    .push(crate::diagnostic::Note::Fact(RECURSIVE.to_owned()));
            }
            d
        })?;
        let result = self.result(&body, ret.as_ref())?;
        if let Some(own) = own {
            let whole = fun_type(&params, result);
            self.expect(
                parts.name_span,
                "recursive use of the function",
                &own,
                &whole,
            )
            .map_err(|mut d| {
                d.notes
                    .push(crate::diagnostic::Note::Fact(RECURSIVE.to_owned()));
                d
            })?;
        }
        self.scope.reset(mark);
        self.solver.level -= 1;
        Ok(RDef {
            name: parts.name,
            types,
            sizes,
            params,
            ret,
            body,
            recursive,
            attrs: parts.attrs.iter().map(attribute).collect(),
            span: parts.span,
            name_span: parts.name_span,
        })
    }

    fn result(&mut self, body: &RExp, ret: Option<&RType>) -> Res<Type> {
        match ret {
            Some(ret) => {
                self.expect(body.span, "result of the function", &body.ty, &ret.ty)?;
                Ok(ret.ty.clone())
            }
            None => Ok(body.ty.clone()),
        }
    }

    fn rebind(&mut self, p: &RPat) {
        use crate::types::raw::RPatKind;
        match &p.kind {
            RPatKind::Name(n) => {
                let text = self.cx.names.text(*n).into();
                self.scope.bind(text, Local::Mono(*n, p.ty.clone()));
            }
            RPatKind::Wild | RPatKind::Lit { .. } => {}
            RPatKind::Tuple(ps) | RPatKind::Construct(_, ps) => {
                ps.iter().for_each(|p| self.rebind(p))
            }
            RPatKind::Record(fs) => fs.iter().for_each(|(_, p)| self.rebind(p)),
            RPatKind::Ascribe(p, _) => self.rebind(p),
        }
    }

    fn distinct_params(&mut self, params: &[RPat]) -> Res<()> {
        let mut bound: Vec<(String, Span)> = Vec::new();
        for p in params {
            let mut names = Vec::new();
            pattern_names(p, &mut names);
            for (n, span) in names {
                let text = self.cx.names.text(n).to_owned();
                if bound.iter().any(|(b, _)| *b == text) {
                    return err(
                        Code::DuplicateName,
                        span,
                        format!("the parameter `{text}` is bound twice"),
                    );
                }
                bound.push((text, span));
            }
        }
        Ok(())
    }

    /// A function bound inside an expression; it stays in scope.
    pub(crate) fn local_fun(&mut self, fun: &ast::LocalFun) -> Res<RDef> {
        let name = self.cx.fresh_ident(&fun.name, NameKind::Value);
        let mut def = self.parts(
            &Parts {
                name,
                name_span: fun.name.span,
                type_params: &fun.type_params,
                params: &fun.params,
                ret: fun.ret.as_ref(),
                body: &fun.body,
                attrs: &[],
                span: fun.span,
            },
            None,
        )?;
        let result = def
            .ret
            .as_ref()
            .map_or_else(|| def.body.ty.clone(), |r| r.ty.clone());
        let ty = fun_type(&def.params, result);
        self.check_size(fun.name.span, &ty)?;
        self.generalise(&ty, &mut def.types);
        // What is decided by now must show, or instances would share the function's own type parameters.
        let ty = self.solver.zonk(&ty);
        let local = if def.types.is_empty() {
            Local::Mono(name, ty)
        } else {
            let scheme = Scheme {
                types: def.types.clone(),
                sizes: Vec::new(),
                ty,
            };
            Local::Poly(name, Arc::new(scheme))
        };
        self.uses.bind(name, fun.name.span);
        self.cx.note_local(fun.name.span, name);
        self.scope.bind(fun.name.name.clone(), local);
        Ok(def)
    }

    /// Makes type parameters of the variables in the type of a local function that nothing outside of it knows. Those that
    /// are part of a record or a sum that is not known in full, and those that are compared, stay variables: instances would
    /// not share what is found out about them.
    fn generalise(&mut self, ty: &Type, params: &mut Vec<(Name, Lift)>) {
        let mut visible = Vec::new();
        self.solver.metas_of(ty, &mut visible);
        let level = self.solver.level;
        let is_own = |solver: &Solver, id| solver.free(id).is_some_and(|free| free.level > level);
        if !visible.iter().any(|&id| is_own(&self.solver, id)) {
            return;
        }
        let mut fixed = Vec::new();
        for (_, compared) in &self.equalities {
            self.solver.metas_of(compared, &mut fixed);
        }
        for &id in &visible {
            match self.solver.free(id).map(|free| &free.kind) {
                None | Some(Kind::Any) => {}
                Some(Kind::Prims(_) | Kind::Record(_) | Kind::Sum(_)) => {
                    self.solver.metas_of(&Type::Meta(id), &mut fixed);
                }
            }
        }
        for id in visible {
            if fixed.contains(&id) || !is_own(&self.solver, id) {
                continue;
            }
            if let Some(free) = self.solver.free(id).cloned() {
                self.parameter(id, &free, params);
            }
        }
    }

    /// Makes a type parameter of a variable.
    fn parameter(&mut self, id: u32, free: &Free, params: &mut Vec<(Name, Lift)>) {
        let text = format!("t{}", params.len());
        let name = self.cx.fresh(&text, Some(free.span), NameKind::Type);
        self.cx.lifts.insert(name, free.lift);
        params.push((name, free.lift));
        self.solver.set(id, Type::named(name));
    }

    /// A definition of a module, or of the prelude; `recursive` if it may refer to itself.
    pub(crate) fn top_def(
        &mut self,
        parts: &Parts<'_>,
        recursive: Option<&ast::Ident>,
    ) -> Res<RDef> {
        let mut def = self.parts(parts, recursive)?;
        let result = def
            .ret
            .as_ref()
            .map_or_else(|| def.body.ty.clone(), |r| r.ty.clone());
        let ty = fun_type(&def.params, result);
        self.check_size(parts.name_span, &ty)?;
        self.finish(&ty, &mut def.types)?;
        for attr in parts.attrs {
            self.known_attribute(attr, Position::Declaration);
        }
        self.warn_of_unused();
        Ok(def)
    }

    /// Decides all that inference left open: what is visible in `ty` becomes a type parameter, the rest gets its default.
    pub(crate) fn finish(&mut self, ty: &Type, params: &mut Vec<(Name, Lift)>) -> Res<()> {
        self.check_parts()?;
        let mut visible = Vec::new();
        self.solver.metas_of(ty, &mut visible);
        for id in 0..self.solver.count() {
            let Some(free) = self.solver.free(id).cloned() else {
                continue;
            };
            match free.kind {
                Kind::Any if visible.contains(&id) => self.parameter(id, &free, params),
                Kind::Any => self.solver.set(id, Type::unit()),
                Kind::Prims(set) => {
                    let default = [Prim::I32, Prim::F64].into_iter().find(|p| set.has(*p));
                    let ambiguous = visible.contains(&id);
                    let mut members = set.members();
                    let only = members.next().filter(|_| members.next().is_none());
                    let Some(p) = only.or(default) else {
                        let message = "the type of this expression is ambiguous";
                        return Err(Box::new(
                            Diagnostic::error(Code::AmbiguousType, free.span, message)
                                .hint("add a type annotation"),
                        ));
                    };
                    if ambiguous && only.is_none() {
                        let message =
                            format!("this type is ambiguous; `{}` is taken by default", p.name());
                        let warning = Diagnostic::warning(Code::DefaultedType, free.span, message);
                        self.cx.diags.push(warning.hint("add a type annotation"));
                    }
                    self.solver.set(id, Type::Prim(p));
                }
                Kind::Record(fields) => {
                    let names: Vec<String> = fields.keys().map(|f| format!("`{f}`")).collect();
                    let message = format!(
                        "the record type with the field {} is not known",
                        names.join(", ")
                    );
                    return Err(Box::new(
                        Diagnostic::error(Code::AmbiguousType, free.span, message)
                            .hint("add a type annotation to the parameter or variable"),
                    ));
                }
                Kind::Sum(constructors) => {
                    let names: Vec<String> =
                        constructors.keys().map(|c| format!("`#{c}`")).collect();
                    let message = format!(
                        "the sum type with the constructor {} is not known",
                        names.join(", ")
                    );
                    return Err(Box::new(
                        Diagnostic::error(Code::AmbiguousType, free.span, message)
                            .hint("add a type annotation that lists all constructors"),
                    ));
                }
            }
        }
        self.check_insts()?;
        self.check_equalities()
    }

    fn check_insts(&mut self) -> Res<()> {
        for check in std::mem::take(&mut self.insts) {
            let InstCheck { span, of, lift, ty } = check;
            let ty = self.solver.zonk(&ty);
            let accumulator = || {
                let is_one = lift == Lift::Size && self.cx.has_accumulator(&ty);
                is_one.then(|| {
                    "an accumulator stands for the one array that it updates, and has no copy"
                        .to_owned()
                })
            };
            if let Some(why) = self.cx.too_lifted(&ty, lift).or_else(accumulator) {
                let shown = self.show(&ty);
                let of = self.cx.names.text(of);
                return Err(Box::new(
                    Diagnostic::error(
                        Code::BadType,
                        span,
                        format!("`{of}` cannot be used with a value of type `{shown}`"),
                    )
                    .note(why),
                ));
            }
        }
        Ok(())
    }

    fn check_equalities(&mut self) -> Res<()> {
        for (span, ty) in std::mem::take(&mut self.equalities) {
            let ty = self.solver.zonk(&ty);
            if !supports_equality(&ty) {
                let shown = self.show(&ty);
                return err(
                    Code::BadType,
                    span,
                    format!("values of type `{shown}` cannot be compared"),
                );
            }
            if matches!(ty, Type::Array(_)) {
                let message = "comparing arrays with `==` or `!=` is deprecated";
                let warning = Diagnostic::warning(Code::ArrayEquality, span, message);
                self.cx
                    .diags
                    .push(warning.hint("compare their elements, as in `and (map2 (==) xs ys)`"));
            }
        }
        Ok(())
    }
}

/// A note that says that a failed definition referred to itself; never shown.
pub(crate) const RECURSIVE: &str = "\u{0}recursive";

/// The names that a pattern binds.
pub(crate) fn pattern_names(p: &RPat, out: &mut Vec<(Name, Span)>) {
    use crate::types::raw::RPatKind;
    match &p.kind {
        RPatKind::Name(n) => out.push((*n, p.span)),
        RPatKind::Wild | RPatKind::Lit { .. } => {}
        RPatKind::Tuple(ps) | RPatKind::Construct(_, ps) => {
            ps.iter().for_each(|p| pattern_names(p, out))
        }
        RPatKind::Record(fs) => fs.iter().for_each(|(_, p)| pattern_names(p, out)),
        RPatKind::Ascribe(p, _) => pattern_names(p, out),
    }
}

fn supports_equality(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) => true,
        Type::Array(a) => supports_equality(&a.elem),
        Type::Tuple(ts) => ts.iter().all(supports_equality),
        Type::Record(fs) => fs.iter().all(|(_, t)| supports_equality(t)),
        Type::Sum(cs) => cs.iter().all(|(_, ts)| ts.iter().all(supports_equality)),
        Type::Fun(_) | Type::Named(_) | Type::Meta(_) => false,
    }
}

impl crate::types::context::Cx<'_> {
    /// Why a type may not stand for a parameter of that lift, if it may not.
    pub(crate) fn too_lifted(&self, ty: &Type, lift: Lift) -> Option<String> {
        if lift == Lift::Full {
            return None;
        }
        if !order_zero(ty) {
            return Some("the type parameter does not stand for functions".to_owned());
        }
        let mut names = Vec::new();
        type_names(ty, &mut names);
        let bad = names
            .into_iter()
            .find(|n| self.lifts.get(n).copied().unwrap_or(Lift::Plain) > lift)?;
        if self.is_sequence(bad) {
            let why = "a sequence is gone through, and is no value that could be an element of another or of an array";
            return Some(why.to_owned());
        }
        Some(format!(
            "the type `{}` is lifted: it may hide functions or sizes",
            self.names.text(bad)
        ))
    }
}

/// Whether a message is the silent one of a poisoned definition.
pub(crate) fn is_poison(d: &Diagnostic) -> bool {
    d.message == poison(d.primary.span).message
}
