//! Source texts as the formatter writes them.

use super::CompileError;
use crate::loader::FileLoader;
use frontend::source::FileId;
use std::path::Path;

/// A source text and what the formatter makes of it.
pub struct Formatted {
    /// As it was.
    pub before: String,
    /// As it is to be.
    pub after: String,
}

/// Formats a file; the file stays as it is.
pub fn format_file(path: &Path) -> Result<Formatted, CompileError> {
    let mut loader = FileLoader::new();
    let file = loader.read(path).map_err(CompileError::unreadable)?;
    format(loader, file)
}

/// Formats a text; messages call it by the name.
pub fn format_text(name: &str, text: &str) -> Result<Formatted, CompileError> {
    let mut loader = FileLoader::new();
    let file = loader.add_text(name, text);
    format(loader, file)
}

fn format(loader: FileLoader, file: FileId) -> Result<Formatted, CompileError> {
    let source = loader.sources().get(file);
    let before = source.map_or(String::new(), |source| source.text().to_owned());
    match frontend::syntax::format_program(file, &before) {
        Ok(after) => Ok(Formatted { before, after }),
        Err(errors) => Err(CompileError::new(loader.into_sources(), errors)),
    }
}
