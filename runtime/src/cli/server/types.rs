//! The types of a program as clients of the server know them: by name, and by kind.

use crate::script::type_text;
use midend::ir::syntax::{Entry, EntryType};
use midend::ir::types::ScalarType;
use std::collections::BTreeMap;

/// What can be done with values of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Primitive,
    Array,
    Record,
    Sum,
    Opaque,
}

impl Kind {
    /// Its name in the protocol.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Primitive => "primitive",
            Self::Array => "array",
            Self::Record => "record",
            Self::Sum => "sum",
            Self::Opaque => "opaque",
        }
    }
}

/// The name of a type: as the source writes it, without sizes.
pub(super) fn name(ty: &EntryType) -> String {
    let text = type_text(ty);
    if !matches!(ty, EntryType::Opaque { .. }) {
        return text;
    }
    // The name of an abstract or named type may be applied to sizes.
    let mut depth = 0_usize;
    let keep = |c: &char| {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 || (depth == 1 && *c == '[')
    };
    text.chars().filter(keep).collect()
}

/// A type without the names that the source gives it.
pub(super) fn structure(ty: &EntryType) -> EntryType {
    let all = |types: &[EntryType]| types.iter().map(structure).collect();
    match ty {
        EntryType::Scalar(elem) => EntryType::Scalar(*elem),
        EntryType::Array { rank, elem } => EntryType::Array {
            rank: *rank,
            elem: Box::new(structure(elem)),
        },
        EntryType::Rows(elem) => EntryType::Rows(Box::new(structure(elem))),
        EntryType::Tuple(parts) => EntryType::Tuple(all(parts)),
        EntryType::Record(fields) => {
            let fields = fields.iter();
            EntryType::Record(fields.map(|(n, ty)| (n.clone(), structure(ty))).collect())
        }
        EntryType::Sum(constructors) => {
            let constructors = constructors.iter();
            EntryType::Sum(constructors.map(|(n, ts)| (n.clone(), all(ts))).collect())
        }
        EntryType::Opaque { of, .. } => structure(of),
    }
}

/// A type behind its name.
pub(super) fn opened(ty: &EntryType) -> &EntryType {
    match ty {
        EntryType::Opaque { of, .. } => opened(of),
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_)
        | EntryType::Sum(_) => ty,
    }
}

/// The kind of a type. What scalars and arrays of an abstract type are made of is nobody's business.
pub(super) fn kind(ty: &EntryType) -> Kind {
    let is_named = matches!(ty, EntryType::Opaque { .. });
    match opened(ty) {
        EntryType::Scalar(_) if !is_named => Kind::Primitive,
        EntryType::Array { .. } | EntryType::Rows(_) if !is_named => Kind::Array,
        EntryType::Tuple(_) | EntryType::Record(_) => Kind::Record,
        EntryType::Sum(_) => Kind::Sum,
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Opaque { .. } => Kind::Opaque,
    }
}

/// The fields of a record; the components of a tuple are fields `0`, `1`, ...
pub(super) fn fields(ty: &EntryType) -> Option<Vec<(String, EntryType)>> {
    match opened(ty) {
        EntryType::Record(fields) => Some(fields.clone()),
        EntryType::Tuple(parts) => {
            let parts = parts.iter().enumerate();
            Some(parts.map(|(i, ty)| (i.to_string(), ty.clone())).collect())
        }
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Sum(_)
        | EntryType::Opaque { .. } => None,
    }
}

/// An array with so many dimensions around `elem`.
pub(super) fn array(outer: usize, elem: EntryType) -> EntryType {
    match elem {
        EntryType::Array { rank, elem } => EntryType::Array {
            rank: outer.saturating_add(rank),
            elem,
        },
        elem @ (EntryType::Scalar(_)
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_)
        | EntryType::Sum(_)
        | EntryType::Opaque { .. }) => EntryType::Array {
            rank: outer,
            elem: Box::new(elem),
        },
    }
}

/// The type of an element that stands alone: rows of any lengths are arrays then.
pub(super) fn alone(elem: &EntryType) -> EntryType {
    let all = |types: &[EntryType]| types.iter().map(alone).collect();
    match elem {
        EntryType::Rows(of) => array(1, (**of).clone()),
        EntryType::Tuple(parts) => EntryType::Tuple(all(parts)),
        EntryType::Record(fields) => {
            let fields = fields.iter();
            EntryType::Record(fields.map(|(n, ty)| (n.clone(), alone(ty))).collect())
        }
        EntryType::Sum(constructors) => {
            let constructors = constructors.iter();
            EntryType::Sum(constructors.map(|(n, ts)| (n.clone(), all(ts))).collect())
        }
        EntryType::Scalar(_) | EntryType::Array { .. } | EntryType::Opaque { .. } => elem.clone(),
    }
}

/// The dimensions of an array, and the type that its elements have in it.
pub(super) fn parts(ty: &EntryType) -> Option<(usize, &EntryType)> {
    match ty {
        EntryType::Array { rank, elem } => Some((*rank, elem)),
        EntryType::Scalar(_)
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_)
        | EntryType::Sum(_)
        | EntryType::Opaque { .. } => None,
    }
}

/// For an array of records, the arrays that it is made of.
pub(super) fn columns(ty: &EntryType) -> Option<Vec<(String, EntryType)>> {
    let (rank, elem) = parts(ty)?;
    let columns = fields(elem)?.into_iter();
    Some(columns.map(|(name, ty)| (name, array(rank, ty))).collect())
}

/// The type of what an entry point gives.
pub(super) fn output(entry: &Entry) -> EntryType {
    match entry.results.as_slice() {
        [one] => one.clone(),
        results => EntryType::Tuple(results.to_vec()),
    }
}

/// Types by name.
pub(super) struct Types {
    by_name: BTreeMap<String, EntryType>,
}

impl Types {
    /// All types of arguments and results of a program, and what they are made of.
    pub(super) fn new(entries: &[Entry]) -> Self {
        let by_name = BTreeMap::new();
        let mut types = Self { by_name };
        for entry in entries {
            entry.params.iter().for_each(|param| types.add(&param.ty));
            types.add(&output(entry));
        }
        types
    }

    fn add(&mut self, ty: &EntryType) {
        if self.by_name.insert(name(ty), ty.clone()).is_some() {
            return;
        }
        if let Some((_, elem)) = parts(ty) {
            self.add(&alone(elem));
        }
        let inner = fields(ty).into_iter().chain(columns(ty)).flatten();
        inner.for_each(|(_, ty)| self.add(&ty));
        if let EntryType::Sum(constructors) = opened(ty) {
            let payloads = constructors.iter().flat_map(|(_, payload)| payload);
            payloads.for_each(|ty| self.add(ty));
        }
    }

    /// The names, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &String> {
        self.by_name.keys()
    }

    /// The type of this name. Scalars, and arrays of them, are known even where the program does not name them.
    pub(super) fn get(&self, text: &str) -> Option<EntryType> {
        if let Some(ty) = self.by_name.get(text) {
            return Some(ty.clone());
        }
        let scalar = text.trim_start_matches("[]");
        let rank = (text.len() - scalar.len()) / 2;
        let elem = ScalarType::ALL.into_iter().find(|ty| ty.name() == scalar)?;
        let elem = EntryType::Scalar(elem);
        Some(match rank {
            0 => elem,
            rank if rank <= crate::data::MAX_RANK => array(rank, elem),
            _ => return None,
        })
    }
}
