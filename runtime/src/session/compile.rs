//! From source text to nested IR, and the errors on the way.

use super::stack::OnBigStack;
use crate::loader::FileLoader;
use crate::target::Target;
use frontend::Compiled;
use frontend::diagnostic::Diagnostic;
use frontend::render::{Look, render_all};
use frontend::source::{FileId, SourceMap};
use midend::ir::soac::Soac;
use midend::ir::syntax::Program;
use midend::passes::derivatives;
use midend::trap::RunError;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

/// A program that cannot be compiled, and why.
#[derive(Debug)]
pub struct CompileError {
    sources: SourceMap,
    diagnostics: Vec<Diagnostic>,
    /// A failure that has no place in a source text.
    other: Option<String>,
    /// Whether it is a mistake in arrc.
    internal: bool,
}

impl CompileError {
    pub(crate) fn new(sources: SourceMap, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            sources,
            diagnostics,
            other: None,
            internal: false,
        }
    }
    pub(super) fn unreadable(why: String) -> Self {
        Self {
            sources: SourceMap::new(),
            diagnostics: Vec::new(),
            other: Some(why),
            internal: false,
        }
    }
    pub(super) fn target(sources: SourceMap, why: &RunError) -> Self {
        let (text, internal) = match why {
            RunError::Internal(text) => (text.clone(), true),
            RunError::Device(text) | RunError::BadArguments(text) => (text.clone(), false),
            RunError::Trap(_)
            | RunError::OutOfMemory { .. }
            | RunError::Interrupted
            | RunError::OutOfFuel => (why.to_string(), false),
        };
        Self {
            sources,
            diagnostics: Vec::new(),
            other: Some(text),
            internal,
        }
    }
    /// Whether this is a mistake in arrc, not in the program.
    pub fn is_internal(&self) -> bool {
        self.internal
    }
    /// The diagnostics, warnings among them.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
    /// The texts that the diagnostics speak of.
    pub const fn sources(&self) -> &SourceMap {
        &self.sources
    }
    /// The first error; nothing if the failure has no place in a source text.
    pub fn first_error(&self) -> Option<&Diagnostic> {
        self.diagnostics.iter().find(|d| d.is_error())
    }
    /// The text for people.
    pub fn render(&self, look: Look) -> String {
        match &self.other {
            Some(why) => format!("error: {why}\n"),
            None => render_all(&self.sources, &self.diagnostics, look),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(Look::Plain))
    }
}

impl std::error::Error for CompileError {}

/// What the front end makes of a program.
pub(super) struct Front {
    pub(super) compiled: Compiled,
    pub(super) sources: SourceMap,
    /// How long it took.
    pub(super) took: Duration,
}

impl Front {
    /// Of nested IR, which needs no front end.
    pub(super) fn of_ir(program: Program<Soac>, target: Target) -> Result<Self, String> {
        if target != Target::Interp {
            no_gradients(&program)?;
        }
        Ok(Self {
            compiled: Compiled::plain(program),
            sources: SourceMap::new(),
            took: Duration::ZERO,
        })
    }
    /// Of a file and what it imports.
    pub(super) fn of_file(path: &Path, target: Target) -> Result<Self, CompileError> {
        if path.extension().is_some_and(|e| e == "ir") {
            let front = read_ir(path).and_then(|program| {
                let front = Self::of_ir(program, target);
                front.map_err(|why| format!("{}: {why}", path.display()))
            });
            return front.map_err(CompileError::unreadable);
        }
        let mut loader = FileLoader::new();
        loader.read_tuning(path);
        let file = loader.read(path).map_err(CompileError::unreadable)?;
        Self::of_loaded(loader, file, target)
    }
    /// Of a file that was loaded.
    pub(super) fn of_loaded(
        mut loader: FileLoader,
        file: FileId,
        target: Target,
    ) -> Result<Self, CompileError> {
        if target == Target::Interp {
            loader.interpret();
        }
        let start = Instant::now();
        match frontend::compile(file, &mut loader) {
            Ok(compiled) => Ok(Self {
                compiled,
                sources: loader.into_sources(),
                took: start.elapsed(),
            }),
            Err(diagnostics) => Err(CompileError::new(loader.into_sources(), diagnostics)),
        }
    }
}

/// A file and what it imports, read and looked over for mistakes on a thread of their own: a session can be opened meanwhile.
pub struct Reading(OnBigStack<Result<Front, CompileError>>);

impl Reading {
    /// Begins to read a file as [`super::Session::compile_file`] does, for a session with this target.
    pub fn start(path: &Path, target: Target) -> Self {
        let path = path.to_owned();
        Self(OnBigStack::start(move || Front::of_file(&path, target)))
    }
    pub(super) fn wait(self) -> Result<Front, CompileError> {
        self.0.wait()
    }
}

/// Refuses derivatives in reverse mode that the mid-end has no rules for. The front end refuses them in source programs.
pub(crate) fn no_gradients(program: &Program<Soac>) -> Result<(), String> {
    match derivatives::refusals(program).into_iter().next() {
        Some((id, refusal)) => Err(format!(
            "not yet supported: a derivative in reverse mode (`{}`) through {} on this target; the interpreter \
             computes it (`--target=interp`)",
            program.funs[id].name, refusal.what
        )),
        None => Ok(()),
    }
}

/// Reads nested IR in its text form, and verifies it.
fn read_ir(path: &Path) -> Result<Program<Soac>, String> {
    let wrong = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| wrong(&e))?;
    let program = midend::ir::read::program::<Soac>(&text).map_err(|e| wrong(&e))?;
    match midend::verify::program(&program) {
        Ok(()) => Ok(program),
        Err(faults) => Err(faults
            .iter()
            .map(|f| wrong(f))
            .collect::<Vec<_>>()
            .join("\n")),
    }
}
