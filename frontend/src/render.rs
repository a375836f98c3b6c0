//! Prints diagnostics: the only place that turns them into text.

use crate::diagnostic::{Diagnostic, Label, Note, Severity};
use crate::source::{FileId, SourceFile, SourceMap, Span};
use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use std::io::IsTerminal;
use std::ops::Range;

/// Snippets longer than this are not shown: nobody reads them, and laying them out takes long.
const LONGEST_SNIPPET: usize = 64 * 1024;

/// Warnings beyond these are only counted: nobody reads them, and each shows a line, which may be long.
const MOST_WARNINGS: usize = 100;

/// How diagnostics look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// One line each, `file:line:col: error[E0102]: message`, for editors and scripts.
    Line,
    /// With the source lines, without colours.
    Plain,
    /// With the source lines and colours.
    Coloured,
}

impl Look {
    /// Colours if standard error is a terminal and the user has not asked for none (`NO_COLOR`).
    pub fn for_stderr() -> Look {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        if std::io::stderr().is_terminal() && !refused {
            Look::Coloured
        } else {
            Look::Plain
        }
    }
}

/// The text of several diagnostics, each ending in a newline. Lines are for scripts, which get all; people get the first
/// hundred warnings.
pub fn render_all(sources: &SourceMap, diagnostics: &[Diagnostic], look: Look) -> String {
    let mut text = String::new();
    let mut warnings = 0;
    for diagnostic in diagnostics {
        warnings += usize::from(!diagnostic.is_error());
        if !diagnostic.is_error() && warnings > MOST_WARNINGS && look != Look::Line {
            continue;
        }
        text.push_str(&render(sources, diagnostic, look));
        if look != Look::Line {
            text.push('\n');
        }
    }
    if warnings > MOST_WARNINGS && look != Look::Line {
        let more = warnings - MOST_WARNINGS;
        text.push_str(&format!("warning: {more} more warnings are not shown\n"));
    }
    text
}

/// The text of one diagnostic, ending in a newline.
pub fn render(sources: &SourceMap, diagnostic: &Diagnostic, look: Look) -> String {
    match look {
        Look::Line => one_line(sources, diagnostic),
        Look::Plain => with_source(sources, diagnostic, &Renderer::plain()),
        Look::Coloured => with_source(sources, diagnostic, &Renderer::styled()),
    }
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Remark => "remark",
    }
}

fn one_line(sources: &SourceMap, diagnostic: &Diagnostic) -> String {
    let place = sources.location(diagnostic.primary.span);
    let severity = severity_name(diagnostic.severity);
    let message = diagnostic.message.replace('\n', " ");
    format!("{place}: {severity}[{}]: {message}\n", diagnostic.code)
}

fn with_source(sources: &SourceMap, diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Remark => Level::NOTE.with_name("remark"),
    };
    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.as_str());
    let mut group = Group::with_title(title);
    for file in files(diagnostic) {
        if let Some(snippet) = snippet(sources, diagnostic, file) {
            group = group.element(snippet);
        }
    }
    let notes = diagnostic.notes.iter();
    group = group.elements(notes.map(|note| match note {
        Note::Fact(text) => Level::NOTE.message(text.as_str()),
        Note::Hint(text) => Level::HELP.message(text.as_str()),
    }));
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

fn labels(diagnostic: &Diagnostic) -> impl Iterator<Item = (AnnotationKind, &Label)> {
    let primary = (AnnotationKind::Primary, &diagnostic.primary);
    let secondary = diagnostic.secondary.iter();
    std::iter::once(primary).chain(secondary.map(|label| (AnnotationKind::Context, label)))
}

/// The files that a diagnostic mentions, the primary place's first, each once.
fn files(diagnostic: &Diagnostic) -> Vec<FileId> {
    let mut files = Vec::new();
    for (_, label) in labels(diagnostic) {
        if !files.contains(&label.span.file) {
            files.push(label.span.file);
        }
    }
    files
}

