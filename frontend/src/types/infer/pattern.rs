//! Patterns in the first pass.

use super::Infer;
use super::scope::Local;
use super::solve::{Kind, record_type};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{self, Literal, PatKind};
use crate::syntax::ptr::P;
use crate::typed::NameKind;
use crate::types::context::{Res, err};
use crate::types::raw::{RExp, RKind, RPat, RPatKind};
use crate::types::ty::{Lift, Name, Prim, Sym, Type};
use std::collections::BTreeMap;

impl Infer<'_, '_> {
    /// Binds one variable.
    pub(crate) fn bind_name(&mut self, sym: &Sym, span: Span, ty: Type) -> RPat {
        let name = self.cx.fresh(sym, Some(span), NameKind::Value);
        self.cx.note_local(span, name);
        self.scope.bind(sym.clone(), Local::Mono(name, ty.clone()));
        RPat {
            kind: RPatKind::Name(name),
            ty,
            span,
        }
    }

    /// Binds size names of a `let` or of parameters: variables of type `i64`.
    pub(crate) fn bind_sizes(&mut self, sizes: &[ast::Ident]) -> Res<Vec<Name>> {
        let mut out = Vec::new();
        for (at, size) in sizes.iter().enumerate() {
            if sizes[..at].iter().any(|s| s.name == size.name) {
                return err(
                    Code::DuplicateName,
                    size.span,
                    format!("the size `{}` is bound twice", size.name),
                );
            }
            out.push(self.bind_size(size));
        }
        Ok(out)
    }

    pub(crate) fn bind_size(&mut self, size: &ast::Ident) -> Name {
        let name = self.cx.fresh_ident(size, NameKind::Size);
        self.cx.note_local(size.span, name);
        self.scope
            .bind(size.name.clone(), Local::Mono(name, Type::Prim(Prim::I64)));
        name
    }

    /// Types a pattern and binds its names.
    pub(crate) fn pattern(&mut self, p: &ast::Pat) -> Res<RPat> {
        let mut bound = Vec::new();
        let out = self.pattern_in(p, &mut bound)?;
        bound.sort_by(|a: &(Sym, Span), b| (&a.0, a.1).cmp(&(&b.0, b.1)));
        if let Some(pair) = bound.windows(2).find(|w| w[0].0 == w[1].0) {
            let message = format!("the name `{}` is bound twice in one pattern", pair[1].0);
            return err(Code::DuplicateName, pair[1].1, message);
        }
        Ok(out)
    }

