//! Expressions in the second pass.

use super::{Sizer, State, ValTy};
use crate::diagnostic::Code;
use crate::source::Span;
use crate::syntax::ptr::P;
use crate::typed::{Case, Exp, ExpKind, Inst, Lit, RangeEnd};
use crate::types::context::{Res, err};
use crate::types::infer::solve::{field_of, payload_of, record_type};
use crate::types::infer::tyexp::free_sizes;
use crate::types::opaque::{has_binding, size_of_exp};
use crate::types::raw::{RExp, RKind, RLit, RPat, RStep, RType};
use crate::types::subst::{Subst, clear_unique, map_sizes};
use crate::types::ty::{Atom, Lift, Name, Prim, RetType, Size, Sym, Type};
use std::collections::HashMap;
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
                let size = Size::constant(i64::try_from(bytes.len()).unwrap_or(i64::MAX));
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
            RKind::Apply { fun, args, infix } => self.apply(fun, args, *infix, span),
            RKind::Negate(inner) => {
                if let RKind::Lit(lit @ (RLit::Int(_) | RLit::Float(..))) = &inner.kind {
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
            RKind::Lambda { params, body, ret } => self.lambda(params, body, ret.as_ref(), span),
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
            Some(ValTy::Recursive(_)) => {
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
        let kind = match &ty {
            Type::Tuple(_)
                if out
                    .iter()
                    .enumerate()
                    .all(|(at, (f, _))| f.as_str() == at.to_string()) =>
            {
                ExpKind::Tuple(out.into_iter().map(|(_, e)| e).collect())
            }
            _ => ExpKind::Record(out),
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
        let size = Size::constant(i64::try_from(es.len()).unwrap_or(i64::MAX));
        let mut out: Vec<Exp> = Vec::with_capacity(es.len());
        for e in es {
            let e = self.exp(e)?;
            if let Some(first) = out.first() {
                let wanted = first.ty.clone();
                self.unify(e.span, "array element", &wanted, &e.ty)?;
            }
            out.push(e);
        }
        let elem = match out.first() {
            Some(first) => clear_unique(&first.ty),
            None => {
                let ty = self.fresh_dims(&e.ty, span, &State::Inst(Lift::Plain), "an empty array");
                match &ty {
                    Type::Array(a) => a.elem.clone(),
                    _ => ty,
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

    fn let_pat(
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
        let single = match &pat.kind {
            crate::typed::PatKind::Name(n) => Some(*n),
            _ => None,
        };
        let known = match single {
            Some(v) if value_ty.as_prim() == Some(Prim::I64) => {
                size_of_exp(&self.cx.names, &value).map(|s| (v, s))
            }
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

    /// The common type of two branches: sizes that differ become unknown.
    pub(crate) fn branches(&mut self, a: &Type, b: &Type, span: Span) -> Res<(Type, Vec<Name>)> {
        let (a, b) = (clear_unique(&self.ty(a)), clear_unique(&self.ty(b)));
        self.unify_some(span, &a, &b)?;
        let (a, b) = (self.ty(&a), self.ty(&b));
        let mut sizes = Vec::new();
        crate::types::opaque::each_size(&b, &mut |s| sizes.push(s.clone()));
        let mut sizes = sizes.into_iter();
        let mut seen: HashMap<(Size, Size), Name> = HashMap::new();
        let mut exts = Vec::new();
        let ty = map_sizes(&a, &mut |s| {
            let other = sizes.next().unwrap_or_else(|| s.clone());
            if *s == other {
                return s.clone();
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

    fn match_exp(&mut self, scrutinee: &RExp, cases: &[(RPat, RExp)], span: Span) -> Res<Exp> {
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

    fn no_functions(&mut self, ty: &Type, span: Span, what: &str) -> Res<()> {
        if self.cx.too_lifted(ty, Lift::Size).is_some() {
            let shown = crate::types::print::ty(&self.cx.names, ty);
            return err(
                Code::BadType,
                span,
                format!("the result of {what} cannot be a function, but has the type `{shown}`"),
            );
        }
        Ok(())
    }

    pub(crate) fn loop_result_is_data(&mut self, ty: &Type, span: Span) -> Res<()> {
        self.no_functions(ty, span, "a `loop`")
    }

    fn lambda(
        &mut self,
        params: &[RPat],
        body: &RExp,
        ret: Option<&RType>,
        span: Span,
    ) -> Res<Exp> {
        let level = self.level;
        self.level += 1;
        let here = self.level;
        let params = self.params(params)?;
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

    fn update(&mut self, source: &RExp, path: &[RStep], value: &RExp, span: Span) -> Res<Exp> {
        let source = self.boxed(source)?;
        let source_ty = self.ty(&source.ty);
        let fields: Option<Vec<Sym>> = path
            .iter()
            .map(|step| match step {
                RStep::Field(f) => Some(f.clone()),
                RStep::Index(_) => None,
            })
            .collect();
        if let Some(fields) = fields {
            let value = self.boxed(value)?;
            let ty = self.replaced(&source_ty, &fields, &value.ty, span)?;
            let path = self.path(&source_ty, path, span)?.0;
            return Ok(Exp {
                kind: ExpKind::Update {
                    source,
                    path,
                    value,
                },
                ty,
                span,
                exts: Vec::new(),
            });
        }
        let (path, target) = self.path(&source_ty, path, span)?;
        let value = self.boxed(value)?;
        self.unify(value.span, "new value of the update", &target, &value.ty)?;
        let ty = self.ty(&clear_unique(&source_ty));
        Ok(Exp {
            kind: ExpKind::Update {
                source,
                path,
                value,
            },
            ty,
            span,
            exts: Vec::new(),
        })
    }

    /// The type of a record with the field at the end of a path replaced.
    fn replaced(&mut self, ty: &Type, fields: &[Sym], new: &Type, span: Span) -> Res<Type> {
        let Some((f, rest)) = fields.split_first() else {
            let loose = map_sizes(ty, &mut |_| self.flexible(span, "a record update"));
            self.unify(span, "new value of the field", &loose, new)?;
            return Ok(clear_unique(new));
        };
        let part = field_of(ty, f).unwrap_or_else(Type::unit);
        let part = self.replaced(&part, rest, new, span)?;
        Ok(match ty {
            Type::Tuple(ts) => {
                let at = f.parse::<usize>().unwrap_or(usize::MAX);
                Type::Tuple(
                    ts.iter()
                        .enumerate()
                        .map(|(k, t)| if k == at { part.clone() } else { t.clone() })
                        .collect(),
                )
            }
            Type::Record(fs) => Type::Record(
                fs.iter()
                    .map(|(g, t)| (g.clone(), if g == f { part.clone() } else { t.clone() }))
                    .collect(),
            ),
            Type::Prim(_)
            | Type::Array(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => ty.clone(),
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

fn constant(e: &Exp) -> Option<i128> {
    match &e.kind {
        ExpKind::Lit(Lit::Int(_, k)) => Some(*k),
        _ => None,
    }
}

/// Whether an expression may be evaluated as part of a size.
pub(crate) fn is_size_exp(e: &Exp) -> bool {
    !has_binding(&mut e.clone())
}

/// The constant that a literal denotes at its type.
pub(crate) fn literal(lit: &RLit, ty: &Type, span: Span, negated: bool) -> Res<Lit> {
    let Some(p) = ty.as_prim() else {
        return err(
            Code::AmbiguousType,
            span,
            "the type of this literal is not known",
        );
    };
    match lit {
        RLit::Bool(b) => Ok(Lit::Bool(*b)),
        RLit::Int(k) => {
            let k = if negated { -*k } else { *k };
            if p.is_float() {
                return in_bounds(Lit::Float(p, round(p, k)), p, span);
            }
            let bits = p.bits();
            let (lo, hi) = if p.is_signed() {
                (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
            } else {
                (0, (1i128 << bits) - 1)
            };
            // A hexadecimal pattern of a signed type's width is no number of the type: it is out of bounds too.
            if k < lo || k > hi {
                return err(
                    Code::LiteralBounds,
                    span,
                    format!("the literal {k} is out of bounds for `{}`", p.name()),
                );
            }
            Ok(Lit::Int(p, k))
        }
        RLit::Float(digits, minus) => {
            let x = match p {
                Prim::F16 => f64::from(digits.to_f16()),
                Prim::F32 => f64::from(digits.to_f32()),
                _ => digits.to_f64(),
            };
            let x = if *minus != negated { -x } else { x };
            in_bounds(Lit::Float(p, x), p, span)
        }
    }
}

fn in_bounds(lit: Lit, p: Prim, span: Span) -> Res<Lit> {
    match lit {
        Lit::Float(_, x) if x.is_infinite() => err(
            Code::LiteralBounds,
            span,
            format!("the literal is out of bounds for `{}`", p.name()),
        ),
        Lit::Float(..) | Lit::Int(..) | Lit::Bool(_) => Ok(lit),
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "rounding to the nearest float is what is wanted"
)]
fn round(p: Prim, k: i128) -> f64 {
    match p {
        Prim::F16 => f64::from(half::f16::from_f64(k as f64)),
        Prim::F32 => f64::from(k as f32),
        _ => k as f64,
    }
}
