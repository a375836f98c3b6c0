//! Walking typed expressions: every type, size and name in them, to read or to rewrite.

use super::ty::{Size, Type};
use crate::typed::{
    Exp, ExpKind, Inst, LoopForm, Pat, PatKind, RetType, Scheme, Slice, Step, ValueDef,
};
use std::sync::Arc;

/// What a walk does at each place.
pub(crate) trait Visitor {
    /// At each type.
    fn ty(&mut self, ty: &mut Type);
    /// At each result type: its existential sizes and its type.
    fn ret(&mut self, ret: &mut RetType) {
        self.ty(&mut ret.ty);
    }
    /// At each size outside of types.
    fn size(&mut self, size: &mut Size);
    /// Before the children of an expression; `false` leaves them out.
    fn enter(&mut self, _exp: &mut Exp) -> bool {
        true
    }
}

/// Visits an expression and all that is in it.
pub(crate) fn exp(e: &mut Exp, v: &mut dyn Visitor) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || {
        if v.enter(e) {
            v.ty(&mut e.ty);
            children(e, v);
        }
    });
}

fn exps<'a>(es: impl IntoIterator<Item = &'a mut Exp>, v: &mut dyn Visitor) {
    for e in es {
        exp(e, v);
    }
}

fn children(e: &mut Exp, v: &mut dyn Visitor) {
    match &mut e.kind {
        ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Hole => {}
        ExpKind::Var { inst: i, .. } => inst(i, v),
        ExpKind::Size(size) => v.size(size),
        ExpKind::Tuple(es) | ExpKind::Array(es) | ExpKind::Construct(_, es) => exps(es, v),
        ExpKind::Record(fields) => exps(fields.iter_mut().map(|(_, e)| e), v),
        ExpKind::Range { start, second, end } => {
            exp(start, v);
            if let Some(second) = second {
                exp(second, v);
            }
            exp(&mut end.1, v);
        }
        ExpKind::Coerce(e)
        | ExpKind::Negate(e)
        | ExpKind::Not(e)
        | ExpKind::Field(e, _)
        | ExpKind::TupleField(e, _)
        | ExpKind::Attr(_, e) => exp(e, v),
        ExpKind::Apply { fun, args, .. } => {
            exps(args, v);
            exp(fun, v);
        }
        ExpKind::Lambda { params, body, ret } => {
            params.iter_mut().for_each(|p| pat(p, v));
            exp(Arc::make_mut(body), v);
            v.ret(ret);
        }
        ExpKind::Let {
            pat: p,
            value,
            body,
            ..
        } => {
            exp(value, v);
            pat(p, v);
            exp(body, v);
        }
        ExpKind::LetFun { def: d, body } => {
            def(Arc::make_mut(d), v);
            exp(body, v);
        }
        ExpKind::If {
            cond,
            then,
            otherwise,
        } => exps([&mut **cond, &mut **then, &mut **otherwise], v),
        ExpKind::Match { scrutinee, cases } => {
            exp(scrutinee, v);
            for case in cases {
                pat(&mut case.pat, v);
                exp(&mut case.body, v);
            }
        }
        ExpKind::Loop {
            sizes,
            pat: p,
            init,
            form,
            body,
        } => {
            exp(init, v);
            sizes.iter_mut().for_each(|s| v.size(&mut s.init));
            pat(p, v);
            match form {
                LoopForm::For { bound, .. } => exp(bound, v),
                LoopForm::ForIn { pat: p, array } => {
                    exp(array, v);
                    pat(p, v);
                }
                LoopForm::While(cond) => exp(cond, v),
            }
            exp(body, v);
        }
        ExpKind::Index { array, slices: s } => {
            exp(array, v);
            slices(s, v);
        }
        ExpKind::Update {
            source,
            path,
            value,
        } => {
            exp(source, v);
            for step in path {
                match step {
                    Step::Index(s) => slices(s, v),
                    Step::Field(_) | Step::TupleField(_) => {}
                }
            }
            exp(value, v);
        }
        ExpKind::Assert { cond, body, .. } => exps([&mut **cond, &mut **body], v),
    }
}

fn slices(slices: &mut [Slice], v: &mut dyn Visitor) {
    for slice in slices {
        match slice {
            Slice::Index(e) => exp(e, v),
            Slice::Range { start, end, stride } => {
                exps([start, end, stride].into_iter().flatten(), v);
            }
        }
    }
}

fn inst(i: &mut Inst, v: &mut dyn Visitor) {
    i.types.iter_mut().for_each(|t| v.ty(t));
    i.sizes.iter_mut().for_each(|s| v.size(s));
}

/// Visits the types of a pattern.
pub(crate) fn pat(p: &mut Pat, v: &mut dyn Visitor) {
    v.ty(&mut p.ty);
    match &mut p.kind {
        PatKind::Name(_) | PatKind::Wild | PatKind::Literal(_) => {}
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter_mut().for_each(|p| pat(p, v)),
        PatKind::Record(fields) => fields.iter_mut().for_each(|(_, p)| pat(p, v)),
    }
}

/// Visits a definition.
pub(crate) fn def(d: &mut ValueDef, v: &mut dyn Visitor) {
    scheme(&mut d.scheme, v);
    d.params.iter_mut().for_each(|p| pat(p, v));
    exp(&mut d.body, v);
    v.ret(&mut d.ret);
}

/// Visits the type of a scheme.
pub(crate) fn scheme(s: &mut Scheme, v: &mut dyn Visitor) {
    v.ty(&mut s.ty);
}
