//! Syntax tree to source text. The text parses to the same tree, spans apart.
//!
//! Expressions and types come out on one line, with parentheses only where they are needed, so that
//! messages can quote them.

mod dec;
mod expr;
mod pattern;
mod ty;

use super::ast::{
    Exp, Name, Pat, Program, QualName, TypeExp, TypeParam, TypeParamKind, TypeScheme,
};
use crate::syntax::ast::Lift;

/// The text of a whole file.
pub fn print_program(program: &Program) -> String {
    let mut printer = Printer::default();
    printer.program(program);
    printer.out
}

/// The text of an expression.
pub fn print_exp(exp: &Exp) -> String {
    let mut printer = Printer::default();
    printer.exp(exp, expr::ANY);
    printer.out
}

/// The text of a type.
pub fn print_type(ty: &TypeExp) -> String {
    let mut printer = Printer::default();
    printer.ty(ty, ty::Place::Any);
    printer.out
}

/// The text of a pattern.
pub fn print_pat(pat: &Pat) -> String {
    let mut printer = Printer::default();
    printer.pat(pat, pattern::Place::Any);
    printer.out
}

/// The text of a type scheme.
pub fn print_type_scheme(scheme: &TypeScheme) -> String {
    let mut printer = Printer::default();
    for param in &scheme.params {
        printer.type_param(param);
        printer.text(" ");
    }
    printer.text(": ");
    printer.ty(&scheme.ty, ty::Place::Any);
    printer.out
}

/// Below this many bytes of free stack printing continues on a new segment.
const RED_ZONE: usize = 64 * 1024;
const SEGMENT: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    /// Runs a step of a recursion whose depth the program decides.
    fn deep(&mut self, step: impl FnOnce(&mut Self)) {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || step(self));
    }

    fn parens(&mut self, needed: bool, inside: impl FnOnce(&mut Self)) {
        if needed {
            self.text("(");
        }
        inside(self);
        if needed {
            self.text(")");
        }
    }

    fn separated<T>(&mut self, items: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text(", ");
            }
            one(self, item);
        }
    }

    /// A name where it is bound: operators stand in parentheses.
    fn binder(&mut self, name: &Name) {
        self.parens(!is_word(name), |p| p.text(name));
    }

    fn qual_name(&mut self, name: &QualName) {
        self.text(&name.to_string());
    }

    fn type_params(&mut self, params: &[TypeParam]) {
        for param in params {
            self.text(" ");
            self.type_param(param);
        }
    }

    fn type_param(&mut self, param: &TypeParam) {
        match param.kind {
            TypeParamKind::Size => {
                self.text("[");
                self.text(&param.name.name);
                self.text("]");
            }
            TypeParamKind::Type(lift) => {
                self.text("'");
                self.lift(lift);
                self.text(&param.name.name);
            }
        }
    }

    fn lift(&mut self, lift: Lift) {
        self.text(match lift {
            Lift::Unlifted => "",
            Lift::SizeLifted => "~",
            Lift::Lifted => "^",
        });
    }
}

/// Whether a name is an identifier and no operator.
fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
}
