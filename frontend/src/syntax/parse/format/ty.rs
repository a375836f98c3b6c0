//! Types.

use super::super::build::Node;
use super::super::grammar::Rule;
use super::super::token::Kind;
use super::{Element, Format, Layout};

impl Format<'_> {
    /// A type: arrows begin lines if it had several.
    pub(super) fn ty(&mut self, node: Node<'_>) {
        let end = node.end();
        let parts: Vec<Node<'_>> = node.children().rest().collect();
        let last = parts.len().saturating_sub(1);
        let mut arrow = false;
        for (at, part) in parts.into_iter().enumerate() {
            if arrow {
                self.spaced_token();
            }
            let (first, is_binder) = (part.first(), part.is(Rule::exists));
            if at == last && arrow {
                self.align(|f| f.ty_item(part));
            } else {
                self.deep(|f| f.ty_item(part));
            }
            arrow = !is_binder;
            if arrow && at < last {
                let layout = self.layout(first, end);
                self.line(layout);
            }
        }
    }

    fn ty_item(&mut self, node: Node<'_>) {
        match node.rule() {
            Rule::named_param => {
                let mut nodes = node.children();
                self.token();
                self.tokens_to(nodes.next().end() + 1);
                self.space();
                self.ty(nodes.next());
                self.token();
            }
            Rule::exists => self.tokens_to(node.end()),
            _ => self.ty_term(node),
        }
    }

    /// A type without arrows.
    pub(super) fn ty_term(&mut self, node: Node<'_>) {
        for part in node.children().rest() {
            match part.rule() {
                Rule::unique => self.token(),
                Rule::size => self.size(part),
                Rule::sum => self.sum(part),
                _ => self.ty_apply(part),
            }
        }
    }

    fn ty_apply(&mut self, node: Node<'_>) {
        for (at, part) in node.children().rest().enumerate() {
            if at > 0 {
                self.space();
            }
            self.ty_atom(part);
        }
    }

    /// A size or what needs no parentheses.
    fn ty_atom(&mut self, node: Node<'_>) {
        self.deep(|f| match node.rule() {
            Rule::size => f.size(node),
            Rule::ty_paren => f.ty_paren(node),
            Rule::ty_record => {
                let (first, end) = (node.first(), node.end());
                let fields = node.children().rest().map(|field| -> Element<'_> {
                    Box::new(move |f| {
                        let mut nodes = field.children();
                        f.tokens_to(nodes.next().end() + 1);
                        f.space();
                        f.align(|f| f.ty(nodes.next()));
                    })
                });
                f.bracketed(first, end, fields.collect());
            }
            Rule::ty_array => {
                let mut nodes = node.children();
                f.size(nodes.next());
                f.ty_term(nodes.next());
            }
            _ => f.tokens_to(node.end()),
        });
    }

    fn size(&mut self, node: Node<'_>) {
        self.token();
        let end = node.end() - 1;
        if let Some(exp) = node.children().take(Rule::exp) {
            self.exp(exp);
        }
        self.tokens_to(end + 1);
    }

    fn ty_paren(&mut self, node: Node<'_>) {
        let (first, end) = (node.first(), node.end());
        let elements: Vec<Node<'_>> = node
            .children()
            .rest()
            .filter(|node| node.is(Rule::ty))
            .collect();
        if elements.len() < 2 {
            self.token();
            for element in elements {
                self.ty(element);
            }
            return self.tokens_to(end);
        }
        let elements = elements
            .into_iter()
            .map(|element| -> Element<'_> { Box::new(move |f| f.align(|f| f.ty(element))) });
        self.bracketed(first, end, elements.collect());
    }

    /// `#a | #b`, or a line for each.
    fn sum(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        for (at, clause) in node.children().rest().enumerate() {
            if at > 0 {
                self.line(layout);
                self.spaced_token();
            } else if layout == Layout::Many {
                self.space();
                self.space();
            }
            for (at, part) in clause.children().rest().enumerate() {
                if at > 0 {
                    self.space();
                }
                self.ty_atom(part);
            }
        }
        debug_assert!(self.kind(self.at) != Kind::PIPE, "all clauses are written");
    }
}
