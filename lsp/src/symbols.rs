//! The definitions of a text, and those of all texts that a word fits.

use crate::position::{Lines, uri_of};
use crate::server::Server;
use crate::snapshot::Snapshot;
use frontend::source::{FileId, Span};
use frontend::syntax::ast::{Dec, DecKind, Ident, ModExp, ModExpKind};
use frontend::syntax::parse_program;
use lsp_types::{DocumentSymbol, Location, SymbolInformation, SymbolKind};

/// More answers than these help nobody.
const MAX_SYMBOLS: usize = 1000;

/// A definition with those inside of it.
struct Symbol<'a> {
    name: &'a Ident,
    kind: SymbolKind,
    whole: Span,
    children: Vec<Symbol<'a>>,
}

fn of_decs(decs: &[Dec]) -> Vec<Symbol<'_>> {
    decs.iter()
        .filter_map(|dec| of_dec(dec, dec.span))
        .collect()
}

fn of_dec(dec: &Dec, whole: Span) -> Option<Symbol<'_>> {
    let symbol = |name, kind, children| {
        Some(Symbol {
            name,
            kind,
            whole,
            children,
        })
    };
    match &dec.kind {
        DecKind::Val(bind) => {
            let kind = match bind.params.is_empty() {
                true => SymbolKind::CONSTANT,
                false => SymbolKind::FUNCTION,
            };
            symbol(&bind.name, kind, Vec::new())
        }
        DecKind::Type(bind) => symbol(&bind.name, SymbolKind::STRUCT, Vec::new()),
        DecKind::Module(bind) => symbol(&bind.name, SymbolKind::MODULE, in_module(&bind.body)),
        DecKind::ModType(bind) => symbol(&bind.name, SymbolKind::INTERFACE, Vec::new()),
        DecKind::Local(inner) => of_dec(inner, whole),
        DecKind::Open(_) | DecKind::Import(_) => None,
    }
}

fn in_module(exp: &ModExp) -> Vec<Symbol<'_>> {
    match &exp.kind {
        ModExpKind::Struct(decs) => of_decs(decs),
        ModExpKind::Ascribe(inner, _) => in_module(inner),
        ModExpKind::Lambda { body, .. } => in_module(body),
        ModExpKind::Name(_) | ModExpKind::Import(_) | ModExpKind::Apply(..) => Vec::new(),
    }
}

/// The definitions of a text, as a tree.
pub(crate) fn of_document(snapshot: &Snapshot) -> Vec<DocumentSymbol> {
    let all = of_decs(&snapshot.tree.decs);
    all.iter().filter_map(|one| shown(snapshot, one)).collect()
}

fn shown(snapshot: &Snapshot, one: &Symbol<'_>) -> Option<DocumentSymbol> {
    let children = one
        .children
        .iter()
        .filter_map(|child| shown(snapshot, child));
    let children: Vec<DocumentSymbol> = children.collect();
    let selection_range = snapshot.range(one.name.span)?;
    let range = snapshot.range(one.whole).unwrap_or(selection_range);
    #[expect(deprecated, reason = "the field has to be given")]
    Some(DocumentSymbol {
        name: one.name.name.to_string(),
        detail: None,
        kind: one.kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children: Some(children),
    })
}

/// The definitions whose names have the letters of a word, in their order.
pub(crate) fn of_workspace(server: &mut Server<'_>, word: &str) -> Vec<SymbolInformation> {
    let open = server.documents();
    let mut texts: Vec<(String, String)> = open
        .map(|document| (document.path.clone(), document.text.to_string()))
        .collect();
    texts.extend(server.programs());
    let mut out = Vec::new();
    for (path, text) in texts {
        let Ok(tree) = parse_program(FileId(0), &text) else {
            continue;
        };
        let lines = Lines::new(&text);
        let mut waiting = of_decs(&tree.decs);
        while let Some(one) = waiting.pop() {
            if fits(&one.name.name, word)
                && let Some(uri) = uri_of(&path)
            {
                let span = one.name.span;
                let range = lines.range(&text, span.lo as usize, span.hi as usize);
                #[expect(deprecated, reason = "the field has to be given")]
                out.push(SymbolInformation {
                    name: one.name.name.to_string(),
                    kind: one.kind,
                    tags: None,
                    deprecated: None,
                    location: Location::new(uri, range),
                    container_name: None,
                });
            }
            waiting.extend(one.children);
        }
    }
    out.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
    out.truncate(MAX_SYMBOLS);
    out
}

fn fits(name: &str, word: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    word.chars()
        .all(|c| letters.any(|l| l == c.to_ascii_lowercase()))
}
