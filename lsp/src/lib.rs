//! The language server of arrc.
//!
//! [`serve`] answers the requests of one editor over a [`lsp_server::Connection`]. What names and types mean comes from the
//! checker alone ([`frontend::types::index`]); the files here turn that into answers, one kind of request each.
//! A text that does not parse is cut at its definitions ([`recover`]): those that parse are checked, and the last version that parsed
//! stands in for one that does not.
//! The server reads no files: its [`Host`] does.
#![forbid(unsafe_code)]

mod completion;
mod diagnostics;
mod document;
mod folding;
mod hints;
mod hover;
mod lenses;
mod navigate;
mod position;
mod recover;
mod rename;
mod semantic;
mod server;
mod signature;
mod snapshot;
mod symbols;
mod tree;
mod typed;

pub use completion::KEYWORDS;
pub use server::serve;

use frontend::source::FileId;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A text under the path of its file.
pub type Text = (String, Arc<str>);

/// What reads files for the server.
pub trait Host {
    /// A loader to which texts stand for the files of their paths, and the numbers of those texts in it. The names in its sources are paths.
    fn loader(&self, texts: &[Text]) -> (Box<dyn frontend::Loader>, Vec<FileId>);
    /// The text of a file.
    fn read(&self, path: &Path) -> Option<String>;
    /// The programs in a folder, however deep.
    fn programs(&self, folder: &Path) -> Vec<PathBuf>;
    /// Begins a job, and returns at once; `done` is called when it has ended.
    fn start(&self, job: Job, done: Box<dyn FnOnce(Report) + Send>);
}

/// Something that takes a while.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Job {
    /// The tests of an entry point of a file.
    Test {
        /// The file.
        file: PathBuf,
        /// The name of the entry point.
        entry: String,
    },
    /// An expression with the definitions of a file.
    Evaluate {
        /// The file.
        file: PathBuf,
        /// The expression.
        expression: String,
    },
}

/// What came of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Whether it succeeded.
    pub good: bool,
    /// What it printed.
    pub text: String,
}
