//! Patterns and literals.

use super::{Printer, ty};
use crate::syntax::ast::{Attr, AttrKind, Literal, Pat, PatKind};
use std::fmt::Write;

/// Where a pattern stands, from the widest place to the narrowest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// Anything may stand here.
    Any,
    /// No attribute.
    Plain,
    /// No ascription either.
    Bare,
    /// No constructor with payload either.
    Inner,
    /// No minus sign either: a parameter.
    Param,
}

fn place_of(kind: &PatKind) -> Place {
    match kind {
        PatKind::Attr(..) => Place::Any,
        PatKind::Ascribe(..) => Place::Plain,
        PatKind::Constr(_, args) if !args.is_empty() => Place::Bare,
        PatKind::Literal { negative: true, .. } => Place::Inner,
        PatKind::Name(_)
        | PatKind::Wildcard
        | PatKind::Tuple(_)
        | PatKind::Record(_)
        | PatKind::Constr(..)
        | PatKind::Literal { .. } => Place::Param,
    }
}

impl Printer {
    pub(super) fn pat(&mut self, pat: &Pat, place: Place) {
        let parens = place_of(&pat.kind) < place;
        self.deep(|p| p.parens(parens, |p| p.pat_kind(&pat.kind)));
    }

    pub(super) fn params(&mut self, params: &[Pat]) {
        for param in params {
            self.text(" ");
            self.pat(param, Place::Param);
        }
    }

    fn pat_kind(&mut self, kind: &PatKind) {
        match kind {
            PatKind::Name(name) => self.binder(name),
            PatKind::Wildcard => self.text("_"),
            PatKind::Tuple(pats) => {
                self.text("(");
                self.separated(pats, |p, pat| p.pat(pat, Place::Any));
                self.text(")");
            }
            PatKind::Record(fields) => {
                self.text("{");
                self.separated(fields, |p, field| {
                    p.text(&field.name.name);
                    p.text(" = ");
                    p.pat(&field.pat, Place::Any);
                });
                self.text("}");
            }
            PatKind::Ascribe(pat, ty) => {
                self.pat(pat, Place::Bare);
                self.text(": ");
                self.ty(ty, ty::Place::Any);
            }
            PatKind::Constr(name, args) => {
                self.text("#");
                self.text(&name.name);
                for arg in args {
                    self.text(" ");
                    self.pat(arg, Place::Inner);
                }
            }
            PatKind::Literal { negative, value } => {
                self.text(if *negative { "-" } else { "" });
                self.literal(value);
            }
            PatKind::Attr(attr, pat) => {
                self.attr(attr);
                self.pat(pat, Place::Any);
            }
        }
    }

    /// An attribute with its brackets and a blank behind them.
    pub(super) fn attr(&mut self, attr: &Attr) {
        self.text("#[");
        self.attr_kind(&attr.kind);
        self.text("] ");
    }

    fn attr_kind(&mut self, kind: &AttrKind) {
        self.deep(|p| match kind {
            AttrKind::Name(name) => p.text(name),
            AttrKind::Int(value) => p.text(&value.to_string()),
            AttrKind::Call(name, args) => {
                p.text(name);
                p.text("(");
                p.separated(args, |p, arg| p.attr_kind(&arg.kind));
                p.text(")");
            }
        });
    }

    pub(super) fn literal(&mut self, literal: &Literal) {
        match literal {
            Literal::Int { value, suffix } => {
                self.text(&value.to_string());
                self.text(suffix.map_or("", |ty| ty.name()));
            }
            Literal::Large(digits) => self.text(&digits.0),
            Literal::Float { digits, suffix } => {
                self.text(&digits.0);
                self.text(suffix.map_or("", |ty| ty.name()));
            }
            Literal::Bool(value) => self.text(if *value { "true" } else { "false" }),
            Literal::Char(value) => {
                self.text("'");
                self.character(*value, None, '\'');
                self.text("'");
            }
            Literal::Str(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let mut chars = text.chars().peekable();
                self.text("\"");
                while let Some(one) = chars.next() {
                    self.character(one, chars.peek().copied(), '"');
                }
                self.text("\"");
            }
        }
    }

    /// One character between quotes; `next` decides where a numeric escape must be ended.
    fn character(&mut self, value: char, next: Option<char>, quote: char) {
        match value {
            '\n' => self.text("\\n"),
            '\t' => self.text("\\t"),
            '\\' => self.text("\\\\"),
            _ if value == quote => {
                self.out.push('\\');
                self.out.push(value);
            }
            _ if value.is_control() => {
                write!(self.out, "\\{}", u32::from(value)).expect("writing to a string succeeds");
                if next.is_some_and(|next| next.is_ascii_digit()) {
                    self.text("\\&");
                }
            }
            _ => self.out.push(value),
        }
    }
}
