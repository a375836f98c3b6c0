//! Documentation of programs: HTML made from documentation comments, types and the links that the checker finds.
//!
//! ```text
//! files ──► syntax tree ──► items ──┐
//!       └─► checker: uses of names ─┴─► pages ──► HTML
//! prelude ──► definitions, numeric modules ──┘
//! ```
//!
//! One page for each file below `doc/`, one with its source below `src/`, the prelude below `prelude/`, an index, and a script
//! that searches all definitions.
#![forbid(unsafe_code)]

mod html;
mod item;
mod link;
mod markdown;
mod page;
mod paths;
mod prelude;
mod search;

use frontend::Loader;
use frontend::diagnostic::Diagnostic;
use frontend::document;
use frontend::source::{FileId, SourceMap};
use frontend::syntax::ast;
use frontend::syntax::parse_program;
use frontend::types::index::{Analysis, analyse};
use item::Item;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Files and what they define.
pub struct Documentation {
    sources: Vec<Source>,
    texts: SourceMap,
    built_in: Analysis,
}

/// A file that was read.
struct Source {
    file: FileId,
    /// Its name as it was loaded.
    name: String,
    /// The path of its page from the folder of all pages, without an extension.
    page: String,
    tree: ast::Program,
    analysis: Analysis,
    items: Vec<Item>,
    /// What the strings of imports mean, by their first bytes.
    imports: BTreeMap<u32, FileId>,
}

impl Source {
    fn is_ignored(&self) -> bool {
        let doc = self.tree.doc.as_ref();
        doc.is_some_and(|doc| doc.text.trim() == "ignore")
    }
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its path from the folder of the documentation.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// All files of a documentation.
#[derive(Clone, Debug, Default)]
pub struct Site {
    /// What to write.
    pub outputs: Vec<Output>,
    /// Links of comments that lead nowhere: `file:line: message`.
    pub warnings: Vec<String>,
    /// How many files of programs have pages.
    pub files: usize,
    /// How many definitions they have.
    pub items: usize,
    /// How many of these have no comment.
    pub silent: usize,
}

/// An example of a comment, to be executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The name of the file.
    pub file: String,
    /// The line of the example, from 1.
    pub line: usize,
    /// What is evaluated.
    pub input: String,
    /// What that gives, if the example says it.
    pub expected: Option<String>,
}

/// Reads programs and all that they import.
///
/// # Errors
/// What is wrong with the first program that has mistakes.
pub fn read(loader: &mut dyn Loader, roots: &[FileId]) -> Result<Documentation, Vec<Diagnostic>> {
    let empty = loader.sources().add("<empty>", "");
    let nothing = ast::Program {
        doc: None,
        decs: Vec::new(),
        exp_count: 0,
        span: frontend::source::Span::new(empty, 0, 0),
    };
    let built_in = analyse(empty, &nothing, loader);
    let mut sources: Vec<Source> = Vec::new();
    let mut waiting: Vec<FileId> = roots.iter().rev().copied().collect();
    while let Some(file) = waiting.pop() {
        if sources.iter().any(|source| source.file == file) {
            continue;
        }
        let source = source(loader, file)?;
        waiting.extend(source.imports.values().rev());
        sources.push(source);
    }
    let paths: Vec<PathBuf> = sources
        .iter()
        .map(|source| PathBuf::from(&source.name))
        .collect();
    for (source, page) in sources.iter_mut().zip(paths::pages(&paths)) {
        source.page = page;
    }
    sources.sort_by(|a, b| a.page.cmp(&b.page));
    Ok(Documentation {
        sources,
        texts: loader.sources().clone(),
        built_in,
    })
}

fn source(loader: &mut dyn Loader, file: FileId) -> Result<Source, Vec<Diagnostic>> {
    let (name, text) = match loader.sources().get(file) {
        Some(source) => (source.name().to_owned(), source.shared_text()),
        None => (String::new(), "".into()),
    };
    let tree = parse_program(file, &text)?;
    let analysis = analyse(file, &tree, loader);
    if analysis.diagnostics.iter().any(Diagnostic::is_error) {
        return Err(analysis.diagnostics);
    }
    let mut imports = BTreeMap::new();
    for import in item::imports(&tree.decs) {
        // The checker has loaded it.
        if let Ok(found) = loader.load(file, &import.path) {
            imports.insert(import.span.lo, found);
        }
    }
    let items = item::of_file(&text, &tree, &analysis);
    Ok(Source {
        file,
        name,
        page: String::new(),
        tree,
        analysis,
        items,
        imports,
    })
}

impl Documentation {
    /// All pages, with links between them.
    pub fn site(&self) -> Site {
        page::site(self)
    }

    /// The examples of all comments, those of one comment beside each other.
    pub fn cases(&self) -> Vec<Vec<Case>> {
        let mut out = Vec::new();
        for source in self.sources.iter().filter(|source| !source.is_ignored()) {
            let mut docs: Vec<&ast::Doc> = source.tree.doc.iter().collect();
            item::each(&source.items, &mut |item| docs.extend(&item.doc));
            for doc in docs {
                let line = self.texts.line_col(doc.span).map_or(1, |at| at.line);
                out.push(cases(&source.name, line as usize, &doc.text));
            }
        }
        out.retain(|cases| !cases.is_empty());
        out
    }
}

/// The examples of the prelude's comments.
pub fn prelude_cases() -> Vec<Vec<Case>> {
    let mut out = Vec::new();
    for (module, (file, _)) in [None, Some("seq")]
        .into_iter()
        .zip(frontend::prelude_sources())
    {
        for piece in frontend::prelude_library(module) {
            let doc = piece.doc.unwrap_or_default();
            let first = piece.line.saturating_sub(doc.lines().count());
            out.push(cases(file, first, &doc));
        }
    }
    out.retain(|cases| !cases.is_empty());
    out
}

fn cases(file: &str, first: usize, doc: &str) -> Vec<Case> {
    let examples = document::examples(doc).into_iter();
    let case = |example: document::Example| Case {
        file: file.to_owned(),
        line: first + example.lines.start,
        input: example.input,
        expected: example.expected,
    };
    examples.map(case).collect()
}
