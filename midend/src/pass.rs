//! What a pass is: a name, a sentence and a function.

use crate::ir::id::SpanId;
use crate::ir::syntax::Program;

/// One step of the compiler. It takes a program and gives a program, and cannot fail.
pub struct Pass<From, To = From> {
    /// Flag, folder of its tests, and name in messages. Short, in kebab case.
    pub name: &'static str,
    /// What it does, in a line.
    pub summary: &'static str,
    /// The step.
    pub run: fn(Program<From>, &mut PassCx<'_>) -> Program<To>,
}

/// Something that the compiler finds out about programs: it changes nothing, and can tell what it found.
pub struct Analysis<D> {
    /// Its name, as that of a pass.
    pub name: &'static str,
    /// What it finds, in a line.
    pub summary: &'static str,
    /// The text of the program with what was found as comments.
    pub annotated: fn(&Program<D>) -> String,
}

/// What a pass may read and report.
pub struct PassCx<'a> {
    /// The settings.
    pub options: &'a Options,
    /// What the pass has to say about what it did or did not do.
    pub remarks: &'a mut Vec<Remark>,
}

/// Settings that passes read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Functions of up to this many statements are inlined wherever they are called.
    pub inline_small: usize,
    /// Functions of up to this many statements that hold parallel operators are inlined where parallel operators call them.
    pub inline_parallel: usize,
    /// Inlining stops when the program has grown to this many statements, or to ten times its size if that is more.
    pub inline_total: usize,
    /// Whether neighbouring points should read neighbouring elements, so that arrays are put in another order for it.
    pub coalesce: bool,
    /// Whether the device works while the host goes on, so that to read what a kernel makes is to wait.
    pub asynchronous: bool,
    /// Whether the last digits of floats are free.
    pub fast_math: bool,
    /// Whether indices and slices go unchecked. A program that leaves its arrays does anything then, as one in C would.
    pub unchecked: bool,
    /// Passes and analyses to do without, to see what they are worth. Lowerings cannot be left out.
    pub without: Vec<String>,
}

impl Options {
    /// Whether a pass or analysis is to be done without.
    pub fn is_without(&self, name: &str) -> bool {
        self.without.iter().any(|other| other == name)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            inline_small: 100,
            inline_parallel: 500,
            inline_total: 20_000,
            coalesce: true,
            asynchronous: true,
            fast_math: false,
            unchecked: false,
            without: Vec::new(),
        }
    }
}

/// Something that a pass has to say, for those who wonder why their program is as fast as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// The name of the pass.
    pub pass: &'static str,
    /// What it says.
    pub message: String,
    /// Where.
    pub span: SpanId,
}
