//! Types and sizes as messages show them.

use super::ty::{Atom, Lift, RetType, Scheme, Size, Type, TypeArg};
use crate::typed::{Exp, ExpKind, Lit, Names};

/// The source form of a type.
pub(crate) fn ty(names: &Names, t: &Type) -> String {
    match t {
        Type::Prim(p) => p.name().to_owned(),
        Type::Array(a) => {
            let star = if a.unique { "*" } else { "" };
            let open = matches!(a.size.as_atom(), Some(Atom::Meta(_)));
            let size = if open {
                String::new()
            } else {
                size(names, &a.size)
            };
            format!("{star}[{size}]{}", atomic(names, &a.elem))
        }
        Type::Tuple(ts) => list("(", ts.iter().map(|t| ty(names, t)), ")"),
        Type::Record(fs) => list(
            "{",
            fs.iter().map(|(f, t)| format!("{f}: {}", ty(names, t))),
            "}",
        ),
        Type::Sum(cs) => {
            let clauses: Vec<String> = cs
                .iter()
                .map(|(c, ts)| {
                    let payload: Vec<String> = ts
                        .iter()
                        .map(|t| format!(" {}", atomic(names, t)))
                        .collect();
                    format!("#{c}{}", payload.concat())
                })
                .collect();
            clauses.join(" | ")
        }
        Type::Fun(f) => {
            let arg = match f.param {
                Some(p) if !names.text(p).starts_with('_') => {
                    format!("({}: {})", names.text(p), ty(names, &f.arg))
                }
                Some(_) | None => atomic(names, &f.arg),
            };
            format!("{arg} -> {}", ret(names, &f.ret))
        }
        Type::Named(n) => {
            let star = if n.unique { "*" } else { "" };
            let args: Vec<String> = n
                .args
                .iter()
                .map(|arg| match arg {
                    TypeArg::Size(s) => format!(" [{}]", size(names, s)),
                    TypeArg::Type(t) => format!(" {}", atomic(names, t)),
                })
                .collect();
            format!("{star}{}{}", names.text(n.name), args.concat())
        }
        Type::Meta(_) => "_".to_owned(),
    }
}

fn list(open: &str, items: impl Iterator<Item = String>, close: &str) -> String {
    format!("{open}{}{close}", items.collect::<Vec<_>>().join(", "))
}

fn atomic(names: &Names, t: &Type) -> String {
    let needs = match t {
        Type::Fun(_) | Type::Sum(_) => true,
        Type::Named(n) => !n.args.is_empty(),
        Type::Prim(_) | Type::Array(_) | Type::Tuple(_) | Type::Record(_) | Type::Meta(_) => false,
    };
    if needs {
        format!("({})", ty(names, t))
    } else {
        ty(names, t)
    }
}

/// The source form of a polymorphic type: sizes and types that it is for, a full stop, the type.
pub(crate) fn scheme(names: &Names, scheme: &Scheme) -> String {
    let apart = told_apart(names, scheme);
    let names = apart.as_ref().unwrap_or(names);
    let sizes = scheme.sizes.iter();
    let sizes = sizes.map(|size| format!("[{}]", names.text(*size)));
    let types = scheme.types.iter().map(|(name, lift)| {
        let mark = match lift {
            Lift::Plain => "'",
            Lift::Size => "'~",
            Lift::Full => "'^",
        };
        format!("{mark}{}", names.text(*name))
    });
    let params: Vec<String> = sizes.chain(types).collect();
    let ty = ty(names, &scheme.ty);
    if params.is_empty() {
        return ty;
    }
    format!("{}. {ty}", params.join(" "))
}

/// Names in which the sizes that a type is for have different texts, if they have not: made-up sizes are all called the same.
fn told_apart(names: &Names, scheme: &Scheme) -> Option<Names> {
    let mut taken: Vec<String> = Vec::new();
    let mut apart = None;
    for &size in &scheme.sizes {
        let plain = names.text(size);
        let numbered = (1..).map(|i| format!("{plain}{i}"));
        let mut texts = std::iter::once(plain.to_owned()).chain(numbered);
        let text = texts.find(|text| !taken.contains(text))?;
        if text != plain {
            let all = apart.get_or_insert_with(|| names.clone());
            all.get_mut(size).text.clone_from(&text);
        }
        taken.push(text);
    }
    apart
}

/// The source form of a result type.
pub(crate) fn ret(names: &Names, r: &RetType) -> String {
    if r.exts.is_empty() {
        return ty(names, &r.ty);
    }
    let exts: Vec<String> = r
        .exts
        .iter()
        .map(|e| format!("[{}]", names.text(*e)))
        .collect();
    format!("?{}.{}", exts.concat(), ty(names, &r.ty))
}

/// The source form of a size.
pub(crate) fn size(names: &Names, s: &Size) -> String {
    let mut out = String::new();
    // The constant last, and a positive term first if there is one.
    let mut terms: Vec<_> = s.terms.iter().collect();
    terms.sort_by_key(|(product, k)| (product.is_empty(), **k < 0));
    for (product, k) in terms {
        let sign = if *k < 0 { "-" } else { "+" };
        if !out.is_empty() {
            out.push_str(&format!(" {sign} "));
        } else if *k < 0 {
            out.push('-');
        }
        let mut factors: Vec<String> = product.iter().map(|a| atom(names, a)).collect();
        if k.unsigned_abs() != 1 || product.is_empty() {
            factors.insert(0, k.unsigned_abs().to_string());
        }
        out.push_str(&factors.join(" * "));
    }
    if s.terms.is_empty() {
        "0".to_owned()
    } else {
        out
    }
}

fn atom(names: &Names, a: &Atom) -> String {
    match a {
        Atom::Name(n) => names.text(*n).to_owned(),
        Atom::Opaque(o) => exp(names, &o.exp),
        Atom::Meta(_) => "_".to_owned(),
    }
}

fn exp(names: &Names, e: &Exp) -> String {
    match &e.kind {
        ExpKind::Lit(Lit::Int(_, k)) => k.to_string(),
        ExpKind::Lit(Lit::Float(_, x)) => x.to_string(),
        ExpKind::Lit(Lit::Bool(b)) => b.to_string(),
        ExpKind::Var { name, .. } => names.text(*name).to_owned(),
        ExpKind::Size(s) if s.as_atom().is_some() || s.as_constant().is_some() => size(names, s),
        ExpKind::Size(s) => format!("({})", size(names, s)),
        ExpKind::Field(e, f) => format!("{}.{f}", exp(names, e)),
        ExpKind::TupleField(e, f) => format!("{}.{f}", exp(names, e)),
        ExpKind::Negate(e) => format!("-{}", exp(names, e)),
        ExpKind::Not(e) => format!("!{}", exp(names, e)),
        ExpKind::Attr(_, e) => exp(names, e),
        ExpKind::Apply { fun, args, infix } => match (infix, args.as_slice()) {
            (true, [a, b]) => format!("({} {} {})", exp(names, a), exp(names, fun), exp(names, b)),
            _ => {
                let parts: Vec<String> = std::iter::once(&**fun)
                    .chain(args)
                    .map(|e| exp(names, e))
                    .collect();
                format!("({})", parts.join(" "))
            }
        },
        ExpKind::String(_)
        | ExpKind::Hole
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Construct(..)
        | ExpKind::Range { .. }
        | ExpKind::Coerce(_)
        | ExpKind::Lambda { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::If { .. }
        | ExpKind::Match { .. }
        | ExpKind::Loop { .. }
        | ExpKind::Index { .. }
        | ExpKind::Update { .. }
        | ExpKind::Assert { .. } => "..".to_owned(),
    }
}
