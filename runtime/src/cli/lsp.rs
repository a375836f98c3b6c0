//! `arrc lsp`: the language server, on standard input and output.

use super::Outcome;
use super::exit::Exit;
use crate::harness::discover;
use crate::loader::FileLoader;
use crate::session::on_big_stack;
use frontend::source::FileId;
use lsp::{Host, Text};
use lsp_server::Connection;
use std::path::{Path, PathBuf};

/// Reads files as the other commands do.
struct Files;

impl Host for Files {
    fn loader(&self, texts: &[Text]) -> (Box<dyn frontend::Loader>, Vec<FileId>) {
        let mut loader = FileLoader::new();
        let files = texts.iter().map(|(path, text)| loader.add_text(path, text));
        let files = files.collect();
        (Box::new(loader), files)
    }
    fn read(&self, path: &Path) -> Option<String> {
        let mut loader = FileLoader::new();
        let file = loader.read(path).ok()?;
        let source = loader.sources().get(file)?;
        Some(source.text().to_owned())
    }
    fn programs(&self, folder: &Path) -> Vec<PathBuf> {
        discover(&[folder.to_owned()]).unwrap_or_default()
    }
}

pub(super) fn run() -> Outcome {
    let (connection, threads) = Connection::stdio();
    on_big_stack(|| lsp::serve(&connection, &Files)).map_err(Exit::user)?;
    // The thread that writes ends when nobody can send to it any more.
    drop(connection);
    threads
        .join()
        .map_err(|why| Exit::user(format!("the connection to the editor: {why}")))
}
