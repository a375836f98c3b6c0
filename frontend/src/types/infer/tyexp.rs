//! Written types.

use super::Infer;
use super::parts::{MAX_PARTS, check_written, parts, too_large};
use super::scope::Local;
use super::solve::record_type;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{self, SizeExp, TypeKind};
use crate::typed::NameKind;
use crate::types::context::{Res, err};
use crate::types::env::TypeAbbr;
use crate::types::index::Space;
use crate::types::opaque::{each_size, names_of_size};
use crate::types::raw::{RKind, RLit, RType};
use crate::types::subst::{apply_type_fun, clear_unique, set_unique};
use crate::types::ty::{
    Atom, FunType, Lift, Name, Prim, RetType, Size, Sym, Type, TypeArg, TypeParam,
};
use std::sync::Arc;

/// The most dimensions of an array, as many as its binary form can have.
const MAX_RANK: usize = 255;

/// The dimensions of an array.
fn rank(ty: &Type) -> usize {
    let mut rank = 0;
    let mut row = ty;
    while let Type::Array(array) = row {
        rank += 1;
        row = &array.elem;
    }
    rank
}

/// What reading a written type collects on the way.
#[derive(Default)]
struct Open {
    /// Sizes without a binder so far.
    exts: Vec<Name>,
    /// Those that no binder can be found for.
    loose: Vec<Name>,
}

impl Infer<'_, '_> {
    /// Reads a written type.
    pub(crate) fn type_exp(&mut self, te: &ast::TypeExp) -> Res<RType> {
        let outer = std::mem::take(&mut self.pending);
        let mut open = Open::default();
        let result = self.type_in(te, &mut open);
        let pending = std::mem::replace(&mut self.pending, outer);
        let (ty, lift) = result?;
        check_written(&ty, te.span)?;
        Ok(RType {
            ty,
            exts: open.exts,
            loose: open.loose,
            pending,
            lift,
            span: te.span,
        })
    }

    fn type_in(&mut self, te: &ast::TypeExp, open: &mut Open) -> Res<(Type, Lift)> {
        stacker::maybe_grow(32 * 1024, 1024 * 1024, || self.type_inner(te, open))
    }

    fn type_inner(&mut self, te: &ast::TypeExp, open: &mut Open) -> Res<(Type, Lift)> {
        match &te.kind {
            TypeKind::Name(name) => {
                let abbr = self.type_named(name)?;
                self.apply_abbr(name, &abbr, &[], te.span, open)
            }
            TypeKind::Apply(head, args) => match &head.kind {
                TypeKind::Name(name) => {
                    let abbr = self.type_named(name)?;
                    self.apply_abbr(name, &abbr, args, te.span, open)
                }
                TypeKind::Apply(..)
                | TypeKind::Tuple(_)
                | TypeKind::Record(_)
                | TypeKind::Array(..)
                | TypeKind::Arrow { .. }
                | TypeKind::Unique(_)
                | TypeKind::Sum(_)
                | TypeKind::Exists(..) => err(
                    Code::BadType,
                    head.span,
                    "this is no type constructor, so it takes no arguments",
                ),
            },
            TypeKind::Tuple(ts) => {
                let mut lift = Lift::Plain;
                let mut out = Vec::new();
                for t in ts {
                    let (t, l) = self.type_in(t, open)?;
                    lift = lift.max(l);
                    out.push(t);
                }
                Ok((Type::tuple(out), lift))
            }
            TypeKind::Record(fields) => self.record_type_exp(fields, open),
            TypeKind::Array(size, elem) => self.array_type(size, elem, open),
            TypeKind::Arrow { param, from, to } => self.arrow(param.as_ref(), from, to, open),
            TypeKind::Unique(inner) => {
                let (t, lift) = self.type_in(inner, open)?;
                if !may_hold_array(&t) {
                    let shown = crate::types::print::ty(&self.cx.names, &t);
                    self.cx.warn(
                        Code::IdleUnique,
                        te.span,
                        format!("`*` has no effect: a value of type `{shown}` holds no array"),
                    );
                }
                Ok((set_unique(&t), lift))
            }
            TypeKind::Sum(clauses) => self.sum_type(clauses, open),
            TypeKind::Exists(names, inner) => self.exists(names, inner, open),
        }
    }

