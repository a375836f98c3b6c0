//! What may be typed next: names in scope, members of modules, fields of records, constructors.

use crate::hover::binding_type;
use crate::snapshot::Snapshot;
use crate::typed;
use frontend::source::Span;
use frontend::typed::Type;
use frontend::types::index::Outline;
use lsp_types::{CompletionItem, CompletionItemKind};
use std::collections::BTreeSet;

/// The keywords of the language.
pub const KEYWORDS: &[&str] = &[
    "assert", "case", "def", "do", "else", "entry", "false", "for", "if", "import", "in",
    "include", "let", "local", "loop", "match", "module", "open", "then", "true", "type", "val",
    "while", "with",
];

/// What stands before a position.
struct Before<'a> {
    /// The parts before the last dot.
    path: Vec<&'a str>,
    /// Whether a constructor is typed.
    constructor: bool,
}

fn before(text: &str) -> Before<'_> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let start = |end: usize| {
        let part = text[..end].trim_end_matches(is_part);
        part.len()
    };
    let mut at = start(text.len());
    let constructor = text[..at].ends_with('#');
    let mut path = Vec::new();
    while text[..at].ends_with('.') {
        let end = at - 1;
        at = start(end);
        if at == end {
            break;
        }
        path.push(&text[at..end]);
    }
    path.reverse();
    Before { path, constructor }
}

pub(crate) fn at(snapshot: &Snapshot, offset: usize) -> Vec<CompletionItem> {
    let line = snapshot.text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = &snapshot.text[line..offset];
    if line.contains("--") {
        return Vec::new();
    }
    let before = before(line);
    if before.constructor {
        return constructors(snapshot);
    }
    let mut out = Items::default();
    if !before.path.is_empty() {
        let modules = [&snapshot.analysis.scope, &snapshot.analysis.built_in];
        match modules
            .iter()
            .find_map(|outline| outline.module(&before.path))
        {
            Some(module) => out.outline(snapshot, module),
            None => fields(snapshot, offset, &before.path, &mut out),
        }
        return out.items;
    }
    locals(snapshot, offset, &mut out);
    out.outline(snapshot, &snapshot.analysis.scope);
    out.outline(snapshot, &snapshot.analysis.built_in);
    for name in frontend::prelude_names() {
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            out.add(name, CompletionItemKind::FUNCTION, None, 3);
        }
    }
    for (name, _) in &snapshot.analysis.built_in.modules {
        out.add(name, CompletionItemKind::CLASS, None, 3);
    }
    for keyword in KEYWORDS {
        out.add(keyword, CompletionItemKind::KEYWORD, None, 4);
    }
    out.items
}

#[derive(Default)]
struct Items {
    items: Vec<CompletionItem>,
    taken: BTreeSet<String>,
}

impl Items {
    /// Adds a name, unless an inner one has it; smaller ranks come first.
    fn add(&mut self, name: &str, kind: CompletionItemKind, detail: Option<String>, rank: u32) {
        if !self.taken.insert(name.to_owned()) {
            return;
        }
        self.items.push(CompletionItem {
            label: name.to_owned(),
            kind: Some(kind),
            detail,
            sort_text: Some(format!("{rank}{name}")),
            ..CompletionItem::default()
        });
    }

    fn outline(&mut self, snapshot: &Snapshot, outline: &Outline) {
        let names = &snapshot.analysis.names;
        for (name, id) in &outline.values {
            if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                continue;
            }
            let scheme = names.get(*id).scheme.as_ref();
            let kind = match scheme.map(|scheme| &scheme.ty) {
                Some(Type::Fun(_)) => CompletionItemKind::FUNCTION,
                Some(_) | None => CompletionItemKind::CONSTANT,
            };
            self.add(
                name,
                kind,
                scheme.map(|scheme| names.scheme_text(scheme)),
                1,
            );
        }
        for (name, _) in &outline.modules {
            self.add(name, CompletionItemKind::MODULE, None, 2);
        }
        for name in &outline.types {
            self.add(name, CompletionItemKind::STRUCT, None, 2);
        }
        for name in &outline.module_types {
            self.add(name, CompletionItemKind::INTERFACE, None, 2);
        }
    }
}

/// Local names, the innermost first.
fn locals(snapshot: &Snapshot, offset: usize, out: &mut Items) {
    let at = snapshot.inside(offset);
    let mut here: Vec<_> = in_scope(snapshot, at).collect();
    here.sort_by_key(|local| std::cmp::Reverse(local.0.lo));
    for (definition, name) in here {
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let ty = binding_type(snapshot, definition);
            out.add(name, CompletionItemKind::VARIABLE, ty, 0);
        }
    }
}

fn in_scope(snapshot: &Snapshot, at: u32) -> impl Iterator<Item = (Span, &str)> {
    let locals = snapshot.analysis.index.locals.iter();
    let here = locals.filter(move |local| {
        let span = local.definition;
        span.file == snapshot.file && span.hi <= at && at <= local.end
    });
    here.map(|local| (local.definition, snapshot.analysis.names.text(local.name)))
}

/// The fields of the record that a path leads to.
fn fields(snapshot: &Snapshot, offset: usize, path: &[&str], out: &mut Items) {
    let at = snapshot.inside(offset);
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    let local = in_scope(snapshot, at)
        .filter(|(_, name)| name == first)
        .last();
    let names = &snapshot.analysis.names;
    let mut ty = match local {
        Some((definition, _)) => typed::binding(&snapshot.analysis.files, names, definition),
        None => {
            let values = snapshot.analysis.scope.values.iter();
            let value = values.into_iter().find(|(name, _)| **name == **first);
            value
                .and_then(|(_, id)| names.get(*id).scheme.as_ref())
                .map(|scheme| &scheme.ty)
        }
    };
    for part in rest {
        ty = match ty {
            Some(Type::Record(fields)) => fields
                .iter()
                .find(|(name, _)| **name == **part)
                .map(|(_, ty)| ty),
            Some(Type::Tuple(parts)) => part.parse().ok().and_then(|at: usize| parts.get(at)),
            Some(_) | None => None,
        };
    }
    match ty {
        Some(Type::Record(fields)) => {
            for (name, ty) in fields.iter() {
                out.add(
                    name,
                    CompletionItemKind::FIELD,
                    Some(names.type_text(ty)),
                    0,
                );
            }
        }
        Some(Type::Tuple(parts)) => {
            for (at, ty) in parts.iter().enumerate() {
                let name = at.to_string();
                out.add(
                    &name,
                    CompletionItemKind::FIELD,
                    Some(names.type_text(ty)),
                    0,
                );
            }
        }
        Some(_) | None => {}
    }
}

/// Every constructor that the program names.
fn constructors(snapshot: &Snapshot) -> Vec<CompletionItem> {
    let mut out = Items::default();
    for (_, source) in snapshot.sources.iter() {
        for (at, _) in source.text().match_indices('#') {
            let rest = &source.text()[at + 1..];
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            if rest[..end].starts_with(|c: char| c.is_ascii_alphabetic()) {
                out.add(&rest[..end], CompletionItemKind::ENUM_MEMBER, None, 0);
            }
        }
    }
    out.items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_before_is_read_backwards() {
        let path = |text: &'static str| before(text).path;
        assert!(path("map f").is_empty());
        assert_eq!(path("x + f32."), ["f32"]);
        assert_eq!(path("(a.b'.c"), ["a", "b'"]);
        assert!(path("(f x).").is_empty());
        assert!(before("match x case #so").constructor);
    }
}
