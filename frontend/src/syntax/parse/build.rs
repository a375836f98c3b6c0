//! What all builders share: the state of one parse, and access to the grammar's pairs.

use super::grammar::Rule;
use super::lexer::{Comment, Lexed};
use super::token::{Kind, Token};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::{FileId, Span};
use crate::syntax::ast::{Doc, Exp, ExpId, ExpKind, Ident, Name};
use midend::hash::HashMap;
use pest::iterators::{Pair, Pairs};

/// Trees deeper than this are refused, so that everything after the parser can rely on a bound.
pub const MAX_DEPTH: u32 = 10_000;

/// Below this many bytes of free stack a builder continues on a new segment.
const RED_ZONE: usize = 128 * 1024;
const SEGMENT: usize = 4 * 1024 * 1024;

/// More errors than this in one file are not reported.
const MAX_ERRORS: usize = 50;

/// A node of the parse; its span counts tokens.
#[derive(Clone)]
pub(super) struct Node<'i>(pub(super) Pair<'i, Rule>);

impl<'i> Node<'i> {
    pub(super) fn rule(&self) -> Rule {
        self.0.as_rule()
    }

    pub(super) fn is(&self, rule: Rule) -> bool {
        self.rule() == rule
    }

    /// The index of the first token.
    pub(super) fn first(&self) -> usize {
        self.0.as_span().start()
    }

    /// One more than the index of the last token.
    pub(super) fn end(&self) -> usize {
        self.0.as_span().end()
    }

    pub(super) fn children(self) -> Nodes<'i> {
        Nodes(self.0.into_inner())
    }

    /// The one child of a rule that has one.
    pub(super) fn only(self) -> Node<'i> {
        self.children().next()
    }
}

/// The children of a node, in order.
#[derive(Clone)]
pub(super) struct Nodes<'i>(Pairs<'i, Rule>);

impl<'i> Nodes<'i> {
    /// The next child, which the grammar promises.
    pub(super) fn next(&mut self) -> Node<'i> {
        Node(self.0.next().expect("the grammar promises this child"))
    }

    /// The next child if there is one.
    pub(super) fn maybe(&mut self) -> Option<Node<'i>> {
        self.0.next().map(Node)
    }

    /// The next child if it is of that rule.
    pub(super) fn take(&mut self, rule: Rule) -> Option<Node<'i>> {
        (self.peek() == Some(rule)).then(|| self.next())
    }

    /// The rule of the next child.
    pub(super) fn peek(&self) -> Option<Rule> {
        self.0.peek().map(|pair| pair.as_rule())
    }

    /// How many children are left.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All further children.
    pub(super) fn rest(self) -> impl Iterator<Item = Node<'i>> {
        self.0.map(Node)
    }
}

/// The state of one parse.
pub(super) struct Cx<'a> {
    pub(super) file: FileId,
    pub(super) text: &'a str,
    pub(super) tokens: &'a [Token],
    pub(super) comments: &'a [Comment],
    docs: Vec<(usize, Option<Doc>)>,
    names: HashMap<&'a str, Name>,
    errors: Vec<Diagnostic>,
    next_id: u32,
    depth: u32,
    too_deep: bool,
}

impl<'a> Cx<'a> {
    pub(super) fn new(file: FileId, text: &'a str, lexed: &'a Lexed) -> Cx<'a> {
        let docs = lexed.docs.iter();
        Cx {
            file,
            text,
            tokens: &lexed.tokens,
            comments: &lexed.comments,
            docs: docs.map(|(at, doc)| (*at, Some(doc.clone()))).collect(),
            names: HashMap::default(),
            errors: Vec::new(),
            next_id: 0,
            depth: 0,
            too_deep: false,
        }
    }

    /// The errors, in order of place.
    pub(super) fn finish(mut self) -> Vec<Diagnostic> {
        for doc in self.docs.iter_mut().filter_map(|(_, doc)| doc.take()) {
            let message = "a documentation comment documents nothing here";
            self.errors.push(
                Diagnostic::error(Code::StrayDoc, doc.span, message)
                    .label("only a declaration can be documented")
                    .hint("write an ordinary comment, `--` without the bar"),
            );
        }
        self.errors.sort_by_key(|error| error.primary.span.lo);
        self.errors.truncate(MAX_ERRORS);
        self.errors
    }

    pub(super) fn error(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    pub(super) fn exp_count(&self) -> u32 {
        self.next_id
    }

    pub(super) fn file_span(&self) -> Span {
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        Span::new(self.file, 0, end)
    }

    /// The bytes that the tokens `first..end` cover.
    pub(super) fn span_of(&self, first: usize, end: usize) -> Span {
        match (self.tokens.get(first), self.tokens.get(end.wrapping_sub(1))) {
            (Some(one), Some(last)) if first < end => Span::new(self.file, one.lo, last.hi),
            _ => self.file_span().end(),
        }
    }

    pub(super) fn span(&self, node: &Node<'_>) -> Span {
        self.span_of(node.first(), node.end())
    }

    pub(super) fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::ID, |token| token.kind)
    }

    pub(super) fn text_of(&self, span: Span) -> &'a str {
        self.text
            .get(span.lo as usize..span.hi as usize)
            .unwrap_or("")
    }

    pub(super) fn name(&mut self, text: &'a str) -> Name {
        self.names
            .entry(text)
            .or_insert_with(|| Name::from(text))
            .clone()
    }

    /// The identifier that one token is.
    pub(super) fn ident_at(&mut self, token: usize) -> Ident {
        let span = self.span_of(token, token + 1);
        let text = self.text_of(span);
        let name = self.name(text);
        Ident { name, span }
    }

    /// The identifier that a node of one token is.
    pub(super) fn ident(&mut self, node: &Node<'_>) -> Ident {
        self.ident_at(node.first())
    }

    /// The comment right before a token.
    pub(super) fn doc_before(&mut self, token: usize) -> Option<Doc> {
        let first = self.docs.partition_point(|(at, _)| *at < token);
        let after = self.docs.partition_point(|(at, _)| *at <= token);
        self.docs[first..after]
            .iter_mut()
            .rev()
            .find_map(|(_, doc)| doc.take())
    }

    /// The comment that opens the file: the first one, if it stands before the first token.
    pub(super) fn file_doc(&mut self) -> Option<Doc> {
        match self.docs.first_mut() {
            Some((0, doc)) => doc.take(),
            Some(_) | None => None,
        }
    }

    pub(super) fn exp(&mut self, kind: ExpKind, span: Span) -> Exp {
        let id = ExpId(self.next_id);
        self.next_id += 1;
        Exp { id, kind, span }
    }

    /// Builds something `levels` deeper; past the bound it gives `instead` and reports once.
    pub(super) fn deeper<T>(
        &mut self,
        levels: usize,
        span: Span,
        instead: impl FnOnce(&mut Self) -> T,
        build: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let levels = u32::try_from(levels).unwrap_or(u32::MAX);
        let before = self.depth;
        self.depth = self.depth.saturating_add(levels);
        let result = if self.depth > MAX_DEPTH {
            self.report_depth(span);
            instead(self)
        } else {
            stacker::maybe_grow(RED_ZONE, SEGMENT, || build(self))
        };
        self.depth = before;
        result
    }

    fn report_depth(&mut self, span: Span) {
        if !self.too_deep {
            self.too_deep = true;
            let message = format!("this is nested more than {MAX_DEPTH} levels deep");
            self.errors.push(
                Diagnostic::error(Code::TooDeep, span, message)
                    .hint("split it into several definitions"),
            );
        }
    }
}
