//! Expressions in the first pass.

use super::Infer;
use super::solve::{Kind, PrimSet};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExpKind};
use crate::syntax::ptr::P;
use crate::types::context::Res;
use crate::types::raw::{RExp, RKind, RLit, RPat, RPatKind};
use crate::types::ty::{Lift, Name, Prim, Type};
use std::collections::BTreeMap;

impl Infer<'_, '_> {
    pub(crate) fn exp(&mut self, e: &ast::Exp) -> Res<RExp> {
        let open = self.cx.open_locals();
        let result = stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_inner(e));
        self.cx.close_locals(open, e.span.hi);
        result
    }

    pub(crate) fn boxed(&mut self, e: &ast::Exp) -> Res<P<RExp>> {
        Ok(P::new(self.exp(e)?))
    }

    fn exp_inner(&mut self, e: &ast::Exp) -> Res<RExp> {
        let span = e.span;
        match &e.kind {
            ExpKind::Name(name) => self.name(name),
            ExpKind::Literal(lit) => Ok(self.literal(lit, span)),
            ExpKind::Hole => {
                let ty = self.any(span);
                Ok(RExp {
                    kind: RKind::Hole,
                    ty,
                    span,
                })
            }
            ExpKind::Tuple(es) => {
                let es = self.exps(es)?;
                let ty = Type::tuple(es.iter().map(|e| e.ty.clone()).collect());
                Ok(RExp {
                    kind: RKind::Tuple(es),
                    ty,
                    span,
                })
            }
            ExpKind::Record(fields) => self.record(fields, span),
            ExpKind::Array(es) => self.array(es, span),
            ExpKind::Range {
                first,
                second,
                end_kind,
                end,
            } => self.range(first, second.as_deref(), *end_kind, end, span),
            ExpKind::Project(e, field) => {
                let e = self.exp(e)?;
                self.project(e, &field.name, span)
            }
            ExpKind::Index(array, indices) => {
                let array = self.boxed(array)?;
                self.index(array, indices, span)
            }
            ExpKind::Update { base, path, value } => {
                let base = self.boxed(base)?;
                let value = self.boxed(value)?;
                self.update(base, path, value, span)
            }
            ExpKind::LocalOpen(module, body) => self.local_open(module, body),
            ExpKind::Apply(fun, args) => {
                let fun = self.boxed(fun)?;
                let args = self.exps(args)?;
                self.apply(fun, args, false, span)
            }
            ExpKind::BinOp { op, lhs, rhs } => self.binop(op, lhs, rhs, span),
            ExpKind::Negate(inner) => {
                let inner = self.exp(inner)?;
                self.require(&inner, "negation", PrimSet::NUMBERS)?;
                let ty = inner.ty.clone();
                Ok(RExp {
                    kind: RKind::Negate(P::new(inner)),
                    ty,
                    span,
                })
            }
            ExpKind::Not(inner) => {
                let inner = self.exp(inner)?;
                self.require(&inner, "complement", PrimSet::LOGICAL)?;
                let ty = inner.ty.clone();
                Ok(RExp {
                    kind: RKind::Not(P::new(inner)),
                    ty,
                    span,
                })
            }
            ExpKind::Ascribe(inner, te) => {
                let inner = self.boxed(inner)?;
                let te = self.type_exp(te)?;
                self.expect(inner.span, "ascribed type", &inner.ty, &te.ty)?;
                let ty = te.ty.clone();
                Ok(RExp {
                    kind: RKind::Ascribe(inner, te),
                    ty,
                    span,
                })
            }
            ExpKind::Coerce(inner, te) => {
                let inner = self.boxed(inner)?;
                let te = self.type_exp(te)?;
                self.expect(inner.span, "size coercion", &inner.ty, &te.ty)?;
                let ty = te.ty.clone();
                Ok(RExp {
                    kind: RKind::Coerce(inner, te),
                    ty,
                    span,
                })
            }
            ExpKind::Let {
                sizes,
                pat,
                value,
                body,
            } => self.let_pat(sizes, pat, value, body, span),
            ExpKind::LetFun { fun, body } => {
                let mark = self.scope.mark();
                let def = self.local_fun(fun)?;
                let body = self.boxed(body)?;
                self.scope.reset(mark);
                let ty = body.ty.clone();
                Ok(RExp {
                    kind: RKind::LetFun {
                        def: Box::new(def),
                        body,
                    },
                    ty,
                    span,
                })
            }
            ExpKind::LetUpdate {
                name,
                path,
                value,
                body,
            } => {
                let qual = ast::QualName {
                    quals: Vec::new(),
                    name: name.clone(),
                };
                let source = P::new(self.name(&qual)?);
                let value = self.boxed(value)?;
                let update_span = name.span.to(value.span);
                let updated = self.update(source, path, value, update_span)?;
                let mark = self.scope.mark();
                let pat = self.bind_name(&name.name, name.span, updated.ty.clone());
                let body = self.boxed(body)?;
                self.scope.reset(mark);
                let ty = body.ty.clone();
                let kind = RKind::Let {
                    sizes: Vec::new(),
                    pat,
                    value: P::new(updated),
                    body,
                };
                Ok(RExp { kind, ty, span })
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.boxed(cond)?;
                self.expect(cond.span, "condition", &cond.ty, &Type::Prim(Prim::Bool))?;
                let then = self.boxed(then)?;
                let otherwise = self.boxed(otherwise)?;
                self.expect(
                    otherwise.span,
                    "branches differ in type",
                    &otherwise.ty,
                    &then.ty,
                )?;
                let ty = then.ty.clone();
                self.solver.data(&ty);
                Ok(RExp {
                    kind: RKind::If {
                        cond,
                        then,
                        otherwise,
                    },
                    ty,
                    span,
                })
            }
            ExpKind::Loop {
                pat,
                init,
                form,
                body,
            } => self.loop_exp(pat, init.as_deref(), form, body, span),
            ExpKind::Match(scrutinee, cases) => self.match_exp(scrutinee, cases, span),
            ExpKind::Lambda { params, ret, body } => {
                self.lambda(params, ret.as_deref(), body, span)
            }
            ExpKind::OpSection(op) => self.name(op),
            ExpKind::LeftSection(op, lhs) => {
                let op = P::new(self.name(op)?);
                let lhs = self.exp(lhs)?;
                self.apply(op, vec![lhs], false, span)
            }
            ExpKind::RightSection(op, rhs) => self.right_section(op, rhs, span),
            ExpKind::PathSection(path) => self.path_section(path, span),
            ExpKind::Constr(name, args) => {
                let args = self.exps(args)?;
                let payload = args.iter().map(|a| a.ty.clone()).collect();
                let kind = Kind::Sum(BTreeMap::from([(name.name.clone(), payload)]));
                let ty = self.solver.fresh(span, Lift::Full, kind);
                Ok(RExp {
                    kind: RKind::Construct(name.name.clone(), args),
                    ty,
                    span,
                })
            }
            ExpKind::Assert(cond, body) => {
                let text = self.cx.text(cond.span);
                let cond = self.boxed(cond)?;
                self.expect(
                    cond.span,
                    "asserted condition",
                    &cond.ty,
                    &Type::Prim(Prim::Bool),
                )?;
                let body = self.boxed(body)?;
                let ty = body.ty.clone();
                Ok(RExp {
                    kind: RKind::Assert { cond, text, body },
                    ty,
                    span,
                })
            }
            ExpKind::Attr(attr, body) => self.attributed(attr, body, span),
        }
    }

    pub(crate) fn exps(&mut self, es: &[ast::Exp]) -> Res<Vec<RExp>> {
        es.iter().map(|e| self.exp(e)).collect()
    }

    pub(crate) fn apply(
        &mut self,
        fun: P<RExp>,
        args: Vec<RExp>,
        infix: bool,
        span: Span,
    ) -> Res<RExp> {
        let mut ty = fun.ty.clone();
        for (at, arg) in args.iter().enumerate() {
            ty = self.apply_one(&fun, &ty, at, arg)?;
        }
        Ok(RExp {
            kind: RKind::Apply { fun, args, infix },
            ty,
            span,
        })
    }

    fn apply_one(&mut self, fun: &RExp, ty: &Type, at: usize, arg: &RExp) -> Res<Type> {
        let ty = self.solver.head(ty);
        let what = |this: &Self| {
            if let RKind::Var { name, .. } = &fun.kind {
                format!("argument {} of `{}`", at + 1, this.cx.names.text(*name))
            } else {
                format!("argument {}", at + 1)
            }
        };
        match &ty {
            Type::Fun(f) => {
                let what = what(self);
                self.expect(arg.span, &what, &arg.ty, &f.arg)?;
                Ok(crate::types::subst::clear_unique(&f.ret.ty))
            }
            Type::Meta(_) => {
                let result = self.any(arg.span);
                let wanted = Type::fun(None, arg.ty.clone(), result.clone());
                self.expect(fun.span, "applied value", &ty, &wanted)?;
                Ok(result)
            }
            Type::Prim(_)
            | Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Named(_) => {
                let shown = self.show(&ty);
                let message = if at == 0 {
                    format!("this is applied, but its type is `{shown}`, which is no function")
                } else {
                    format!(
                        "this function takes {at} argument{}, but is given more",
                        if at == 1 { "" } else { "s" }
                    )
                };
                Err(Box::new(
                    Diagnostic::error(Code::TypeMismatch, arg.span, message)
                        .also(fun.span, "the function")
                        .note(format!("after {at} arguments the type is `{shown}`")),
                ))
            }
        }
    }

    pub(crate) fn binop(
        &mut self,
        op: &ast::QualName,
        lhs: &ast::Exp,
        rhs: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let fun = self.name(op)?;
        let lhs = self.exp(lhs)?;
        let rhs = self.exp(rhs)?;
        if let RKind::Var { name, .. } = &fun.kind
            && let Some(and) = self.cx.is_logical(*name)
        {
            let bool_ty = Type::Prim(Prim::Bool);
            self.expect(lhs.span, "operand of a logical operator", &lhs.ty, &bool_ty)?;
            self.expect(rhs.span, "operand of a logical operator", &rhs.ty, &bool_ty)?;
            let constant = P::new(RExp {
                kind: RKind::Lit(RLit::Bool(!and)),
                ty: bool_ty.clone(),
                span: fun.span,
            });
            let (lhs, rhs) = (P::new(lhs), P::new(rhs));
            let kind = if and {
                RKind::If {
                    cond: lhs,
                    then: rhs,
                    otherwise: constant,
                }
            } else {
                RKind::If {
                    cond: lhs,
                    then: constant,
                    otherwise: rhs,
                }
            };
            return Ok(RExp {
                kind,
                ty: bool_ty,
                span,
            });
        }
        self.apply(P::new(fun), vec![lhs, rhs], true, span)
    }
}

/// The curried type of a function.
pub(crate) fn fun_type(params: &[RPat], result: Type) -> Type {
    params
        .iter()
        .rev()
        .fold(result, |ty, p| Type::fun(param_name(p), p.ty.clone(), ty))
}

/// The name by which a result type may refer to a parameter.
pub(crate) fn param_name(p: &RPat) -> Option<Name> {
    match &p.kind {
        RPatKind::Name(n) => Some(*n),
        RPatKind::Ascribe(p, _) => param_name(p),
        RPatKind::Wild
        | RPatKind::Tuple(_)
        | RPatKind::Record(_)
        | RPatKind::Lit { .. }
        | RPatKind::Construct(..) => None,
    }
}
