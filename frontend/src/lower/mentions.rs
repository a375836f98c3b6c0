//! Every id that an expression mentions, in values, sizes and types, and how large the expression is.

use crate::typed::{
    Atom, Exp, ExpKind, Inst, LoopForm, Name, Pat, PatKind, RetType, Size, Slice, Step, Type,
    TypeArg,
};

/// What the walk meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// An expression.
    Node,
    /// An id.
    Name(Name),
}

type Sink<'s> = &'s mut dyn FnMut(Mention);

/// Walks an expression.
pub fn exp(e: &Exp, f: Sink<'_>) {
    stacker::maybe_grow(64 * 1024, 1024 * 1024, || exp_(e, f));
}

fn exp_(e: &Exp, f: Sink<'_>) {
    f(Mention::Node);
    ty(&e.ty, f);
    match &e.kind {
        ExpKind::Lit(_) | ExpKind::String(_) | ExpKind::Hole => {}
        ExpKind::Var { name, inst } => {
            f(Mention::Name(*name));
            self::inst(inst, f);
        }
        ExpKind::Size(size) => self::size(size, f),
        ExpKind::Tuple(es) | ExpKind::Array(es) | ExpKind::Construct(_, es) => {
            es.iter().for_each(|e| exp(e, f));
        }
        ExpKind::Record(fields) => fields.iter().for_each(|(_, e)| exp(e, f)),
        ExpKind::Range { start, second, end } => {
            exp(start, f);
            if let Some(second) = second {
                exp(second, f);
            }
            exp(&end.1, f);
        }
        ExpKind::Coerce(e)
        | ExpKind::Negate(e)
        | ExpKind::Not(e)
        | ExpKind::Field(e, _)
        | ExpKind::TupleField(e, _)
        | ExpKind::Attr(_, e) => exp(e, f),
        ExpKind::Apply { fun, args, .. } => {
            args.iter().for_each(|e| exp(e, f));
            exp(fun, f);
        }
        ExpKind::Lambda { params, body, ret } => {
            params.iter().for_each(|p| pat(p, f));
            exp(body, f);
            self::ret(ret, f);
        }
        ExpKind::Let {
            sizes: _,
            pat: p,
            value,
            body,
        } => {
            pat(p, f);
            exp(value, f);
            exp(body, f);
        }
        ExpKind::LetFun { def, body } => {
            def.params.iter().for_each(|p| pat(p, f));
            self::ret(&def.ret, f);
            exp(&def.body, f);
            exp(body, f);
        }
        ExpKind::If {
            cond,
            then,
            otherwise,
        } => {
            exp(cond, f);
            exp(then, f);
            exp(otherwise, f);
        }
        ExpKind::Match { scrutinee, cases } => {
            exp(scrutinee, f);
            for case in cases {
                pat(&case.pat, f);
                exp(&case.body, f);
            }
        }
        ExpKind::Loop {
            sizes,
            pat: p,
            init,
            form,
            body,
        } => {
            sizes.iter().for_each(|s| self::size(&s.init, f));
            pat(p, f);
            exp(init, f);
            match form {
                LoopForm::For { bound, .. } => exp(bound, f),
                LoopForm::ForIn { pat: p, array } => {
                    pat(p, f);
                    exp(array, f);
                }
                LoopForm::While(cond) => exp(cond, f),
            }
            exp(body, f);
        }
        ExpKind::Index { array, slices } => {
            exp(array, f);
            self::slices(slices, f);
        }
        ExpKind::Update {
            source,
            path,
            value,
        } => {
            exp(source, f);
            for step in path {
                match step {
                    Step::Field(_) | Step::TupleField(_) => {}
                    Step::Index(slices) => self::slices(slices, f),
                }
            }
            exp(value, f);
        }
        ExpKind::Assert { cond, body, .. } => {
            exp(cond, f);
            exp(body, f);
        }
    }
}

fn slices(slices: &[Slice], f: Sink<'_>) {
    for slice in slices {
        match slice {
            Slice::Index(e) => exp(e, f),
            Slice::Range { start, end, stride } => {
                for e in [start, end, stride].into_iter().flatten() {
                    exp(e, f);
                }
            }
        }
    }
}

fn inst(inst: &Inst, f: Sink<'_>) {
    inst.types.iter().for_each(|t| ty(t, f));
    inst.sizes.iter().for_each(|s| size(s, f));
}

/// Walks a pattern.
pub fn pat(p: &Pat, f: Sink<'_>) {
    ty(&p.ty, f);
    match &p.kind {
        PatKind::Name(_) | PatKind::Wild | PatKind::Literal(_) => {}
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter().for_each(|p| pat(p, f)),
        PatKind::Record(ps) => ps.iter().for_each(|(_, p)| pat(p, f)),
    }
}

/// Walks a result type.
pub fn ret(ret: &RetType, f: Sink<'_>) {
    ty(&ret.ty, f);
}

/// Walks a type.
pub fn ty(t: &Type, f: Sink<'_>) {
    match t {
        Type::Prim(_) | Type::Meta(_) => {}
        Type::Array(a) => {
            size(&a.size, f);
            ty(&a.elem, f);
        }
        Type::Tuple(ts) => ts.iter().for_each(|t| ty(t, f)),
        Type::Record(ts) => ts.iter().for_each(|(_, t)| ty(t, f)),
        Type::Sum(cs) => cs
            .iter()
            .for_each(|(_, ts)| ts.iter().for_each(|t| ty(t, f))),
        Type::Fun(fun) => {
            ty(&fun.arg, f);
            // The type itself binds the size that is its argument, and those that a call makes known.
            let binds = |name: Name| fun.param == Some(name) || fun.ret.exts.contains(&name);
            ret(&fun.ret, &mut |mention| match mention {
                Mention::Name(name) if binds(name) => {}
                Mention::Name(_) | Mention::Node => f(mention),
            });
        }
        Type::Named(named) => {
            f(Mention::Name(named.name));
            for arg in &named.args {
                match arg {
                    TypeArg::Size(s) => size(s, f),
                    TypeArg::Type(t) => ty(t, f),
                }
            }
        }
    }
}

fn size(s: &Size, f: Sink<'_>) {
    for product in s.terms.keys() {
        for atom in product {
            match atom {
                Atom::Name(name) => f(Mention::Name(*name)),
                Atom::Opaque(opaque) => exp(&opaque.exp, f),
                Atom::Meta(_) => {}
            }
        }
    }
}
