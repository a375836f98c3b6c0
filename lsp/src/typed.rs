//! The types of patterns and expressions, from the typed program.

use frontend::source::Span;
use frontend::typed::{
    Dec, Exp, ExpKind, File, LoopForm, ModuleExp, Name, Names, Pat, PatKind, Slice, Step, Type,
    ValueDef,
};

/// What is visited: a pattern that binds a name, or any expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    Name(Name),
    Pattern,
    Exp,
}

/// Visits all patterns and expressions of declarations.
pub(crate) fn decs<'a>(decs: &'a [Dec], visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    for dec in decs {
        match dec {
            Dec::Value(def) => value(def, visit),
            Dec::Module(exp) => module(exp, visit),
            Dec::Functor(functor) => module(&functor.body, visit),
        }
    }
}

/// The type of the pattern that binds a name at its definition.
pub(crate) fn binding<'a>(files: &'a [File], names: &Names, definition: Span) -> Option<&'a Type> {
    let mut found = None;
    for file in files {
        decs(&file.decs, &mut |node, _, ty| {
            // The span of a pattern covers its ascription, too.
            if let Node::Name(name) = node
                && names.get(name).span == Some(definition)
            {
                found = Some(ty);
            }
        });
    }
    found
}

/// Visits the definitions of declarations, those of modules among them.
pub(crate) fn definitions<'a>(decs: &'a [Dec], visit: &mut dyn FnMut(&'a ValueDef)) {
    fn inside<'a>(exp: &'a ModuleExp, visit: &mut dyn FnMut(&'a ValueDef)) {
        match exp {
            ModuleExp::Struct(decs) => definitions(decs, visit),
            ModuleExp::Seq(parts) => parts.iter().for_each(|part| inside(part, visit)),
            ModuleExp::Apply { arg, .. } => inside(arg, visit),
            ModuleExp::Known | ModuleExp::Binds(_) => {}
        }
    }
    for dec in decs {
        match dec {
            Dec::Value(def) => visit(def),
            Dec::Module(exp) => inside(exp, visit),
            Dec::Functor(functor) => inside(&functor.body, visit),
        }
    }
}

fn module<'a>(exp: &'a ModuleExp, visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    match exp {
        ModuleExp::Struct(inner) => decs(inner, visit),
        ModuleExp::Seq(parts) => parts.iter().for_each(|part| module(part, visit)),
        ModuleExp::Apply { arg, .. } => module(arg, visit),
        ModuleExp::Known | ModuleExp::Binds(_) => {}
    }
}

fn value<'a>(def: &'a ValueDef, visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    def.params.iter().for_each(|p| pat(p, visit));
    exp(&def.body, visit);
}

fn pat<'a>(p: &'a Pat, visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    let node = match &p.kind {
        PatKind::Name(name) => Node::Name(*name),
        PatKind::Wild
        | PatKind::Tuple(_)
        | PatKind::Record(_)
        | PatKind::Literal(_)
        | PatKind::Construct(..) => Node::Pattern,
    };
    visit(node, p.span, &p.ty);
    match &p.kind {
        PatKind::Name(_) | PatKind::Wild | PatKind::Literal(_) => {}
        PatKind::Tuple(ps) | PatKind::Construct(_, ps) => ps.iter().for_each(|p| pat(p, visit)),
        PatKind::Record(fields) => fields.iter().for_each(|(_, p)| pat(p, visit)),
    }
}

const RED_ZONE: usize = 64 * 1024;

fn exp<'a>(e: &'a Exp, visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    frontend::deep(RED_ZONE, || exp_here(e, visit));
}

fn exp_here<'a>(e: &'a Exp, visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    visit(Node::Exp, e.span, &e.ty);
    let mut all =
        |parts: &mut dyn Iterator<Item = &'a Exp>| parts.for_each(|part| exp(part, visit));
    match &e.kind {
        ExpKind::Lit(_)
        | ExpKind::String(_)
        | ExpKind::Hole
        | ExpKind::Var { .. }
        | ExpKind::Size(_) => {}
        ExpKind::Tuple(es) | ExpKind::Array(es) | ExpKind::Construct(_, es) => all(&mut es.iter()),
        ExpKind::Record(fields) => all(&mut fields.iter().map(|(_, field)| field)),
        ExpKind::Range { start, second, end } => {
            let parts = [Some(&**start), second.as_deref(), Some(&*end.1)];
            all(&mut parts.into_iter().flatten());
        }
        ExpKind::Coerce(inner)
        | ExpKind::Negate(inner)
        | ExpKind::Not(inner)
        | ExpKind::Field(inner, _)
        | ExpKind::TupleField(inner, _)
        | ExpKind::Attr(_, inner) => exp(inner, visit),
        ExpKind::Apply { fun, args, .. } => all(&mut std::iter::once(&**fun).chain(args)),
        ExpKind::Lambda { params, body, .. } => {
            params.iter().for_each(|p| pat(p, visit));
            exp(body, visit);
        }
        ExpKind::Let {
            pat: p,
            value,
            body,
            ..
        } => {
            pat(p, visit);
            exp(value, visit);
            exp(body, visit);
        }
        ExpKind::LetFun { def, body } => {
            self::value(def, visit);
            exp(body, visit);
        }
        ExpKind::If {
            cond,
            then,
            otherwise,
        } => {
            all(&mut [&**cond, &**then, &**otherwise].into_iter());
        }
        ExpKind::Match { scrutinee, cases } => {
            exp(scrutinee, visit);
            for case in cases {
                pat(&case.pat, visit);
                exp(&case.body, visit);
            }
        }
        ExpKind::Loop {
            pat: p,
            init,
            form,
            body,
            ..
        } => {
            pat(p, visit);
            exp(init, visit);
            match form {
                LoopForm::For { bound, .. } => exp(bound, visit),
                LoopForm::ForIn { pat: p, array } => {
                    pat(p, visit);
                    exp(array, visit);
                }
                LoopForm::While(cond) => exp(cond, visit),
            }
            exp(body, visit);
        }
        ExpKind::Index {
            array,
            slices: parts,
        } => {
            exp(array, visit);
            slices(parts, visit);
        }
        ExpKind::Update {
            source,
            path,
            value,
        } => {
            exp(source, visit);
            for step in path {
                match step {
                    Step::Field(_) | Step::TupleField(_) => {}
                    Step::Index(parts) => slices(parts, visit),
                }
            }
            exp(value, visit);
        }
        ExpKind::Assert { cond, body, .. } => all(&mut [&**cond, &**body].into_iter()),
    }
}

fn slices<'a>(slices: &'a [Slice], visit: &mut dyn FnMut(Node, Span, &'a Type)) {
    for slice in slices {
        match slice {
            Slice::Index(e) => exp(e, visit),
            Slice::Range { start, end, stride } => {
                let parts = [start, end, stride].into_iter().flatten();
                parts.for_each(|part| exp(part, visit));
            }
        }
    }
}

/// The parameters of a type of functions, and the result.
pub(crate) fn parameters(ty: &Type) -> Vec<&Type> {
    let mut out = Vec::new();
    let mut at = ty;
    while let Type::Fun(function) = at {
        out.push(&function.arg);
        at = &function.ret.ty;
    }
    out
}
