//! Questions about the syntax tree.

use frontend::syntax::ast::{
    Dec, DecKind, DimIndex, Exp, ExpKind, LoopForm, ModExp, ModExpKind, UpdateStep, ValBind,
};

/// Visits all value declarations, those of modules among them.
pub(crate) fn values<'a>(decs: &'a [Dec], visit: &mut dyn FnMut(&'a ValBind, &'a Dec)) {
    for dec in decs {
        let mut dec = dec;
        while let DecKind::Local(inner) = &dec.kind {
            dec = inner;
        }
        match &dec.kind {
            DecKind::Val(bind) => visit(bind, dec),
            DecKind::Module(bind) => in_module(&bind.body, visit),
            DecKind::Open(exp) => in_module(exp, visit),
            DecKind::Type(_) | DecKind::ModType(_) | DecKind::Import(_) | DecKind::Local(_) => {}
        }
    }
}

fn in_module<'a>(exp: &'a ModExp, visit: &mut dyn FnMut(&'a ValBind, &'a Dec)) {
    match &exp.kind {
        ModExpKind::Struct(decs) => values(decs, visit),
        ModExpKind::Apply(one, other) => {
            in_module(one, visit);
            in_module(other, visit);
        }
        ModExpKind::Ascribe(inner, _) => in_module(inner, visit),
        ModExpKind::Lambda { body, .. } => in_module(body, visit),
        ModExpKind::Name(_) | ModExpKind::Import(_) => {}
    }
}

/// The parts of an expression that are expressions.
pub(crate) fn children(exp: &Exp) -> Vec<&Exp> {
    let mut out: Vec<&Exp> = Vec::new();
    match &exp.kind {
        ExpKind::Name(_) | ExpKind::Literal(_) | ExpKind::Hole | ExpKind::OpSection(_) => {}
        ExpKind::Tuple(es) | ExpKind::Array(es) | ExpKind::Constr(_, es) => out.extend(es),
        ExpKind::Record(fields) => out.extend(fields.iter().filter_map(|f| f.value.as_ref())),
        ExpKind::Range {
            first, second, end, ..
        } => {
            out.push(first);
            out.extend(second.as_deref());
            out.push(end);
        }
        ExpKind::Project(inner, _)
        | ExpKind::LocalOpen(_, inner)
        | ExpKind::Negate(inner)
        | ExpKind::Not(inner)
        | ExpKind::Ascribe(inner, _)
        | ExpKind::Coerce(inner, _)
        | ExpKind::LeftSection(_, inner)
        | ExpKind::RightSection(_, inner)
        | ExpKind::Attr(_, inner) => out.push(inner),
        ExpKind::Index(array, dims) => {
            out.push(array);
            in_dims(dims, &mut out);
        }
        ExpKind::Update { base, path, value } => {
            out.push(base);
            in_path(path, &mut out);
            out.push(value);
        }
        ExpKind::PathSection(path) => in_path(path, &mut out),
        ExpKind::Apply(fun, args) => {
            out.push(fun);
            out.extend(args);
        }
        ExpKind::BinOp { lhs, rhs, .. } => out.extend([&**lhs, &**rhs]),
        ExpKind::Let { value, body, .. } => out.extend([&**value, &**body]),
        ExpKind::LetFun { fun, body } => out.extend([&fun.body, &**body]),
        ExpKind::LetUpdate {
            path, value, body, ..
        } => {
            in_path(path, &mut out);
            out.extend([&**value, &**body]);
        }
        ExpKind::If {
            cond,
            then,
            otherwise,
        } => out.extend([&**cond, &**then, &**otherwise]),
        ExpKind::Loop {
            init, form, body, ..
        } => {
            out.extend(init.as_deref());
            out.push(match form {
                LoopForm::For(_, bound) => bound,
                LoopForm::ForIn(_, array) => array,
                LoopForm::While(cond) => cond,
            });
            out.push(body);
        }
        ExpKind::Match(scrutinee, cases) => {
            out.push(scrutinee);
            out.extend(cases.iter().map(|case| &case.body));
        }
        ExpKind::Lambda { body, .. } => out.push(body),
        ExpKind::Assert(cond, body) => out.extend([&**cond, &**body]),
    }
    out
}

fn in_path<'a>(path: &'a [UpdateStep], out: &mut Vec<&'a Exp>) {
    for step in path {
        match step {
            UpdateStep::Index(dims, _) => in_dims(dims, out),
            UpdateStep::Field(_) => {}
        }
    }
}

fn in_dims<'a>(dims: &'a [DimIndex], out: &mut Vec<&'a Exp>) {
    for dim in dims {
        match dim {
            DimIndex::Fix(exp) => out.push(exp),
            DimIndex::Slice {
                start, end, stride, ..
            } => {
                out.extend(
                    [start, end, stride]
                        .into_iter()
                        .flatten()
                        .map(|part| &**part),
                );
            }
        }
    }
}

/// The function and the arguments of the innermost application around a position.
pub(crate) fn application(root: &Exp, at: u32) -> Option<(&Exp, &[Exp])> {
    let mut found = None;
    let mut here = Some(root);
    while let Some(exp) = here {
        if let ExpKind::Apply(head, args) = &exp.kind {
            found = Some((&**head, &args[..]));
        }
        let inside = |part: &&Exp| part.span.lo <= at && at <= part.span.hi;
        here = children(exp).into_iter().find(inside);
    }
    found
}
