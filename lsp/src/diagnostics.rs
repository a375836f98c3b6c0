//! What is wrong, and the edits that hints suggest.

use crate::position::uri_of;
use crate::snapshot::Snapshot;
use frontend::diagnostic::{Code, Diagnostic, Note, Severity};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, DiagnosticRelatedInformation,
    DiagnosticSeverity, DiagnosticTag, NumberOrString, Position, Range, TextEdit, WorkspaceEdit,
};

/// The messages about a text.
pub(crate) fn of(snapshot: &Snapshot) -> Vec<lsp_types::Diagnostic> {
    let here = snapshot.diagnostics();
    here.filter_map(|(range, message)| shown(snapshot, range, message))
        .collect()
}

fn shown(
    snapshot: &Snapshot,
    range: Option<Range>,
    message: &Diagnostic,
) -> Option<lsp_types::Diagnostic> {
    // What is wrong with an imported file is told at the top; what is wrong with an older version of a definition is not news.
    let elsewhere = message.primary.span.file != snapshot.file;
    let top = Range::new(Position::new(0, 0), Position::new(0, 0));
    let range = range.or(elsewhere.then_some(top))?;
    let mut text = message.message.clone();
    if !message.primary.text.is_empty() {
        text.push_str(&format!("\n{}", message.primary.text));
    }
    for note in &message.notes {
        let kind = match note {
            Note::Fact(_) => "note",
            Note::Hint(_) => "hint",
        };
        text.push_str(&format!("\n{kind}: {}", note.text()));
    }
    let related = message.secondary.iter().filter_map(|label| {
        Some(DiagnosticRelatedInformation {
            location: snapshot.location(label.span)?,
            message: label.text.clone(),
        })
    });
    Some(lsp_types::Diagnostic {
        range,
        severity: Some(match message.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Remark => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(message.code.to_string())),
        source: Some("arrc".to_owned()),
        message: text,
        related_information: Some(related.collect()),
        tags: (message.code == Code::UnusedName).then(|| vec![DiagnosticTag::UNNECESSARY]),
        ..lsp_types::Diagnostic::default()
    })
}

/// The edits that the messages in a range suggest.
pub(crate) fn actions(snapshot: &Snapshot, within: Range) -> Vec<CodeActionOrCommand> {
    let mut out = Vec::new();
    for (range, message) in snapshot.diagnostics() {
        let Some(range) = range else { continue };
        if range.end < within.start || within.end < range.start {
            continue;
        }
        for (title, edit) in edits(snapshot, range, message) {
            let Some(uri) = uri_of(&snapshot.path) else {
                continue;
            };
            out.push(CodeActionOrCommand::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: shown(snapshot, Some(range), message).map(|one| vec![one]),
                edit: Some(WorkspaceEdit::new(
                    [(uri, vec![edit])].into_iter().collect(),
                )),
                is_preferred: Some(true),
                ..CodeAction::default()
            }));
        }
    }
    out
}

fn edits(snapshot: &Snapshot, range: Range, message: &Diagnostic) -> Vec<(String, TextEdit)> {
    let text = &snapshot.text;
    let (lo, hi) = (
        snapshot.lines.offset(text, range.start),
        snapshot.lines.offset(text, range.end),
    );
    let found = text.get(lo..hi).unwrap_or("");
    let mut out = Vec::new();
    for note in &message.notes {
        let Note::Hint(hint) = note else { continue };
        let suggested = hint
            .strip_prefix("did you mean `")
            .and_then(|rest| rest.strip_suffix("`?"));
        if let Some(suggested) = suggested {
            // Of a path only the last part is wrong.
            let last = found.rfind('.').map_or(lo, |at| lo + at + 1);
            let range = snapshot.lines.range(text, last, hi);
            let title = format!("replace with `{suggested}`");
            out.push((title, TextEdit::new(range, suggested.to_owned())));
        }
        // A conversion between numbers.
        let convert = hint.strip_prefix('`').and_then(|rest| rest.split_once('`'));
        if let Some((function, rest)) = convert
            && rest.starts_with(" converts a value")
        {
            let plain = found
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "_'.".contains(c));
            let converted = match plain {
                true => format!("({function} {found})"),
                false => format!("({function} ({found}))"),
            };
            let title = format!("convert with `{function}`");
            out.push((title, TextEdit::new(range, converted)));
        }
    }
    if message.code == Code::UnusedName && found.starts_with(|c: char| c.is_ascii_alphabetic()) {
        let title = format!("rename to `_{found}`");
        out.push((title, TextEdit::new(range, format!("_{found}"))));
    }
    out
}
