//! What stands at a position: its type with sizes, and its documentation.

use crate::server::innermost;
use crate::snapshot::Snapshot;
use crate::typed;
use frontend::document;
use frontend::source::Span;
use frontend::types::index::{Space, Use};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};

pub(crate) fn at(snapshot: &Snapshot, offset: usize) -> Option<Hover> {
    let (span, code, doc) = match innermost(snapshot.uses_at(offset)) {
        Some(one) => (
            one.at,
            described(snapshot, one),
            documentation(snapshot, one),
        ),
        None => {
            let (span, ty) = type_at(snapshot, offset)?;
            (
                span,
                snapshot
                    .patched
                    .text
                    .get(span.lo as usize..span.hi as usize)
                    .map_or_else(
                        || ty.clone(),
                        |text| match text.contains('\n') || text.len() > 60 {
                            true => ty.clone(),
                            false => format!("{text} : {ty}"),
                        },
                    ),
                None,
            )
        }
    };
    let mut value = format!("```futhark\n{code}\n```");
    if let Some(doc) = doc {
        value.push_str(&format!("\n\n{doc}"));
    }
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent {
            kind: MarkupKind::Markdown,
            value,
        }),
        range: snapshot.range(span),
    })
}

/// What a name means, as the source would write it.
pub(crate) fn described(snapshot: &Snapshot, one: &Use) -> String {
    let text = snapshot.sources.text(one.at);
    match one.space {
        Space::Value => match value_type(snapshot, one) {
            Some(ty) => format!("{text} : {ty}"),
            None => text.to_owned(),
        },
        Space::Type => match defining_line(snapshot, one) {
            Some(line) if line.starts_with("type") => line,
            Some(_) | None => format!("type {text}"),
        },
        Space::Module => format!("module {text}"),
        Space::ModuleType => format!("module type {text}"),
    }
}

/// The type of the value that a name means.
pub(crate) fn value_type(snapshot: &Snapshot, one: &Use) -> Option<String> {
    let name = one.name?;
    let info = snapshot.analysis.names.get(name);
    if let Some(scheme) = &info.scheme {
        return Some(snapshot.analysis.names.scheme_text(scheme));
    }
    let local = one.definition.and_then(|span| binding_type(snapshot, span));
    local.or_else(|| (info.kind == frontend::typed::NameKind::Size).then(|| "i64".to_owned()))
}

/// The type of the pattern that binds a name.
pub(crate) fn binding_type(snapshot: &Snapshot, definition: Span) -> Option<String> {
    let analysis = &snapshot.analysis;
    let ty = typed::binding(&analysis.files, &analysis.names, definition)?;
    Some(analysis.names.type_text(ty))
}

/// The innermost expression or pattern around a position, with its type.
fn type_at(snapshot: &Snapshot, offset: usize) -> Option<(Span, String)> {
    let at = snapshot.inside(offset);
    let mut found: Option<(Span, &frontend::typed::Type)> = None;
    let decs = snapshot.analysis.files.last().map(|file| &file.decs[..]);
    typed::decs(decs.unwrap_or(&[]), &mut |_, span, ty| {
        let inside = span.file == snapshot.file && span.lo <= at && at < span.hi;
        let length = |span: Span| span.hi - span.lo;
        if inside && found.is_none_or(|(best, _)| length(span) <= length(best)) {
            found = Some((span, ty));
        }
    });
    let (span, ty) = found?;
    Some((span, snapshot.analysis.names.type_text(ty)))
}

fn defining_line(snapshot: &Snapshot, one: &Use) -> Option<String> {
    let span = one.definition?;
    let text = snapshot.sources.get(span.file)?.text();
    let start = text[..span.lo as usize].rfind('\n').map_or(0, |at| at + 1);
    Some(text[start..].lines().next()?.trim().to_owned())
}

/// The documentation comment of what a name means, if that is a definition or a name of the prelude.
pub(crate) fn documentation(snapshot: &Snapshot, one: &Use) -> Option<String> {
    let in_file = one.definition.and_then(|span| {
        let source = snapshot.sources.get(span.file)?;
        document::above(source.text(), span.lo as usize)
    });
    in_file.or_else(|| {
        let written = match one.definition {
            None => true,
            Some(span) => snapshot.sources.get(span.file)?.name() == frontend::PRELUDE,
        };
        let text = snapshot.sources.get(one.at.file)?.text();
        let is_member = text[..one.at.lo as usize].ends_with('.');
        let name = snapshot.sources.text(one.at);
        let piece = frontend::prelude_library(None);
        let piece = piece.into_iter().find(|piece| piece.name == name);
        piece.filter(|_| written && !is_member)?.doc
    })
}
