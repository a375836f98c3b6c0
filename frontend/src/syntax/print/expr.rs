//! Expressions.

use super::{Printer, is_word, pattern, ty};
use crate::syntax::ast::{
    DimIndex, Exp, ExpKind, LocalFun, LoopForm, P, QualName, RangeEnd, UpdateStep,
};
use crate::syntax::precedence::{self, Assoc, Level};

/// How tightly an expression holds together; a place demands a minimum.
type Tightness = u8;

/// Any expression, ascriptions too.
pub(super) const ANY: Tightness = 0;
/// No ascription.
const OPEN_END: Tightness = 1;
/// Nothing that extends as far right as it can.
const CLOSED: Tightness = 2;
/// The loosest operator; the others follow.
const OPERATOR: Tightness = 3;
const SIGN: Tightness = 50;
const APPLY: Tightness = 60;
const ATOM: Tightness = 70;

fn of_level(level: Level) -> Tightness {
    OPERATOR + level.rank()
}

fn of_operator(op: &QualName) -> (Level, Assoc) {
    if is_word(&op.name.name) {
        (precedence::BACKTICK, Assoc::Left)
    } else {
        precedence::of_operator(&op.name.name)
    }
}

fn tightness(kind: &ExpKind) -> Tightness {
    match kind {
        ExpKind::Ascribe(..) | ExpKind::Coerce(..) => ANY,
        ExpKind::Let { .. }
        | ExpKind::LetFun { .. }
        | ExpKind::LetUpdate { .. }
        | ExpKind::If { .. }
        | ExpKind::Loop { .. }
        | ExpKind::Match(..)
        | ExpKind::Lambda { .. }
        | ExpKind::Assert(..)
        | ExpKind::Attr(..) => OPEN_END,
        ExpKind::Range { .. } => CLOSED,
        ExpKind::BinOp { op, .. } => of_level(of_operator(op).0),
        ExpKind::Update { .. } => of_level(precedence::WITH),
        ExpKind::Negate(_) | ExpKind::Not(_) => SIGN,
        ExpKind::Apply(..) => APPLY,
        ExpKind::Constr(_, args) if !args.is_empty() => APPLY,
        ExpKind::Constr(..)
        | ExpKind::Name(_)
        | ExpKind::Literal(_)
        | ExpKind::Hole
        | ExpKind::Tuple(_)
        | ExpKind::Record(_)
        | ExpKind::Array(_)
        | ExpKind::Project(..)
        | ExpKind::Index(..)
        | ExpKind::LocalOpen(..)
        | ExpKind::OpSection(_)
        | ExpKind::LeftSection(..)
        | ExpKind::RightSection(..)
        | ExpKind::PathSection(_) => ATOM,
    }
}

impl Printer {
    pub(super) fn exp(&mut self, exp: &Exp, least: Tightness) {
        let parens = tightness(&exp.kind) < least;
        self.deep(|p| p.parens(parens, |p| p.exp_kind(&exp.kind)));
    }

    fn exp_kind(&mut self, kind: &ExpKind) {
        match kind {
            ExpKind::Name(name) => self.qual_name(name),
            ExpKind::Literal(literal) => self.literal(literal),
            ExpKind::Hole => self.text("???"),
            ExpKind::Tuple(elements) => self.bracketed("(", elements, ")"),
            ExpKind::Array(elements) => self.bracketed("[", elements, "]"),
            ExpKind::Record(fields) => {
                self.text("{");
                self.separated(fields, |p, field| {
                    p.text(&field.name.name);
                    if let Some(value) = &field.value {
                        p.text(" = ");
                        p.exp(value, ANY);
                    }
                });
                self.text("}");
            }
            ExpKind::Range {
                first,
                second,
                end_kind,
                end,
            } => {
                self.range(first, second.as_ref(), *end_kind, end);
            }
            ExpKind::Project(base, field) => {
                let path = matches!(base.kind, ExpKind::Name(_)) && is_name(&field.name);
                let number = matches!(base.kind, ExpKind::Literal(_));
                self.parens(path || number, |p| {
                    p.exp(base, if path || number { ANY } else { ATOM })
                });
                self.text(".");
                self.text(&field.name);
            }
            ExpKind::Index(base, dims) => {
                self.index_base(base);
                self.dims(dims);
            }
            ExpKind::Update { base, path, value } => {
                self.exp(base, of_level(precedence::WITH));
                self.text(" with ");
                self.path(path, false);
                self.text(" = ");
                self.exp(value, of_level(precedence::WITH_VALUE) + 1);
            }
            ExpKind::LocalOpen(name, body) => {
                self.qual_name(name);
                self.text(".(");
                self.exp(body, ANY);
                self.text(")");
            }
            ExpKind::Apply(head, args) => {
                let applied = matches!(head.kind, ExpKind::Constr(..));
                self.parens(applied, |p| p.exp(head, ATOM));
                self.args(args);
            }
            ExpKind::BinOp { op, lhs, rhs } => self.bin_op(op, lhs, rhs),
            ExpKind::Negate(inner) => self.sign("-", inner),
            ExpKind::Not(inner) => self.sign("!", inner),
            ExpKind::Ascribe(inner, ty) => {
                self.ascribed(inner);
                self.text(" : ");
                self.ty(ty, ty::Place::Any);
            }
            ExpKind::Coerce(inner, ty) => {
                self.ascribed(inner);
                self.text(" :> ");
                self.ty(ty, ty::Place::Any);
            }
            ExpKind::OpSection(op) => {
                self.text("(");
                self.operator(op);
                self.text(")");
            }
            ExpKind::LeftSection(op, lhs) => {
                self.text("(");
                self.exp(lhs, of_level(of_operator(op).0));
                self.text(" ");
                self.operator(op);
                self.text(")");
            }
            ExpKind::RightSection(op, rhs) => {
                self.text("(");
                self.operator(op);
                self.text(" ");
                self.exp(rhs, OPEN_END);
                self.text(")");
            }
            ExpKind::PathSection(path) => {
                self.text("(.");
                self.path(path, false);
                self.text(")");
            }
            ExpKind::Constr(name, args) => {
                self.text("#");
                self.text(&name.name);
                self.args(args);
            }
            ExpKind::Let { .. }
            | ExpKind::LetFun { .. }
            | ExpKind::LetUpdate { .. }
            | ExpKind::If { .. }
            | ExpKind::Loop { .. }
            | ExpKind::Match(..)
            | ExpKind::Lambda { .. }
            | ExpKind::Assert(..)
            | ExpKind::Attr(..) => self.open_ended(kind),
        }
    }

