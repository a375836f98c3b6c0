//! Unification of sizes inside types that agree but for sizes.

use super::{Sizer, State};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::types::context::Res;
use crate::types::opaque::{metas_of_size, names_of_size, similar};
use crate::types::print;
use crate::types::subst::{Subst, any_unique};
use crate::types::ty::{Atom, FunType, Name, Size, Type, TypeArg};
use std::sync::Arc;

/// What a unification is about.
pub(crate) struct About<'t> {
    pub(crate) span: Span,
    /// What the sizes belong to, for the message.
    pub(crate) what: &'t str,
    pub(crate) expected: &'t Type,
    pub(crate) actual: &'t Type,
}

/// An equation that waits for more to be known.
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    span: Span,
    what: String,
    left: Size,
    right: Size,
}

/// The state of one unification.
pub(crate) struct Ctx<'t> {
    pub(crate) about: &'t About<'t>,
    /// Sizes bound inside the types, at this point.
    pub(crate) bound: Vec<Name>,
    pub(crate) bound_metas: Vec<u32>,
    /// Which side may bind: the left one is expected.
    pub(crate) ord: bool,
    /// Mismatches are no errors.
    pub(crate) lenient: bool,
}

impl Sizer<'_, '_> {
    /// Makes the sizes of a type what is expected of them.
    pub(crate) fn unify(
        &mut self,
        span: Span,
        what: &str,
        expected: &Type,
        actual: &Type,
    ) -> Res<()> {
        let about = About {
            span,
            what,
            expected,
            actual,
        };
        let mut ctx = Ctx {
            about: &about,
            bound: Vec::new(),
            bound_metas: Vec::new(),
            ord: true,
            lenient: false,
        };
        self.types(&mut ctx, expected, actual)
    }

    /// Unifies the types of branches: decides what they may decide, and leaves other sizes as they are.
    pub(crate) fn unify_some(&mut self, span: Span, a: &Type, b: &Type) -> Res<()> {
        let about = About {
            span,
            what: "branches",
            expected: a,
            actual: b,
        };
        let mut ctx = Ctx {
            about: &about,
            bound: Vec::new(),
            bound_metas: Vec::new(),
            ord: true,
            lenient: true,
        };
        self.types(&mut ctx, a, b)
    }

