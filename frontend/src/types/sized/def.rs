//! Definitions in the second pass: their schemes, with sizes generalised.

use super::{Sizer, State, ValTy};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::typed::{Exp, NameKind, Pat, PatKind, ValueDef};
use crate::types::context::{Res, err};
use crate::types::infer::tyexp::{free_sizes, witnesses};
use crate::types::opaque::{each_size, metas_of_size, names_of_size};
use crate::types::print;
use crate::types::raw::RDef;
use crate::types::sized::uses::dim_uses;
use crate::types::ty::{
    FunType, Lift, Name, NamedType, Prim, RetType, Scheme, Size, Type, TypeArg,
};
use std::sync::Arc;

impl Sizer<'_, '_> {
    /// Checks a function or value, local or not.
    pub(crate) fn binding(&mut self, def: &RDef) -> Res<ValueDef> {
        let level = self.level;
        self.level += 1;
        let base = self.level;
        for n in &def.sizes {
            self.param_size(*n);
            self.vals.insert(*n, ValTy::Mono(Type::Prim(Prim::I64)));
        }
        self.level += 1;
        let params = self.params(&def.params)?;
        if def.recursive {
            self.bind_self(def, &params)?;
        }
        let declared = def
            .ret
            .as_ref()
            .map(|t| self.written(t))
            .transpose()?
            .map(|(t, _)| t);
        let body = self.exp(&def.body)?;
        let (body_ty, _) = self.body_type(&params, &body, declared.as_ref(), def.span)?;
        let params: Vec<Pat> = params.into_iter().map(|p| self.pat(p)).collect();
        self.verify_params(&params)?;
        for p in &params {
            self.irrefutable(p)?;
        }
        self.settle()?;
        let result = declared.unwrap_or(body_ty);
        let result = self.ty(&result);
        let result = self.unscope_unknown(&result, def.span);
        let result =
            if def.ret.is_none() && !params.is_empty() && super::fresh::is_fresh(&params, &body) {
                crate::types::subst::set_unique(&result)
            } else {
                result
            };
        let (sizes, params, ret) = self.generalise(def, base, params, result)?;
        self.level = level;
        self.recursion(def, &params, &ret, &body)?;
        let ty = if params.is_empty() {
            ret.ty.clone()
        } else {
            curry(&params, ret.clone())
        };
        let scheme = Scheme {
            types: def.types.clone(),
            sizes,
            ty,
        };
        Ok(ValueDef {
            name: def.name,
            scheme,
            params,
            ret,
            body,
            recursive: def.recursive,
            attrs: def.attrs.clone(),
            span: def.span,
        })
    }

    /// Inside its own body a function has one instance of its types; its sizes are free if it declares its result.
    fn bind_self(&mut self, def: &RDef, params: &[Pat]) -> Res<()> {
        let val = match &def.ret {
            Some(te) => {
                let ret = self.written_ret(te)?;
                let ty = curry(params, ret);
                ValTy::Poly(Arc::new(Scheme {
                    types: Vec::new(),
                    sizes: def.sizes.clone(),
                    ty,
                }))
            }
            None => ValTy::Recursive,
        };
        self.vals.insert(def.name, val);
        Ok(())
    }

    /// The type of a body as seen from outside of the function, checked against a declared one.
    pub(crate) fn body_type(
        &mut self,
        params: &[Pat],
        body: &Exp,
        declared: Option<&Type>,
        span: Span,
    ) -> Res<(Type, Vec<Name>)> {
        let hidden = hidden_names(params);
        let ty = self.ty(&body.ty);
        let (ty, exts) = self.unscope(
            &ty,
            &hidden,
            body.span,
            "a part of a parameter goes out of scope",
        );
        if let Some(declared) = declared {
            if let Some(bad) = free_sizes(declared).iter().find(|n| hidden.contains(n)) {
                let text = self.cx.names.text(*bad);
                let message = format!(
                    "the declared result has the size `{text}`, which is only a part of a parameter"
                );
                return err(Code::BadSize, span, message);
            }
            self.unify(body.span, "result of the function", declared, &ty)?;
        }
        let ty = crate::types::subst::clear_unique(&ty);
        Ok((ty, exts))
    }

    /// Sizes that a lambda's body computes and that its type hides.
    pub(crate) fn hidden_sizes(&mut self, params: &[Pat], ret: &Type, level: u32) -> Vec<Name> {
        let named: Vec<Name> = params.iter().filter_map(param_name).collect();
        let ty = curry(
            params,
            RetType {
                exts: Vec::new(),
                ty: ret.clone(),
            },
        );
        let mut positive = Vec::new();
        param_sizes(&ty, &mut positive);
        let mut out = free_sizes(ret);
        out.sort();
        out.dedup();
        let bound = bound_exts(ret);
        out.retain(|n| {
            let computed = self
                .rigid
                .get(n)
                .is_some_and(|r| r.unknown.is_some() && r.level >= level);
            computed && !named.contains(n) && !positive.contains(n) && !bound.contains(n)
        });
        out
    }

