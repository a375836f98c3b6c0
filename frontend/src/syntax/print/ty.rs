//! Types.

use super::Printer;
use crate::syntax::ast::{Ident, SizeExp, SumClause, TypeArg, TypeExp, TypeKind};

/// Where a type stands, from the widest place to the narrowest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Anything may stand here.
    Any,
    /// No arrow and no existential.
    Term,
    /// One word or brackets.
    Atom,
}

fn place_of(kind: &TypeKind) -> Place {
    match kind {
        TypeKind::Arrow { .. } | TypeKind::Exists(..) => Place::Any,
        TypeKind::Apply(..) | TypeKind::Array(..) | TypeKind::Unique(..) | TypeKind::Sum(..) => {
            Place::Term
        }
        TypeKind::Name(..) | TypeKind::Tuple(..) | TypeKind::Record(..) => Place::Atom,
    }
}

impl Printer {
    pub(super) fn ty(&mut self, ty: &TypeExp, place: Place) {
        let parens = place_of(&ty.kind) < place;
        self.deep(|p| p.parens(parens, |p| p.ty_kind(&ty.kind)));
    }

    fn ty_kind(&mut self, kind: &TypeKind) {
        match kind {
            TypeKind::Name(name) => self.qual_name(name),
            TypeKind::Apply(head, args) => {
                self.ty(head, Place::Atom);
                for arg in args {
                    self.text(" ");
                    match arg {
                        TypeArg::Size(size) => self.size(size),
                        TypeArg::Type(ty) => self.ty(ty, Place::Atom),
                    }
                }
            }
            TypeKind::Tuple(types) => {
                self.text("(");
                self.separated(types, |p, ty| p.ty(ty, Place::Any));
                self.text(")");
            }
            TypeKind::Record(fields) => {
                self.text("{");
                self.separated(fields, |p, field| {
                    p.text(&field.name.name);
                    p.text(": ");
                    p.ty(&field.ty, Place::Any);
                });
                self.text("}");
            }
            TypeKind::Array(size, element) => {
                self.size(size);
                self.ty(element, Place::Term);
            }
            TypeKind::Arrow { param, from, to } => self.arrow(param.as_ref(), from, to),
            TypeKind::Unique(inner) => {
                let again = matches!(inner.kind, TypeKind::Unique(_));
                self.text(if again { "* " } else { "*" });
                self.ty(inner, Place::Term);
            }
            TypeKind::Sum(clauses) => self.sum(clauses),
            TypeKind::Exists(sizes, inner) => {
                self.text("?");
                for size in sizes {
                    self.text("[");
                    self.text(&size.name);
                    self.text("]");
                }
                self.text(".");
                self.ty(inner, Place::Any);
            }
        }
    }

    fn arrow(&mut self, param: Option<&Ident>, from: &TypeExp, to: &TypeExp) {
        match param {
            None => self.ty(from, Place::Term),
            Some(name) => {
                self.text("(");
                self.text(&name.name);
                self.text(": ");
                self.ty(from, Place::Any);
                self.text(")");
            }
        }
        self.text(" -> ");
        self.ty(to, Place::Any);
    }

    fn sum(&mut self, clauses: &[SumClause]) {
        for (at, clause) in clauses.iter().enumerate() {
            self.text(if at == 0 { "#" } else { " | #" });
            self.text(&clause.name.name);
            for ty in &clause.payload {
                self.text(" ");
                self.ty(ty, Place::Atom);
            }
        }
    }

    fn size(&mut self, size: &SizeExp) {
        self.text("[");
        match size {
            SizeExp::Any(_) => {}
            SizeExp::Ragged(_) => self.text(".."),
            SizeExp::Exp(exp, _) => self.exp(exp, super::expr::ANY),
        }
        self.text("]");
    }
}
