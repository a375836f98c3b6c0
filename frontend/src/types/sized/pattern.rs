//! Patterns in the second pass.

use super::apply::Given;
use super::inst::OPEN;
use super::literal::literal;
use super::{Sizer, State, ValTy};
use crate::diagnostic::{Code, Diagnostic};
use crate::typed::{Pat, PatKind};
use crate::types::context::{Res, err};
use crate::types::infer::solve::{field_of, payload_of, record_type};
use crate::types::infer::tyexp::{free_sizes, witnesses};
use crate::types::opaque::metas_of_size;
use crate::types::raw::{RPat, RPatKind};
use crate::types::subst::{Subst, clear_unique, map_sizes};
use crate::types::ty::{Lift, Name, Size, Type};

impl Sizer<'_, '_> {
    /// A pattern; without a type its sizes are to be inferred. Its names are bound.
    pub(crate) fn pattern(&mut self, p: &RPat, ty: Option<&Type>) -> Res<Pat> {
        self.pattern_with(p, ty, &Subst::default())
    }

    /// The pattern of a `let` that binds sizes.
    pub(crate) fn let_pattern(&mut self, sizes: &[Name], p: &RPat, ty: &Type) -> Res<Pat> {
        let mut subst = Subst::default();
        for size in sizes {
            let meta = self.flexible(p.span, "a size bound by `let`");
            subst.sizes.insert(*size, meta);
        }
        let pat = self.pattern_with(p, Some(ty), &subst)?;
        let used = free_sizes(&pat.ty);
        let witnessed = witnesses(&pat.ty);
        for size in sizes {
            let text = self.cx.names.text(*size);
            let span = self.cx.names.get(*size).span.unwrap_or(p.span);
            if !used.contains(size) {
                return err(
                    Code::BadSize,
                    span,
                    format!("the size `{text}` is bound but does not occur in the pattern"),
                );
            }
            if !witnessed.contains(size) {
                return err(
                    Code::BadSize,
                    span,
                    format!("the size `{text}` is not the size of any array of the pattern"),
                );
            }
        }
        Ok(pat)
    }

    fn pattern_with(&mut self, p: &RPat, ty: Option<&Type>, sizes: &Subst) -> Res<Pat> {
        let span = p.span;
        match &p.kind {
            RPatKind::Name(_) | RPatKind::Wild | RPatKind::Lit { .. } => {
                let ty = match ty {
                    Some(t) => t.clone(),
                    None => self.fresh_dims(
                        &p.ty,
                        span,
                        &State::Inst(Lift::Plain),
                        "the size of a parameter",
                    ),
                };
                let kind = match &p.kind {
                    RPatKind::Name(n) => {
                        self.bind(*n, &ty);
                        PatKind::Name(*n)
                    }
                    RPatKind::Lit { negative, value } => {
                        PatKind::Literal(literal(value, &ty, span, *negative)?)
                    }
                    RPatKind::Wild
                    | RPatKind::Tuple(_)
                    | RPatKind::Record(_)
                    | RPatKind::Construct(..)
                    | RPatKind::Ascribe(..) => PatKind::Wild,
                };
                Ok(Pat { kind, ty, span })
            }
            RPatKind::Tuple(ps) => {
                let mut out = Vec::new();
                for (at, q) in ps.iter().enumerate() {
                    let t = match ty {
                        Some(Type::Tuple(ts)) => ts.get(at),
                        _ => None,
                    };
                    out.push(self.pattern_with(q, t, sizes)?);
                }
                let ty = Type::tuple(out.iter().map(|p| p.ty.clone()).collect());
                Ok(Pat {
                    kind: PatKind::Tuple(out),
                    ty,
                    span,
                })
            }
            RPatKind::Record(fields) => {
                let mut out = Vec::new();
                for (f, q) in fields {
                    let t = ty.and_then(|t| field_of(t, f));
                    out.push((f.clone(), self.pattern_with(q, t.as_ref(), sizes)?));
                }
                let ty = record_type(out.iter().map(|(f, p)| (f.clone(), p.ty.clone())).collect());
                let kind = if let Type::Tuple(_) = ty {
                    out.sort_by_key(|(f, _)| f.parse::<usize>().unwrap_or(usize::MAX));
                    PatKind::Tuple(out.into_iter().map(|(_, p)| p).collect())
                } else {
                    PatKind::Record(out)
                };
                Ok(Pat { kind, ty, span })
            }
            RPatKind::Construct(c, ps) => {
                let ty = match ty {
                    Some(t) => t.clone(),
                    None => self.fresh_dims(
                        &p.ty,
                        span,
                        &State::Inst(Lift::Plain),
                        "the size of a parameter",
                    ),
                };
                let payload = payload_of(&ty, c).unwrap_or_default();
                let mut out = Vec::new();
                for (at, q) in ps.iter().enumerate() {
                    out.push(self.pattern_with(q, payload.get(at), sizes)?);
                }
                Ok(Pat {
                    kind: PatKind::Construct(c.clone(), out),
                    ty,
                    span,
                })
            }
            RPatKind::Ascribe(inner, te) => {
                let (written, _) = self.written(te)?;
                if let Some(outer) = ty {
                    let loose = sizes.ty(&mut self.cx.names, &written, &mut Vec::new());
                    self.unify(span, "ascribed type of the pattern", &loose, outer)?;
                }
                let mut pat = self.pattern_with(inner, Some(&written), sizes)?;
                pat.span = span;
                // A tuple of several ascribed parts forgets the marks that the whole has.
                pat.ty = written;
                Ok(pat)
            }
        }
    }