    /// What extends as far right as it can.
    fn open_ended(&mut self, kind: &ExpKind) {
        match kind {
            ExpKind::Let {
                sizes,
                pat,
                value,
                body,
            } => {
                self.text("let ");
                for size in sizes {
                    self.text("[");
                    self.text(&size.name);
                    self.text("] ");
                }
                self.pat(pat, pattern::Place::Any);
                self.text(" = ");
                self.let_rest(value, body);
            }
            ExpKind::LetFun { fun, body } => self.let_fun(fun, body),
            ExpKind::LetUpdate {
                name,
                path,
                value,
                body,
            } => {
                self.text("let ");
                self.text(&name.name);
                self.path(path, true);
                self.text(" = ");
                self.let_rest(value, body);
            }
            ExpKind::If {
                cond,
                then,
                otherwise,
            } => {
                self.text("if ");
                self.exp(cond, ANY);
                self.text(" then ");
                self.exp(then, ANY);
                self.text(" else ");
                self.exp(otherwise, ANY);
            }
            ExpKind::Loop {
                pat,
                init,
                form,
                body,
            } => {
                self.text("loop ");
                self.pat(pat, pattern::Place::Any);
                if let Some(init) = init {
                    self.text(" = ");
                    self.exp(init, ANY);
                }
                self.loop_form(form);
                self.text(" do ");
                self.exp(body, ANY);
            }
            ExpKind::Match(scrutinee, cases) => {
                self.text("match ");
                let open = tightness(&scrutinee.kind) == OPEN_END;
                self.exp(scrutinee, if open { CLOSED } else { ANY });
                for (at, case) in cases.iter().enumerate() {
                    self.text(" case ");
                    let attr = matches!(case.pat.kind, crate::syntax::ast::PatKind::Attr(..));
                    self.parens(attr, |p| {
                        p.pat(
                            &case.pat,
                            if attr {
                                pattern::Place::Any
                            } else {
                                pattern::Place::Bare
                            },
                        )
                    });
                    self.text(" -> ");
                    // A `match` at the end of a body would take the next case.
                    let open = at + 1 < cases.len() && tightness(&case.body.kind) == OPEN_END;
                    self.exp(&case.body, if open { CLOSED } else { ANY });
                }
            }
            ExpKind::Lambda { params, ret, body } => {
                self.text("\\");
                for (at, param) in params.iter().enumerate() {
                    self.text(if at == 0 { "" } else { " " });
                    self.pat(param, pattern::Place::Param);
                }
                if let Some(ret) = ret {
                    self.text(": ");
                    self.ty(ret, ty::Place::Term);
                }
                self.text(" -> ");
                self.exp(body, ANY);
            }
            ExpKind::Assert(cond, body) => {
                self.text("assert ");
                self.exp(cond, ATOM);
                self.text(" ");
                self.exp(body, ANY);
            }
            ExpKind::Attr(attr, body) => {
                self.attr(attr);
                self.exp(body, ANY);
            }
            ExpKind::Name(_)
            | ExpKind::Literal(_)
            | ExpKind::Hole
            | ExpKind::Tuple(_)
            | ExpKind::Record(_)
            | ExpKind::Array(_)
            | ExpKind::Range { .. }
            | ExpKind::Project(..)
            | ExpKind::Index(..)
            | ExpKind::Update { .. }
            | ExpKind::LocalOpen(..)
            | ExpKind::Apply(..)
            | ExpKind::BinOp { .. }
            | ExpKind::Negate(_)
            | ExpKind::Not(_)
            | ExpKind::Ascribe(..)
            | ExpKind::Coerce(..)
            | ExpKind::OpSection(_)
            | ExpKind::LeftSection(..)
            | ExpKind::RightSection(..)
            | ExpKind::PathSection(_)
            | ExpKind::Constr(..) => self.exp_kind(kind),
        }
    }