    fn type_named(&mut self, name: &ast::QualName) -> Res<TypeAbbr> {
        if name.quals.is_empty()
            && let Some(local) = self.scope.ty(&name.name.name)
        {
            if let Type::Named(named) = &local.fun.rhs.ty {
                let definition = self.cx.names.get(named.name).span;
                self.cx.note(name.name.span, Space::Type, definition);
            }
            return Ok(local);
        }
        if let Some(first) = name.quals.first()
            && let Some(module) = self.scope.module(&first.name)
        {
            let mut env = crate::types::context::structure(Some(module), first)?;
            for qual in &name.quals[1..] {
                env = crate::types::context::structure(env.modules.get(&qual.name).cloned(), qual)?;
            }
            if let Some(t) = env.types.get(&name.name.name) {
                self.cx.note_last(Space::Type, &name.name, Some(&env));
                return Ok(t.clone());
            }
        }
        self.cx.type_abbr(name)
    }

    fn apply_abbr(
        &mut self,
        name: &ast::QualName,
        abbr: &TypeAbbr,
        args: &[ast::TypeArg],
        span: Span,
        open: &mut Open,
    ) -> Res<(Type, Lift)> {
        let params = &abbr.fun.params;
        if params.len() != args.len() {
            let message = format!(
                "the type `{name}` takes {} argument{}, but is given {}",
                params.len(),
                if params.len() == 1 { "" } else { "s" },
                args.len()
            );
            return err(Code::BadType, span, message);
        }
        let mut lift = abbr.lift;
        let mut actual = Vec::new();
        for (param, arg) in params.iter().zip(args) {
            match (param, arg) {
                (TypeParam::Size(_), ast::TypeArg::Size(s)) => {
                    actual.push(TypeArg::Size(self.size_exp(s, open)?));
                }
                (TypeParam::Type(..), ast::TypeArg::Type(t)) => {
                    let written = t.span;
                    let (t, l) = self.type_in(t, open)?;
                    if matches!(&abbr.fun.rhs.ty, Type::Named(of) if self.cx.is_sequence(of.name))
                        && self.cx.has_sequence(&t)
                    {
                        return self.sequence_of_sequences(&t, written);
                    }
                    lift = lift.max(l);
                    // Its parts are shared, and would be visited one by one.
                    if parts(&t, MAX_PARTS) > MAX_PARTS {
                        return too_large(written);
                    }
                    // Marks belong to the type that is made: `*(t a)`, not `t (*a)`.
                    actual.push(TypeArg::Type(clear_unique(&t)));
                }
                (TypeParam::Size(_), ast::TypeArg::Type(t)) => {
                    return err(
                        Code::BadType,
                        t.span,
                        format!("`{name}` takes a size here, as in `[n]`, not a type"),
                    );
                }
                (TypeParam::Type(..), ast::TypeArg::Size(s)) => {
                    return err(
                        Code::BadType,
                        s.span(),
                        format!("`{name}` takes a type here, not a size"),
                    );
                }
            }
        }
        let sum = |total: usize, arg: &TypeArg| match arg {
            TypeArg::Size(_) => total,
            TypeArg::Type(t) => total + parts(t, MAX_PARTS),
        };
        let arg_parts = actual.iter().fold(1, sum);
        if arg_parts.saturating_mul(parts(&abbr.fun.rhs.ty, MAX_PARTS)) > 100 * MAX_PARTS {
            return too_large(span);
        }
        let ret = apply_type_fun(&mut self.cx.names, &abbr.fun, &actual);
        open.exts.extend(ret.exts);
        Ok((ret.ty, lift))
    }