    /// Sizes written with unknown sizes that no array shows become unknown themselves.
    fn unscope_unknown(&mut self, ty: &Type, span: Span) -> Type {
        let mut seen = witnesses(ty);
        seen.extend(bound_exts(ty));
        let (ty, _) = self.size_free(
            ty,
            span,
            "the result depends on a size computed inside",
            &|this, s| {
                if s.as_name().is_some() {
                    return false;
                }
                let mut names = Vec::new();
                names_of_size(s, &mut names);
                names
                    .iter()
                    .any(|n| this.is_unknown(*n) && !seen.contains(n))
            },
        );
        ty
    }

    fn generalise(
        &mut self,
        def: &RDef,
        base: u32,
        params: Vec<Pat>,
        result: Type,
    ) -> Res<(Vec<Name>, Vec<Pat>, RetType)> {
        let mut sizes = def.sizes.clone();
        let whole = curry(
            &params,
            RetType {
                exts: Vec::new(),
                ty: result.clone(),
            },
        );
        let mut metas = Vec::new();
        each_size(&whole, &mut |s| metas_of_size(s, &mut metas));
        for m in metas {
            self.close_over(m, base, &mut sizes);
        }
        let params: Vec<Pat> = params.into_iter().map(|p| self.pat(p)).collect();
        let result = self.ty(&result);
        let whole = curry(
            &params,
            RetType {
                exts: Vec::new(),
                ty: result.clone(),
            },
        );
        let (produced, in_params) = dim_uses(&whole);
        let bound = bound_exts(&whole);
        let mut exts: Vec<Name> = Vec::new();
        for n in free_sizes(&whole) {
            let here = self
                .rigid
                .get(&n)
                .is_some_and(|r| r.unknown.is_some() && r.level >= base);
            if !here || bound.contains(&n) || exts.contains(&n) {
                continue;
            }
            if in_params.contains(&n) && !produced.contains(&n) {
                return Err(self.unknown_in_param(def, n, &whole));
            }
            exts.push(n);
        }
        let ret = inject(exts, &result);
        let mut used = free_sizes(&result);
        params.iter().for_each(|p| used.extend(free_sizes(&p.ty)));
        if let Some(n) = def.sizes.iter().find(|n| !used.contains(n)) {
            let text = self.cx.names.text(*n);
            let span = self.cx.names.get(*n).span.unwrap_or(def.span);
            let message =
                format!("the size parameter `{text}` does not occur in any type of the function");
            return err(Code::BadSize, span, message);
        }
        if params.is_empty() && !sizes.is_empty() && !ret.exts.is_empty() {
            let message = "a value with size parameters cannot have a size that it computes itself";
            return err(Code::BadSize, def.name_span, message);
        }
        Ok((sizes, params, ret))
    }

    /// A size that is still open becomes a size parameter.
    fn close_over(&mut self, m: u32, base: u32, sizes: &mut Vec<Name>) {
        let m = match self.metas[m as usize].state {
            State::Copy { of, .. } if !self.pending(m) => of,
            State::Flexible
            | State::Inst(_)
            | State::Copy { .. }
            | State::Existential { .. }
            | State::Solved(_) => m,
        };
        let meta = &self.metas[m as usize];
        let open = matches!(meta.state, State::Flexible | State::Inst(_));
        if !open || meta.level < base {
            return;
        }
        let span = meta.span;
        let name = self.cx.fresh("d", Some(span), NameKind::Size);
        let level = self.level;
        self.level = base;
        self.param_size(name);
        self.level = level;
        self.metas[m as usize].state = State::Solved(Size::name(name));
        sizes.push(name);
    }

    fn unknown_in_param(&mut self, def: &RDef, n: Name, whole: &Type) -> Box<Diagnostic> {
        let text = self.cx.names.text(n).to_owned();
        let of = self.cx.names.text(def.name).to_owned();
        let shown = print::ty(&self.cx.names, whole);
        let message =
            format!("a parameter of `{of}` would have the size `{text}`, which is computed inside");
        Box::new(
            Diagnostic::error(Code::BadSize, def.name_span, message)
                .note(format!("its inferred type is `{shown}`"))
                .hint("give the parameter a type annotation"),
        )
    }

    /// What a recursive function must obey.
    fn recursion(&mut self, def: &RDef, params: &[Pat], ret: &RetType, body: &Exp) -> Res<()> {
        if !def.recursive {
            return Ok(());
        }
        if self.cx.too_lifted(&ret.ty, Lift::Size).is_some() {
            let of = self.cx.names.text(def.name);
            let message = format!(
                "the recursive function `{of}` returns a function; make it take all parameters"
            );
            return err(Code::BadRecursion, def.name_span, message);
        }
        let higher: Vec<Option<Name>> = params
            .iter()
            .map(|p| {
                if self.cx.too_lifted(&p.ty, Lift::Size).is_none() {
                    None
                } else {
                    Some(param_name(p).unwrap_or(def.name))
                }
            })
            .collect();
        if higher.iter().all(Option::is_none) {
            return Ok(());
        }
        super::finish::check_recursive_calls(def.name, &higher, body)
    }
}

