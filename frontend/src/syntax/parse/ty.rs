//! Type expressions, sizes, and the type schemes of built-in tables.

use super::build::{Cx, Node, Nodes};
use super::grammar::Rule;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::ast::{
    FieldType, Ident, P, SizeExp, SumClause, TypeArg, TypeExp, TypeKind, TypeScheme,
};

/// One part of an arrow chain, before it is known whether an arrow follows.
struct Item {
    exists: Vec<(Vec<Ident>, Span)>,
    param: Option<(Ident, Span)>,
    ty: TypeExp,
}

impl<'a> Cx<'a> {
    pub(super) fn ty(&mut self, node: Node<'_>) -> TypeExp {
        let span = self.span(&node);
        let mut items = Vec::new();
        let mut nodes = node.children();
        while nodes.peek().is_some() {
            items.push(self.ty_item(&mut nodes, span));
        }
        let end = items.len();
        let mut result: Option<TypeExp> = None;
        for (at, item) in items.into_iter().enumerate().rev() {
            if end - at > super::build::MAX_DEPTH as usize {
                return self.deeper(usize::MAX, span, |_| unit(span), |_| unit(span));
            }
            result = Some(self.arrow(item, result));
        }
        result.unwrap_or_else(|| unit(span))
    }

    fn ty_item(&mut self, nodes: &mut Nodes<'_>, span: Span) -> Item {
        let mut exists = Vec::new();
        while let Some(node) = nodes.take(Rule::exists) {
            let span = self.span(&node);
            exists.push((self.size_binders(node.children()), span));
        }
        let node = nodes.next();
        let here = self.span(&node);
        if node.is(Rule::ty_term) {
            let ty = self.deeper(1, span, |_| unit(here), |cx| cx.ty_term(node));
            return Item {
                exists,
                param: None,
                ty,
            };
        }
        let mut parts = node.children();
        let name = self.ident(&parts.next());
        let inner = parts.next();
        Item {
            exists,
            param: Some((name, here)),
            ty: self.deeper(1, span, |_| unit(here), |cx| cx.ty(inner)),
        }
    }

    /// Puts one item before the rest of its arrow chain.
    fn arrow(&mut self, item: Item, rest: Option<TypeExp>) -> TypeExp {
        let start = item.param.as_ref().map_or(item.ty.span, |(_, span)| *span);
        let mut ty = match rest {
            None => {
                if let Some((name, span)) = item.param {
                    let message = format!("`{}` names the parameter of no function", name.name);
                    self.error(
                        Diagnostic::error(Code::BadSyntax, span, message)
                            .label("expected `->` after this")
                            .hint("leave the name away, or make it a function type, `(x: t) -> u`"),
                    );
                }
                item.ty
            }
            Some(to) => TypeExp {
                span: start.to(to.span),
                kind: TypeKind::Arrow {
                    param: item.param.map(|(name, _)| name),
                    from: P::new(item.ty),
                    to: P::new(to),
                },
            },
        };
        for (sizes, span) in item.exists.into_iter().rev() {
            ty = TypeExp {
                span: span.to(ty.span),
                kind: TypeKind::Exists(sizes, P::new(ty)),
            };
        }
        ty
    }

    pub(super) fn size_binders(&mut self, nodes: Nodes<'_>) -> Vec<Ident> {
        let binders = nodes.rest();
        binders
            .map(|node| self.ident_at(node.first() + 1))
            .collect()
    }

    pub(super) fn ty_term(&mut self, node: Node<'_>) -> TypeExp {
        let whole = self.span(&node);
        let mut nodes = node.children();
        let mut prefixes = Vec::new();
        while matches!(nodes.peek(), Some(Rule::unique | Rule::size)) {
            prefixes.push(nodes.next());
        }
        let head = nodes.next();
        let levels = prefixes.len();
        let mut ty = self.deeper(levels, whole, |_| unit(whole), |cx| cx.ty_head(head));
        for prefix in prefixes.into_iter().rev() {
            let span = self.span(&prefix).to(ty.span);
            let kind = if prefix.is(Rule::unique) {
                TypeKind::Unique(P::new(ty))
            } else {
                TypeKind::Array(self.size(prefix), P::new(ty))
            };
            ty = TypeExp { kind, span };
        }
        ty
    }

