//! Open texts.

use crate::position::Lines;
use crate::recover::{self, Good};
use crate::snapshot::Snapshot;
use lsp_types::{Range, TextDocumentContentChangeEvent};
use std::rc::Rc;
use std::sync::Arc;

/// A text that the editor has open.
pub(crate) struct Document {
    pub(crate) path: String,
    pub(crate) text: Arc<str>,
    pub(crate) lines: Rc<Lines>,
    pub(crate) version: i32,
    /// The last version of each definition that parsed.
    pub(crate) good: Good,
    /// What is made of the text, if it does not parse.
    patched: Option<Arc<str>>,
    /// What is known of the text, once it has been requested.
    pub(crate) snapshot: Option<Rc<Snapshot>>,
}

impl Document {
    pub(crate) fn new(path: String, text: String, version: i32) -> Document {
        let mut document = Document {
            path,
            text: Arc::from(""),
            lines: Rc::new(Lines::new("")),
            version,
            good: Good::new(),
            patched: None,
            snapshot: None,
        };
        document.replace(text, version);
        document
    }

    /// The text, or what is made of it if it does not parse: for those who import it.
    pub(crate) fn parsed_text(&self) -> Arc<str> {
        match &self.patched {
            Some(text) => Arc::clone(text),
            None => Arc::clone(&self.text),
        }
    }

    fn replace(&mut self, text: String, version: i32) {
        self.lines = Rc::new(Lines::new(&text));
        self.text = Arc::from(text);
        self.version = version;
        self.snapshot = None;
        if frontend::syntax::parse_program(frontend::source::FileId(0), &self.text).is_ok() {
            recover::remember(&self.text, &mut self.good);
            self.patched = None;
        } else {
            self.patched = Some(Arc::from(recover::patch(&self.text, &self.good).text));
        }
    }

    /// Applies what was typed.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>, version: i32) {
        let mut text = self.text.to_string();
        for change in changes {
            match change.range {
                None => text = change.text,
                Some(Range { start, end }) => {
                    let lines = Lines::new(&text);
                    let lo = lines.offset(&text, start);
                    let hi = lines.offset(&text, end).max(lo);
                    text.replace_range(lo..hi, &change.text);
                }
            }
        }
        self.replace(text, version);
    }
}
