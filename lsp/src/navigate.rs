//! Definitions and uses of names.

use crate::server::{Server, innermost};
use crate::snapshot::Snapshot;
use frontend::types::index::Use;
use lsp_types::{
    DocumentHighlight, GotoDefinitionResponse, Location, Range, TextDocumentPositionParams,
};
use std::collections::BTreeSet;

pub(crate) fn definition(snapshot: &Snapshot, offset: usize) -> Option<GotoDefinitionResponse> {
    let uses = snapshot.uses_at(offset);
    // Where a name is read and bound at once (`let x[0] = v`), the one that is read is elsewhere.
    let elsewhere = uses.filter(|one| one.definition.is_some_and(|span| span != one.at));
    let one = innermost(elsewhere).or_else(|| innermost(snapshot.uses_at(offset)))?;
    let location = snapshot.location(one.definition?)?;
    Some(GotoDefinitionResponse::Scalar(location))
}

/// A use of a name in some file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Found {
    path: String,
    lo: u32,
    pub(crate) is_field: bool,
    pub(crate) is_definition: bool,
    pub(crate) location: Key,
}

/// A location that has an order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) uri: String,
    line: u32,
    column: u32,
    end: (u32, u32),
}

impl Key {
    fn new(location: &Location) -> Key {
        let range = location.range;
        Key {
            uri: location.uri.to_string(),
            line: range.start.line,
            column: range.start.character,
            end: (range.end.line, range.end.character),
        }
    }

    pub(crate) fn range(&self) -> Range {
        let position = lsp_types::Position::new;
        Range::new(
            position(self.line, self.column),
            position(self.end.0, self.end.1),
        )
    }
}

/// A definition, as it is known in every snapshot.
type Identity = (String, u32, u32);

/// The definitions of the names at a position, and of what is read and bound at once with one of them.
fn definitions(snapshots: &[&Snapshot], uses: &[Use], first: &Snapshot) -> BTreeSet<Identity> {
    let identity =
        |snapshot: &Snapshot, one: &Use| one.definition.and_then(|span| snapshot.identity(span));
    let mut wanted: BTreeSet<Identity> = BTreeSet::new();
    wanted.extend(uses.iter().filter_map(|one| identity(first, one)));
    loop {
        let before = wanted.len();
        for snapshot in snapshots {
            let all = &snapshot.analysis.index.uses;
            for same in all.chunk_by(|a, b| a.at == b.at) {
                let ids: Vec<Identity> = same
                    .iter()
                    .filter_map(|one| identity(snapshot, one))
                    .collect();
                if ids.len() > 1 && ids.iter().any(|id| wanted.contains(id)) {
                    wanted.extend(ids);
                }
            }
        }
        if wanted.len() == before {
            return wanted;
        }
    }
}

/// All uses of the name at a position, its definition among them.
pub(crate) fn all_uses(snapshots: &[&Snapshot], first: &Snapshot, offset: usize) -> Vec<Found> {
    let here: Vec<Use> = match innermost(first.uses_at(offset)) {
        Some(one) => first
            .uses_at(offset)
            .filter(|other| other.at == one.at)
            .copied()
            .collect(),
        None => return Vec::new(),
    };
    let wanted = definitions(snapshots, &here, first);
    let mut found = BTreeSet::new();
    for snapshot in snapshots {
        for one in &snapshot.analysis.index.uses {
            let id = one.definition.and_then(|span| snapshot.identity(span));
            if !id.is_some_and(|id| wanted.contains(&id)) {
                continue;
            }
            let (Some((path, lo, _)), Some(location)) =
                (snapshot.identity(one.at), snapshot.location(one.at))
            else {
                continue;
            };
            found.insert(Found {
                path,
                lo,
                is_field: one.is_field,
                is_definition: one.definition == Some(one.at),
                location: Key::new(&location),
            });
        }
    }
    let mut found: Vec<Found> = found.into_iter().collect();
    // What is read and bound at once is there twice.
    found.dedup_by(|later, earlier| later.location == earlier.location);
    found
}

pub(crate) fn references(
    server: &mut Server<'_>,
    position: &TextDocumentPositionParams,
    declared: bool,
) -> Option<Vec<Location>> {
    let (snapshot, offset) = server.at(position)?;
    let one = innermost(snapshot.uses_at(offset))?;
    let word = snapshot.sources.text(one.at).to_owned();
    let others = server.snapshots_with(&word);
    let others: Vec<&Snapshot> = others.iter().map(|other| &**other).collect();
    let found = all_uses(&others, &snapshot, offset).into_iter();
    let wanted = found.filter(|one| declared || !one.is_definition);
    let location = |one: Found| {
        let uri = std::str::FromStr::from_str(&one.location.uri).ok()?;
        Some(Location::new(uri, one.location.range()))
    };
    Some(wanted.filter_map(location).collect())
}

pub(crate) fn highlights(snapshot: &Snapshot, offset: usize) -> Vec<DocumentHighlight> {
    let own = crate::position::uri_of(&snapshot.path).map(|uri| uri.to_string());
    let found = all_uses(&[snapshot], snapshot, offset).into_iter();
    let here = found.filter(|one| Some(&one.location.uri) == own.as_ref());
    let highlight = |one: Found| DocumentHighlight {
        range: one.location.range(),
        kind: None,
    };
    here.map(highlight).collect()
}
