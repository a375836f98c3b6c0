//! Types that the program does not write, shown where they would stand.

use crate::snapshot::Snapshot;
use crate::{tree, typed};
use frontend::source::Span;
use lsp_types::{InlayHint, InlayHintKind, InlayHintLabel, Range};

/// Longer types are cut.
const MAX_LETTERS: usize = 60;

pub(crate) fn of(snapshot: &Snapshot, within: Range) -> Vec<InlayHint> {
    let mut found: Vec<(Span, String)> = Vec::new();
    let names = &snapshot.analysis.names;
    let decs = snapshot
        .analysis
        .files
        .last()
        .map_or(&[][..], |file| &file.decs);
    typed::decs(decs, &mut |node, span, ty| {
        if let typed::Node::Name(name) = node
            && names.get(name).span == Some(span)
            && span.file == snapshot.file
            && !is_ascribed(snapshot, span)
        {
            found.push((span, names.type_text(ty)));
        }
    });
    typed::definitions(decs, &mut |def| {
        tree::values(&snapshot.tree.decs, &mut |bind, _| {
            if names.get(def.name).span != Some(bind.name.span) || bind.ret.is_some() {
                return;
            }
            let params = bind.params.last().map(|pat| pat.span);
            let types = bind.type_params.last().map(|param| param.span);
            let last = params.or(types).unwrap_or(bind.name.span);
            found.push((last, names.result_text(&def.ret)));
        });
    });
    found.sort();
    found.dedup();
    let hint = |(span, ty): (Span, String)| {
        let position = snapshot.range(span)?.end;
        let inside = within.start <= position && position <= within.end;
        inside.then(|| {
            let short: String = ty.chars().take(MAX_LETTERS).collect();
            let dots = if short.len() < ty.len() { ".." } else { "" };
            InlayHint {
                position,
                label: InlayHintLabel::String(format!(": {short}{dots}")),
                kind: Some(InlayHintKind::TYPE),
                text_edits: None,
                tooltip: None,
                padding_left: None,
                padding_right: Some(true),
                data: None,
            }
        })
    };
    found.into_iter().filter_map(hint).collect()
}

/// Whether a type is written behind a name.
fn is_ascribed(snapshot: &Snapshot, span: Span) -> bool {
    let text = snapshot.patched.text.get(span.hi as usize..).unwrap_or("");
    text.trim_start().starts_with(':')
}
