//! The texts by which opaque sizes are compared.

use super::polynomial;
use crate::typed::{Exp, ExpKind, Inst, Lit, Names, RangeEnd, Slice};
use crate::types::ty::{Atom, Prim, Size, Type};
use std::fmt::Write;

/// Writes the text by which opaque sizes are compared; what is a polynomial in it, in normal form.
pub(super) fn write_key(names: &Names, out: &mut String, e: &Exp) {
    if e.ty.as_prim() == Some(Prim::I64)
        && let Some(size) = polynomial(names, e)
    {
        write_size(out, &size);
        return;
    }
    let _ = match &e.kind {
        ExpKind::Lit(Lit::Int(p, k)) => write!(out, "{k}{}", p.name()),
        ExpKind::Lit(Lit::Float(p, x)) => write!(out, "{:x}{}", x.to_bits(), p.name()),
        ExpKind::Lit(Lit::Bool(b)) => write!(out, "{b}"),
        ExpKind::String(s) => write!(out, "{s:?}"),
        ExpKind::Hole => write!(out, "?{}", e.span.lo),
        ExpKind::Var { name, inst } => {
            let _ = write!(out, "v{}", name.0);
            write_inst(out, inst);
            Ok(())
        }
        ExpKind::Size(size) => {
            write_size(out, size);
            Ok(())
        }
        ExpKind::Tuple(es) => write_all(names, out, "t", es.iter()),
        ExpKind::Array(es) => write_all(names, out, "a", es.iter()),
        ExpKind::Construct(c, es) => write_all(names, out, &format!("#{c}"), es.iter()),
        ExpKind::Record(fields) => {
            for (f, _) in fields {
                let _ = write!(out, "{f},");
            }
            write_all(names, out, "r", fields.iter().map(|(_, e)| e))
        }
        ExpKind::Range { start, second, end } => {
            let kind = match end.0 {
                RangeEnd::Inclusive => "...",
                RangeEnd::Below => "..<",
                RangeEnd::Above => "..>",
            };
            let parts = [Some(&**start), second.as_deref(), Some(&*end.1)];
            write_all(names, out, kind, parts.into_iter().flatten())
        }
        ExpKind::Coerce(e) => write_all(names, out, ":>", [&**e]),
        ExpKind::Negate(e) => write_all(names, out, "-", [&**e]),
        ExpKind::Not(e) => write_all(names, out, "!", [&**e]),
        ExpKind::Field(e, f) => write_all(names, out, &format!(".{f}"), [&**e]),
        ExpKind::TupleField(e, f) => write_all(names, out, &format!(".{f}"), [&**e]),
        ExpKind::Attr(attr, e) if attr.name == "param" => {
            write_all(names, out, &format!("{:?}", attr.args), [&**e])
        }
        ExpKind::Attr(_, e) => write_all(names, out, "", [&**e]),
        ExpKind::Apply { fun, args, .. } => {
            write_all(names, out, "f", std::iter::once(&**fun).chain(args))
        }
        ExpKind::If {
            cond,
            then,
            otherwise,
        } => write_all(names, out, "if", [&**cond, &**then, &**otherwise]),
        ExpKind::Assert { cond, body, .. } => write_all(names, out, "assert", [&**cond, &**body]),
        ExpKind::Index { array, slices } => {
            let _ = write!(out, "i");
            write_key(names, out, array);
            for slice in slices {
                match slice {
                    Slice::Index(i) => {
                        let _ = write_all(names, out, "@", [i]);
                    }
                    Slice::Range { start, end, stride } => {
                        for part in [start, end, stride] {
                            let _ = write_all(names, out, ":", part.iter());
                        }
                    }
                }
            }
            Ok(())
        }
        // Expressions with bindings are no sizes; should one come here, it equals only itself.
        ExpKind::Lambda { .. }
        | ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::Match { .. }
        | ExpKind::Loop { .. }
        | ExpKind::Update { .. } => write!(out, "{:?}", e.span),
    };
}

fn write_all<'a>(
    names: &Names,
    out: &mut String,
    tag: &str,
    es: impl IntoIterator<Item = &'a Exp>,
) -> std::fmt::Result {
    write!(out, "{tag}(")?;
    for e in es {
        write_key(names, out, e);
        write!(out, ",")?;
    }
    write!(out, ")")
}

fn write_inst(out: &mut String, inst: &Inst) {
    // Sizes are implied by the arguments; types that have no sizes distinguish overloads.
    for ty in &inst.types {
        let _ = match ty {
            Type::Prim(p) => write!(out, "<{}>", p.name()),
            Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => Ok(()),
        };
    }
}

fn write_size(out: &mut String, size: &Size) {
    if let Some(Atom::Opaque(o)) = size.as_atom() {
        out.push_str(&o.key);
        return;
    }
    if let Some(n) = size.as_name() {
        let _ = write!(out, "v{}", n.0);
        return;
    }
    let _ = write!(out, "[");
    for (product, k) in &size.terms {
        let _ = write!(out, "+{k}");
        for atom in product {
            let _ = match atom {
                Atom::Name(n) => write!(out, "*v{}", n.0),
                Atom::Meta(m) => write!(out, "*m{m}"),
                Atom::Opaque(o) => write!(out, "*{}", o.key),
            };
        }
    }
    let _ = write!(out, "]");
}
