//! Chains of operands and operators, ranges and updates among them, and sections in parentheses.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use super::token::Kind;
use super::ty::lone_element;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{Exp, ExpKind, Ident, P, QualName, RangeEnd, UpdateStep};
use crate::syntax::precedence::{self, Assoc, Binding};

/// What stands between two operands.
enum Link {
    Op(QualName),
    With(Vec<UpdateStep>),
}

/// The kinds of dots between the parts of a range; no end kind is the plain `..`.
type Dots = (Option<RangeEnd>, Span);

impl<'a> Cx<'a> {
    /// A chain; ranges bind loosest, so the chain is cut at them first.
    pub(super) fn op_seq(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let nodes = node.children();
        let levels = nodes.len() / 2;
        let too_deep = |cx: &mut Self| cx.exp(ExpKind::Hole, span);
        self.deeper(levels, span, too_deep, |cx| cx.op_seq_here(nodes, span))
    }

    fn op_seq_here(&mut self, mut nodes: Nodes<'_>, span: Span) -> Exp {
        let mut parts: Vec<Exp> = Vec::new();
        let mut dots: Vec<Dots> = Vec::new();
        loop {
            parts.push(self.chain(&mut nodes));
            match nodes.take(Rule::range_op) {
                None => break,
                Some(node) => {
                    let end = match self.kind(node.first()) {
                        Kind::DOTS3 => Some(RangeEnd::Inclusive),
                        Kind::DOTS_LESS => Some(RangeEnd::Below),
                        Kind::DOTS_GREATER => Some(RangeEnd::Above),
                        _ => None,
                    };
                    dots.push((end, self.span(&node)));
                }
            }
        }
        self.range(parts, &dots, span)
    }

    fn range(&mut self, parts: Vec<Exp>, dots: &[Dots], span: Span) -> Exp {
        let mut parts = parts.into_iter().map(P::new);
        let first = parts.next().expect("a chain has an operand");
        let (second, end_kind) = match dots {
            [] => return first.into_inner(),
            [(Some(kind), _)] => (None, *kind),
            [(None, _), (Some(kind), _)] => (parts.next(), *kind),
            [(None, at)] | [(None, _), (None, at)] => {
                self.error(
                    Diagnostic::error(Code::BadSyntax, *at, "`..` does not end a range")
                        .label("expected `...`, `..<` or `..>`")
                        .note("`a...b` includes its end, `a..<b` does not; `a..s...b` has a step"),
                );
                (None, RangeEnd::Inclusive)
            }
            [_, (_, at), ..] => {
                self.error(
                    Diagnostic::error(Code::BadSyntax, *at, "this range has too many parts")
                        .note("a range is `a...b` or, with a step, `a..s...b`"),
                );
                (None, RangeEnd::Inclusive)
            }
        };
        let end = parts
            .next()
            .unwrap_or_else(|| P::new(self.exp(ExpKind::Hole, span)));
        let kind = ExpKind::Range {
            first,
            second,
            end_kind,
            end,
        };
        self.exp(kind, span)
    }

    /// Operands and operators up to a range or the end.
    fn chain(&mut self, nodes: &mut Nodes<'_>) -> Exp {
        let first = self.operand(nodes);
        let mut rest: Vec<(Link, Binding, Exp)> = Vec::new();
        while let Some(rule) = nodes.peek() {
            if rule == Rule::range_op {
                break;
            }
            let (link, binding) = self.link(nodes.next());
            let operand = self.operand(nodes);
            rest.push((link, binding, operand));
        }
        if rest.is_empty() {
            return first;
        }
        precedence::fold(first, rest, |lhs, link, rhs| self.join(lhs, link, rhs))
    }

    fn link(&mut self, node: Node<'_>) -> (Link, Binding) {
        if node.is(Rule::with_path) {
            let binding = Binding {
                left: precedence::WITH,
                right: precedence::WITH_VALUE,
                assoc: Assoc::Left,
            };
            return (Link::With(self.steps(node.children())), binding);
        }
        let ticked = node.is(Rule::tick_op);
        let op = self.operator(node);
        let (level, assoc) = if ticked {
            (precedence::BACKTICK, Assoc::Left)
        } else {
            precedence::of_operator(&op.name.name)
        };
        let binding = Binding {
            left: level,
            right: level,
            assoc,
        };
        (Link::Op(op), binding)
    }

