//! What an editor can fold: definitions, modules, comments, and test blocks among them.

use crate::snapshot::Snapshot;
use frontend::syntax::ast::{Dec, DecKind, ModExp, ModExpKind};
use lsp_types::{FoldingRange, FoldingRangeKind};

pub(crate) fn of(snapshot: &Snapshot) -> Vec<FoldingRange> {
    let mut out = Vec::new();
    decs(snapshot, &snapshot.tree.decs, &mut out);
    comments(&snapshot.text, &mut out);
    out.sort_by_key(|range| (range.start_line, std::cmp::Reverse(range.end_line)));
    out
}

fn fold(start_line: u32, end_line: u32, kind: Option<FoldingRangeKind>) -> FoldingRange {
    FoldingRange {
        start_line,
        end_line,
        kind,
        ..FoldingRange::default()
    }
}

fn decs(snapshot: &Snapshot, decs: &[Dec], out: &mut Vec<FoldingRange>) {
    for dec in decs {
        if let Some(range) = snapshot.range(dec.span)
            && range.start.line < range.end.line
        {
            out.push(fold(range.start.line, range.end.line, None));
        }
        let mut dec = dec;
        while let DecKind::Local(inner) = &dec.kind {
            dec = inner;
        }
        match &dec.kind {
            DecKind::Module(bind) => module(snapshot, &bind.body, out),
            DecKind::Open(exp) => module(snapshot, exp, out),
            DecKind::Val(_)
            | DecKind::Type(_)
            | DecKind::ModType(_)
            | DecKind::Import(_)
            | DecKind::Local(_) => {}
        }
    }
}

fn module(snapshot: &Snapshot, exp: &ModExp, out: &mut Vec<FoldingRange>) {
    match &exp.kind {
        ModExpKind::Struct(inner) => decs(snapshot, inner, out),
        ModExpKind::Ascribe(inner, _) => module(snapshot, inner, out),
        ModExpKind::Lambda { body, .. } => module(snapshot, body, out),
        ModExpKind::Name(_) | ModExpKind::Import(_) | ModExpKind::Apply(..) => {}
    }
}

fn comments(text: &str, out: &mut Vec<FoldingRange>) {
    let mut start = None;
    for (line, here) in (0..).zip(text.lines().chain([""])) {
        match (here.trim_start().starts_with("--"), start) {
            (true, None) => start = Some(line),
            (false, Some(first)) => {
                if first + 1 < line {
                    out.push(fold(first, line - 1, Some(FoldingRangeKind::Comment)));
                }
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
}