    /// An element of a sequence is a value.
    fn sequence_of_sequences<T>(&self, elem: &Type, span: Span) -> Res<T> {
        let shown = crate::types::print::ty(&self.cx.names, elem);
        let message = format!("a sequence has no elements of the type `{shown}`");
        let why = self.cx.too_lifted(elem, Lift::Plain).unwrap_or_default();
        let wrong = Diagnostic::error(Code::BadType, span, message);
        Err(Box::new(wrong.note(why)))
    }

    fn record_type_exp(&mut self, fields: &[ast::FieldType], open: &mut Open) -> Res<(Type, Lift)> {
        let mut lift = Lift::Plain;
        let mut out: Vec<(Sym, Type)> = Vec::new();
        for field in fields {
            if out.iter().any(|(f, _)| *f == field.name.name) {
                let message = format!("the field `{}` is declared twice", field.name.name);
                return err(Code::DuplicateName, field.name.span, message);
            }
            let (t, l) = self.type_in(&field.ty, open)?;
            lift = lift.max(l);
            out.push((field.name.name.clone(), t));
        }
        Ok((record_type(out), lift))
    }

    fn array_type(
        &mut self,
        size: &SizeExp,
        elem: &ast::TypeExp,
        open: &mut Open,
    ) -> Res<(Type, Lift)> {
        let size = self.size_exp(size, open)?;
        let (t, lift) = self.type_in(elem, open)?;
        match lift {
            Lift::Plain if rank(&t) >= MAX_RANK => err(
                Code::BadType,
                elem.span,
                format!("an array cannot have more than {MAX_RANK} dimensions"),
            ),
            // Only an array as a whole is unique.
            Lift::Plain => Ok((Type::array(size, clear_unique(&t)), Lift::Plain)),
            Lift::Size => err(
                Code::BadType,
                elem.span,
                "an array cannot have elements of a size-lifted type: they might differ in size",
            ),
            Lift::Full => err(
                Code::BadType,
                elem.span,
                "an array cannot have elements of a lifted type: they might be functions",
            ),
        }
    }

    fn arrow(
        &mut self,
        param: Option<&ast::Ident>,
        from: &ast::TypeExp,
        to: &ast::TypeExp,
        open: &mut Open,
    ) -> Res<(Type, Lift)> {
        let mut arg_open = Open::default();
        let (arg, _) = self.type_in(from, &mut arg_open)?;
        open.loose.append(&mut arg_open.exts);
        open.loose.append(&mut arg_open.loose);
        let mark = self.scope.mark();
        if let Some(p) = param
            && self.arrow_params.contains(&p.name)
        {
            let message = format!("the parameter `{}` occurs twice in this type", p.name);
            return err(Code::DuplicateName, p.span, message);
        }
        let depth = self.arrow_params.len();
        self.arrow_params.extend(param.map(|p| p.name.clone()));
        let param = param.map(|p| {
            let name = self.cx.fresh_ident(p, NameKind::Value);
            self.scope
                .bind(p.name.clone(), Local::Mono(name, arg.clone()));
            name
        });
        let mut ret_open = Open::default();
        let (ty, _) = self.type_in(to, &mut ret_open)?;
        self.scope.reset(mark);
        self.arrow_params.truncate(depth);
        open.loose.append(&mut ret_open.loose);
        let ret = RetType {
            exts: ret_open.exts,
            ty,
        };
        Ok((Type::Fun(Arc::new(FunType { param, arg, ret })), Lift::Full))
    }