    fn join(&mut self, lhs: Exp, link: Link, rhs: Exp) -> Exp {
        let span = lhs.span.to(rhs.span);
        let (lhs, rhs) = (P::new(lhs), P::new(rhs));
        let kind = match link {
            Link::Op(op) => ExpKind::BinOp { op, lhs, rhs },
            Link::With(path) => ExpKind::Update {
                base: lhs,
                path,
                value: rhs,
            },
        };
        self.exp(kind, span)
    }

    /// An operand with its signs, `-` and `!`.
    fn operand(&mut self, nodes: &mut Nodes<'_>) -> Exp {
        let mut signs = Vec::new();
        let mut head = nodes.next();
        while head.is(Rule::negate) || head.is(Rule::not) {
            signs.push((head.is(Rule::negate), self.span(&head)));
            head = nodes.next();
        }
        let span = self.span(&head);
        let too_deep = |cx: &mut Self| cx.exp(ExpKind::Hole, span);
        let mut exp = self.deeper(signs.len(), span, too_deep, |cx| cx.plain_operand(head));
        for (negate, sign) in signs.into_iter().rev() {
            let span = sign.to(exp.span);
            let inner = P::new(exp);
            let kind = if negate {
                ExpKind::Negate(inner)
            } else {
                ExpKind::Not(inner)
            };
            exp = self.exp(kind, span);
        }
        exp
    }

    /// An operator, qualified or not, or a name in backticks.
    pub(super) fn operator(&mut self, node: Node<'_>) -> QualName {
        let span = self.span(&node);
        if node.is(Rule::tick_op) {
            return self.qual_name(&node.only());
        }
        let text = self.text_of(span);
        if self.kind(node.first()) != Kind::QUAL_OP {
            let name = self.name(text);
            return QualName {
                quals: Vec::new(),
                name: Ident { name, span },
            };
        }
        let mut idents = Vec::new();
        let mut lo = span.lo;
        let mut rest = text;
        while rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let (part, after) = rest.split_once('.').unwrap_or((rest, ""));
            let hi = lo + u32::try_from(part.len()).unwrap_or(0);
            idents.push(Ident {
                name: self.name(part),
                span: Span { lo, hi, ..span },
            });
            lo = hi + 1;
            rest = after;
        }
        let name = Ident {
            name: self.name(rest),
            span: Span { lo, ..span },
        };
        QualName {
            quals: idents,
            name,
        }
    }

    /// What parentheses hold: a unit, a section, a tuple, or one expression.
    pub(super) fn paren(&mut self, node: Node<'_>) -> Exp {
        let span = self.span(&node);
        let mut nodes = node.children();
        let Some(first) = nodes.maybe() else {
            return self.exp(ExpKind::Tuple(Vec::new()), span);
        };
        match first.rule() {
            Rule::path_section => {
                let steps = self.steps(first.children());
                self.exp(ExpKind::PathSection(steps), span)
            }
            Rule::op_seq => {
                let first = self.op_seq(first);
                self.after_first(first, nodes, span)
            }
            _ => {
                let op = self.operator(first);
                let kind = match nodes.maybe() {
                    None => ExpKind::OpSection(op),
                    Some(rhs) => ExpKind::RightSection(op, P::new(self.op_seq(rhs))),
                };
                self.exp(kind, span)
            }
        }
    }

    /// The rest of parentheses after their first expression.
    fn after_first(&mut self, first: Exp, mut nodes: Nodes<'_>, span: Span) -> Exp {
        if let Some(Rule::op | Rule::minus_op | Rule::tick_op) = nodes.peek() {
            let op = self.operator(nodes.next());
            return self.exp(ExpKind::LeftSection(op, P::new(first)), span);
        }
        let mut elements = vec![self.ascriptions(first, &mut nodes)];
        let mut comma = None;
        for node in nodes.rest() {
            if node.is(Rule::last_comma) {
                comma = Some(self.span(&node));
            } else {
                elements.push(self.exp_node(node));
            }
        }
        if elements.len() != 1 {
            return self.exp(ExpKind::Tuple(elements), span);
        }
        if let Some(comma) = comma {
            self.error(lone_element(comma, "tuple"));
        }
        let only = elements.pop().expect("its length was one");
        Exp { span, ..only }
    }
}