    fn types(&mut self, ctx: &mut Ctx<'_>, a: &Type, b: &Type) -> Res<()> {
        match (a, b) {
            (Type::Array(x), Type::Array(y)) => {
                self.sizes(ctx, &x.size, &y.size)?;
                self.types(ctx, &x.elem, &y.elem)
            }
            (Type::Tuple(xs), Type::Tuple(ys)) => xs
                .iter()
                .zip(ys.iter())
                .try_for_each(|(x, y)| self.types(ctx, x, y)),
            (Type::Record(xs), Type::Record(ys)) => xs
                .iter()
                .zip(ys.iter())
                .try_for_each(|(x, y)| self.types(ctx, &x.1, &y.1)),
            (Type::Sum(xs), Type::Sum(ys)) => xs
                .iter()
                .zip(ys.iter())
                .flat_map(|(x, y)| x.1.iter().zip(&y.1))
                .try_for_each(|(x, y)| self.types(ctx, x, y)),
            (Type::Fun(x), Type::Fun(y)) => self.functions(ctx, x, y),
            (Type::Named(x), Type::Named(y)) => {
                x.args.iter().zip(&y.args).try_for_each(|pair| match pair {
                    (TypeArg::Size(s), TypeArg::Size(t)) => self.sizes(ctx, s, t),
                    (TypeArg::Type(s), TypeArg::Type(t)) => self.types(ctx, s, t),
                    (TypeArg::Size(_), TypeArg::Type(_)) | (TypeArg::Type(_), TypeArg::Size(_)) => {
                        Ok(())
                    }
                })
            }
            // The first pass saw to it that the types agree otherwise.
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
            ) => Ok(()),
        }
    }

    fn functions(&mut self, ctx: &mut Ctx<'_>, a: &FunType, b: &FunType) -> Res<()> {
        let (expected, actual) = if ctx.ord { (a, b) } else { (b, a) };
        if !ctx.lenient && !any_unique(&expected.arg) && any_unique(&actual.arg) {
            let mut d = self.clash(
                ctx.about,
                "a function that consumes its argument is used where one that does not is expected",
            );
            d.code = Code::TypeMismatch;
            return Err(d);
        }
        if !ctx.lenient && any_unique(&expected.ret.ty) && !any_unique(&actual.ret.ty) {
            let mut d = self.clash(
                ctx.about,
                "the result of the function must be unique, but may share its argument's memory",
            );
            d.code = Code::TypeMismatch;
            return Err(d);
        }
        ctx.ord = !ctx.ord;
        let args = self.types(ctx, &a.arg, &b.arg);
        ctx.ord = !ctx.ord;
        args?;

        let (names, metas) = (ctx.bound.len(), ctx.bound_metas.len());
        for p in [a.param, b.param].into_iter().flatten() {
            let now = self.find(p);
            ctx.bound.extend([p, now]);
        }
        let mut subst_a = Subst::default();
        let mut subst_b = Subst::default();
        if let (Some(p), Some(q)) = (a.param, b.param) {
            // The parameter of an instance takes the other's name for good: sizes of the instance may be linked to it.
            let (p, q) = (self.find(p), self.find(q));
            if p == q {
            } else if self.binders.contains(&q) {
                self.aliases.insert(q, p);
            } else if self.binders.contains(&p) {
                self.aliases.insert(p, q);
            } else {
                subst_b.sizes.insert(q, Size::name(p));
                subst_b.values.insert(q, p);
            }
            if self.binders.contains(&p) || self.binders.contains(&q) {
                self.binders.extend([p, q]);
            }
        }
        // The expected side's existential sizes may become anything, the others are fixed.
        let mut flexible: Vec<(Name, u32)> = Vec::new();
        for (side, exts, subst) in [
            (true, &a.ret.exts, &mut subst_a),
            (false, &b.ret.exts, &mut subst_b),
        ] {
            if side == ctx.ord {
                for ext in exts {
                    let m = self.meta(State::Flexible, ctx.about.span, "an existential size");
                    subst.sizes.insert(*ext, Size::atom(Atom::Meta(m)));
                    flexible.push((*ext, m));
                    ctx.bound_metas.push(m);
                }
            } else {
                ctx.bound.extend(exts);
            }
        }
        let ra = subst_a.ty(&mut self.cx.names, &a.ret.ty, &mut Vec::new());
        let rb = subst_b.ty(&mut self.cx.names, &b.ret.ty, &mut Vec::new());
        let result = self.types(ctx, &ra, &rb);
        ctx.bound.truncate(names);
        ctx.bound_metas.truncate(metas);
        result?;
        for (ext, m) in flexible {
            self.absorb_ext(ctx.about.span, ext, m);
        }
        Ok(())
    }

    pub(crate) fn sizes(&mut self, ctx: &mut Ctx<'_>, a: &Size, b: &Size) -> Res<()> {
        let (a, b) = (self.size(a), self.size(b));
        if a == b || self.canonical(&a) == self.canonical(&b) {
            return Ok(());
        }
        let (expected, actual) = if ctx.ord { (&a, &b) } else { (&b, &a) };
        // Rows of one length are rows of any lengths.
        if expected.is_irregular() && !matches!(actual.as_atom(), Some(Atom::Meta(_))) {
            return Ok(());
        }
        for (m, other) in [(&a, &b), (&b, &a)] {
            let Some(Atom::Meta(m)) = m.as_atom() else {
                continue;
            };
            if self.is_existential(*m) {
                continue;
            }
            if Self::any_bound(ctx, other) && !ctx.bound_metas.contains(m) {
                continue;
            }
            if ctx.lenient && !self.can_link(*m, other) {
                continue;
            }
            // What equals a size that cannot be existential is not existential either.
            if let Some(Atom::Meta(n)) = other.as_atom()
                && self.absorbable(*m).is_none()
                && !ctx.bound_metas.contains(m)
                && self.absorbable(*n).is_some()
                && !ctx.bound_metas.contains(n)
                && !ctx.lenient
            {
                return self.link(ctx, *n, &Size::atom(Atom::Meta(*m)));
            }
            return self.link(ctx, *m, other);
        }
        if ctx.lenient {
            return Ok(());
        }
        for (m, other) in [(&a, &b), (&b, &a)] {
            if self.local_link(ctx, m, other) {
                return Ok(());
            }
        }
        for (m, other) in [(&a, &b), (&b, &a)] {
            if self.absorb(ctx, m, other) {
                return Ok(());
            }
        }
        for (m, other) in [(&a, &b), (&b, &a)] {
            if self.turn_irregular(ctx, m, other) {
                return Ok(());
            }
        }
        self.structural(ctx, &a, &b)
    }

    /// Neither is one flexible size: what was written as the same operation is taken part by part, the rest waits or fails.
    fn structural(&mut self, ctx: &mut Ctx<'_>, a: &Size, b: &Size) -> Res<()> {
        if let (Some(x), Some(y)) = (&a.written, &b.written)
            && x.op == y.op
            && (has_meta(a) || has_meta(b))
        {
            let (x, y) = (Arc::clone(x), Arc::clone(y));
            self.sizes(ctx, &x.left, &y.left)?;
            return self.sizes(ctx, &x.right, &y.right);
        }
        if let (Some(Atom::Opaque(x)), Some(Atom::Opaque(y))) = (a.as_atom(), b.as_atom()) {
            let mut pairs = Vec::new();
            if !(x.metas.is_empty() && y.metas.is_empty())
                && similar(&self.cx.names, &x.exp, &y.exp, &mut pairs)
            {
                return pairs.iter().try_for_each(|(s, t)| self.sizes(ctx, s, t));
            }
        }
        let (ra, rb) = (a.without(b), b.without(a));
        if (ra.terms.len() < a.terms.len()) && (ra.as_atom().is_some() || rb.as_atom().is_some()) {
            return self.sizes(ctx, &ra, &rb);
        }
        let similar = (ra.as_atom().is_none() || rb.as_atom().is_none())
            && ra.terms.len() == rb.terms.len()
            && ra
                .terms
                .iter()
                .zip(&rb.terms)
                .all(|((p, k), (q, l))| k == l && p.len() == q.len());
        let mut metas = Vec::new();
        metas_of_size(&ra, &mut metas);
        metas_of_size(&rb, &mut metas);
        let flexible = |s: &Size| s.terms.keys().flatten().any(|a| matches!(a, Atom::Meta(_)));
        if similar && (flexible(&ra) || flexible(&rb)) {
            let pairs: Vec<(Atom, Atom)> = ra
                .terms
                .keys()
                .zip(rb.terms.keys())
                .flat_map(|(p, q)| without(p, q).into_iter().zip(without(q, p)))
                .collect();
            for (x, y) in pairs {
                self.sizes(ctx, &Size::atom(x), &Size::atom(y))?;
            }
            return Ok(());
        }
        if !metas.is_empty()
            && !metas.iter().any(|m| self.is_existential(*m))
            && !Self::any_bound(ctx, a)
            && !Self::any_bound(ctx, b)
        {
            self.deferred.push(Deferred {
                span: ctx.about.span,
                what: ctx.about.what.to_owned(),
                left: a.clone(),
                right: b.clone(),
            });
            return Ok(());
        }
        Err(self.size_clash(ctx.about, a, b))
    }

    /// Decides what was put off; what is still open is an error.
    pub(crate) fn settle(&mut self) -> Res<()> {
        for d in std::mem::take(&mut self.deferred) {
            let (a, b) = (self.size(&d.left), self.size(&d.right));
            if self.canonical(&a) == self.canonical(&b) {
                continue;
            }
            let (ta, tb) = (
                Type::array(a.clone(), Type::unit()),
                Type::array(b.clone(), Type::unit()),
            );
            let about = About {
                span: d.span,
                what: &d.what,
                expected: &ta,
                actual: &tb,
            };
            let similar = a.terms.len() == b.terms.len();
            let lone = a.as_atom().is_some() || b.as_atom().is_some();
            if similar || lone {
                let before = self.deferred.len();
                self.unify(d.span, &d.what, &ta, &tb)?;
                if self.deferred.len() == before {
                    continue;
                }
                self.deferred.truncate(before);
            }
            return Err(self.size_clash(&about, &a, &b));
        }
        Ok(())
    }

    pub(crate) fn size_clash(&mut self, about: &About<'_>, a: &Size, b: &Size) -> Box<Diagnostic> {
        let (a, b) = (self.size(a), self.size(b));
        let mut d = self.mismatch(about);
        let (x, y) = (
            print::size(&self.cx.names, &a),
            print::size(&self.cx.names, &b),
        );
        let same = if x == y {
            "; they are different sizes of one name"
        } else {
            ""
        };
        d.notes.push(crate::diagnostic::Note::Fact(format!(
            "the sizes `{x}` and `{y}` are not known to be equal{same}"
        )));
        let mut names = Vec::new();
        names_of_size(&a, &mut names);
        names_of_size(&b, &mut names);
        names.sort();
        names.dedup();
        for n in names {
            if let Some((span, why)) = self.rigid.get(&n).and_then(|r| r.unknown) {
                let text = self.cx.names.text(n).to_owned();
                *d = d.also(span, format!("the size `{text}` is computed here: {why}"));
            } else if x == y
                && let Some(span) = self.cx.names.get(n).span
            {
                *d = d.also(span, "one of the sizes is bound here");
            }
        }
        Box::new(d.hint("a size coercion, `e :> [n]t`, checks at run time that the sizes agree"))
    }

    pub(crate) fn clash(&mut self, about: &About<'_>, why: &str) -> Box<Diagnostic> {
        let mut d = self.mismatch(about);
        d.notes.push(crate::diagnostic::Note::Fact(why.to_owned()));
        d
    }

    fn mismatch(&mut self, about: &About<'_>) -> Box<Diagnostic> {
        let (expected, actual) = (self.ty(about.expected), self.ty(about.actual));
        let message = format!(
            "{}: expected `{}`, found `{}`",
            about.what,
            print::ty(&self.cx.names, &expected),
            print::ty(&self.cx.names, &actual)
        );
        Box::new(Diagnostic::error(Code::SizeMismatch, about.span, message))
    }
}

/// The factors of a product without those that another has too; both are sorted.
fn without(product: &[Atom], other: &[Atom]) -> Vec<Atom> {
    let mut rest = other.iter().peekable();
    let missing = |a: &&Atom| {
        while rest.next_if(|b| b < a).is_some() {}
        rest.next_if(|b| b == a).is_none()
    };
    product.iter().filter(missing).cloned().collect()
}

fn has_meta(s: &Size) -> bool {
    s.terms.keys().flatten().any(|a| match a {
        Atom::Meta(_) => true,
        Atom::Opaque(o) => !o.metas.is_empty(),
        Atom::Name(_) => false,
    })
}
