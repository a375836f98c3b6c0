//! A file's text as the formatter writes it.
//!
//! The formatter walks the grammar's tree, which has every token of the file. It writes each token once, in order, so that a
//! program cannot change its meaning; only an `in` before another `let` is left out, and a declaration's `let` becomes `def`. What stood on one line stays on one line, what
//! stood on several lines is broken at every break of its construct: the author's line breaks decide, there is no widest line.
//! [`layout`](Format::layout) decides, [`Out`] writes, the files below emit the tokens of one area of the language each.

mod chain;
mod dec;
mod exp;
mod module;
mod out;
mod pattern;
mod ty;

use super::build::{Cx, Node};
use super::grammar::Rule;
use super::lexer::Comment;
use super::token::{Kind, Token};
use out::Out;

/// Below this many bytes of free stack formatting continues on a new segment.
const RED_ZONE: usize = 128 * 1024;
const SEGMENT: usize = 4 * 1024 * 1024;

/// Whether a construct is written on one line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Layout {
    /// On one line.
    One,
    /// Broken wherever it may be.
    Many,
}

/// The state of formatting one file.
struct Format<'a> {
    text: &'a str,
    tokens: &'a [Token],
    comments: &'a [Comment],
    /// The line of each token, and that of the end of the text.
    lines: Vec<u32>,
    /// The line of each comment.
    comment_lines: Vec<u32>,
    /// The next token that is written.
    at: usize,
    /// The next comment that is written.
    comment: usize,
    out: Out,
}

/// The formatted text of a whole file.
pub(super) fn program(cx: &Cx<'_>, node: Node<'_>) -> String {
    let breaks: Vec<usize> = cx.text.match_indices('\n').map(|(at, _)| at).collect();
    let line = |lo: u32| {
        let before = breaks.partition_point(|at| *at < lo as usize);
        u32::try_from(before).unwrap_or(u32::MAX)
    };
    let tokens = cx.tokens.iter().map(|token| token.lo);
    let lines = tokens.chain([cx.file_span().hi]).map(line).collect();
    let comments = cx.comments.iter().map(|comment| line(comment.lo));
    let mut format = Format {
        text: cx.text,
        tokens: cx.tokens,
        comments: cx.comments,
        lines,
        comment_lines: comments.collect(),
        at: 0,
        comment: 0,
        out: Out::default(),
    };
    let decs = node.children().rest().filter(|node| node.is(Rule::dec));
    format.separated_decs(decs.collect(), Layout::Many);
    format.last_comments();
    format.out.finish()
}

impl<'a> Format<'a> {
    fn kind(&self, at: usize) -> Kind {
        self.tokens.get(at).map_or(Kind::ID, |token| token.kind)
    }

    fn line_of(&self, token: usize) -> u32 {
        let at = token.min(self.lines.len() - 1);
        self.lines[at]
    }

    /// The layout of the tokens `first..end`: as many lines as they had.
    fn layout(&self, first: usize, end: usize) -> Layout {
        if end <= first || self.line_of(first) == self.line_of(end - 1) {
            Layout::One
        } else {
            Layout::Many
        }
    }

    fn layout_of(&self, node: &Node<'_>) -> Layout {
        self.layout(node.first(), node.end())
    }

