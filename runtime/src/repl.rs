//! The read-eval-print loop without its terminal: inputs in, text out. What reads lines from a terminal or a pipe is in
//! `cli/repl.rs`.
//!
//! ```text
//! input ──► a command, `:type xs`      ──► command
//!       ├─► definitions, `def f x = 1` ──► checked with those before, kept, their types told
//!       └─► an expression, `f 2`       ──► compiled as an entry point, run, its value shown
//! ```
//!
//! Definitions are kept as text: an expression is compiled with all of them, of which the compiler takes what the expression
//! uses. Programs that were compiled last are kept, so that an expression costs nothing but its run when it is evaluated
//! again. A mistake in an input changes nothing.

mod command;
mod fields;
mod input;
mod layout;
mod picture;
mod table;
#[cfg(test)]
mod tests;

pub use command::{COMMANDS, Command};
pub use input::is_complete;

use crate::data::{Most, fitted_text};
use crate::loader::FileLoader;
use crate::session::{Options, Program, Session, SessionError, on_big_stack};
use frontend::diagnostic::Diagnostic;
use frontend::render::{Look, render_all};
use frontend::source::FileId;
use input::Input;
use midend::device::Stop;
use midend::ir::syntax::EntryType;
use midend::value::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Compiled programs that are kept.
const KEPT: usize = 16;
/// What messages call an input.
const INPUT: &str = "<input>";
/// The name of an expression.
const IT: &str = "it";
/// What makes a definition of an expression.
const BEFORE: &str = "def it =\n";

/// What an input came to; an error has the text that says what is wrong.
pub type Reply = Result<Told, String>;

/// What an input is answered with: text for people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The answer.
    pub text: String,
    /// What is doubtful about definitions.
    pub warnings: String,
}

impl From<String> for Told {
    fn from(text: String) -> Self {
        Self {
            text,
            warnings: String::new(),
        }
    }
}

/// What the user can set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The most elements of a dimension of an array that are shown.
    pub items: usize,
    /// Columns of the terminal.
    pub width: usize,
    /// Its lines.
    pub height: usize,
    /// Whether values are laid out for the terminal, or are one line each.
    pub layout: bool,
    /// Whether every evaluation tells how long it took.
    pub time: bool,
    /// How errors look.
    pub look: Look,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            items: 20,
            width: 80,
            height: 24,
            layout: true,
            time: false,
            look: Look::Plain,
        }
    }
}

/// A session at work: definitions, and what was compiled.
pub struct Repl {
    session: Session,
    /// What the user can set.
    pub settings: Settings,
    /// Loaded file, if there is one.
    file: Option<PathBuf>,
    definitions: Vec<String>,
    /// Programs by their texts, the latest last.
    kept: VecDeque<(String, Arc<Program>)>,
    /// What has been defined, if nothing was since somebody asked.
    names: Option<Vec<String>>,
}

/// Declarations that were checked with what had been defined before.
struct Checked {
    program: frontend::typed::Program,
    warnings: Vec<Diagnostic>,
    loader: FileLoader,
    /// The declarations themselves.
    file: FileId,
}

/// The value of an expression, and how long it took.
struct Evaluated {
    ty: EntryType,
    values: Vec<Value>,
    compiling: Duration,
    running: Duration,
}

impl Repl {
    /// A loop without definitions.
    pub fn new(options: Options, settings: Settings) -> Result<Self, SessionError> {
        Ok(Self {
            session: Session::new(options)?,
            settings,
            file: None,
            definitions: Vec::new(),
            kept: VecDeque::new(),
            names: None,
        })
    }

    /// The flag that stops an evaluation.
    pub fn stop(&self) -> Arc<Stop> {
        self.session.stop()
    }

    /// What programs run on.
    pub fn target(&self) -> crate::target::Target {
        self.session.options().target
    }

    /// Takes a whole input.
    pub fn input(&mut self, text: &str) -> Reply {
        match input::classify(text) {
            Input::Nothing => Ok(Told::default()),
            Input::Command { name, rest } => self.command(name, rest),
            Input::Definitions => self.define(text),
            Input::Expression => self.evaluate(text).map_err(|why| match input::meant(text) {
                Some(meant) => format!("{why}help: {meant}\n"),
                None => why,
            }),
        }
    }

    /// Names that may be meant by what somebody has begun to type, with those of fields, `point.x`.
    pub fn names(&mut self) -> Vec<String> {
        if let Some(names) = &self.names {
            return names.clone();
        }
        let own = self.defined().unwrap_or_default().into_iter();
        let own = own.flat_map(|(name, ty)| {
            let fields = fields::paths(&ty);
            let fields: Vec<_> = fields.iter().map(|path| format!("{name}.{path}")).collect();
            [name].into_iter().chain(fields)
        });
        let library = frontend::prelude_names().into_iter().map(str::to_owned);
        let names: Vec<String> = own.chain(library).collect();
        self.names = Some(names.clone());
        names
    }

    /// What has been defined and not been hidden, with its type, in the order of definition.
    fn defined(&self) -> Result<Vec<(String, String)>, String> {
        let checked = self.checked("", "")?.program;
        // All files but the input: what the loaded file imports is not opened, unless it says so.
        let opened = self.definitions.len() + usize::from(self.file.is_some());
        let files = checked.files.iter().rev().skip(1).take(opened);
        let mut all: Vec<(String, String)> = Vec::new();
        for file in files {
            for (name, ty, _) in checked.values_of(file).into_iter().rev() {
                if all.iter().all(|(known, _)| *known != name) {
                    all.push((name, ty));
                }
            }
        }
        all.reverse();
        Ok(all)
    }

