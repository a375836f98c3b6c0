//! Modules and module types.

use super::super::build::{Node, Nodes};
use super::super::grammar::Rule;
use super::super::token::Kind;
use super::dec::take_type_params;
use super::{Format, Layout};

impl Format<'_> {
    pub(super) fn mod_bind(&mut self, node: Node<'_>) {
        let (start, whole) = (node.first(), self.layout_of(&node));
        let mut nodes = node.children();
        self.spaced_token();
        let name = nodes.next();
        let mut params = Vec::new();
        while let Some(param) = nodes.take(Rule::mod_param) {
            params.push(param);
        }
        let first = params.first().map(Node::first);
        let head = self.layout(start, params.last().map_or(name.end(), Node::end));
        self.tokens_to(name.end());
        if !params.is_empty() {
            self.value(head, |f| f.params(params, head));
        }
        if let Some(ascription) = nodes.take(Rule::mod_ascr) {
            let inner = ascription.only();
            let layout = self.layout(first.unwrap_or(inner.first()), inner.end());
            self.value(layout, |f| {
                f.spaced_token();
                f.align(|f| f.mod_type(inner));
            });
        }
        self.space();
        self.token();
        let body = nodes.next();
        if whole == Layout::Many && self.layout_of(&body) == Layout::One {
            self.value(Layout::Many, |f| f.mod_exp(body));
        } else {
            self.space();
            self.mod_exp(body);
        }
    }

    pub(super) fn mod_type_bind(&mut self, node: Node<'_>, layout: Layout) {
        let mut nodes = node.children();
        // `module type name =`
        self.spaced_token();
        self.spaced_token();
        self.tokens_to(nodes.next().end());
        self.space();
        self.token();
        let body = nodes.next();
        let mut parts = body.clone().children();
        if parts.take(Rule::sig).is_some() && parts.len() == 0 {
            self.space();
            self.mod_type(body);
        } else {
            self.value(layout, |f| f.mod_type(body));
        }
    }

    /// `(p: t)`.
    pub(super) fn mod_param(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        self.token();
        self.tokens_to(nodes.next().end() + 1);
        self.space();
        self.mod_type(nodes.next());
        self.token();
    }

    pub(super) fn mod_exp(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        let base = nodes.next();
        if nodes.len() == 0 {
            return self.deep(|f| f.mod_base(base));
        }
        let first = base.first();
        self.align(|f| {
            f.mod_base(base);
            while let Some(ascription) = nodes.take(Rule::mod_ascr) {
                let layout = f.layout(first, ascription.end());
                f.token();
                f.line(layout);
                f.mod_type(ascription.only());
            }
        });
    }

    fn mod_base(&mut self, node: Node<'_>) {
        match node.rule() {
            Rule::mod_lambda => self.mod_lambda(node),
            Rule::import_path => self.import(),
            _ => {
                for (at, part) in node.children().rest().enumerate() {
                    if at > 0 {
                        self.space();
                    }
                    match part.rule() {
                        Rule::mod_paren => self.mod_paren(part),
                        Rule::mod_struct => self.body(part),
                        _ => self.tokens_to(part.end()),
                    }
                }
            }
        }
    }

    fn mod_lambda(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.token();
        self.mod_param(nodes.next());
        if let Some(result) = nodes.take(Rule::simple_mod_type) {
            self.spaced_token();
            match result.clone().children().take(Rule::mod_type) {
                None => self.tokens_to(result.end()),
                Some(inner) => {
                    self.token();
                    self.mod_type(inner);
                    self.token();
                }
            }
        }
        self.space();
        self.token();
        let body = nodes.next();
        self.value(layout, |f| f.mod_exp(body));
    }

    fn mod_paren(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        self.token();
        self.soft_line(layout);
        let inner = node.only();
        self.indent(layout, |f| f.mod_exp(inner));
        self.token();
    }

    /// Declarations, or parts of a module type, in braces.
    fn body(&mut self, node: Node<'_>) {
        let (layout, close) = (self.layout_of(&node), node.end() - 1);
        let decs: Vec<Node<'_>> = node.children().rest().collect();
        self.token();
        if !decs.is_empty() || self.is_commented(close) {
            self.soft_line(layout);
            self.indent(layout, |f| {
                let some = !decs.is_empty();
                f.separated_decs(decs, layout);
                if f.is_commented(close) {
                    if some {
                        f.out.newline();
                        f.out.newline();
                    }
                    f.comments_before_close(close);
                }
            });
            self.soft_line(layout);
        }
        self.token();
    }

    pub(super) fn mod_type(&mut self, node: Node<'_>) {
        self.deep(|f| f.mod_type_here(node));
    }

    fn mod_type_here(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        let base = nodes.next();
        if base.is(Rule::mod_arrow) {
            return self.mod_arrow(base);
        }
        let mut withs = Vec::new();
        while let Some(with) = nodes.take(Rule::type_ref) {
            withs.push(with);
        }
        let layout = self.layout(base.first(), withs.last().unwrap_or(&base).end());
        match base.rule() {
            Rule::sig => self.body(base),
            Rule::mod_type_paren => {
                self.token();
                let inner = base.only();
                self.align(|f| f.mod_type(inner));
                self.token();
            }
            _ => self.tokens_to(base.end()),
        }
        for with in withs {
            self.line(layout);
            self.spaced_token();
            self.type_ref(with);
        }
        if let Some(result) = nodes.maybe() {
            self.space();
            self.spaced_token();
            self.mod_type(result);
        }
    }

    fn type_ref(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        self.tokens_to(nodes.next().end());
        for param in take_type_params(&mut nodes) {
            self.space();
            self.tokens_to(param.end());
        }
        self.space();
        self.spaced_token();
        self.ty(nodes.next());
    }

    /// `(p: t) -> u`.
    fn mod_arrow(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.token();
        self.tokens_to(nodes.next().end() + 1);
        self.space();
        self.mod_type(nodes.next());
        self.token();
        self.line(layout);
        self.spaced_token();
        let result = nodes.next();
        match result.clone().children().peek() {
            Some(Rule::mod_arrow | Rule::sig) => self.mod_type(result),
            Some(_) | None => self.align(|f| f.mod_type(result)),
        }
    }

    /// A part of a module type.
    pub(super) fn spec(&mut self, node: Node<'_>, layout: Layout) {
        let rule = node.rule();
        let mut nodes = node.children();
        match rule {
            Rule::val_spec => self.val_spec(nodes, layout),
            Rule::type_spec => {
                self.type_head(&mut nodes, layout);
                if let Some(body) = nodes.take(Rule::ty) {
                    self.space();
                    self.token();
                    self.value(layout, |f| f.ty(body));
                }
            }
            Rule::mod_spec => {
                self.spaced_token();
                self.tokens_to(nodes.next().end() + 1);
                self.space();
                self.mod_type(nodes.next());
            }
            _ => {
                self.spaced_token();
                self.mod_type(nodes.next());
            }
        }
    }

    fn val_spec(&mut self, mut nodes: Nodes<'_>, layout: Layout) {
        self.spaced_token();
        let parenthesised = self.kind(self.at) == Kind::LPAR;
        let name = nodes.next();
        self.tokens_to(name.end() + usize::from(parenthesised));
        for param in take_type_params(&mut nodes) {
            self.space();
            self.tokens_to(param.end());
        }
        self.space();
        self.token();
        let ty = nodes.next();
        self.value(layout, |f| f.ty(ty));
    }
}
