//! Renaming: every use of a name in all files, as edits.

use crate::navigate::all_uses;
use crate::server::{Server, innermost};
use crate::snapshot::Snapshot;
use frontend::source::FileId;
use frontend::syntax::ast::ExpKind;
use frontend::syntax::parse_expression;
use lsp_types::{PrepareRenameResponse, TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit};
use std::collections::HashMap;

/// Whether a text is a name.
fn is_name(text: &str) -> bool {
    let parsed = parse_expression(FileId(0), text);
    let plain = parsed.is_ok_and(|exp| {
        let whole = exp.span.lo == 0 && exp.span.hi as usize == text.len();
        whole && matches!(&exp.kind, ExpKind::Name(name) if name.quals.is_empty())
    });
    plain && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

pub(crate) fn prepare(snapshot: &Snapshot, offset: usize) -> Option<PrepareRenameResponse> {
    let one = innermost(snapshot.uses_at(offset))?;
    snapshot.location(one.definition?)?;
    let text = snapshot.sources.text(one.at);
    let range = snapshot.range(one.at)?;
    is_name(text).then(|| PrepareRenameResponse::RangeWithPlaceholder {
        range,
        placeholder: text.to_owned(),
    })
}

/// The edits that give a name another text; the error says why there are none.
pub(crate) fn rename(
    server: &mut Server<'_>,
    position: &TextDocumentPositionParams,
    new: &str,
) -> Result<WorkspaceEdit, String> {
    if !is_name(new) {
        return Err(format!("`{new}` is not a name"));
    }
    let (snapshot, offset) = server.at(position).ok_or("the file is not open")?;
    let one = innermost(snapshot.uses_at(offset)).ok_or("there is no name here")?;
    let old = snapshot.sources.text(one.at).to_owned();
    if one
        .definition
        .is_none_or(|span| snapshot.location(span).is_none())
    {
        return Err(format!("`{old}` is built in"));
    }
    if !is_name(&old) {
        return Err(format!("`{old}` is an operator"));
    }
    let others = server.snapshots_with(&old);
    let others: Vec<&Snapshot> = others.iter().map(|other| &**other).collect();
    #[expect(clippy::mutable_key_type, reason = "the protocol's own type for edits")]
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for found in all_uses(&others, &snapshot, offset) {
        let Ok(uri) = std::str::FromStr::from_str(&found.location.uri) else {
            continue;
        };
        // The field keeps its name.
        let text = match found.is_field {
            true => format!("{old} = {new}"),
            false => new.to_owned(),
        };
        let edits = changes.entry(uri).or_default();
        edits.push(TextEdit::new(found.location.range(), text));
    }
    Ok(WorkspaceEdit::new(changes))
}
