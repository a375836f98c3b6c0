//! Declarations and what separates them.

use super::super::build::{Node, Nodes};
use super::super::grammar::Rule;
use super::super::token::Kind;
use super::{Format, Layout};

impl Format<'_> {
    /// Declarations: those of one line that followed each other stay together, a blank line separates others.
    pub(super) fn separated_decs(&mut self, decs: Vec<Node<'_>>, layout: Layout) {
        let mut before: Option<Node<'_>> = None;
        for dec in decs {
            if let Some(before) = before {
                match layout {
                    Layout::One => self.space(),
                    Layout::Many => {
                        self.out.newline();
                        if !self.stays_together(&before, &dec) {
                            self.out.newline();
                        }
                    }
                }
            }
            before = Some(dec.clone());
            self.deep(|f| f.dec(dec));
        }
    }

    fn stays_together(&self, before: &Node<'_>, dec: &Node<'_>) -> bool {
        let plain = |node: &Node<'_>| {
            self.kind(node.first()) != Kind::HASH_BRACKET && self.layout_of(node) == Layout::One
        };
        plain(before)
            && plain(dec)
            && !self.is_commented(dec.first())
            && self.line_of(before.first()) + 1 == self.line_of(dec.first())
    }

    /// Attributes, `#[a] #[b]`; gives how many.
    pub(super) fn attrs(&mut self, nodes: &mut Nodes<'_>) -> usize {
        let mut count = 0;
        while let Some(attr) = nodes.take(Rule::attr) {
            if count > 0 {
                self.space();
            }
            self.tokens_to(attr.end() + 1);
            count += 1;
        }
        count
    }

    /// A declaration or a part of a module type.
    fn dec(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        if self.attrs(&mut nodes) > 0 {
            self.out.newline();
        }
        let node = nodes.next();
        let layout = self.layout_of(&node);
        match node.rule() {
            Rule::val_dec => self.val_dec(node, layout),
            Rule::type_dec => self.type_dec(node, layout),
            Rule::mod_bind => self.mod_bind(node),
            Rule::mod_type_bind => self.mod_type_bind(node, layout),
            Rule::open_dec => {
                self.spaced_token();
                self.mod_exp(node.only());
            }
            Rule::import_path => self.import(),
            Rule::local_dec => {
                self.token();
                self.line(layout);
                let inner = node.only();
                self.deep(|f| f.dec(inner));
            }
            _ => self.spec(node, layout),
        }
    }

    pub(super) fn import(&mut self) {
        self.spaced_token();
        self.token();
    }

    fn val_dec(&mut self, node: Node<'_>, layout: Layout) {
        // `let` is the older spelling.
        match self.kind(self.at) {
            Kind::LET => self.token_as("def"),
            _ => self.token(),
        }
        self.space();
        let mut nodes = node.children();
        let head = nodes.next();
        if head.is(Rule::infix_head) {
            let mut parts = head.children();
            self.pat(parts.next());
            self.space();
            self.tokens_to(parts.next().end());
            self.space();
            self.pat(parts.next());
        } else {
            self.prefix_head(head, layout);
        }
        if let Some(ty) = nodes.take(Rule::ty) {
            self.space();
            self.spaced_token();
            self.ty(ty);
        }
        self.space();
        self.token();
        let body = nodes.next();
        self.value(layout, |f| f.exp(body));
    }

    /// A name with its parameters.
    fn prefix_head(&mut self, head: Node<'_>, layout: Layout) {
        if self.kind(self.at) == Kind::LPAR {
            while self.kind(self.at) != Kind::RPAR {
                self.token();
            }
        }
        self.token();
        let mut parts = head.children();
        if matches!(
            parts.peek(),
            Some(Rule::op | Rule::minus_op | Rule::tick_op)
        ) {
            parts.next();
        }
        let type_params = take_type_params(&mut parts);
        let params: Vec<Node<'_>> = parts.rest().collect();
        match (type_params.first(), params.last()) {
            (None, None) => {}
            (Some(_), None) => {
                self.space();
                self.params(type_params, layout);
            }
            (None, Some(_)) => {
                self.space();
                self.params(params, layout);
            }
            (Some(first), Some(last)) => {
                let layout = self.layout(first.first(), last.end());
                self.space();
                self.align(|f| {
                    f.params(type_params, layout);
                    f.line(layout);
                    f.params(params, layout);
                });
            }
        }
    }

    /// Parameters: on one line if they were, else each on its own.
    pub(super) fn params(&mut self, params: Vec<Node<'_>>, outer: Layout) {
        let (Some(first), Some(last)) = (params.first(), params.last()) else {
            return;
        };
        let layout = match outer {
            Layout::One => Layout::One,
            Layout::Many => self.layout(first.first(), last.end()),
        };
        self.align(|f| {
            for (at, param) in params.into_iter().enumerate() {
                if at > 0 {
                    f.line(layout);
                }
                match param.rule() {
                    Rule::size_param | Rule::type_type_param | Rule::local_size => {
                        f.tokens_to(param.end());
                    }
                    Rule::mod_param => f.mod_param(param),
                    _ => f.pat(param),
                }
            }
        });
    }

    fn type_dec(&mut self, node: Node<'_>, layout: Layout) {
        let mut nodes = node.children();
        self.type_head(&mut nodes, layout);
        self.space();
        self.token();
        let body = nodes.next();
        self.value(layout, |f| f.ty(body));
    }

    /// `type^ t 'a [n]`.
    pub(super) fn type_head(&mut self, nodes: &mut Nodes<'_>, layout: Layout) {
        self.token();
        if let Some(lift) = nodes.take(Rule::lift) {
            self.tokens_to(lift.end());
        }
        self.space();
        self.tokens_to(nodes.next().end());
        let params = take_type_params(nodes);
        if !params.is_empty() {
            self.space();
            self.params(params, layout);
        }
    }
}

/// The size and type parameters that come next.
pub(super) fn take_type_params<'i>(nodes: &mut Nodes<'i>) -> Vec<Node<'i>> {
    let mut params = Vec::new();
    while let Some(Rule::size_param | Rule::type_type_param | Rule::local_size) = nodes.peek() {
        params.push(nodes.next());
    }
    params
}
