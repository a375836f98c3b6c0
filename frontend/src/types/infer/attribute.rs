//! Attributes in the first pass: which are known, and where they have an effect. An attribute never changes what a program
//! means, so nothing about one is an error, but one that does nothing is not what was meant.

use super::Infer;
use crate::diagnostic::{Code, Diagnostic};
use crate::near::near;
use crate::property::understood;
use crate::source::Span;
use crate::syntax::ast::{self, AttrKind};
use crate::typed::Attr;
use crate::types::context::Res;
use crate::types::raw::{RExp, RForm, RKind};
use crate::types::ty::{Prim, Sym, Type};

/// Where an attribute stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    Expression,
    Declaration,
}

/// The attributes, whether they take arguments, and where they may stand.
const KNOWN: &[(&str, bool, &[Position])] = &[
    ("blank", false, &[Position::Expression]),
    ("bound", true, &[Position::Expression]),
    ("break", false, &[Position::Expression]),
    ("flattening", true, &[Position::Expression]),
    ("inline", false, &[Position::Declaration]),
    (
        "noinline",
        false,
        &[Position::Expression, Position::Declaration],
    ),
    ("opaque", false, &[Position::Expression]),
    ("param", true, &[Position::Expression]),
    ("prop", false, &[Position::Declaration]),
    ("prop", true, &[Position::Declaration]),
    ("scratch", false, &[Position::Expression]),
    ("sequential", false, &[Position::Expression]),
    ("sequential_inner", false, &[Position::Expression]),
    ("sequential_outer", false, &[Position::Expression]),
    ("stripmine", true, &[Position::Expression]),
    ("trace", false, &[Position::Expression]),
    ("trace", true, &[Position::Expression]),
    ("unroll", false, &[Position::Expression]),
    ("unsafe", false, &[Position::Expression]),
    ("warn", true, &[Position::Expression]),
];

impl Infer<'_, '_> {
    /// An expression with an attribute.
    pub(crate) fn attributed(
        &mut self,
        attr: &ast::Attr,
        body: &ast::Exp,
        span: Span,
    ) -> Res<RExp> {
        let body = self.boxed(body)?;
        self.known_attribute(attr, Position::Expression);
        let typed = attribute(attr);
        if let Some(why) = idle_on(&typed, &body) {
            let message = format!("`#[{}]` has no effect: {why}", typed.name);
            self.cx.warn(Code::IdleAttribute, attr.span, message);
        }
        if typed.name == "break" && typed.args.is_none() {
            self.cx.warn(
                Code::IdleAttribute,
                attr.span,
                "`#[break]` has no effect: there is no debugger that could stop here",
            );
        }
        let ty = self.solver.zonk(&body.ty);
        let open = matches!(ty, Type::Meta(_));
        if typed.name == "param" && !open && ty.as_prim() != Some(Prim::I64) {
            self.cx.warn(
                Code::IdleAttribute,
                attr.span,
                "`#[param]` has no effect: only an expression of type `i64` can be a parameter",
            );
        }
        let ty = body.ty.clone();
        Ok(RExp {
            kind: RKind::Attr(typed, body),
            ty,
            span,
        })
    }

    /// Warns of an attribute that is unknown or misplaced.
    pub(crate) fn known_attribute(&mut self, attr: &ast::Attr, position: Position) {
        let (name, arguments) = match &attr.kind {
            AttrKind::Name(name) => (name, false),
            AttrKind::Call(name, _) => (name, true),
            // Numbers mean nothing to this compiler, but are there to be numbers.
            AttrKind::Int(_) => return,
        };
        let mut same = KNOWN.iter().filter(|(known, _, _)| **known == **name);
        if let Some((_, _, positions)) = same.clone().find(|(_, takes, _)| *takes == arguments) {
            if !positions.contains(&position) {
                let message = format!("`#[{name}]` has no effect here");
                let belongs = match position {
                    Position::Expression => "it belongs before a declaration",
                    Position::Declaration => "it belongs before an expression",
                };
                let warning = Diagnostic::warning(Code::IdleAttribute, attr.span, message);
                self.cx.diags.push(warning.hint(belongs));
            }
            if let ("prop", AttrKind::Call(_, arguments)) = (&**name, &attr.kind) {
                self.known_settings(arguments);
            }
            return;
        }
        let message = format!("unknown attribute `{name}`");
        let mut warning = Diagnostic::warning(Code::UnknownAttribute, attr.span, message);
        if let Some((_, takes, _)) = same.next() {
            warning = warning.note(if *takes {
                format!("`{name}` takes arguments in parentheses")
            } else {
                format!("`{name}` takes no arguments")
            });
        } else {
            let known: Vec<Sym> = KNOWN
                .iter()
                .map(|(known, _, _)| Sym::from(*known))
                .collect();
            if let Some(near) = near(name, known.iter()) {
                warning = warning.hint(format!("did you mean `{near}`?"));
            }
        }
        self.cx.diags.push(warning);
    }
}

impl Infer<'_, '_> {
    /// Warns of what `#[prop]` cannot say.
    fn known_settings(&mut self, arguments: &[ast::Attr]) {
        for argument in arguments {
            let typed = attribute(argument);
            if understood(&typed) {
                continue;
            }
            let message = format!("`#[prop]` knows nothing about `{}`", typed.name);
            let warning = Diagnostic::warning(Code::UnknownAttribute, argument.span, message);
            let help = "it takes `gen(f)`, `shrink(f)` and `size(n)`, where `f` is an entry point and `n` an integer";
            self.cx.diags.push(warning.hint(help));
        }
    }
}

/// Why an attribute of loops does nothing for an expression.
fn idle_on(attr: &Attr, body: &RExp) -> Option<&'static str> {
    let counts = if let RKind::Loop { form, .. } = &body.kind {
        Some(!matches!(form, RForm::While(_)))
    } else {
        None
    };
    match (attr.name.as_str(), counts) {
        ("unroll" | "stripmine" | "bound", None) => Some("this is no loop"),
        ("stripmine", Some(false)) => Some("a `while` loop has no count"),
        ("stripmine", Some(true)) if levels(attr).is_none() => {
            Some("it takes the number of loops to be put around this one, at least 1")
        }
        ("bound", Some(true)) => Some("a `for` loop has a count"),
        _ => None,
    }
}

/// How many loops `#[stripmine(k)]` puts around one.
pub(crate) fn levels(attr: &Attr) -> Option<usize> {
    match attr.args.as_deref() {
        Some([levels]) => levels.name.parse().ok().filter(|k| *k > 0),
        Some(_) | None => None,
    }
}

/// An attribute as the typed program has it.
pub(crate) fn attribute(attr: &ast::Attr) -> Attr {
    match &attr.kind {
        AttrKind::Name(n) => Attr {
            name: n.to_string(),
            args: None,
        },
        AttrKind::Int(k) => Attr {
            name: k.to_string(),
            args: None,
        },
        AttrKind::Call(n, args) => Attr {
            name: n.to_string(),
            args: Some(args.iter().map(attribute).collect()),
        },
    }
}