    fn pattern_in(&mut self, p: &ast::Pat, bound: &mut Vec<(Sym, Span)>) -> Res<RPat> {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.pattern_inner(p, bound))
    }

    fn pattern_inner(&mut self, p: &ast::Pat, bound: &mut Vec<(Sym, Span)>) -> Res<RPat> {
        let span = p.span;
        match &p.kind {
            PatKind::Name(sym) => {
                bound.push((sym.clone(), span));
                let ty = self.any(span);
                let named = self.bind_name(sym, span, ty);
                if let RPatKind::Name(name) = named.kind {
                    self.uses.bind(name, span);
                }
                Ok(named)
            }
            PatKind::Wildcard => {
                let ty = self.any(span);
                Ok(RPat {
                    kind: RPatKind::Wild,
                    ty,
                    span,
                })
            }
            PatKind::Tuple(ps) => {
                let ps = self.patterns(ps, bound)?;
                let ty = Type::tuple(ps.iter().map(|p| p.ty.clone()).collect());
                Ok(RPat {
                    kind: RPatKind::Tuple(ps),
                    ty,
                    span,
                })
            }
            PatKind::Record(fields) => self.record_pattern(fields, span, bound),
            PatKind::Ascribe(inner, te) => {
                let inner = self.pattern_in(inner, bound)?;
                let te = self.type_exp(te)?;
                self.expect(span, "ascribed type of the pattern", &inner.ty, &te.ty)?;
                let ty = te.ty.clone();
                Ok(RPat {
                    kind: RPatKind::Ascribe(P::new(inner), te),
                    ty,
                    span,
                })
            }
            PatKind::Constr(name, ps) => {
                let ps = self.patterns(ps, bound)?;
                let payload = ps.iter().map(|p| p.ty.clone()).collect();
                let kind = Kind::Sum(BTreeMap::from([(name.name.clone(), payload)]));
                let ty = self.solver.fresh(span, Lift::Full, kind);
                Ok(RPat {
                    kind: RPatKind::Construct(name.name.clone(), ps),
                    ty,
                    span,
                })
            }
            PatKind::Literal { negative, value } => self.literal_pattern(*negative, value, span),
            PatKind::Attr(_, inner) => self.pattern_in(inner, bound),
        }
    }

    fn patterns(&mut self, ps: &[ast::Pat], bound: &mut Vec<(Sym, Span)>) -> Res<Vec<RPat>> {
        ps.iter().map(|p| self.pattern_in(p, bound)).collect()
    }

    fn record_pattern(
        &mut self,
        fields: &[ast::FieldPat],
        span: Span,
        bound: &mut Vec<(Sym, Span)>,
    ) -> Res<RPat> {
        let mut out: Vec<(Sym, RPat)> = Vec::new();
        for field in fields {
            let f = &field.name;
            if f.name.starts_with('_') {
                let message = format!(
                    "a field name does not begin with `_`; write `{} = _` to ignore it",
                    &f.name[1..]
                );
                return err(Code::UnknownName, f.span, message);
            }
            if out.iter().any(|(name, _)| *name == f.name) {
                return err(
                    Code::DuplicateName,
                    f.span,
                    format!("the field `{}` is matched twice", f.name),
                );
            }
            let pat = self.pattern_in(&field.pat, bound)?;
            self.cx.note_field(f.span);
            out.push((f.name.clone(), pat));
        }
        let ty = record_type(out.iter().map(|(f, p)| (f.clone(), p.ty.clone())).collect());
        out.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(RPat {
            kind: RPatKind::Record(out),
            ty,
            span,
        })
    }

    fn literal_pattern(&mut self, negative: bool, value: &Literal, span: Span) -> Res<RPat> {
        let Ok((value, ty)) = self.scalar_literal(value, span) else {
            return err(Code::TypeMismatch, span, "a string is no pattern");
        };
        Ok(RPat {
            kind: RPatKind::Lit { negative, value },
            ty,
            span,
        })
    }

    /// The initial value of a loop that gives none: the variables that the pattern names.
    pub(crate) fn pattern_as_exp(&mut self, p: &ast::Pat) -> Res<RExp> {
        let span = p.span;
        let ident = |name: &Sym| ast::QualName {
            quals: Vec::new(),
            name: ast::Ident {
                name: name.clone(),
                span,
            },
        };
        match &p.kind {
            PatKind::Name(sym) => self.name(&ident(sym)),
            PatKind::Tuple(ps) => {
                let es = ps
                    .iter()
                    .map(|p| self.pattern_as_exp(p))
                    .collect::<Res<Vec<RExp>>>()?;
                let ty = Type::tuple(es.iter().map(|e| e.ty.clone()).collect());
                Ok(RExp {
                    kind: RKind::Tuple(es),
                    ty,
                    span,
                })
            }
            PatKind::Record(fields) => {
                let mut out = Vec::new();
                for field in fields {
                    out.push((field.name.name.clone(), self.pattern_as_exp(&field.pat)?));
                }
                let ty = record_type(out.iter().map(|(f, e)| (f.clone(), e.ty.clone())).collect());
                Ok(RExp {
                    kind: RKind::Record(out),
                    ty,
                    span,
                })
            }
            PatKind::Ascribe(p, _) | PatKind::Attr(_, p) => self.pattern_as_exp(p),
            PatKind::Wildcard | PatKind::Constr(..) | PatKind::Literal { .. } => err(
                Code::TypeMismatch,
                span,
                "a loop without initial values needs a pattern of variables only",
            ),
        }
    }
}