    fn bind(&mut self, name: Name, ty: &Type) {
        // A size may be an expression that mentions any variable.
        self.param_size(name);
        self.vals.insert(name, ValTy::Mono(clear_unique(ty)));
    }

    /// Parameters, each at its own level so that later ones may refer to earlier ones.
    pub(crate) fn params(&mut self, params: &[RPat]) -> Res<Vec<Pat>> {
        self.params_given(params, &[])
    }

    /// Parameters of a function that is applied to values of these types, as far as they are known.
    pub(crate) fn params_given(&mut self, params: &[RPat], given: &[Given]) -> Res<Vec<Pat>> {
        let mut out = Vec::new();
        for (i, p) in params.iter().enumerate() {
            let ty = given.get(i).and_then(Option::as_ref).map(|ty| {
                let state = State::Inst(Lift::Plain);
                map_sizes(&clear_unique(ty), &mut |s| {
                    let mut metas = Vec::new();
                    metas_of_size(s, &mut metas);
                    match metas.contains(&OPEN) {
                        true => self.whole(&state, p.span, "the size of a parameter"),
                        false => s.clone(),
                    }
                })
            });
            out.push(self.pattern(p, ty.as_ref())?);
            self.level += 1;
        }
        Ok(out)
    }

    /// A pattern with what is known by now.
    pub(crate) fn pat(&mut self, mut p: Pat) -> Pat {
        struct Zonk<'z, 'c, 'a>(&'z mut Sizer<'c, 'a>);
        impl crate::types::walk::Visitor for Zonk<'_, '_, '_> {
            fn ty(&mut self, ty: &mut Type) {
                *ty = self.0.ty(ty);
            }
            fn size(&mut self, size: &mut Size) {
                *size = self.0.size(size);
            }
        }
        crate::types::walk::pat(&mut p, &mut Zonk(self));
        p
    }

    /// A parameter may not have a size that is the name of a component of another parameter: no caller can tell it.
    pub(crate) fn verify_params(&mut self, params: &[Pat]) -> Res<()> {
        let mut forbidden = Vec::new();
        for p in params {
            names_of(p, &mut forbidden);
        }
        for p in params {
            let used = free_sizes(&p.ty);
            if let Some(bad) = used.iter().find(|n| forbidden.contains(n)) {
                let text = self.cx.names.text(*bad);
                let message = format!(
                    "the type of this parameter has the size `{text}`, which a caller cannot know"
                );
                return Err(Box::new(
                    Diagnostic::error(Code::BadSize, p.span, message)
                        .note("it is a part of another parameter, or of a later one"),
                ));
            }
            if let PatKind::Name(n) = &p.kind {
                forbidden.retain(|f| f != n);
            }
        }
        Ok(())
    }

    /// Parameters, `let` and loops need patterns that always match.
    pub(crate) fn irrefutable(&mut self, p: &Pat) -> Res<()> {
        if let Some(span) = refutable(p) {
            return err(
                Code::RefutablePattern,
                span,
                "this pattern does not match all values of its type, which is only allowed in `match`",
            );
        }
        Ok(())
    }
}

fn refutable(p: &Pat) -> Option<crate::source::Span> {
    match &p.kind {
        PatKind::Name(_) | PatKind::Wild => None,
        PatKind::Tuple(ps) => ps.iter().find_map(refutable),
        PatKind::Record(fs) => fs.iter().find_map(|(_, p)| refutable(p)),
        PatKind::Literal(_) => Some(p.span),
        PatKind::Construct(_, ps) => {
            let only = matches!(&p.ty, Type::Sum(cs) if cs.len() == 1);
            if only {
                ps.iter().find_map(refutable)
            } else {
                Some(p.span)
            }
        }
    }
}

/// The names that a pattern binds.
pub(crate) fn names_of(p: &Pat, out: &mut Vec<Name>) {
    match &p.kind {
        PatKind::Name(n) => out.push(*n),
        PatKind::Wild | PatKind::Literal(_) => {}
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter().for_each(|p| names_of(p, out)),
        PatKind::Record(fs) => fs.iter().for_each(|(_, p)| names_of(p, out)),
    }
}
