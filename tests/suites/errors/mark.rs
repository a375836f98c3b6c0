//! Marks in a program: where something is said, and what.

use frontend::diagnostic::{Diagnostic, Severity};
use frontend::source::{SourceMap, Span};
use std::fmt;

/// What a mark stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Kind {
    /// The place and message of a diagnostic.
    Primary,
    /// Another label of it.
    Label,
    /// A note or hint, which has no place of its own.
    Note,
}

/// Something that is said.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Mark {
    /// The line of the program, from one.
    pub(crate) line: usize,
    /// What it stands for.
    pub(crate) kind: Kind,
    /// The first and last column, from one; zero for notes.
    pub(crate) columns: (usize, usize),
    /// What is said, or a part of it.
    pub(crate) text: String,
}

/// A program and its marks.
pub(crate) struct Marked {
    /// The program without the marks.
    pub(crate) program: String,
    /// The marks, in order.
    pub(crate) marks: Vec<Mark>,
}

impl Marked {
    /// Takes the marks out of a file.
    pub(crate) fn parse(text: &str) -> Marked {
        let (mut program, mut marks, mut line) = (String::new(), Vec::new(), 0);
        for source in text.lines() {
            match mark(source, line) {
                Some(mark) => marks.push(mark),
                None => {
                    line += 1;
                    program.push_str(source);
                    program.push('\n');
                }
            }
        }
        Marked { program, marks }
    }

    /// The text of the program with other marks.
    pub(crate) fn with(&self, marks: &[Mark]) -> String {
        let mut out = String::new();
        let here = |line: usize| marks.iter().filter(move |mark| mark.line == line);
        let last = self.program.lines().count();
        for (i, source) in self.program.lines().enumerate() {
            out.push_str(source);
            out.push('\n');
            here(i + 1).for_each(|mark| out.push_str(&format!("{}\n", mark.written())));
        }
        let after = marks.iter().filter(|mark| mark.line > last);
        after.for_each(|mark| out.push_str(&format!("{}\n", mark.written())));
        out
    }
}

/// The mark that a line is, if it is one.
fn mark(source: &str, line: usize) -> Option<Mark> {
    let after = source.strip_prefix("--")?;
    let body = after.trim_start();
    let start = source.chars().count() - body.chars().count() + 1;
    let (kind, columns, text) = if let Some(text) = body.strip_prefix("= ") {
        (Kind::Note, (0, 0), text)
    } else if let Some(rest) = body.strip_prefix('@') {
        let (columns, text) = rest.split_once(' ')?;
        let (first, last) = columns.split_once('-')?;
        let (kind, text) = match text.strip_prefix("~ ") {
            Some(text) => (Kind::Label, text),
            None => (Kind::Primary, text),
        };
        (kind, (first.parse().ok()?, last.parse().ok()?), text)
    } else {
        let sign = body.chars().next().filter(|c| matches!(c, '^' | '~'))?;
        let text = body.trim_start_matches(sign);
        let width = body.len() - text.len();
        let kind = if sign == '^' {
            Kind::Primary
        } else {
            Kind::Label
        };
        (kind, (start, start + width - 1), text)
    };
    Some(Mark {
        line,
        kind,
        columns,
        text: text.trim().to_owned(),
    })
}

impl Mark {
    /// As it is written in a file.
    pub(crate) fn written(&self) -> String {
        let (first, last) = self.columns;
        let sign = match self.kind {
            Kind::Primary => "^",
            Kind::Label => "~",
            Kind::Note => return format!("-- = {}", self.text),
        };
        if first > 2 {
            let signs = sign.repeat(last - first + 1);
            return format!("--{}{signs} {}", " ".repeat(first - 3), self.text)
                .trim_end()
                .to_owned();
        }
        let label = if self.kind == Kind::Label { "~ " } else { "" };
        format!("-- @{first}-{last} {label}{}", self.text)
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mark {
            line,
            columns,
            text,
            ..
        } = self;
        match self.kind {
            Kind::Primary | Kind::Label => {
                write!(
                    f,
                    "line {line}, columns {}-{}: {text}",
                    columns.0, columns.1
                )
            }
            Kind::Note => write!(f, "line {line}, note: {text}"),
        }
    }
}

/// What the compiler says, as marks, sorted by line.
pub(crate) fn said(sources: &SourceMap, diagnostics: &[Diagnostic]) -> Vec<Mark> {
    let mut marks = Vec::new();
    for d in diagnostics {
        let severity = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        };
        let message = d.message.replace('\n', " ");
        let text = format!("{severity}[{}]: {message}", d.code);
        let primary = at(sources, d.primary.span, Kind::Primary, text);
        let line = primary.line;
        marks.push(primary);
        for label in &d.secondary {
            marks.push(at(sources, label.span, Kind::Label, label.text.clone()));
        }
        for note in &d.notes {
            marks.push(Mark {
                line,
                kind: Kind::Note,
                columns: (0, 0),
                text: note.text().replace('\n', " "),
            });
        }
    }
    marks.sort_by_key(|mark| mark.line);
    marks
}

/// A mark at a span; one of several lines counts to the end of its first.
fn at(sources: &SourceMap, span: Span, kind: Kind, text: String) -> Mark {
    let file = sources.get(span.file);
    let start = file.map(|f| f.line_col(span.lo));
    let (line, first) = start.map_or((0, 1), |at| (at.line as usize, at.col as usize));
    let shown = sources.text(span).lines().next().unwrap_or("");
    let width = shown.trim_end().chars().count().max(1);
    Mark {
        line,
        kind,
        columns: (first, first + width - 1),
        text,
    }
}

/// The expected marks that nothing said fits, and what was said that no expected mark fits.
pub(crate) fn difference<'m>(
    expected: &'m [Mark],
    said: &'m [Mark],
) -> (Vec<&'m Mark>, Vec<&'m Mark>) {
    let mut left: Vec<&Mark> = said.iter().collect();
    let mut missing = Vec::new();
    for mark in expected {
        let fits = |other: &&Mark| {
            (other.line, other.kind, other.columns) == (mark.line, mark.kind, mark.columns)
                && other.text.contains(&mark.text)
        };
        match left.iter().position(fits) {
            Some(i) => drop(left.remove(i)),
            None => missing.push(mark),
        }
    }
    (missing, left)
}
