//! Bindings, loops, cases and lambdas in the first pass.

use super::Infer;
use super::exp::fun_type;
use super::solve::{PrimSet, unsized_array};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ast::{self};
use crate::syntax::ptr::P;
use crate::types::context::{Res, err};
use crate::types::raw::{RExp, RForm, RKind, RPat, RPatKind};
use crate::types::ty::{Prim, Sym, Type};

impl Infer<'_, '_> {
    pub(crate) fn let_pat(
        &mut self,
        sizes: &[ast::Ident],
        pat: &ast::Pat,
        value: &ast::Exp,
        body: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let value = self.boxed(value)?;
        let mark = self.scope.mark();
        let sizes = self.bind_sizes(sizes)?;
        let pat = self.pattern(pat)?;
        self.expect(pat.span, "pattern", &value.ty, &pat.ty)?;
        let body = self.boxed(body)?;
        self.scope.reset(mark);
        let ty = body.ty.clone();
        Ok(RExp {
            kind: RKind::Let {
                sizes,
                pat,
                value,
                body,
            },
            ty,
            span,
        })
    }

    pub(crate) fn loop_exp(
        &mut self,
        pat: &ast::Pat,
        init: Option<&ast::Exp>,
        form: &ast::LoopForm,
        body: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let init = match init {
            Some(e) => self.exp(e)?,
            None => self.pattern_as_exp(pat)?,
        };
        enum Head {
            For(Sym, Span, P<RExp>),
            In(P<RExp>),
            While,
        }
        let head = match form {
            ast::LoopForm::For(i, bound) => {
                let bound = self.exp(bound)?;
                self.require(&bound, "loop bound", PrimSet::INTEGERS)?;
                Head::For(i.name.clone(), i.span, P::new(bound))
            }
            ast::LoopForm::ForIn(_, array) => Head::In(self.boxed(array)?),
            ast::LoopForm::While(_) => Head::While,
        };
        let mark = self.scope.mark();
        let pat = self.pattern(pat)?;
        self.expect(init.span, "initial value of the loop", &init.ty, &pat.ty)?;
        let form = match (form, head) {
            (ast::LoopForm::While(cond), Head::While) => {
                let cond = self.boxed(cond)?;
                self.expect(cond.span, "condition", &cond.ty, &Type::Prim(Prim::Bool))?;
                RForm::While(cond)
            }
            (ast::LoopForm::ForIn(p, _), Head::In(array)) => {
                let p = self.pattern(p)?;
                let wanted = unsized_array(p.ty.clone());
                self.expect(array.span, "array of a loop", &array.ty, &wanted)?;
                RForm::ForIn(p, array)
            }
            (_, Head::For(i, at, bound)) => {
                let RPatKind::Name(var) = self.bind_name(&i, at, bound.ty.clone()).kind else {
                    return err(Code::TypeMismatch, at, "a loop counter is a name");
                };
                self.uses.bind(var, at);
                RForm::For(var, bound)
            }
            (ast::LoopForm::For(..) | ast::LoopForm::ForIn(..) | ast::LoopForm::While(_), _) => {
                return err(Code::TypeMismatch, span, "this loop has no form");
            }
        };
        let body = self.boxed(body)?;
        self.expect(body.span, "loop body", &body.ty, &pat.ty)?;
        self.solver.data(&pat.ty);
        self.scope.reset(mark);
        let ty = pat.ty.clone();
        Ok(RExp {
            kind: RKind::Loop {
                pat,
                init: P::new(init),
                form,
                body,
            },
            ty,
            span,
        })
    }

    pub(crate) fn match_exp(
        &mut self,
        scrutinee: &ast::Exp,
        cases: &[ast::Case],
        span: Span,
    ) -> Res<RExp> {
        let scrutinee = self.boxed(scrutinee)?;
        let ty = self.any(span);
        let mut out = Vec::with_capacity(cases.len());
        for case in cases {
            let mark = self.scope.mark();
            let pat = self.pattern(&case.pat)?;
            self.expect(pat.span, "pattern", &pat.ty, &scrutinee.ty)?;
            let body = self.exp(&case.body)?;
            self.expect(body.span, "cases differ in type", &body.ty, &ty)?;
            self.scope.reset(mark);
            out.push((pat, body));
        }
        self.solver.data(&ty);
        Ok(RExp {
            kind: RKind::Match {
                scrutinee,
                cases: out,
            },
            ty,
            span,
        })
    }

    pub(crate) fn lambda(
        &mut self,
        params: &[ast::Pat],
        ret: Option<&ast::TypeExp>,
        body: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let mark = self.scope.mark();
        let params = params
            .iter()
            .map(|p| self.pattern(p))
            .collect::<Res<Vec<RPat>>>()?;
        let ret = ret.map(|t| self.type_exp(t)).transpose()?;
        let body = self.boxed(body)?;
        if let Some(ret) = &ret {
            self.expect(body.span, "result of the function", &body.ty, &ret.ty)?;
        }
        self.scope.reset(mark);
        let result = ret
            .as_ref()
            .map_or_else(|| body.ty.clone(), |r| r.ty.clone());
        let ty = fun_type(&params, result);
        Ok(RExp {
            kind: RKind::Lambda { params, body, ret },
            ty,
            span,
        })
    }
}
