//! Branches in the second pass: sizes in which they differ become unknown.

use super::Sizer;
use crate::diagnostic::Code;
use crate::source::Span;
use crate::typed::{Case, Exp, ExpKind};
use crate::types::context::{Res, err};
use crate::types::infer::tyexp::free_sizes;
use crate::types::raw::{RExp, RPat};
use crate::types::subst::{clear_unique, map_sizes};
use crate::types::ty::{Lift, Name, Size, Type};
use midend::hash::HashMap;

impl Sizer<'_, '_> {
    /// The common type of two branches: sizes that differ become unknown.
    pub(crate) fn branches(&mut self, a: &Type, b: &Type, span: Span) -> Res<(Type, Vec<Name>)> {
        let (a, b) = (clear_unique(&self.ty(a)), clear_unique(&self.ty(b)));
        self.unify_some(span, &a, &b)?;
        let (a, b) = (self.ty(&a), self.ty(&b));
        let mut sizes = Vec::new();
        crate::types::opaque::each_size(&b, &mut |s| sizes.push(s.clone()));
        let mut sizes = sizes.into_iter();
        let mut seen: HashMap<(Size, Size), Name> = HashMap::default();
        let mut exts = Vec::new();
        let ty = map_sizes(&a, &mut |s| {
            let other = sizes.next().unwrap_or_else(|| s.clone());
            if *s == other || self.canonical(s) == self.canonical(&other) {
                return s.clone();
            }
            if s.is_irregular() || other.is_irregular() {
                return Size::irregular();
            }
            let key = (s.clone(), other);
            let n = match seen.get(&key) {
                Some(n) => *n,
                None => {
                    let n = self.unknown(span, "n", "the branches differ in this size");
                    exts.push(n);
                    seen.insert(key, n);
                    n
                }
            };
            Size::name(n)
        });
        Ok((ty, exts))
    }

    /// The common type of two elements of an array: dimensions in which they differ are irregular.
    pub(crate) fn irregular_where_different(&mut self, a: &Type, b: &Type) -> Type {
        let (a, b) = (self.ty(a), self.ty(b));
        let mut sizes = Vec::new();
        crate::types::opaque::each_size(&b, &mut |s| sizes.push(s.clone()));
        let mut sizes = sizes.into_iter();
        self.cx.irregular = true;
        map_sizes(&a, &mut |s| match sizes.next() {
            Some(other) if *s != other => Size::irregular(),
            Some(_) | None => s.clone(),
        })
    }

    pub(crate) fn match_exp(
        &mut self,
        scrutinee: &RExp,
        cases: &[(RPat, RExp)],
        span: Span,
    ) -> Res<Exp> {
        let scrutinee = self.boxed(scrutinee)?;
        let scrutinee_ty = self.ty(&scrutinee.ty);
        let mut out = Vec::with_capacity(cases.len());
        let mut types = Vec::with_capacity(cases.len());
        let mut exts = Vec::new();
        for (pat, body) in cases {
            let pat = self.pattern(pat, Some(&scrutinee_ty))?;
            let body = self.exp(body)?;
            let mut gone = Vec::new();
            super::pattern::names_of(&pat, &mut gone);
            let ty = self.ty(&body.ty);
            let why = "a variable of the pattern goes out of scope";
            let (ty, new) = self.unscope(&ty, &gone, body.span, why);
            exts.extend(new);
            types.push(ty);
            out.push(Case { pat, body });
        }
        let mut rest = types.into_iter().rev();
        let mut ty = rest.next().unwrap_or_else(Type::unit);
        for t in rest {
            let (joined, new) = self.branches(&t, &ty, span)?;
            ty = joined;
            exts.extend(new);
        }
        // Of the sizes that were made on the way only those that are left are bound.
        let left = free_sizes(&ty);
        exts.retain(|e| left.contains(e));
        self.no_functions(&ty, span, "a `match`")?;
        crate::types::exhaustive::check(&mut *self.cx, span, &out, &scrutinee_ty)?;
        Ok(Exp {
            kind: ExpKind::Match {
                scrutinee,
                cases: out,
            },
            ty,
            span,
            exts,
        })
    }

    pub(crate) fn no_functions(&mut self, ty: &Type, span: Span, what: &str) -> Res<()> {
        if self.cx.too_lifted(ty, Lift::Size).is_some() {
            let shown = crate::types::print::ty(&self.cx.names, ty);
            let kind = match self.cx.has_sequence(ty) {
                true => "sequence",
                false => "function",
            };
            return err(
                Code::BadType,
                span,
                format!("the result of {what} cannot be a {kind}, but has the type `{shown}`"),
            );
        }
        Ok(())
    }

    pub(crate) fn loop_result_is_data(&mut self, ty: &Type, span: Span) -> Res<()> {
        self.no_functions(ty, span, "a `loop`")
    }
}