    fn bracketed(&mut self, open: &str, elements: &[Exp], close: &str) {
        self.text(open);
        self.separated(elements, |p, exp| p.exp(exp, ANY));
        self.text(close);
    }

    fn args(&mut self, args: &[Exp]) {
        for arg in args {
            self.text(" ");
            self.exp(arg, ATOM);
        }
    }

    fn range(&mut self, first: &Exp, second: Option<&P<Exp>>, kind: RangeEnd, end: &Exp) {
        self.exp(first, OPERATOR);
        if let Some(second) = second {
            self.text(" .. ");
            self.exp(second, OPERATOR);
        }
        self.text(match kind {
            RangeEnd::Inclusive => " ... ",
            RangeEnd::Below => " ..< ",
            RangeEnd::Above => " ..> ",
        });
        self.exp(end, OPERATOR);
    }

    /// An index must touch what it indexes, and that must end in a letter, digit or bracket.
    fn index_base(&mut self, base: &Exp) {
        let start = self.out.len();
        self.exp(base, ATOM);
        let touches = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | ')' | ']');
        let keyword = matches!(self.out[start..].as_ref(), "true" | "false");
        if !self.out.ends_with(touches) || keyword {
            self.out.insert(start, '(');
            self.out.push(')');
        }
    }

    fn bin_op(&mut self, op: &QualName, lhs: &Exp, rhs: &Exp) {
        let (level, assoc) = of_operator(op);
        let here = of_level(level);
        let (left, right) = match assoc {
            Assoc::Left => (here, here + 1),
            Assoc::Right => (here + 1, here),
        };
        self.exp(lhs, left);
        self.text(" ");
        self.operator(op);
        self.text(" ");
        self.exp(rhs, right);
    }

    fn operator(&mut self, op: &QualName) {
        if is_word(&op.name.name) {
            self.text("`");
            self.qual_name(op);
            self.text("`");
        } else {
            self.qual_name(op);
        }
    }

    fn sign(&mut self, sign: &str, inner: &Exp) {
        self.text(sign);
        if tightness(&inner.kind) == SIGN {
            self.text(" ");
        }
        self.exp(inner, SIGN);
    }

    /// What an ascription is put on; the next colon must not slip into it.
    fn ascribed(&mut self, inner: &Exp) {
        let again = tightness(&inner.kind) == ANY;
        self.exp(inner, if again { ANY } else { CLOSED });
    }

    fn dims(&mut self, dims: &[DimIndex]) {
        self.text("[");
        self.separated(dims, |p, dim| match dim {
            DimIndex::Fix(exp) => p.exp(exp, OPEN_END),
            DimIndex::Slice {
                start, end, stride, ..
            } => {
                for (colon, part) in [("", start), (":", end)] {
                    p.text(colon);
                    if let Some(part) = part {
                        p.exp(part, CLOSED);
                    }
                }
                if let Some(stride) = stride {
                    p.text(":");
                    p.exp(stride, CLOSED);
                }
            }
        });
        self.text("]");
    }

    /// A path into a value; `attached` when it follows a name.
    fn path(&mut self, path: &[UpdateStep], attached: bool) {
        for (at, step) in path.iter().enumerate() {
            match step {
                UpdateStep::Index(dims, _) => self.dims(dims),
                UpdateStep::Field(name) => {
                    self.text(if at > 0 || attached { "." } else { "" });
                    self.text(&name.name);
                }
            }
        }
    }

    /// The value of a `let`, and its body.
    fn let_rest(&mut self, value: &Exp, body: &Exp) {
        self.exp(value, ANY);
        self.text(" in ");
        self.exp(body, ANY);
    }

    fn let_fun(&mut self, fun: &LocalFun, body: &Exp) {
        self.text("let ");
        self.text(&fun.name.name);
        self.type_params(&fun.type_params);
        self.params(&fun.params);
        if let Some(ret) = &fun.ret {
            self.text(" : ");
            self.ty(ret, ty::Place::Any);
        }
        self.text(" = ");
        self.let_rest(&fun.body, body);
    }

    fn loop_form(&mut self, form: &LoopForm) {
        match form {
            LoopForm::For(name, bound) => {
                self.text(" for ");
                self.text(&name.name);
                self.text(" < ");
                self.exp(bound, ANY);
            }
            LoopForm::ForIn(pat, array) => {
                self.text(" for ");
                self.pat(pat, pattern::Place::Any);
                self.text(" in ");
                self.exp(array, ANY);
            }
            LoopForm::While(cond) => {
                self.text(" while ");
                self.exp(cond, ANY);
            }
        }
    }
}

/// Whether a field is a name, not a number.
fn is_name(field: &str) -> bool {
    field.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}
