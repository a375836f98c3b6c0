//! Patterns and parameters.

use super::super::build::Node;
use super::super::grammar::Rule;
use super::{Element, Format};

impl Format<'_> {
    pub(super) fn pat(&mut self, node: Node<'_>) {
        self.deep(|f| f.pat_here(node));
    }

    fn pat_here(&mut self, node: Node<'_>) {
        match node.rule() {
            Rule::pat | Rule::case_pat => {
                let mut nodes = node.children();
                if self.attrs(&mut nodes) > 0 {
                    self.space();
                }
                self.pat(nodes.next());
                if let Some(ty) = nodes.maybe() {
                    self.spaced_token();
                    if ty.is(Rule::ty) {
                        self.ty(ty);
                    } else {
                        self.ty_term(ty);
                    }
                }
            }
            Rule::pat_paren => self.pat_paren(node),
            Rule::pat_record => {
                let (first, end) = (node.first(), node.end());
                let fields = node
                    .children()
                    .rest()
                    .map(|field| -> Element<'_> { Box::new(move |f| f.field_pat(field)) });
                self.bracketed(first, end, fields.collect());
            }
            Rule::pat_constr => {
                let layout = self.layout_of(&node);
                let mut nodes = node.children();
                self.tokens_to(nodes.next().end());
                if nodes.len() > 0 {
                    self.line(layout);
                    self.align(|f| {
                        for (at, pat) in nodes.rest().enumerate() {
                            if at > 0 {
                                f.line(layout);
                            }
                            f.pat(pat);
                        }
                    });
                }
            }
            _ => self.tokens_to(node.end()),
        }
    }

    fn pat_paren(&mut self, node: Node<'_>) {
        let (first, end, layout) = (node.first(), node.end(), self.layout_of(&node));
        let parts = node.children().rest();
        let mut elements: Vec<Node<'_>> = parts.filter(|node| node.is(Rule::pat)).collect();
        if elements.len() > 1 {
            let elements = elements
                .into_iter()
                .map(|element| -> Element<'_> { Box::new(move |f| f.pat(element)) });
            return self.bracketed(first, end, elements.collect());
        }
        self.token();
        if let Some(element) = elements.pop() {
            self.align(|f| f.pat(element));
            self.soft_line(layout);
        }
        self.tokens_to(end);
    }

    fn field_pat(&mut self, node: Node<'_>) {
        let (first, end) = (node.first(), node.end());
        let mut nodes = node.children();
        self.tokens_to(nodes.next().end());
        let Some(inner) = nodes.maybe() else {
            return;
        };
        if inner.is(Rule::ty) {
            self.spaced_token();
            self.ty(inner);
        } else {
            self.space();
            self.token();
            let layout = self.layout(first, end);
            self.value(layout, |f| f.pat(inner));
        }
    }
}
