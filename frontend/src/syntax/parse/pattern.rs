//! Patterns, and operators where they are bound.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use super::token::Kind;
use super::ty::lone_element;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{FieldPat, Ident, P, Pat, PatKind};

impl<'a> Cx<'a> {
    pub(super) fn pat(&mut self, node: Node<'_>) -> Pat {
        let span = self.span(&node);
        self.deeper(1, span, |_| wildcard(span), |cx| cx.pat_here(node))
    }

    fn pat_here(&mut self, node: Node<'_>) -> Pat {
        let whole = self.span(&node);
        let mut nodes = node.children();
        let attrs = self.attrs(&mut nodes);
        let levels = attrs.len();
        let inner = nodes.next();
        let mut pat = self.deeper(levels, whole, |_| wildcard(whole), |cx| cx.param(inner));
        if let Some(ty) = nodes.maybe() {
            let ty = if ty.is(Rule::ty_term) {
                self.ty_term(ty)
            } else {
                self.ty(ty)
            };
            let span = pat.span.to(ty.span);
            let kind = PatKind::Ascribe(P::new(pat), P::new(ty));
            pat = Pat { kind, span };
        }
        for attr in attrs.into_iter().rev() {
            let span = attr.span.to(pat.span);
            let kind = PatKind::Attr(P::new(attr), P::new(pat));
            pat = Pat { kind, span };
        }
        pat
    }

    /// A pattern without ascription and attributes, as parameters are.
    pub(super) fn param(&mut self, node: Node<'_>) -> Pat {
        let span = self.span(&node);
        let kind = match node.rule() {
            Rule::pat_id => PatKind::Name(self.ident(&node).name),
            Rule::pat_wild => PatKind::Wildcard,
            Rule::pat_record => PatKind::Record(self.field_pats(node.children())),
            Rule::pat_lit | Rule::param_lit => self.pat_literal(&node),
            Rule::pat_constr | Rule::param_constr => {
                let mut nodes = node.children();
                let name = self.constr_name(&nodes.next());
                PatKind::Constr(name, nodes.rest().map(|arg| self.param(arg)).collect())
            }
            _ => return self.pat_paren(node),
        };
        Pat { kind, span }
    }

    fn pat_paren(&mut self, node: Node<'_>) -> Pat {
        let span = self.span(&node);
        let mut pats = Vec::new();
        let mut comma = None;
        for part in node.children().rest() {
            match part.rule() {
                Rule::pat => pats.push(self.pat(part)),
                Rule::last_comma => comma = Some(self.span(&part)),
                _ => {
                    let kind = PatKind::Name(self.binding_op(part).name);
                    return Pat { kind, span };
                }
            }
        }
        if pats.len() != 1 {
            let kind = PatKind::Tuple(pats);
            return Pat { kind, span };
        }
        if let Some(comma) = comma {
            self.error(lone_element(comma, "tuple pattern"));
        }
        let kind = pats.pop().map_or(PatKind::Wildcard, |pat| pat.kind);
        Pat { kind, span }
    }

    fn field_pats(&mut self, nodes: Nodes<'_>) -> Vec<FieldPat> {
        nodes.rest().map(|node| self.field_pat(node)).collect()
    }

    fn field_pat(&mut self, node: Node<'_>) -> FieldPat {
        let mut nodes = node.children();
        let field = nodes.next();
        let numbered = self.kind(field.first()) == Kind::NAT;
        let name = self.ident(&field);
        let value = nodes.maybe();
        if let Some(node) = &value
            && node.is(Rule::pat)
        {
            let pat = self.pat(node.clone());
            return FieldPat { name, pat };
        }
        if numbered {
            let message = format!("field `{}` needs a pattern", name.name);
            let hint = format!("write `{} = x`", name.name);
            self.error(Diagnostic::error(Code::BadSyntax, name.span, message).hint(hint));
        }
        let bound = Pat {
            kind: PatKind::Name(name.name.clone()),
            span: name.span,
        };
        let pat = match value {
            None => bound,
            Some(ty) => {
                let ty = self.ty(ty);
                let span = name.span.to(ty.span);
                let kind = PatKind::Ascribe(P::new(bound), P::new(ty));
                Pat { kind, span }
            }
        };
        FieldPat { name, pat }
    }

    fn pat_literal(&mut self, node: &Node<'_>) -> PatKind {
        let negative = self.kind(node.first()) == Kind::MINUS;
        let value = self.literal(node.end() - 1);
        PatKind::Literal { negative, value }
    }

    /// The name of a constructor, without its `#`.
    pub(super) fn constr_name(&mut self, node: &Node<'_>) -> Ident {
        let span = self.span(node);
        let text = self.text_of(span);
        let name = self.name(text.strip_prefix('#').unwrap_or(text));
        Ident { name, span }
    }

    /// An operator in a place that binds it: it must be unqualified.
    pub(super) fn binding_op(&mut self, node: Node<'_>) -> Ident {
        let op = self.operator(node);
        if !op.quals.is_empty() {
            let message = format!("`{op}` cannot be bound: it has a qualifier");
            let hint = format!("bind `{}` alone", op.name.name);
            self.error(Diagnostic::error(Code::BadSyntax, op.span(), message).hint(hint));
        }
        op.name
    }
}

fn wildcard(span: Span) -> Pat {
    Pat {
        kind: PatKind::Wildcard,
        span,
    }
}
