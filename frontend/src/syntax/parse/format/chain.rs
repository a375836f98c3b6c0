//! Chains of operands and operators: each operator begins a line if what it joins stood on several lines.

use super::super::build::{Node, Nodes};
use super::super::grammar::Rule;
use super::super::token::Kind;
use super::{Format, Layout};
use crate::syntax::precedence::{self, Assoc, Binding};

/// A tree of operands and operators, by number; an owning one could not be dropped if the program made it deep.
#[derive(Default)]
struct Tree<'i> {
    parts: Vec<Part<'i>>,
}

struct Part<'i> {
    kind: PartKind<'i>,
    /// Its tokens.
    first: usize,
    end: usize,
}

enum PartKind<'i> {
    /// Signs, and what they stand before.
    Operand(usize, Option<Node<'i>>),
    Join(usize, Node<'i>, usize),
}

impl Format<'_> {
    /// A chain; ranges bind loosest.
    pub(super) fn op_seq(&mut self, node: Node<'_>) {
        let mut tree = Tree::default();
        let mut nodes = node.children();
        loop {
            let root = self.chain(&mut tree, &mut nodes);
            self.part(&mut tree, root);
            match nodes.take(Rule::range_op) {
                None => return,
                Some(_) => self.token(),
            }
        }
    }

    fn chain<'i>(&self, tree: &mut Tree<'i>, nodes: &mut Nodes<'i>) -> usize {
        let first = operand(tree, nodes);
        let mut rest = Vec::new();
        while let Some(rule) = nodes.peek() {
            if rule == Rule::range_op {
                break;
            }
            let link = nodes.next();
            let binding = self.binding(&link);
            rest.push((link, binding, operand(tree, nodes)));
        }
        precedence::fold(first, rest, |lhs, link, rhs| {
            let (first, end) = (tree.parts[lhs].first, tree.parts[rhs].end);
            let kind = PartKind::Join(lhs, link, rhs);
            tree.add(Part { kind, first, end })
        })
    }

    fn binding(&self, link: &Node<'_>) -> Binding {
        let (left, right, assoc) = match link.rule() {
            Rule::with_path => (precedence::WITH, precedence::WITH_VALUE, Assoc::Left),
            Rule::tick_op => (precedence::BACKTICK, precedence::BACKTICK, Assoc::Left),
            _ => {
                let token = self.tokens[link.first()];
                let text = &self.text[token.lo as usize..token.hi as usize];
                let name = match token.kind {
                    Kind::QUAL_OP => text.trim_start_matches(|c: char| {
                        c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '.')
                    }),
                    _ => text,
                };
                let (level, assoc) = precedence::of_operator(name);
                (level, level, assoc)
            }
        };
        Binding { left, right, assoc }
    }

    fn part(&mut self, tree: &mut Tree<'_>, at: usize) {
        let layout = self.layout(tree.parts[at].first, tree.parts[at].end);
        match &mut tree.parts[at].kind {
            PartKind::Operand(first, node) => {
                let node = node.take();
                self.tokens_to(*first);
                if let Some(node) = node {
                    self.operand(node);
                }
            }
            PartKind::Join(lhs, link, _) if link.is(Rule::with_path) => {
                let lhs = *lhs;
                self.updates(tree, lhs, at, layout);
            }
            PartKind::Join(lhs, link, rhs) => {
                let (lhs, end, rhs) = (*lhs, link.end(), *rhs);
                self.align(|f| f.part(tree, lhs));
                self.line(layout);
                self.tokens_to(end);
                self.space();
                self.align(|f| f.part(tree, rhs));
            }
        }
    }

    /// A chain of updates, `a with [i] = x with [j] = y`.
    fn updates(&mut self, tree: &mut Tree<'_>, mut root: usize, at: usize, layout: Layout) {
        let mut chain = vec![at];
        while let PartKind::Join(lhs, link, _) = &tree.parts[root].kind
            && link.is(Rule::with_path)
        {
            chain.push(root);
            root = *lhs;
        }
        self.deep(|f| f.part(tree, root));
        self.space();
        self.align(|f| {
            for (count, at) in chain.into_iter().rev().enumerate() {
                if count > 0 {
                    f.line(layout);
                }
                let PartKind::Join(_, link, rhs) = &tree.parts[at].kind else {
                    continue;
                };
                let (path, rhs) = (link.clone(), *rhs);
                f.spaced_token();
                f.path(path.children());
                f.space();
                f.spaced_token();
                f.deep(|f| f.part(tree, rhs));
            }
        });
    }
}

impl<'i> Tree<'i> {
    fn add(&mut self, part: Part<'i>) -> usize {
        self.parts.push(part);
        self.parts.len() - 1
    }
}

/// An operand with its signs.
fn operand<'i>(tree: &mut Tree<'i>, nodes: &mut Nodes<'i>) -> usize {
    let mut node = nodes.next();
    let first = node.first();
    while node.is(Rule::negate) || node.is(Rule::not) {
        node = nodes.next();
    }
    let end = node.end();
    let kind = PartKind::Operand(node.first(), Some(node));
    tree.add(Part { kind, first, end })
}