    /// Runs a step of a recursion whose depth the program decides.
    fn deep(&mut self, step: impl FnOnce(&mut Self)) {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || step(self));
    }

    /// Writes the next token, with the comments before it and the one behind it on its line.
    fn token(&mut self) {
        let Some(token) = self.tokens.get(self.at).copied() else {
            return;
        };
        let text = self.text;
        self.token_as(&text[token.lo as usize..token.hi as usize]);
    }

    /// Writes a text instead of the next token.
    fn token_as(&mut self, text: &str) {
        self.comments_before(self.at);
        self.out.write(text);
        self.at += 1;
        self.comment_behind();
    }

    /// Leaves the next token out.
    fn skip(&mut self) {
        self.at += 1;
        self.comment_behind();
    }

    /// Writes the tokens up to one, without blanks between them.
    fn tokens_to(&mut self, end: usize) {
        while self.at < end {
            self.token();
        }
    }

    fn space(&mut self) {
        self.out.space();
    }

    fn spaced_token(&mut self) {
        self.token();
        self.space();
    }

    /// A break: a blank or a new line.
    fn line(&mut self, layout: Layout) {
        match layout {
            Layout::One => self.out.space(),
            Layout::Many => self.out.newline(),
        }
    }

    /// Nothing or a new line.
    fn soft_line(&mut self, layout: Layout) {
        if layout == Layout::Many {
            self.out.newline();
        }
    }

    /// Lines that begin inside begin at the column of the beginning.
    fn align(&mut self, step: impl FnOnce(&mut Self)) {
        let before = self.out.align();
        self.deep(step);
        self.out.indent = before;
    }

    /// Two columns to the right, if it is on a line of its own.
    fn indent(&mut self, layout: Layout, step: impl FnOnce(&mut Self)) {
        match layout {
            Layout::One => self.deep(step),
            Layout::Many => {
                self.out.space();
                self.out.space();
                self.align(step);
            }
        }
    }

    /// Behind `=`: on the same line, or on the next one, indented.
    fn value(&mut self, layout: Layout, step: impl FnOnce(&mut Self)) {
        self.line(layout);
        self.indent(layout, step);
    }

    /// The comment behind the token that was just written, on its line.
    fn comment_behind(&mut self) {
        let line = self.line_of(self.at - 1);
        let comments = self.comments;
        let here = comments.get(self.comment);
        let here = here.filter(|comment| comment.before == self.at);
        if let Some(comment) = here.filter(|_| self.comment_lines[self.comment] == line) {
            self.out.comment_behind(self.comment_text(comment));
            self.comment += 1;
        }
    }

    fn comment_text(&self, comment: &Comment) -> &'a str {
        self.text[comment.lo as usize..comment.hi as usize].trim_end()
    }

    /// The comments before a token, each on a line of its own. A blank line between two of them, or behind the last, stays.
    fn comments_before(&mut self, token: usize) {
        let mut alone = None;
        let comments = self.comments;
        while let Some(comment) = comments.get(self.comment)
            && comment.before <= token
        {
            self.out.break_after_comment();
            let at = self.comment;
            let follows = at > 0 && self.comments[at - 1].before == comment.before;
            let gap = follows && self.comment_lines[at] > self.comment_lines[at - 1] + 1;
            if gap && self.out.is_fresh() {
                self.out.newline();
            }
            alone = self.out.is_fresh().then_some(at);
            self.out.comment(self.comment_text(comment));
            self.comment += 1;
        }
        if let Some(at) = alone {
            let gap = self.line_of(token) > self.comment_lines[at] + 1;
            let comment = &self.comments[at];
            if comment.of_file || gap && !comment.doc {
                self.out.newline();
            }
        }
    }

    /// Whether a comment on a line of its own stands before a token.
    fn is_commented(&self, token: usize) -> bool {
        let next = self.comments.get(self.comment);
        next.is_some_and(|comment| comment.before <= token)
    }

    /// The comments before a closing bracket, indented as what it closes; the bracket's new line follows.
    fn comments_before_close(&mut self, close: usize) {
        self.comments_before(close);
        self.out.drop_newlines();
    }

    /// The comments behind the last token.
    fn last_comments(&mut self) {
        if self.comment < self.comments.len() {
            self.out.newline();
            self.out.newline();
            self.comments_before(self.tokens.len());
        }
    }

    /// Elements in brackets: `(a, b)`, or each on a line behind `( ` and `, `.
    fn bracketed(&mut self, first: usize, end: usize, elements: Vec<Element<'_>>) {
        match self.layout(first, end) {
            Layout::One => {
                self.token();
                for (at, element) in elements.into_iter().enumerate() {
                    if at > 0 {
                        self.spaced_token();
                    }
                    element(self);
                }
                self.tokens_to(end);
            }
            Layout::Many => self.align(|f| {
                f.spaced_token();
                for (at, element) in elements.into_iter().enumerate() {
                    if at > 0 {
                        f.out.newline();
                        f.spaced_token();
                    }
                    element(f);
                }
                if f.kind(f.at) == Kind::COMMA {
                    f.token();
                }
                f.out.newline();
                f.tokens_to(end);
            }),
        }
    }
}

/// What writes one of several elements.
type Element<'n> = Box<dyn FnOnce(&mut Format<'_>) + 'n>;
