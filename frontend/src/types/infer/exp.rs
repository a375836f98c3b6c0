//! Expressions in the first pass.

use super::Infer;
use super::scope::{Found, Local};
use super::solve::{Kind, PrimSet, record_type, unsized_array};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, ExpKind, Literal};
use crate::syntax::ptr::P;
use crate::typed::{Attr, RangeEnd};
use crate::types::context::{Res, err, near, structure};
use crate::types::env::Env;
use crate::types::raw::{RExp, RForm, RKind, RLit, RPat, RPatKind, RSlice, RStep};
use crate::types::ty::{Lift, Name, Prim, Sym, Type};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Infer<'_, '_> {
    pub(crate) fn exp(&mut self, e: &ast::Exp) -> Res<RExp> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_inner(e))
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
            ExpKind::Attr(attr, body) => {
                let body = self.boxed(body)?;
                let ty = body.ty.clone();
                Ok(RExp {
                    kind: RKind::Attr(attribute(attr), body),
                    ty,
                    span,
                })
            }
        }
    }

    pub(crate) fn exps(&mut self, es: &[ast::Exp]) -> Res<Vec<RExp>> {
        es.iter().map(|e| self.exp(e)).collect()
    }

    /// A dotted path: modules as far as they go, then a variable, then fields.
    pub(crate) fn name(&mut self, name: &ast::QualName) -> Res<RExp> {
        let mut env: Option<Arc<Env>> = None;
        let mut at = 0;
        while let Some(qual) = name.quals.get(at) {
            let module = match &env {
                None => self.module_named(&qual.name),
                Some(env) => env.modules.get(&qual.name).cloned(),
            };
            let Some(module) = module else { break };
            env = Some(structure(Some(module), qual)?);
            at += 1;
        }
        let mut parts = name.quals[at..].iter().chain(std::iter::once(&name.name));
        let head = parts
            .next()
            .expect("the last part of a path is always left");
        let mut e = match &env {
            None => self.variable(name, head)?,
            Some(env) => match env.values.get(&head.name) {
                Some(v) => self.global(*v, head.span)?,
                None => {
                    let near = near(&head.name, env.values.keys());
                    return Err(self.cx.unknown("name", name, &near));
                }
            },
        };
        if name.quals.is_empty() || at == name.quals.len() {
            e.span = name.span();
        }
        for field in parts {
            let span = e.span.to(field.span);
            e = self.project(e, &field.name, span)?;
        }
        Ok(e)
    }

    pub(crate) fn module_named(&mut self, name: &Sym) -> Option<crate::types::env::Module> {
        self.scope
            .module(name)
            .or_else(|| self.cx.global_module(name))
    }

    fn variable(&mut self, whole: &ast::QualName, head: &ast::Ident) -> Res<RExp> {
        let span = head.span;
        if head.name.starts_with('_') {
            return Err(Box::new(
                Diagnostic::error(
                    Code::UnknownName,
                    span,
                    format!(
                        "`{}` is used, but its name begins with an underscore",
                        head.name
                    ),
                )
                .note("an underscore says that a variable is not used")
                .hint("rename the variable"),
            ));
        }
        match self.scope.value(&head.name) {
            Found::Local(Local::Mono(name, ty)) => {
                if self.this == Some(name) {
                    self.this_used = true;
                }
                Ok(RExp {
                    kind: RKind::Var {
                        name,
                        inst: Vec::new(),
                    },
                    ty,
                    span,
                })
            }
            Found::Local(Local::Poly(name, scheme)) => {
                let (ty, inst) = self.instantiate(span, name, &scheme);
                Ok(RExp {
                    kind: RKind::Var { name, inst },
                    ty,
                    span,
                })
            }
            Found::Opened(name) => self.global(name, span),
            Found::Nothing => match self.cx.global_value(&head.name, span)? {
                Some(name) => self.global(name, span),
                None => {
                    let near = self.near_values(&head.name);
                    let shown = if whole.quals.is_empty() {
                        whole.clone()
                    } else {
                        ast::QualName {
                            quals: Vec::new(),
                            name: head.clone(),
                        }
                    };
                    Err(self.cx.unknown("name", &shown, &near))
                }
            },
        }
    }

    fn near_values(&self, name: &str) -> Option<String> {
        let globals = self.cx.frames.iter().flat_map(|f| f.values.keys());
        let prelude: Vec<Sym> = self.cx.prelude.names().map(Sym::from).collect();
        near(
            name,
            self.scope.names().chain(globals).chain(prelude.iter()),
        )
    }

    fn global(&mut self, name: Name, span: Span) -> Res<RExp> {
        if self.cx.poisoned.contains(&name) {
            return Err(Box::new(poison(span)));
        }
        let Some(scheme) = self.cx.scheme(name).cloned() else {
            return err(
                Code::UnknownName,
                span,
                format!("`{}` is no value", self.cx.names.text(name)),
            );
        };
        let (ty, inst) = self.instantiate(span, name, &scheme);
        Ok(RExp {
            kind: RKind::Var { name, inst },
            ty,
            span,
        })
    }

    fn literal(&mut self, lit: &Literal, span: Span) -> RExp {
        let (kind, ty) = match lit {
            Literal::Int { value, suffix } => {
                let ty = match suffix.and_then(|s| Prim::from_name(s.name())) {
                    Some(p) => Type::Prim(p),
                    None => self.number(span, PrimSet::NUMBERS),
                };
                let value = i128::try_from(*value).unwrap_or(i128::MAX);
                (RKind::Lit(RLit::Int(wrapped(value, &ty))), ty)
            }
            Literal::Char(c) => {
                let ty = self.number(span, PrimSet::NUMBERS);
                (RKind::Lit(RLit::Int(i128::from(u32::from(*c)))), ty)
            }
            Literal::Float { digits, suffix } => {
                let ty = match suffix.and_then(|s| Prim::from_name(s.name())) {
                    Some(p) => Type::Prim(p),
                    None => self.number(span, PrimSet::FLOATS),
                };
                (RKind::Lit(RLit::Float(digits.clone(), false)), ty)
            }
            Literal::Bool(b) => (RKind::Lit(RLit::Bool(*b)), Type::Prim(Prim::Bool)),
            Literal::Str(bytes) => (
                RKind::String(bytes.clone()),
                unsized_array(Type::Prim(Prim::U8)),
            ),
        };
        RExp { kind, ty, span }
    }

    fn record(&mut self, fields: &[ast::FieldExp], span: Span) -> Res<RExp> {
        let mut out: Vec<(Sym, RExp)> = Vec::new();
        for field in fields {
            if out.iter().any(|(f, _)| *f == field.name.name) {
                return err(
                    Code::DuplicateName,
                    field.name.span,
                    format!("the field `{}` is given twice", field.name.name),
                );
            }
            let e = match &field.value {
                Some(e) => self.exp(e)?,
                None => self.name(&ast::QualName {
                    quals: Vec::new(),
                    name: field.name.clone(),
                })?,
            };
            out.push((field.name.name.clone(), e));
        }
        let ty = record_type(out.iter().map(|(f, e)| (f.clone(), e.ty.clone())).collect());
        Ok(RExp {
            kind: RKind::Record(out),
            ty,
            span,
        })
    }

    fn array(&mut self, es: &[ast::Exp], span: Span) -> Res<RExp> {
        let elem = self.elem(span);
        let mut out = Vec::with_capacity(es.len());
        for e in es {
            let e = self.exp(e)?;
            self.expect(e.span, "array element", &e.ty, &elem)?;
            out.push(e);
        }
        Ok(RExp {
            kind: RKind::Array(out),
            ty: unsized_array(elem),
            span,
        })
    }

    fn range(
        &mut self,
        first: &ast::Exp,
        second: Option<&ast::Exp>,
        end_kind: ast::RangeEnd,
        end: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let start = self.exp(first)?;
        self.require(&start, "range", PrimSet::INTEGERS)?;
        let part = |this: &mut Self, e: &ast::Exp| -> Res<P<RExp>> {
            let e = this.exp(e)?;
            this.expect(e.span, "range", &e.ty, &start.ty)?;
            Ok(P::new(e))
        };
        let second = second.map(|e| part(self, e)).transpose()?;
        let end = part(self, end)?;
        let kind = match end_kind {
            ast::RangeEnd::Inclusive => RangeEnd::Inclusive,
            ast::RangeEnd::Below => RangeEnd::Below,
            ast::RangeEnd::Above => RangeEnd::Above,
        };
        let ty = unsized_array(start.ty.clone());
        let kind = RKind::Range {
            start: P::new(start),
            second,
            end: (kind, end),
        };
        Ok(RExp { kind, ty, span })
    }

    pub(crate) fn project(&mut self, e: RExp, field: &Sym, span: Span) -> Res<RExp> {
        let ty = self.any(span);
        let kind = Kind::Record(BTreeMap::from([(field.clone(), ty.clone())]));
        let record = self.solver.fresh(span, Lift::Full, kind);
        self.expect(e.span, &format!("field `{field}`"), &e.ty, &record)?;
        Ok(RExp {
            kind: RKind::Field(P::new(e), field.clone()),
            ty,
            span,
        })
    }

    pub(crate) fn slices(&mut self, indices: &[ast::DimIndex]) -> Res<Vec<RSlice>> {
        indices
            .iter()
            .map(|index| match index {
                ast::DimIndex::Fix(e) => {
                    let e = self.exp(e)?;
                    self.require(&e, "index", PrimSet::SIGNED)?;
                    Ok(RSlice::Index(e))
                }
                ast::DimIndex::Slice {
                    start, end, stride, ..
                } => {
                    let mut part = |e: &Option<P<ast::Exp>>| -> Res<Option<RExp>> {
                        let Some(e) = e else { return Ok(None) };
                        let e = self.exp(e)?;
                        self.expect(e.span, "slice", &e.ty, &Type::Prim(Prim::I64))?;
                        Ok(Some(e))
                    };
                    Ok(RSlice::Range {
                        start: part(start)?,
                        end: part(end)?,
                        stride: part(stride)?,
                    })
                }
            })
            .collect()
    }

    /// The type of an array that such an index may be applied to, and of the result.
    pub(crate) fn index_types(&mut self, slices: &[RSlice], span: Span) -> (Type, Type) {
        let elem = self.elem(span);
        let mut array = elem.clone();
        let mut result = elem;
        for slice in slices.iter().rev() {
            array = unsized_array(array);
            match slice {
                RSlice::Index(_) => {}
                RSlice::Range { .. } => result = unsized_array(result),
            }
        }
        (array, result)
    }

    fn index(&mut self, array: P<RExp>, indices: &[ast::DimIndex], span: Span) -> Res<RExp> {
        let slices = self.slices(indices)?;
        let (array_ty, ty) = self.index_types(&slices, span);
        self.expect(array.span, "indexed value", &array.ty, &array_ty)?;
        Ok(RExp {
            kind: RKind::Index { array, slices },
            ty,
            span,
        })
    }

    pub(crate) fn steps(&mut self, path: &[ast::UpdateStep]) -> Res<Vec<RStep>> {
        path.iter()
            .map(|step| match step {
                ast::UpdateStep::Index(indices, _) => Ok(RStep::Index(self.slices(indices)?)),
                ast::UpdateStep::Field(f) => Ok(RStep::Field(f.name.clone())),
            })
            .collect()
    }

    fn update(
        &mut self,
        source: P<RExp>,
        path: &[ast::UpdateStep],
        value: P<RExp>,
        span: Span,
    ) -> Res<RExp> {
        let path = self.steps(path)?;
        let mut at = source.ty.clone();
        for step in &path {
            match step {
                RStep::Field(f) => {
                    let part = self.any(span);
                    let kind = Kind::Record(BTreeMap::from([(f.clone(), part.clone())]));
                    let record = self.solver.fresh(span, Lift::Full, kind);
                    self.expect(source.span, &format!("update of field `{f}`"), &at, &record)?;
                    at = part;
                }
                RStep::Index(slices) => {
                    let (array, part) = self.index_types(slices, span);
                    self.expect(source.span, "updated value", &at, &array)?;
                    at = part;
                }
            }
        }
        self.expect(value.span, "new value of the update", &value.ty, &at)?;
        let ty = source.ty.clone();
        Ok(RExp {
            kind: RKind::Update {
                source,
                path,
                value,
            },
            ty,
            span,
        })
    }

    fn local_open(&mut self, name: &ast::QualName, body: &ast::Exp) -> Res<RExp> {
        let mut quals = name.quals.clone();
        quals.push(name.name.clone());
        let mut env: Option<Arc<Env>> = None;
        for qual in &quals {
            let module = match &env {
                None => self.module_named(&qual.name),
                Some(env) => env.modules.get(&qual.name).cloned(),
            };
            env = Some(structure(module, qual)?);
        }
        let mark = self.scope.mark();
        self.scope.open(env.expect("a path has a last part"));
        let body = self.exp(body)?;
        self.scope.reset(mark);
        Ok(body)
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
        let what = |this: &Self| match &fun.kind {
            RKind::Var { name, .. } => {
                format!("argument {} of `{}`", at + 1, this.cx.names.text(*name))
            }
            _ => format!("argument {}", at + 1),
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
                let shown = self.solver.zonk(&ty);
                let shown = crate::types::print::ty(&self.cx.names, &shown);
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

    fn binop(
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

    fn let_pat(
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

    fn loop_exp(
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

    fn match_exp(&mut self, scrutinee: &ast::Exp, cases: &[ast::Case], span: Span) -> Res<RExp> {
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

    fn lambda(
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
        | RPatKind::Lit(_)
        | RPatKind::Construct(..) => None,
    }
}

/// An attribute as the typed program has it.
pub(crate) fn attribute(attr: &ast::Attr) -> Attr {
    match &attr.kind {
        ast::AttrKind::Name(n) => Attr {
            name: n.to_string(),
            args: None,
        },
        ast::AttrKind::Int(k) => Attr {
            name: k.to_string(),
            args: None,
        },
        ast::AttrKind::Call(n, args) => Attr {
            name: n.to_string(),
            args: Some(args.iter().map(attribute).collect()),
        },
    }
}

/// What the use of a definition with errors says; it is never shown.
pub(crate) fn poison(span: Span) -> Diagnostic {
    Diagnostic::error(Code::UnknownName, span, "")
}

/// A literal with a suffix of a signed type may be a bit pattern: `0xffi8` is -1.
fn wrapped(value: i128, ty: &Type) -> i128 {
    match ty.as_prim() {
        Some(p) if p.is_signed() && value < 1 << p.bits() && value >= 1 << (p.bits() - 1) => {
            value - (1 << p.bits())
        }
        Some(_) | None => value,
    }
}
