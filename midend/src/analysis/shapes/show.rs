//! Forms as text.

use super::Extent;
use super::form::{Family, FamilyKind, Form, Table, Term, TermKind, Value};
use crate::ir::id::Var;

/// How forms are written: variables have names.
pub struct Show<'a> {
    /// The forms.
    pub table: &'a Table,
    /// The name of a variable.
    pub name: &'a mut dyn FnMut(Var) -> String,
}

impl Show<'_> {
    /// A form, such as `2*n_0*m_1 + 3`.
    pub fn form(&mut self, f: Form) -> String {
        let linear = self.table.form(f);
        let mut out = String::new();
        for p in &linear.products {
            let factors: Vec<String> = p.terms.iter().map(|t| self.term(*t)).collect();
            let product = factors.join("*");
            let sign = match (p.times < 0, out.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            out.push_str(sign);
            if p.times.unsigned_abs() != 1 {
                out.push_str(&format!("{}*", p.times.unsigned_abs()));
            }
            out.push_str(&product);
        }
        match linear.constant {
            0 if !out.is_empty() => {}
            n if out.is_empty() => out.push_str(&n.to_string()),
            n @ ..0 => out.push_str(&format!(" - {}", n.unsigned_abs())),
            n => out.push_str(&format!(" + {n}")),
        }
        out
    }

    fn term(&mut self, t: Term) -> String {
        let table = self.table;
        match table.term(t) {
            TermKind::Var(v) => (self.name)(*v),
            TermKind::Index(nest) => format!("#{}", (self.name)(Var(nest.0))),
            TermKind::Bound(b) => format!("i{b}"),
            TermKind::Elem { array, at } => format!("{}[{}]", (self.name)(*array), self.list(at)),
            TermKind::Sum { width, of } => match table.family(*of) {
                FamilyKind::Abs(b, body) => {
                    let (width, body) = (self.form(*width), self.family(*body));
                    format!("sum(i{b} < {width}: {body})")
                }
                FamilyKind::Scalar(_) | FamilyKind::Rows { .. } => {
                    let (width, of) = (self.form(*width), self.family(*of));
                    format!("sum({width}: {of})")
                }
            },
            TermKind::Op(op, args) => format!("{op}({})", self.list(args)),
            TermKind::Const(c) => match (c.as_bool(), c.as_int()) {
                (Some(b), _) => b.to_string(),
                (None, Some(n)) => format!("{n}{}", c.ty()),
                (None, None) => format!("{c:?}"),
            },
        }
    }

    fn list(&mut self, forms: &[Form]) -> String {
        let forms: Vec<String> = forms.iter().map(|f| self.form(*f)).collect();
        forms.join(", ")
    }

    /// A family, such as `\i0. 2*i0`.
    pub fn family(&mut self, f: Family) -> String {
        let table = self.table;
        match table.family(f) {
            FamilyKind::Scalar(form) => self.form(*form),
            FamilyKind::Abs(b, body) => format!("\\i{b}. {}", self.family(*body)),
            FamilyKind::Rows { array, at, .. } if at.is_empty() => (self.name)(*array),
            FamilyKind::Rows { array, at, .. } => {
                format!("{}[{}]", (self.name)(*array), self.list(at))
            }
        }
    }

    /// A value.
    pub fn value(&mut self, v: Value) -> String {
        match v {
            Value::Scalar(f) => self.form(f),
            Value::Array(f) => self.family(f),
        }
    }

    /// A shape, such as `[n_0][..offsets_1]`.
    pub fn shape(&mut self, shape: &[Extent]) -> String {
        let mut out = String::new();
        for extent in shape {
            let dim = match extent {
                Extent::Fixed(f) => self.form(*f),
                Extent::Varying(f) => format!("..{}", self.family(*f)),
            };
            out.push_str(&format!("[{dim}]"));
        }
        out
    }
}