    fn ty_head(&mut self, node: Node<'_>) -> TypeExp {
        let span = self.span(&node);
        if node.is(Rule::sum) {
            let clauses = node.children().rest();
            let clauses = clauses.map(|clause| self.sum_clause(clause)).collect();
            let kind = TypeKind::Sum(clauses);
            return TypeExp { kind, span };
        }
        let mut nodes = node.children();
        let head = self.ty_atom(nodes.next());
        let args: Vec<TypeArg> = nodes.rest().map(|arg| self.ty_arg(arg)).collect();
        if args.is_empty() {
            return head;
        }
        let kind = TypeKind::Apply(P::new(head), args);
        TypeExp { kind, span }
    }

    fn ty_arg(&mut self, node: Node<'_>) -> TypeArg {
        if node.is(Rule::size) {
            TypeArg::Size(self.size(node))
        } else {
            TypeArg::Type(self.ty_atom(node))
        }
    }

    fn ty_atom(&mut self, node: Node<'_>) -> TypeExp {
        let span = self.span(&node);
        let kind = match node.rule() {
            Rule::qual_name => TypeKind::Name(self.qual_name(&node)),
            Rule::ty_record => TypeKind::Record(self.field_types(node.children())),
            Rule::ty_array => {
                let mut nodes = node.children();
                let size = self.size(nodes.next());
                let inner = nodes.next();
                let element = self.deeper(1, span, |_| unit(span), |cx| cx.ty_term(inner));
                TypeKind::Array(size, P::new(element))
            }
            _ => return self.ty_paren(node),
        };
        TypeExp { kind, span }
    }

    fn ty_paren(&mut self, node: Node<'_>) -> TypeExp {
        let span = self.span(&node);
        let mut types = Vec::new();
        let mut comma = None;
        for part in node.children().rest() {
            if part.is(Rule::last_comma) {
                comma = Some(self.span(&part));
            } else {
                types.push(self.deeper(1, span, |_| unit(span), |cx| cx.ty(part)));
            }
        }
        if types.len() != 1 {
            let kind = TypeKind::Tuple(types);
            return TypeExp { kind, span };
        }
        if let Some(comma) = comma {
            self.error(lone_element(comma, "tuple type"));
        }
        let kind = match types.pop() {
            Some(ty) => ty.kind,
            None => TypeKind::Tuple(types),
        };
        TypeExp { kind, span }
    }

    fn field_types(&mut self, nodes: Nodes<'_>) -> Vec<FieldType> {
        let mut fields = Vec::new();
        for node in nodes.rest() {
            let span = self.span(&node);
            let mut parts = node.children();
            let name = self.ident(&parts.next());
            let inner = parts.next();
            let ty = self.deeper(1, span, |_| unit(span), |cx| cx.ty(inner));
            fields.push(FieldType { name, ty });
        }
        fields
    }

    fn sum_clause(&mut self, node: Node<'_>) -> SumClause {
        let span = self.span(&node);
        let mut nodes = node.children();
        let name = self.constr_name(&nodes.next());
        let payload = nodes.rest().map(|ty| self.ty_atom(ty)).collect();
        SumClause {
            name,
            payload,
            span,
        }
    }

    pub(super) fn size(&mut self, node: Node<'_>) -> SizeExp {
        let span = self.span(&node);
        match node.children().maybe() {
            None => SizeExp::Any(span),
            Some(inner) if inner.is(Rule::ragged) => SizeExp::Ragged(span),
            Some(inner) => SizeExp::Exp(P::new(self.exp_node(inner)), span),
        }
    }
}

fn unit(span: Span) -> TypeExp {
    TypeExp {
        kind: TypeKind::Tuple(Vec::new()),
        span,
    }
}

/// The error for `(x,)`.
pub(super) fn lone_element(comma: Span, what: &str) -> Diagnostic {
    let message = format!("a {what} needs at least two elements");
    Diagnostic::error(Code::BadSyntax, comma, message)
        .label("nothing follows this comma")
        .hint("remove the comma, or add an element")
}

/// Builds a type scheme.
pub(super) fn only_scheme(cx: &mut Cx<'_>, node: Node<'_>) -> TypeScheme {
    let mut nodes = node.children();
    TypeScheme {
        params: cx.type_params(&mut nodes),
        ty: cx.ty(nodes.next()),
    }
}
