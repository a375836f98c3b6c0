//! Sections: operators with their right operand, and paths as functions.

use super::Infer;
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::ptr::P;
use crate::typed::NameKind;
use crate::types::context::Res;
use crate::types::raw::{RExp, RKind, RPat, RPatKind, RSlice, RStep};
use crate::types::ty::{Name, Type};

impl Infer<'_, '_> {
    /// `(op e)`: `let y = e in \x -> x op y`.
    pub(crate) fn right_section(
        &mut self,
        op: &ast::QualName,
        rhs: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let fun = P::new(self.name(op)?);
        let rhs = self.exp(rhs)?;
        let (x, x_use) = self.local("x", span);
        let mut lets = Vec::new();
        let rhs = self.operand(rhs, &mut lets);
        let body = self.apply(fun, vec![x_use, rhs], true, span)?;
        Ok(close(lets, lambda(x, body, span)))
    }

    /// `(.a[i])`: `let j = i in \x -> x.a[j]`.
    pub(crate) fn path_section(&mut self, path: &[ast::UpdateStep], span: Span) -> Res<RExp> {
        let path = self.steps(path)?;
        let (x, mut body) = self.local("x", span);
        let mut lets = Vec::new();
        for step in path {
            body = match step {
                RStep::Field(f) => self.project(body, &f, span)?,
                RStep::Index(slices) => {
                    let slices: Vec<RSlice> = slices
                        .into_iter()
                        .map(|s| self.slice_operands(s, &mut lets))
                        .collect();
                    let (array, ty) = self.index_types(&slices, span);
                    self.expect(span, "indexed value", &body.ty, &array)?;
                    RExp {
                        kind: RKind::Index {
                            array: P::new(body),
                            slices,
                        },
                        ty,
                        span,
                    }
                }
            };
        }
        Ok(close(lets, lambda(x, body, span)))
    }

    fn slice_operands(&mut self, slice: RSlice, lets: &mut Vec<(RPat, RExp)>) -> RSlice {
        match slice {
            RSlice::Index(e) => RSlice::Index(self.operand(e, lets)),
            RSlice::Range { start, end, stride } => RSlice::Range {
                start: start.map(|e| self.operand(e, lets)),
                end: end.map(|e| self.operand(e, lets)),
                stride: stride.map(|e| self.operand(e, lets)),
            },
        }
    }

    /// A fresh parameter and an expression that reads it.
    fn local(&mut self, text: &str, span: Span) -> (RPat, RExp) {
        let ty = self.any(span);
        let name = self.cx.fresh(text, Some(span), NameKind::Value);
        (name_pat(name, &ty, span), variable(name, &ty, span))
    }

    /// An operand that may be evaluated any number of times: it is bound first unless it is a name or literal.
    fn operand(&mut self, e: RExp, lets: &mut Vec<(RPat, RExp)>) -> RExp {
        let simple = matches!(e.kind, RKind::Lit(_) | RKind::Var { .. });
        if simple {
            return e;
        }
        let name = self.cx.fresh("y", Some(e.span), NameKind::Value);
        let out = variable(name, &e.ty, e.span);
        lets.push((name_pat(name, &e.ty, e.span), e));
        out
    }
}

fn name_pat(name: Name, ty: &Type, span: Span) -> RPat {
    RPat {
        kind: RPatKind::Name(name),
        ty: ty.clone(),
        span,
    }
}

fn variable(name: Name, ty: &Type, span: Span) -> RExp {
    RExp {
        kind: RKind::Var {
            name,
            inst: Vec::new(),
        },
        ty: ty.clone(),
        span,
    }
}

fn lambda(param: RPat, body: RExp, span: Span) -> RExp {
    let ty = Type::fun(None, param.ty.clone(), body.ty.clone());
    let kind = RKind::Lambda {
        params: vec![param],
        body: P::new(body),
        ret: None,
    };
    RExp { kind, ty, span }
}

fn close(lets: Vec<(RPat, RExp)>, body: RExp) -> RExp {
    lets.into_iter().rev().fold(body, |body, (pat, value)| {
        let (ty, span) = (body.ty.clone(), body.span);
        let kind = RKind::Let {
            sizes: Vec::new(),
            pat,
            value: P::new(value),
            body: P::new(body),
        };
        RExp { kind, ty, span }
    })
}
