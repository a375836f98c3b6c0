//! Leaves: the scalars and arrays of scalars that a source-level type is made of, in order.

use super::Value;
use crate::ir::syntax::EntryType;
use crate::ir::types::ScalarType;
use std::fmt;

/// A scalar type, or an array of scalars with a number of dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Number of dimensions; 0 for a scalar.
    pub rank: usize,
    /// The type of the elements.
    pub elem: ScalarType,
}

impl Leaf {
    /// The type of a value.
    pub fn of(value: &Value) -> Self {
        Self {
            rank: value.shape().len(),
            elem: value.elem(),
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.rank {
            f.write_str("[]")?;
        }
        self.elem.fmt(f)
    }
}

/// The leaves of a type, in the order in which their values stand. A sum's first leaf is its constructor, a `u8`; an
/// array whose elements have no data is given as one of `bool`, which has its shape.
pub fn leaves(ty: &EntryType) -> Vec<Leaf> {
    let mut out = Vec::new();
    collect(ty, 0, &mut |leaf, _| out.push(leaf));
    out
}

/// For each leaf of a type how many constructors there are to choose from, if it says which one.
pub fn choices(ty: &EntryType) -> Vec<Option<usize>> {
    let mut out = Vec::new();
    collect(ty, 0, &mut |_, choices| out.push(choices));
    out
}

/// The elements of all rows.
fn array_of(elem: &EntryType) -> EntryType {
    EntryType::Array {
        rank: 1,
        elem: Box::new(elem.clone()),
    }
}

fn collect(ty: &EntryType, outer: usize, out: &mut dyn FnMut(Leaf, Option<usize>)) {
    let leaf = |elem| Leaf { rank: outer, elem };
    match ty {
        EntryType::Scalar(elem) => out(leaf(*elem), None),
        EntryType::Array { rank, elem } => {
            let rank = outer.saturating_add(*rank);
            let mut data = false;
            collect(elem, rank, &mut |leaf, choices| {
                data = true;
                out(leaf, choices);
            });
            if !data {
                let elem = ScalarType::Bool;
                out(Leaf { rank, elem }, None);
            }
        }
        EntryType::Rows(elem) => {
            out(leaf(ScalarType::I64), None);
            collect(&array_of(elem), 0, out);
        }
        EntryType::Tuple(parts) => parts.iter().for_each(|part| collect(part, outer, out)),
        EntryType::Record(fields) => fields.iter().for_each(|(_, ty)| collect(ty, outer, out)),
        EntryType::Sum(constructors) => {
            out(leaf(ScalarType::U8), Some(constructors.len()));
            for payload in constructors.iter().flat_map(|(_, payload)| payload) {
                collect(payload, outer, out);
            }
        }
        EntryType::Opaque { of, .. } => collect(of, outer, out),
    }
}