/// The curried type of a function.
pub(crate) fn curry(params: &[Pat], ret: RetType) -> Type {
    let mut ret = ret;
    for p in params.iter().rev() {
        let fun = FunType {
            param: param_name(p),
            arg: p.ty.clone(),
            ret,
        };
        ret = RetType {
            exts: Vec::new(),
            ty: Type::Fun(Arc::new(fun)),
        };
    }
    ret.ty
}

/// The name by which a result may refer to a parameter.
pub(crate) fn param_name(p: &Pat) -> Option<Name> {
    match &p.kind {
        PatKind::Name(n) => Some(*n),
        PatKind::Wild
        | PatKind::Tuple(_)
        | PatKind::Record(_)
        | PatKind::Literal(_)
        | PatKind::Construct(..) => None,
    }
}

/// Names that parameters bind but that are not whole parameters.
fn hidden_names(params: &[Pat]) -> Vec<Name> {
    let mut out = Vec::new();
    for p in params {
        if param_name(p).is_none() {
            super::pattern::names_of(p, &mut out);
        }
    }
    out
}

/// The sizes of the parameters of a function type that a caller can see.
fn param_sizes(ty: &Type, out: &mut Vec<Name>) {
    let Type::Fun(f) = ty else { return };
    on_param(&f.arg, out);
    param_sizes(&f.ret.ty, out);

    fn on_param(ty: &Type, out: &mut Vec<Name>) {
        match ty {
            Type::Fun(_) | Type::Prim(_) | Type::Meta(_) => {}
            Type::Array(_) | Type::Tuple(_) | Type::Sum(_) => out.extend(free_sizes(ty)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| on_param(t, out)),
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(s) => out.extend(s.as_name()),
                TypeArg::Type(t) => on_param(t, out),
            }),
        }
    }
}

/// The existential sizes bound inside a type.
pub(crate) fn bound_exts(ty: &Type) -> Vec<Name> {
    let mut out = Vec::new();
    collect(ty, &mut out);
    return out;

    fn collect(ty: &Type, out: &mut Vec<Name>) {
        match ty {
            Type::Prim(_) | Type::Meta(_) => {}
            Type::Array(a) => collect(&a.elem, out),
            Type::Tuple(ts) => ts.iter().for_each(|t| collect(t, out)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| collect(t, out)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| collect(t, out)),
            Type::Fun(f) => {
                collect(&f.arg, out);
                out.extend(&f.ret.exts);
                collect(&f.ret.ty, out);
            }
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(_) => {}
                TypeArg::Type(t) => collect(t, out),
            }),
        }
    }
}

/// Existential sizes are bound where values show them: `?[n].bool -> [n]bool` becomes `bool -> ?[n].[n]bool`.
fn inject(exts: Vec<Name>, ty: &Type) -> RetType {
    if exts.is_empty() {
        return RetType {
            exts,
            ty: ty.clone(),
        };
    }
    let (immediate, _) = dim_uses(ty);
    let (here, there): (Vec<Name>, Vec<Name>) =
        exts.into_iter().partition(|e| immediate.contains(e));
    RetType {
        exts: here,
        ty: deeper(&there, ty),
    }
}

fn deeper(exts: &[Name], ty: &Type) -> Type {
    if exts.is_empty() {
        return ty.clone();
    }
    match ty {
        Type::Prim(_) | Type::Meta(_) | Type::Array(_) => ty.clone(),
        Type::Tuple(ts) => Type::Tuple(ts.iter().map(|t| deeper(exts, t)).collect()),
        Type::Record(fs) => Type::Record(
            fs.iter()
                .map(|(f, t)| (f.clone(), deeper(exts, t)))
                .collect(),
        ),
        Type::Sum(cs) => Type::Sum(
            cs.iter()
                .map(|(c, ts)| (c.clone(), ts.iter().map(|t| deeper(exts, t)).collect()))
                .collect(),
        ),
        Type::Fun(f) => {
            let mut all = exts.to_vec();
            let free = free_sizes(&f.ret.ty);
            all.retain(|e| free.contains(e));
            all.extend(f.ret.exts.iter().filter(|e| !exts.contains(e)));
            let inner = inject(all, &f.ret.ty);
            Type::Fun(Arc::new(FunType {
                param: f.param,
                arg: f.arg.clone(),
                ret: inner,
            }))
        }
        Type::Named(n) => Type::Named(Arc::new(NamedType {
            name: n.name,
            args: n
                .args
                .iter()
                .map(|arg| match arg {
                    TypeArg::Size(s) => TypeArg::Size(s.clone()),
                    TypeArg::Type(t) => TypeArg::Type(deeper(exts, t)),
                })
                .collect(),
            unique: n.unique,
        })),
    }
}
