//! The way through the whole front end: from a file to the nested dialect.

use crate::diagnostic::Diagnostic;
use crate::property::{self, Property};
use crate::source::FileId;
use crate::typed::Attr;
use crate::types::Loader;
use crate::{lower, syntax, typed, types};
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use std::collections::BTreeMap;

/// The comment at the beginning of a file is the file's. It documents the first declaration as well, if that has no other.
fn document_first(program: &mut typed::Program, tree: &syntax::ast::Program) {
    let first = tree.decs.first().filter(|dec| dec.doc.is_none());
    let (Some(doc), Some(first)) = (&tree.doc, first) else {
        return;
    };
    let syntax::ast::DecKind::Val(bind) = &first.kind else {
        return;
    };
    let mut entries = program.entries.iter_mut();
    if let Some(entry) = entries.find(|entry| *entry.name == *bind.name.name) {
        entry.doc.get_or_insert_with(|| doc.text.clone());
    }
}

/// A program that has been compiled to the nested dialect.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The program.
    pub program: Program<Soac>,
    /// What is perhaps not as it was meant.
    pub warnings: Vec<Diagnostic>,
    /// The entry points that say that they are properties.
    pub properties: Vec<Property>,
    /// The attributes of each entry point that has some.
    pub attributes: BTreeMap<String, Vec<Attr>>,
    /// What the source says of each entry point.
    pub headings: BTreeMap<String, Heading>,
}

/// An entry point as its source has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// The documentation comment, without its markers.
    pub doc: Option<String>,
    /// The types of the parameters.
    pub params: Vec<String>,
    /// The type of the result, if it is written.
    pub result: Option<String>,
}

impl Heading {
    fn of(entry: &typed::Entry) -> Self {
        let params = entry.params.iter();
        Self {
            doc: entry.doc.clone(),
            params: params.map(|param| param.type_text.clone()).collect(),
            result: entry.result_text.clone(),
        }
    }
}

impl Compiled {
    /// A program that comes with nothing else.
    pub fn plain(program: Program<Soac>) -> Self {
        Self {
            program,
            warnings: Vec::new(),
            properties: Vec::new(),
            attributes: BTreeMap::new(),
            headings: BTreeMap::new(),
        }
    }
}

/// Compiles a program: its file, whose text is in the loader's sources, and all that it imports.
///
/// # Errors
/// Everything that is wrong with the program, warnings among it; at least one of the diagnostics is an error.
pub fn compile(file: FileId, loader: &mut dyn Loader) -> Result<Compiled, Vec<Diagnostic>> {
    let (program, mut warnings) = check(file, loader)?;
    let properties = property::of(&program.entries);
    let entries = program.entries.iter();
    let entries = entries.filter(|entry| !entry.attrs.is_empty());
    let attributes = entries.map(|entry| (entry.name.clone(), entry.attrs.clone()));
    let attributes = attributes.collect();
    let headings = program.entries.iter();
    let headings = headings.map(|entry| (entry.name.clone(), Heading::of(entry)));
    let headings = headings.collect();
    let parameters = loader.parameters();
    let traces_in_parallel = loader.traces_in_parallel();
    let gradients = loader.computes_gradients();
    let sources = loader.sources();
    match lower::lower(
        &program,
        sources,
        &parameters,
        traces_in_parallel,
        gradients,
    ) {
        Ok((program, more)) => {
            warnings.extend(more);
            Ok(Compiled {
                program,
                warnings,
                properties,
                attributes,
                headings,
            })
        }
        Err(errors) => {
            warnings.extend(errors);
            Err(warnings)
        }
    }
}

/// Checks a program without lowering it, and gives the typed program and the warnings.
///
/// # Errors
/// As [`compile`].
pub fn check(
    file: FileId,
    loader: &mut dyn Loader,
) -> Result<(typed::Program, Vec<Diagnostic>), Vec<Diagnostic>> {
    let text = loader
        .sources()
        .get(file)
        .map(|source| source.shared_text())
        .unwrap_or_default();
    let tree = syntax::parse::parse_program(file, &text)?;
    match types::check(file, &tree, loader) {
        (Some(mut program), diagnostics) => {
            document_first(&mut program, &tree);
            Ok((program, diagnostics))
        }
        (None, diagnostics) => Err(diagnostics),
    }
}
