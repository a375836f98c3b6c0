//! Expressions.

use super::super::build::{Node, Nodes};
use super::super::grammar::Rule;
use super::super::token::Kind;
use super::dec::take_type_params;
use super::{Element, Format, Layout};

impl Format<'_> {
    /// A whole expression, ascriptions included.
    pub(super) fn exp(&mut self, node: Node<'_>) {
        self.deep(|f| {
            let mut nodes = node.children();
            let head = nodes.next();
            f.ascribed(head, nodes.rest().collect());
        });
    }

    /// What stands between operators.
    pub(super) fn operand(&mut self, node: Node<'_>) {
        self.deep(|f| match node.rule() {
            Rule::apply => f.apply(node),
            Rule::if_exp => f.if_exp(node),
            Rule::let_exp => f.let_exp(node),
            Rule::loop_exp => f.loop_exp(node),
            Rule::match_exp => f.match_exp(node),
            Rule::assert_exp => f.assert_exp(node),
            Rule::attr_exp => {
                let layout = f.layout_of(&node);
                f.align(|f| {
                    let mut nodes = node.children();
                    f.attrs(&mut nodes);
                    f.line(layout);
                    f.exp(nodes.next());
                });
            }
            _ => f.lambda(node),
        });
    }

    fn if_exp(&mut self, node: Node<'_>) {
        let end = node.end();
        for part in node.children().rest() {
            if !part.is(Rule::if_head) {
                self.align(|f| f.exp(part));
                continue;
            }
            let layout = self.layout(part.first(), end);
            let mut nodes = part.children();
            self.spaced_token();
            self.exp(nodes.next());
            self.line(layout);
            self.spaced_token();
            self.align(|f| f.exp(nodes.next()));
            self.line(layout);
            self.spaced_token();
        }
    }

    /// A chain of `let`s; an `in` before another `let` is left out.
    fn let_exp(&mut self, node: Node<'_>) {
        let end = node.end();
        for part in node.children().rest() {
            if part.is(Rule::exp) {
                // Comments behind the `in` go above it.
                self.comments_before(self.at + 1);
                self.spaced_token();
                self.align(|f| f.exp(part));
                continue;
            }
            if self.kind(self.at) == Kind::IN {
                self.skip();
            }
            let layout = self.layout(self.at, end);
            self.spaced_token();
            match part.rule() {
                Rule::let_pat => self.let_pat(part),
                Rule::let_fun => self.let_fun(part),
                _ => {
                    let mut nodes = part.children();
                    self.tokens_to(nodes.next().end());
                    self.path_up_to_value(&mut nodes);
                }
            }
            self.line(layout);
        }
    }

    fn let_pat(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        let mut sizes = false;
        while let Some(size) = nodes.take(Rule::size_binder) {
            self.tokens_to(size.end());
            sizes = true;
        }
        if sizes {
            self.space();
        }
        let pat = nodes.next();
        let first = pat.first();
        self.pat(pat);
        self.space();
        self.token();
        let value = nodes.next();
        let layout = self.layout(first, value.end());
        self.value(layout, |f| f.exp(value));
    }

    fn let_fun(&mut self, node: Node<'_>) {
        let mut nodes = node.children();
        self.tokens_to(nodes.next().end());
        for param in take_type_params(&mut nodes) {
            self.space();
            self.tokens_to(param.end());
        }
        while !matches!(nodes.peek(), Some(Rule::ty | Rule::exp)) {
            self.space();
            self.pat(nodes.next());
        }
        if let Some(ty) = nodes.take(Rule::ty) {
            self.spaced_token();
            self.ty(ty);
        }
        self.space();
        self.token();
        let value = nodes.next();
        let layout = self.layout_of(&value);
        self.value(layout, |f| f.exp(value));
    }

    /// `x[i].f = v`, behind the `x`.
    fn path_up_to_value(&mut self, nodes: &mut Nodes<'_>) {
        let mut steps = Vec::new();
        while nodes.peek() != Some(Rule::exp) {
            steps.push(nodes.next());
        }
        for step in steps {
            self.step(step);
        }
        self.space();
        self.token();
        let value = nodes.next();
        let layout = self.layout_of(&value);
        self.value(layout, |f| f.exp(value));
    }

    /// The steps of a path.
    pub(super) fn path(&mut self, nodes: Nodes<'_>) {
        for step in nodes.rest() {
            self.step(step);
        }
    }

    /// `[i, j]` or `.x`, with its dot, for which the grammar has no name.
    fn step(&mut self, node: Node<'_>) {
        self.tokens_to(node.first());
        let end = node.end();
        let inner = node.children();
        if inner.peek() == Some(Rule::dim) {
            self.token();
            self.dims(inner, Layout::One);
        }
        self.tokens_to(end);
    }

    fn loop_exp(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.spaced_token();
        let pat = nodes.next();
        let first = pat.first();
        if let Some(init) = nodes.take(Rule::exp) {
            self.align(|f| {
                f.pat(pat);
                f.space();
                f.token();
                let layout = f.layout(first, init.end());
                f.value(layout, |f| f.align(|f| f.exp(init)));
            });
            self.line(layout);
            self.loop_form(nodes.next());
        } else {
            self.pat(pat);
            // Up to the variable of the loop.
            let layout = self.layout(first, self.at + 2);
            self.line(layout);
            self.loop_form(nodes.next());
        }
        self.space();
        self.token();
        let body = nodes.next();
        self.value(layout, |f| f.exp(body));
    }

    /// `for i < n`, `for p in xs`, `while c`.
    fn loop_form(&mut self, node: Node<'_>) {
        // `for` or `while`
        self.spaced_token();
        let for_less = node.is(Rule::for_less);
        let mut nodes = node.children();
        let first = nodes.next();
        let Some(last) = nodes.maybe() else {
            return self.exp(first);
        };
        if for_less {
            self.token();
        } else {
            self.pat(first);
        }
        self.space();
        self.spaced_token();
        self.exp(last);
    }

    fn match_exp(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.spaced_token();
        self.exp(nodes.next());
        for case in nodes.rest() {
            self.line(layout);
            let layout = self.layout_of(&case);
            let mut nodes = case.children();
            self.spaced_token();
            self.pat(nodes.next());
            self.space();
            self.token();
            let body = nodes.next();
            self.value(layout, |f| f.exp(body));
        }
    }

    fn assert_exp(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.spaced_token();
        let mut atoms = nodes.next().children();
        self.atom(&mut atoms);
        self.line(layout);
        self.exp(nodes.next());
    }

    fn lambda(&mut self, node: Node<'_>) {
        let layout = self.layout_of(&node);
        let mut nodes = node.children();
        self.token();
        let mut first = true;
        while !matches!(nodes.peek(), Some(Rule::ty_term | Rule::exp)) {
            if !first {
                self.space();
            }
            first = false;
            self.pat(nodes.next());
        }
        if let Some(ty) = nodes.take(Rule::ty_term) {
            self.space();
            self.spaced_token();
            self.ty_term(ty);
        }
        self.space();
        let before = self.out.indent;
        if layout == Layout::Many {
            self.out.indent += 2;
        }
        self.token();
        self.line(layout);
        self.exp(nodes.next());
        self.out.indent = before;
    }

    /// An application, or an atom alone.
    fn apply(&mut self, node: Node<'_>) {
        let whole = self.layout_of(&node);
        let mut nodes = node.children();
        let constr = nodes.peek() == Some(Rule::constr);
        self.atom(&mut nodes);
        let mut args = Vec::new();
        while nodes.peek().is_some() {
            args.push(if nodes.peek() == Some(Rule::lambda) {
                vec![nodes.next()]
            } else {
                take_atom(&mut nodes)
            });
        }
        let start = |arg: Option<&Vec<Node<'_>>>| arg.and_then(|arg| arg.first()).map(Node::first);
        let (Some(first), Some(last)) = (start(args.first()), start(args.last())) else {
            return;
        };
        self.space();
        let layout = match constr {
            true => whole,
            false => self.layout(first, last + 1),
        };
        let all = |f: &mut Self| {
            for (at, arg) in args.into_iter().enumerate() {
                if at > 0 {
                    f.line(layout);
                }
                f.argument(arg);
            }
        };
        match constr || layout == Layout::Many {
            true => self.align(all),
            false => all(self),
        }
    }

    fn argument(&mut self, parts: Vec<Node<'_>>) {
        match &parts[..] {
            [lambda] if lambda.is(Rule::lambda) => {
                let lambda = lambda.clone();
                self.deep(|f| f.lambda(lambda));
            }
            _ => self.atom_parts(parts),
        }
    }

    /// The next atom, with what is attached to it.
    fn atom(&mut self, nodes: &mut Nodes<'_>) {
        self.atom_parts(take_atom(nodes));
    }

    fn atom_parts(&mut self, parts: Vec<Node<'_>>) {
        let first = parts.first().map_or(self.at, Node::first);
        for part in parts {
            self.deep(|f| {
                let end = part.end();
                match part.rule() {
                    Rule::paren => f.paren(part),
                    Rule::array => {
                        let elements = part.clone().children().rest().map(aligned_exp);
                        f.bracketed(part.first(), end, elements.collect());
                    }
                    Rule::record => f.record(part),
                    Rule::index => {
                        let layout = f.layout(first, end);
                        f.token();
                        f.dims(part.children(), layout);
                        f.tokens_to(end);
                    }
                    Rule::local_open => {
                        f.token();
                        f.token();
                        f.align(|f| f.exp(part.only()));
                        f.tokens_to(end);
                    }
                    _ => f.tokens_to(end),
                }
            });
        }
    }

    fn dims(&mut self, nodes: Nodes<'_>, layout: Layout) {
        for (at, dim) in nodes.rest().enumerate() {
            if at > 0 {
                match layout {
                    Layout::One => self.spaced_token(),
                    Layout::Many => {
                        self.out.newline();
                        self.token();
                    }
                }
            }
            let end = dim.end();
            for part in dim.children().rest() {
                if part.is(Rule::op_seq) {
                    self.op_seq(part);
                } else {
                    self.token();
                }
            }
            self.tokens_to(end);
        }
    }

    fn record(&mut self, node: Node<'_>) {
        let (first, end) = (node.first(), node.end());
        let fields = node.children().rest().map(|field| -> Element<'_> {
            Box::new(move |f| {
                let (first, end) = (field.first(), field.end());
                let mut nodes = field.children();
                f.tokens_to(nodes.next().end());
                let Some(value) = nodes.maybe() else {
                    return;
                };
                f.space();
                f.token();
                let layout = f.layout(first, end);
                f.value(layout, |f| f.indent(layout, |f| f.exp(value)));
            })
        });
        self.bracketed(first, end, fields.collect());
    }

    /// What parentheses hold: a unit, a section, a tuple, or one expression.
    fn paren(&mut self, node: Node<'_>) {
        let (first, end) = (node.first(), node.end());
        let mut nodes = node.children();
        match nodes.peek() {
            None => self.tokens_to(end),
            Some(Rule::path_section) => {
                self.token();
                self.path(nodes.next().children());
                self.tokens_to(end);
            }
            Some(Rule::op_seq) => {
                let head = nodes.next();
                if let Some(Rule::op | Rule::minus_op | Rule::tick_op) = nodes.peek() {
                    self.token();
                    self.op_seq(head);
                    self.space();
                    return self.tokens_to(end);
                }
                let mut ascriptions = Vec::new();
                while let Some(Rule::ascribe | Rule::coerce) = nodes.peek() {
                    ascriptions.push(nodes.next());
                }
                let mut elements: Vec<Element<'_>> = vec![Box::new(move |f| {
                    f.align(|f| f.ascribed(head, ascriptions));
                })];
                let rest = nodes.rest().filter(|node| node.is(Rule::exp));
                elements.extend(rest.map(aligned_exp));
                if elements.len() > 1 {
                    return self.bracketed(first, end, elements);
                }
                self.token();
                for element in elements {
                    element(self);
                }
                self.tokens_to(end);
            }
            Some(_) => {
                self.token();
                let op = nodes.next();
                self.tokens_to(op.end());
                if let Some(rhs) = nodes.maybe() {
                    self.space();
                    self.op_seq(rhs);
                }
                self.tokens_to(end);
            }
        }
    }

    fn ascribed(&mut self, head: Node<'_>, ascriptions: Vec<Node<'_>>) {
        let first = head.first();
        self.op_seq(head);
        for node in ascriptions {
            let layout = self.layout(first, node.end());
            self.line(layout);
            self.spaced_token();
            self.align(|f| f.ty(node.only()));
        }
    }
}

fn aligned_exp(node: Node<'_>) -> Element<'_> {
    Box::new(move |f| f.align(|f| f.exp(node)))
}

/// The parts of the next atom: what it begins with, indices, projections.
fn take_atom<'i>(nodes: &mut Nodes<'i>) -> Vec<Node<'i>> {
    let mut parts = vec![nodes.next()];
    while let Some(Rule::index | Rule::project | Rule::local_open) = nodes.peek() {
        parts.push(nodes.next());
    }
    parts
}