    fn define(&mut self, text: &str) -> Reply {
        let mut checked = self.checked("", text)?;
        let values = checked.program.values();
        let types = values
            .iter()
            .map(|(name, ty, _)| format!("{name} : {ty}\n"));
        let types_told = types.collect();
        // Those about earlier definitions have been told.
        let file = checked.file;
        checked.warnings.retain(|w| w.primary.span.file == file);
        self.definitions.push(text.to_owned());
        self.names = None;
        Ok(Told {
            text: types_told,
            warnings: self.render(checked.loader, &checked.warnings),
        })
    }

    fn evaluate(&mut self, text: &str) -> Reply {
        // What was compiled was checked before.
        let key = self.key(text);
        if self.kept.iter().all(|(known, _)| *known != key) {
            let checked = self.checked(BEFORE, text)?.program;
            if let Some((_, ty, true)) = checked.values().into_iter().next_back() {
                return Ok(format!("a function : {ty}\n").into());
            }
        }
        let done = self.run(text)?;
        let mut out = self.value_text(&done);
        if self.settings.time {
            out.push_str(&times(&done));
        }
        Ok(out.into())
    }

    /// A value as it is told: arrays of records as tables where they fit.
    fn value_text(&self, done: &Evaluated) -> String {
        let Settings {
            items,
            width,
            height,
            layout,
            ..
        } = self.settings;
        let (ty, values) = (&done.ty, &done.values);
        // The prompt is to be seen, and what was typed.
        let height = height.saturating_sub(3).max(4);
        // Beside the rows there is the heading, what was left out and how many there are.
        let rows = height.saturating_sub(3).max(2);
        let rows = if layout { items.min(rows) } else { items };
        if let Some(table) = table::text(ty, values, rows, width) {
            return table + "\n";
        }
        let text = if layout {
            layout::text(ty, values, items, (width, height))
        } else {
            fitted_text(ty, values, Most::of(items))
        };
        text + "\n"
    }

    /// Compiles an expression, unless that has been done, and runs it.
    fn run(&mut self, text: &str) -> Result<Evaluated, String> {
        let start = Instant::now();
        let program = self.compile(text)?;
        let compiling = start.elapsed();
        let entry = program.entry(IT).ok_or("the expression is no value")?;
        let ty = match entry.results.as_slice() {
            [one] => one.clone(),
            several => EntryType::Tuple(several.to_vec()),
        };
        let start = Instant::now();
        let called = program.call(IT, vec![]);
        self.session.stop().lower();
        let values = match called {
            Ok(values) => values,
            Err(why) => {
                drop(program);
                return Err(format!("{why}\n{}", self.begin_anew()));
            }
        };
        Ok(Evaluated {
            ty,
            values,
            compiling,
            running: start.elapsed(),
        })
    }

    /// Compiles an expression for another session.
    fn compile_in(&self, session: &Session, text: &str) -> Result<Program, String> {
        let (loader, file) = self.loader(&format!("entry {IT} =\n"), text);
        let program = session.compile_loaded(loader, file);
        program.map_err(|why| why.render(self.settings.look))
    }

    /// What tells an expression from others, and from itself with other definitions.
    fn key(&self, text: &str) -> String {
        self.definitions.concat() + "\n" + text
    }

    fn compile(&mut self, text: &str) -> Result<Arc<Program>, String> {
        let key = self.key(text);
        if let Some(place) = self.kept.iter().position(|(known, _)| *known == key)
            && let Some(found) = self.kept.remove(place)
        {
            let program = Arc::clone(&found.1);
            self.kept.push_back(found);
            return Ok(program);
        }
        let program = Arc::new(self.compile_in(&self.session, text)?);
        self.kept.push_back((key, Arc::clone(&program)));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        Ok(program)
    }

    /// Checks declarations with what has been defined before; the first lines are not the user's.
    fn checked(&self, lines: &str, text: &str) -> Result<Checked, String> {
        let (mut loader, file) = self.loader(lines, text);
        match on_big_stack(|| frontend::check(file, &mut loader)) {
            Ok((program, warnings)) => Ok(Checked {
                program,
                warnings,
                loader,
                file,
            }),
            Err(mut diagnostics) => {
                diagnostics.retain(|d| d.is_error() || d.primary.span.file == file);
                Err(self.render(loader, &diagnostics))
            }
        }
    }

    fn render(&self, loader: FileLoader, diagnostics: &[Diagnostic]) -> String {
        render_all(&loader.into_sources(), diagnostics, self.settings.look)
    }

    /// A program of these declarations, which sees the definitions and the loaded file; the first lines are not the user's.
    fn loader(&self, lines: &str, text: &str) -> (FileLoader, FileId) {
        let mut loader = FileLoader::new();
        let near = |name: &str| {
            let directory = self.file.as_deref().and_then(Path::parent);
            directory
                .map_or(PathBuf::from(name), |d| d.join(name))
                .display()
                .to_string()
        };
        let stem = self.file.as_deref().and_then(Path::file_stem);
        let mut open = stem.map_or_else(String::new, |stem| {
            format!("open import \"{}\"\n", stem.to_string_lossy())
        });
        // Each definition is a file that opens the one before it, so that it hides what it defines again.
        for (i, definition) in self.definitions.iter().enumerate() {
            let name = format!("<definition {}>", i + 1);
            loader.add_text_behind(&near(&format!("{name}.fut")), &open, definition);
            open = format!("open import \"{name}\"\n");
        }
        let file = loader.add_text_behind(&near(INPUT), &(open + lines), text);
        (loader, file)
    }
}

/// How long an evaluation took.
fn times(done: &Evaluated) -> String {
    let [compiling, running] = [done.compiling, done.running].map(|time| time.as_secs_f64() * 1e3);
    format!("compiled in {compiling:.2} ms, run in {running:.2} ms\n")
}