    fn sum_type(&mut self, clauses: &[ast::SumClause], open: &mut Open) -> Res<(Type, Lift)> {
        let mut lift = Lift::Plain;
        let mut out: Vec<(Sym, Vec<Type>)> = Vec::new();
        if clauses.len() > 255 {
            return err(
                Code::BadType,
                clauses[255].span,
                "a sum type has at most 255 constructors",
            );
        }
        for clause in clauses {
            if out.iter().any(|(c, _)| *c == clause.name.name) {
                let message = format!("the constructor `#{}` is declared twice", clause.name.name);
                return err(Code::DuplicateName, clause.span, message);
            }
            let mut payload = Vec::new();
            for t in &clause.payload {
                let (t, l) = self.type_in(t, open)?;
                lift = lift.max(l);
                payload.push(t);
            }
            out.push((clause.name.name.clone(), payload));
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        Ok((Type::Sum(out.into()), lift))
    }

    fn exists(
        &mut self,
        names: &[ast::Ident],
        inner: &ast::TypeExp,
        open: &mut Open,
    ) -> Res<(Type, Lift)> {
        let mark = self.scope.mark();
        let sizes = self.bind_sizes(names)?;
        let mut inner_open = Open::default();
        let (ty, lift) = self.type_in(inner, &mut inner_open)?;
        self.scope.reset(mark);
        let witnessed = witnesses(&ty);
        for (size, ident) in sizes.iter().zip(names) {
            if !witnessed.contains(size) {
                let message = format!(
                    "the existential size `{}` is not the size of any array",
                    ident.name
                );
                return err(Code::BadType, ident.span, message);
            }
        }
        open.loose.append(&mut inner_open.loose);
        open.exts.extend(sizes);
        open.exts.append(&mut inner_open.exts);
        Ok((ty, lift.max(Lift::Size)))
    }

    fn size_exp(&mut self, size: &SizeExp, open: &mut Open) -> Res<Size> {
        match size {
            SizeExp::Any(span) => {
                let name = self.cx.fresh("d", Some(*span), NameKind::Size);
                open.exts.push(name);
                Ok(Size::name(name))
            }
            SizeExp::Ragged(_) => {
                self.cx.irregular = true;
                Ok(Size::irregular())
            }
            SizeExp::Exp(e, _) => {
                let e = self.exp(e)?;
                self.expect(e.span, "size", &e.ty, &Type::Prim(Prim::I64))?;
                if let RKind::Var { name, inst } = &e.kind
                    && inst.is_empty()
                    && !self.cx.has_sizes(*name)
                {
                    return Ok(Size::name(*name));
                }
                if let RKind::Lit(RLit::Int { value: k, .. }) = &e.kind
                    && let Ok(k) = i64::try_from(*k)
                {
                    return Ok(Size::constant(k));
                }
                let at = u32::try_from(self.pending.len()).unwrap_or(u32::MAX);
                self.pending.push(e);
                Ok(Size::atom(Atom::Meta(at)))
            }
        }
    }
}

/// Whether a value of the type may hold an array.
fn may_hold_array(ty: &Type) -> bool {
    match ty {
        Type::Prim(_) | Type::Fun(_) => false,
        Type::Array(_) | Type::Named(_) | Type::Meta(_) => true,
        Type::Tuple(ts) => ts.iter().any(may_hold_array),
        Type::Record(fs) => fs.iter().any(|(_, t)| may_hold_array(t)),
        Type::Sum(cs) => cs.iter().flat_map(|(_, ts)| ts).any(may_hold_array),
    }
}

/// The sizes that are, whole, the size of an array outside of functions (whose value tells them).
pub(crate) fn witnesses(ty: &Type) -> Vec<Name> {
    let mut out = Vec::new();
    collect(ty, &mut out);
    return out;

    fn collect(ty: &Type, out: &mut Vec<Name>) {
        match ty {
            Type::Prim(_) | Type::Meta(_) | Type::Fun(_) => {}
            Type::Array(a) => {
                out.extend(a.size.as_name());
                collect(&a.elem, out);
            }
            Type::Tuple(ts) => ts.iter().for_each(|t| collect(t, out)),
            Type::Record(fs) => fs.iter().for_each(|(_, t)| collect(t, out)),
            Type::Sum(cs) => cs
                .iter()
                .flat_map(|(_, ts)| ts)
                .for_each(|t| collect(t, out)),
            Type::Named(n) => n.args.iter().for_each(|arg| match arg {
                TypeArg::Size(s) => out.extend(s.as_name()),
                // An abstract type need not hold a value of its argument.
                TypeArg::Type(_) => {}
            }),
        }
    }
}

/// The free size and value names in a type.
pub(crate) fn free_sizes(ty: &Type) -> Vec<Name> {
    let mut out = Vec::new();
    each_size(ty, &mut |s| names_of_size(s, &mut out));
    out
}
