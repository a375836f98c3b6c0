//! Test blocks: the comments after `-- ==` in which a program says what it should do.
//!
//! The format is that of `futhark test`: see `docs/values.md` for the notation of values.

mod block;
mod parse;
mod pattern;
mod random;

pub(crate) use parse::generator;
pub use pattern::Pattern;
pub use random::{Bounds, Generator, generate};
pub(crate) use random::{SplitMix, bounded, count, elements, shaped};

use crate::script::Exp;
use midend::ir::threshold::Forced;
use midend::plan::Work;
use midend::value::Value;
use std::fmt;

/// What a program's test blocks say.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The tags of the whole program.
    pub tags: Vec<String>,
    /// What to do with it.
    pub action: Action,
    /// Whether there is any test block.
    pub present: bool,
}

/// What to do with a program.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The compiler must reject it with such a message.
    Reject(Pattern),
    /// The compiler must accept it.
    Accept {
        /// The runs to make; may be empty.
        cases: Vec<Case>,
        /// Warnings that compiling it must give.
        warnings: Vec<Pattern>,
        /// Entry points that are properties, to be tried on random values.
        properties: Vec<String>,
    },
}

/// One run of one entry point.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The entry point.
    pub entry: String,
    /// The name that the block gives it.
    pub name: Option<String>,
    /// The words before `input`.
    pub tags: Vec<String>,
    /// The arguments.
    pub input: Input,
    /// What should come of it.
    pub expect: Expect,
    /// How much work of which kinds the device must be given.
    pub counts: Vec<CountSpec>,
    /// The line on which the case begins, from one.
    pub line: usize,
    /// What `arrc bench` calls the input: as Futhark does, so that results can be compared.
    pub dataset: String,
}

/// How much work of which kinds a run must give the device: `count: map 1 reduce 2`, or `count *=inf: ..` for a choice of
/// versions, `count gpu *=0: ..` for one that only GPUs have. Kinds that are not named must not be there.
#[derive(Clone, Debug, PartialEq)]
pub struct CountSpec {
    /// Whether it holds for GPUs only, and there instead of what else is said of these thresholds.
    pub gpu: bool,
    /// What thresholds are to be. Nothing means that the counts hold with all guards true and with none.
    pub forced: Option<Forced>,
    /// Kinds and numbers.
    pub counts: Vec<(Work, u64)>,
}

/// Where the arguments come from. Paths are relative to the program.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// Values.
    Values(Vec<Value>),
    /// A file of values.
    File(String),
    /// Random values.
    Random(Vec<Generator>),
    /// A FutharkScript expression.
    Script(Exp),
    /// A file with a FutharkScript expression.
    ScriptFile(String),
}

/// What should come of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Expect {
    /// These values.
    Values(Vec<Value>),
    /// The values in a file.
    File(String),
    /// What a reference gives.
    Auto,
    /// A run-time failure with such a message.
    Failure(Pattern),
    /// Any result.
    Success,
}

/// A test block that cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The line of the program, from one.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: in a test block: {}", self.line, self.message)
    }
}

impl std::error::Error for SpecError {}

impl Case {
    /// The case in a few words: its name, or its entry point and what its input is like.
    pub fn title(&self) -> String {
        let input = match (&self.name, &self.input) {
            (Some(name), _) => format!("{name:?}"),
            (None, Input::Values(_)) => String::from("values"),
            (None, Input::File(path) | Input::ScriptFile(path)) => format!("@ {path}"),
            (None, Input::Random(_)) => String::from("random"),
            (None, Input::Script(_)) => String::from("script"),
        };
        format!("{} line {} ({input})", self.entry, self.line)
    }
}

impl Spec {
    /// The test blocks in the text of a program.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let mut blocks = block::blocks(text).into_iter();
        let mut spec = match blocks.next() {
            Some(first) => parse::first_block(&first)?,
            None => {
                return Ok(Self {
                    tags: Vec::new(),
                    present: false,
                    action: Action::Accept {
                        cases: Vec::new(),
                        warnings: Vec::new(),
                        properties: Vec::new(),
                    },
                });
            }
        };
        for block in blocks {
            match &mut spec.action {
                Action::Reject(_) => {
                    return Err(SpecError {
                        line: block.first_line,
                        message: String::from(
                            "a program that must be rejected has one test block only",
                        ),
                    });
                }
                Action::Accept {
                    cases,
                    warnings,
                    properties,
                } => parse::further_block(&block, cases, warnings, properties)?,
            }
        }
        Ok(spec)
    }
}

#[cfg(test)]
mod tests;
