//! Expressions in the second pass.

use super::literal::{constant, literal};
use super::{Sizer, State, ValTy};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ptr::P;
use crate::typed::{Exp, ExpKind, Inst, RangeEnd};
use crate::types::context::Res;
use crate::types::infer::solve::{field_of, payload_of, record_type};
use crate::types::opaque::{grows, size_of_exp};
use crate::types::raw::{RExp, RKind, RLit, RPat, RType};
use crate::types::subst::{Subst, clear_unique, map_sizes};
use crate::types::ty::{Atom, Lift, Name, Prim, RetType, Size, Sym, Type};
use std::sync::Arc;

impl Sizer<'_, '_> {
    pub(crate) fn exp(&mut self, e: &RExp) -> Res<Exp> {
        stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, || self.exp_inner(e))
    }

    pub(crate) fn boxed(&mut self, e: &RExp) -> Res<P<Exp>> {
        Ok(P::new(self.exp(e)?))
    }

    fn exp_inner(&mut self, e: &RExp) -> Res<Exp> {
        let span = e.span;
        let node = |kind, ty| Exp {
            kind,
            ty,
            span,
            exts: Vec::new(),
        };
        match &e.kind {
            RKind::Lit(lit) => {
                let ty = self.solver.zonk(&e.ty);
                Ok(node(ExpKind::Lit(literal(lit, &ty, span, false)?), ty))
            }
            RKind::String(bytes) => {
                let size = Size::length(bytes.len());
                Ok(node(
                    ExpKind::String(bytes.clone()),
                    Type::array(size, Type::Prim(Prim::U8)),
                ))
            }
            RKind::Hole => {
                let ty =
                    self.fresh_dims(&e.ty, span, &State::Inst(Lift::Full), "the type of a hole");
                Ok(node(ExpKind::Hole, ty))
            }
            RKind::Var { name, inst } => self.var(*name, inst, e),
            RKind::Tuple(es) => {
                let es = self.exps(es)?;
                let ty = Type::tuple(es.iter().map(|e| e.ty.clone()).collect());
                Ok(node(ExpKind::Tuple(es), ty))
            }
            RKind::Record(fields) => self.record(fields, span),
            RKind::Array(es) => self.array(e, es),
            RKind::Construct(name, args) => {
                let args = self.exps(args)?;
                let why = "the type of a constructor";
                let ty = self.fresh_dims(&e.ty, span, &State::Inst(Lift::Full), why);
                for (wanted, arg) in payload_of(&ty, name).unwrap_or_default().iter().zip(&args) {
                    self.unify(arg.span, "payload of a constructor", wanted, &arg.ty)?;
                }
                Ok(node(ExpKind::Construct(name.clone(), args), ty))
            }
            RKind::Range { start, second, end } => self.range(start, second.as_deref(), end, span),
            RKind::Ascribe(inner, te) => {
                let inner = self.exp(inner)?;
                let (ty, _) = self.written(te)?;
                self.unify(span, "ascribed type", &ty, &inner.ty)?;
                Ok(inner)
            }
            RKind::Coerce(inner, te) => self.coerce(inner, te, span),
            RKind::Apply { fun, args, infix } => self.apply(fun, args, *infix, span, None),
            RKind::Negate(inner) => {
                if let RKind::Lit(lit @ (RLit::Int { .. } | RLit::Float(_))) = &inner.kind {
                    let ty = self.solver.zonk(&inner.ty);
                    return Ok(node(ExpKind::Lit(literal(lit, &ty, span, true)?), ty));
                }
                let inner = self.boxed(inner)?;
                let ty = inner.ty.clone();
                Ok(node(ExpKind::Negate(inner), ty))
            }
            RKind::Not(inner) => {
                let inner = self.boxed(inner)?;
                let ty = inner.ty.clone();
                Ok(node(ExpKind::Not(inner), ty))
            }
            RKind::Field(inner, field) => {
                let inner = self.exp(inner)?;
                Ok(project(inner, field, span))
            }
            RKind::Lambda { params, body, ret } => {
                self.lambda(params, body, ret.as_ref(), span, &[])
            }
            RKind::Let {
                sizes,
                pat,
                value,
                body,
            } => self.let_pat(sizes, pat, value, body, span),
            RKind::LetFun { def, body } => {
                let def = self.binding(def)?;
                self.vals
                    .insert(def.name, ValTy::Poly(Arc::new(def.scheme.clone())));
                let name = def.name;
                let body = self.boxed(body)?;
                let ty = self.ty(&body.ty);
                let (ty, exts) =
                    self.unscope(&ty, &[name], span, "a local function goes out of scope");
                Ok(Exp {
                    kind: ExpKind::LetFun {
                        def: Arc::new(def),
                        body,
                    },
                    ty,
                    span,
                    exts,
                })
            }
            RKind::If {
                cond,
                then,
                otherwise,
            } => {
                let cond = self.boxed(cond)?;
                let then = self.boxed(then)?;
                let otherwise = self.boxed(otherwise)?;
                let (ty, exts) = self.branches(&then.ty, &otherwise.ty, span)?;
                self.no_functions(&ty, span, "an `if`")?;
                Ok(Exp {
                    kind: ExpKind::If {
                        cond,
                        then,
                        otherwise,
                    },
                    ty,
                    span,
                    exts,
                })
            }
            RKind::Match { scrutinee, cases } => self.match_exp(scrutinee, cases, span),
            RKind::Loop {
                pat,
                init,
                form,
                body,
            } => self.loop_exp(pat, init, form, body, span),
            RKind::Index { array, slices } => self.index(array, slices, span),
            RKind::Update {
                source,
                path,
                value,
            } => self.update(source, path, value, span),
            RKind::Assert { cond, text, body } => {
                let cond = self.boxed(cond)?;
                let body = self.boxed(body)?;
                let ty = body.ty.clone();
                Ok(node(
                    ExpKind::Assert {
                        cond,
                        text: text.clone(),
                        body,
                    },
                    ty,
                ))
            }
            RKind::Attr(attr, inner) => {
                let inner = self.boxed(inner)?;
                let ty = inner.ty.clone();
                Ok(node(ExpKind::Attr(attr.clone(), inner), ty))
            }
        }
    }

    pub(crate) fn exps(&mut self, es: &[RExp]) -> Res<Vec<Exp>> {
        es.iter().map(|e| self.exp(e)).collect()
    }

    fn var(&mut self, name: Name, inst: &[Type], e: &RExp) -> Res<Exp> {
        let span = e.span;
        let (ty, inst) = match self.vals.get(&name).cloned() {
            Some(ValTy::Mono(ty)) => (ty, Inst::default()),
            Some(ValTy::Poly(scheme)) => self.instantiate(&scheme, inst, span),
            Some(ValTy::Recursive) => {
                let why = "a recursive use of a function without a declared result";
                (
                    self.fresh_dims(&e.ty, span, &State::Inst(Lift::Plain), why),
                    Inst::default(),
                )
            }
            None => match self.cx.scheme(name).cloned() {
                Some(scheme) => self.instantiate(&scheme, inst, span),
                None => (self.solver.zonk(&e.ty), Inst::default()),
            },
        };
        Ok(Exp {
            kind: ExpKind::Var { name, inst },
            ty,
            span,
            exts: Vec::new(),
        })
    }

    fn record(&mut self, fields: &[(Sym, RExp)], span: Span) -> Res<Exp> {
        let mut out = Vec::new();
        for (f, e) in fields {
            out.push((f.clone(), self.exp(e)?));
        }
        let ty = record_type(out.iter().map(|(f, e)| (f.clone(), e.ty.clone())).collect());
        let is_tuple = matches!(ty, Type::Tuple(_))
            && out
                .iter()
                .enumerate()
                .all(|(at, (f, _))| f.as_str() == at.to_string());
        let kind = if is_tuple {
            ExpKind::Tuple(out.into_iter().map(|(_, e)| e).collect())
        } else {
            ExpKind::Record(out)
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts: Vec::new(),
        })
    }

    fn array(&mut self, e: &RExp, es: &[RExp]) -> Res<Exp> {
        let span = e.span;
        let size = Size::length(es.len());
        let mut out: Vec<Exp> = Vec::with_capacity(es.len());
        let mut elem: Option<Type> = None;
        for e in es {
            let e = self.exp(e)?;
            if let Some(wanted) = &elem {
                match self.unify(e.span, "array element", wanted, &e.ty) {
                    Ok(()) => {}
                    Err(clash) if clash.code == Code::SizeMismatch => {
                        elem = Some(self.irregular_where_different(wanted, &e.ty));
                    }
                    Err(other) => return Err(other),
                }
            } else {
                elem = Some(clear_unique(&e.ty));
            }
            out.push(e);
        }
        let elem = match elem {
            Some(elem) => elem,
            None => {
                let ty = self.fresh_dims(&e.ty, span, &State::Inst(Lift::Plain), "an empty array");
                if let Type::Array(a) = &ty {
                    a.elem.clone()
                } else {
                    ty
                }
            }
        };
        if let Some(why) = self.cx.too_lifted(&elem, Lift::Plain) {
            let shown = crate::types::print::ty(&self.cx.names, &elem);
            let mut d = crate::diagnostic::Diagnostic::error(
                Code::BadType,
                span,
                format!("an array cannot have elements of type `{shown}`"),
            );
            d.notes.push(crate::diagnostic::Note::Fact(why));
            return Err(Box::new(d));
        }
        Ok(Exp {
            kind: ExpKind::Array(out),
            ty: Type::array(size, elem),
            span,
            exts: Vec::new(),
        })
    }

    fn range(
        &mut self,
        start: &RExp,
        second: Option<&RExp>,
        end: &(RangeEnd, P<RExp>),
        span: Span,
    ) -> Res<Exp> {
        let start = self.exp(start)?;
        let second = second.map(|e| self.exp(e)).transpose()?;
        let bound = self.exp(&end.1)?;
        if let (Some(a), Some(b)) = (constant(&start), second.as_ref().and_then(constant))
            && a == b
        {
            self.cx.warn(
                Code::SuspectRange,
                span,
                "the first two elements of this range are the same, so it is invalid",
            );
        }
        let is_i64 = bound.ty.as_prim() == Some(Prim::I64);
        let (first, step) = (constant(&start), second.as_ref().map(constant));
        let names = &self.cx.names;
        let (lo, hi) = (size_of_exp(names, &start), size_of_exp(names, &bound));
        let known = match (end.0, step) {
            _ if !is_i64 => None,
            (RangeEnd::Below, Some(Some(1))) if first == Some(0) => hi,
            (RangeEnd::Below, None) => hi.zip(lo).map(|(h, l)| h.sub(&l)),
            (RangeEnd::Inclusive, None) => {
                hi.zip(lo).map(|(h, l)| h.sub(&l).add(&Size::constant(1)))
            }
            (RangeEnd::Inclusive, Some(Some(2))) if first == Some(1) => hi,
            (RangeEnd::Below | RangeEnd::Inclusive | RangeEnd::Above, _) => None,
        };
        let mut exts = Vec::new();
        let size = known.unwrap_or_else(|| {
            let d = self.unknown(span, "n", "the length of a range");
            exts.push(d);
            Size::name(d)
        });
        let ty = Type::array(size, start.ty.clone());
        let kind = ExpKind::Range {
            start: P::new(start),
            second: second.map(P::new),
            end: (end.0, P::new(bound)),
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts,
        })
    }

    fn coerce(&mut self, inner: &RExp, te: &RType, span: Span) -> Res<Exp> {
        let inner = self.boxed(inner)?;
        let (ty, open) = self.written(te)?;
        // Sizes that are written stay as they are; only those left open are inferred from the value.
        let loose = map_sizes(&ty, &mut |s| match s.as_atom() {
            Some(Atom::Meta(m)) if open.contains(m) => s.clone(),
            Some(_) | None => self.flexible(span, "a coerced size"),
        });
        self.unify(span, "size coercion", &inner.ty, &loose)?;
        Ok(Exp {
            kind: ExpKind::Coerce(inner),
            ty,
            span,
            exts: Vec::new(),
        })
    }

    pub(crate) fn let_pat(
        &mut self,
        sizes: &[Name],
        pat: &RPat,
        value: &RExp,
        body: &RExp,
        span: Span,
    ) -> Res<Exp> {
        let value = self.exp(value)?;
        let value_ty = self.ty(&value.ty);
        for size in sizes {
            self.param_size(*size);
            self.vals.insert(*size, ValTy::Mono(Type::Prim(Prim::I64)));
        }
        let level = self.level;
        self.level += 1;
        let pat = self.let_pattern(sizes, pat, &value_ty)?;
        self.level += 1;
        let body = self.boxed(body)?;
        self.level = level;
        self.irrefutable(&pat)?;
        let body_ty = self.ty(&body.ty);
        let single = super::def::param_name(&pat);
        let known = match single {
            Some(v) if value_ty.as_prim() == Some(Prim::I64) => size_of_exp(&self.cx.names, &value)
                .filter(|s| !grows(&body_ty, v, s))
                .map(|s| (v, s)),
            Some(_) | None => None,
        };
        let (ty, exts) = match known {
            Some((v, size)) => {
                let mut subst = Subst::default();
                subst.sizes.insert(v, size);
                (
                    subst.ty(&mut self.cx.names, &body_ty, &mut Vec::new()),
                    Vec::new(),
                )
            }
            None => {
                let mut gone = sizes.to_vec();
                super::pattern::names_of(&pat, &mut gone);
                self.unscope(
                    &body_ty,
                    &gone,
                    span,
                    "a variable of the size goes out of scope",
                )
            }
        };
        let kind = ExpKind::Let {
            sizes: sizes.to_vec(),
            pat,
            value: P::new(value),
            body,
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts,
        })
    }

    /// A lambda; `given` are the types of what it is applied to, as far as they are known.
    pub(crate) fn lambda(
        &mut self,
        params: &[RPat],
        body: &RExp,
        ret: Option<&RType>,
        span: Span,
        given: &[super::apply::Given],
    ) -> Res<Exp> {
        let level = self.level;
        self.level += 1;
        let here = self.level;
        let params = self.params_given(params, given)?;
        let declared = ret.map(|t| self.written(t)).transpose()?.map(|(t, _)| t);
        let body = self.boxed(body)?;
        let (body_ty, _) = self.body_type(&params, &body, declared.as_ref(), span)?;
        self.level = level;
        let params: Vec<_> = params.into_iter().map(|p| self.pat(p)).collect();
        let result = declared.unwrap_or(body_ty);
        let result = self.ty(&result);
        let exts = self.hidden_sizes(&params, &result, here);
        self.verify_params(&params)?;
        for p in &params {
            self.irrefutable(p)?;
        }
        let ret = RetType { exts, ty: result };
        let ty = super::def::curry(&params, ret.clone());
        let kind = ExpKind::Lambda {
            params,
            body: Arc::new(body.into_inner()),
            ret,
        };
        Ok(Exp {
            kind,
            ty,
            span,
            exts: Vec::new(),
        })
    }
}

/// `e.f`.
pub(crate) fn project(e: Exp, field: &Sym, span: Span) -> Exp {
    let ty = field_of(&e.ty, field).unwrap_or_else(Type::unit);
    let kind = match (&e.ty, field.parse::<usize>()) {
        (Type::Tuple(_), Ok(at)) => ExpKind::TupleField(P::new(e), at),
        _ => ExpKind::Field(P::new(e), field.clone()),
    };
    Exp {
        kind,
        ty,
        span,
        exts: Vec::new(),
    }
}
