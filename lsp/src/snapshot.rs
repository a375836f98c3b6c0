//! What is known of one version of a program.

use crate::position::{Lines, uri_of};
use crate::recover::{self, Good, Patched};
use crate::{Host, Text};
use frontend::diagnostic::Diagnostic;
use frontend::source::{FileId, SourceMap, Span};
use frontend::syntax::ast;
use frontend::syntax::parse_program;
use frontend::types::index::{Analysis, Use, analyse};
use lsp_types::{Location, Range};
use std::rc::Rc;
use std::sync::Arc;

/// A program as it was checked, with the texts of all files.
pub(crate) struct Snapshot {
    pub(crate) path: String,
    /// The text in the editor.
    pub(crate) text: Arc<str>,
    pub(crate) lines: Rc<Lines>,
    /// The text that was checked.
    pub(crate) patched: Patched,
    pub(crate) tree: ast::Program,
    pub(crate) file: FileId,
    pub(crate) sources: SourceMap,
    pub(crate) analysis: Analysis,
}

impl Snapshot {
    /// Checks a text. The others that are open stand for their files.
    pub(crate) fn new(
        host: &dyn Host,
        path: &str,
        text: &Arc<str>,
        lines: &Rc<Lines>,
        good: &Good,
        others: &[Text],
    ) -> Snapshot {
        let patched = recover::patch(text, good);
        let mut texts = vec![(path.to_owned(), Arc::from(patched.text.as_str()))];
        texts.extend(others.iter().filter(|(other, _)| other != path).cloned());
        let (mut loader, files) = host.loader(&texts);
        let file = files.first().copied().unwrap_or_default();
        let tree = parse_program(file, &patched.text).unwrap_or_else(|_| ast::Program {
            doc: None,
            decs: Vec::new(),
            exp_count: 0,
            span: Span::new(file, 0, 0),
        });
        let analysis = analyse(file, &tree, &mut *loader);
        Snapshot {
            path: path.to_owned(),
            text: Arc::clone(text),
            lines: Rc::clone(lines),
            patched,
            tree,
            file,
            sources: loader.sources().clone(),
            analysis,
        }
    }

    /// What is wrong: with the syntax of the text, then with what was checked.
    pub(crate) fn diagnostics(&self) -> impl Iterator<Item = (Option<Range>, &Diagnostic)> {
        let syntax = self.patched.errors.iter().map(|error| {
            let span = error.primary.span;
            let range = self
                .lines
                .range(&self.text, span.lo as usize, span.hi as usize);
            (Some(range), error)
        });
        let checked = self.analysis.diagnostics.iter();
        syntax.chain(checked.map(|error| (self.range(error.primary.span), error)))
    }

    /// Where an offset of the text is in the one that was checked.
    pub(crate) fn inside(&self, offset: usize) -> u32 {
        u32::try_from(self.patched.inside(offset)).unwrap_or(u32::MAX)
    }

    /// The range of a span in the text, if it is there.
    pub(crate) fn range(&self, span: Span) -> Option<Range> {
        if span.file != self.file {
            return None;
        }
        let lo = self.patched.outside(span.lo as usize)?;
        let hi = self.patched.outside(span.hi as usize)?;
        (lo <= hi).then(|| self.lines.range(&self.text, lo, hi))
    }

    /// The location of a span, in whichever file it is.
    pub(crate) fn location(&self, span: Span) -> Option<Location> {
        if span.file == self.file {
            return Some(Location::new(uri_of(&self.path)?, self.range(span)?));
        }
        let source = self.sources.get(span.file)?;
        if !source.name().starts_with('/') {
            // The prelude has no file.
            return None;
        }
        let lines = Lines::new(source.text());
        let range = lines.range(source.text(), span.lo as usize, span.hi as usize);
        Some(Location::new(uri_of(source.name())?, range))
    }

    /// The name of the file and the bytes of a span, which are the same in every snapshot whose program has the file.
    pub(crate) fn identity(&self, span: Span) -> Option<(String, u32, u32)> {
        let source = self.sources.get(span.file)?;
        Some((source.name().to_owned(), span.lo, span.hi))
    }

    /// The names at a position of the text.
    pub(crate) fn uses_at(&self, offset: usize) -> impl Iterator<Item = &Use> {
        let at = self.inside(offset);
        let touches =
            move |one: &&Use| one.at.file == self.file && one.at.lo <= at && at <= one.at.hi;
        self.analysis.index.uses.iter().filter(touches)
    }
}
