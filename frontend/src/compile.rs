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
}

impl Compiled {
    /// A program that comes with nothing else.
    pub fn plain(program: Program<Soac>) -> Self {
        Self {
            program,
            warnings: Vec::new(),
            properties: Vec::new(),
            attributes: BTreeMap::new(),
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
    let parameters = loader.parameters();
    let traces_in_parallel = loader.traces_in_parallel();
    let sources = loader.sources();
    match lower::lower(&program, sources, &parameters, traces_in_parallel) {
        Ok((program, more)) => {
            warnings.extend(more);
            Ok(Compiled {
                program,
                warnings,
                properties,
                attributes,
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
        (Some(program), diagnostics) => Ok((program, diagnostics)),
        (None, diagnostics) => Err(diagnostics),
    }
}