fn snippet<'a>(
    sources: &'a SourceMap,
    diagnostic: &'a Diagnostic,
    id: FileId,
) -> Option<Snippet<'a, Annotation<'a>>> {
    let file = sources.get(id)?;
    let here = || labels(diagnostic).filter(|(_, label)| label.span.file == id);
    let lo = here().map(|(_, label)| label.span.lo).min()?;
    let hi = here().map(|(_, label)| label.span.hi).max()?;
    let window = lines_around(file, lo as usize..hi as usize);
    let source = &file.text()[window.clone()];
    let first_line = file.line_col(u32::try_from(window.start).unwrap_or(u32::MAX));
    let mut snippet = Snippet::source(if source.len() > LONGEST_SNIPPET {
        ""
    } else {
        source
    })
    .path(file.name())
    .line_start(first_line.line as usize);
    for (kind, label) in here() {
        let range = clip(file, label.span, &window, source.len() > LONGEST_SNIPPET);
        let text = Some(label.text.as_str()).filter(|text| !text.is_empty());
        snippet = snippet.annotation(kind.span(range).label(text));
    }
    Some(snippet)
}

/// The whole lines that a range of bytes touches.
fn lines_around(file: &SourceFile, range: Range<usize>) -> Range<usize> {
    let (start, _) = file.line_of(range.start);
    let (_, end) = file.line_of(range.end.max(range.start));
    start..end
}

/// A span's place within the window, on character boundaries.
fn clip(file: &SourceFile, span: Span, window: &Range<usize>, hidden: bool) -> Range<usize> {
    if hidden {
        return 0..0;
    }
    let on_boundary = |at: u32| {
        let mut at = (at as usize).clamp(window.start, window.end);
        while !file.text().is_char_boundary(at) {
            at -= 1;
        }
        at - window.start
    };
    on_boundary(span.lo)..on_boundary(span.hi.max(span.lo))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::Code;
    use expect_test::expect;

    fn example() -> (SourceMap, Diagnostic) {
        let mut sources = SourceMap::new();
        let file = sources.add("sum.fut", "def one = 1\ndef main (x: i32) =\n  x + + one\n");
        let diagnostic = Diagnostic::error(
            Code::UnexpectedToken,
            Span::new(file, 38, 39),
            "expected an operand, found `+`",
        )
        .label("unexpected")
        .also(Span::new(file, 36, 37), "after this operator")
        .note("operators need two operands")
        .hint("remove one of the two");
        (sources, diagnostic)
    }

    #[test]
    fn shows_source_labels_notes_and_hints() {
        let (sources, diagnostic) = example();
        expect![[r#"
            error[E0102]: expected an operand, found `+`
             --> sum.fut:3:7
              |
            3 |   x + + one
              |     - ^ unexpected
              |     |
              |     after this operator
              |
              = note: operators need two operands
              = help: remove one of the two
        "#]]
        .assert_eq(&render(&sources, &diagnostic, Look::Plain));
    }

    #[test]
    fn one_line_form_is_for_scripts() {
        let (sources, diagnostic) = example();
        let line = render_all(&sources, &[diagnostic], Look::Line);
        assert_eq!(
            line,
            "sum.fut:3:7: error[E0102]: expected an operand, found `+`\n"
        );
    }

    #[test]
    fn people_get_a_hundred_warnings_and_scripts_all() {
        let (sources, error) = example();
        let span = error.primary.span;
        let mut all = vec![Diagnostic::warning(Code::UnusedName, span, "w"); MOST_WARNINGS + 2];
        all.push(error);
        let text = render_all(&sources, &all, Look::Plain);
        assert_eq!(text.matches("warning[W0201]: w").count(), MOST_WARNINGS);
        assert!(text.contains("error[E0102]"));
        assert!(text.ends_with("warning: 2 more warnings are not shown\n"));
        let lines = render_all(&sources, &all, Look::Line);
        assert_eq!(lines.lines().count(), all.len());
    }

    #[test]
    fn colours_are_escape_codes_around_the_same_text() {
        let (sources, diagnostic) = example();
        let coloured = render(&sources, &diagnostic, Look::Coloured);
        assert!(coloured.contains('\u{1b}'));
        assert!(!render(&sources, &diagnostic, Look::Plain).contains('\u{1b}'));
    }

    #[test]
    fn places_outside_the_text_do_no_harm() {
        let mut sources = SourceMap::new();
        let file = sources.add("e.fut", "å");
        for (lo, hi) in [(0, 0), (1, 1), (0, 2), (2, 2), (7, 90), (2, 0)] {
            for file in [file, FileId(9)] {
                let span = Span { file, lo, hi };
                let diagnostic = Diagnostic::error(Code::BadText, span, "m").label("l");
                for look in [Look::Line, Look::Plain, Look::Coloured] {
                    assert!(render(&sources, &diagnostic, look).contains('m'));
                }
            }
        }
    }
}
