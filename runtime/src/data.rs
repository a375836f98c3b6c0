//! Values in files and streams: Futhark's text and binary formats, `.npy` files, and printing.
//!
//! Everything that is read here is untrusted: no input makes a reader panic, and no header makes it allocate more than
//! the input can fill.

mod binary;
mod build;
mod chunks;
mod error;
mod irregular;
mod npy;
mod npz;
mod number;
mod print;
mod ragged;
mod show;
mod source;
mod structured;
mod text;

pub use binary::write_binary;
pub(crate) use binary::{write_elements, write_header};
pub(crate) use build::append;
pub(crate) use chunks::{Chunks, can_be_read, write_rows};
pub use error::{Place, ReadError};
pub(crate) use irregular::{fit, levels};
pub(crate) use midend::value::leaf::choices;
pub use midend::value::leaf::{Leaf, leaves};
pub use npy::{read_npy, write_npy};
pub use npz::write_npz;
pub use number::parse_number;
pub use print::{const_text, value_text, write_text};
pub(crate) use ragged::write_parts;
pub use ragged::write_results;
pub use show::{Most, fitted_text, source_text, structured_text};
pub use source::{Source, SourceError, gunzip};
pub(crate) use text::MAX_RANK;
pub use text::Reader;

use midend::ir::scalar::Const;
use midend::ir::syntax::{Entry, EntryParam};
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use structured::Item;
pub(crate) use structured::absent;

/// The leaves of all parameters of an entry point, each with the parameter it belongs to.
pub fn parameter_leaves(entry: &Entry) -> Vec<(usize, &EntryParam, Leaf)> {
    let mut all = Vec::new();
    for (i, param) in entry.params.iter().enumerate() {
        all.extend(leaves(&param.ty).into_iter().map(|leaf| (i, param, leaf)));
    }
    all
}

/// The constructors that the value of a leaf says must be among the `choices` of the type.
pub(crate) fn check_constructors(
    value: &Value,
    choices: usize,
    place: impl FnOnce() -> Place,
) -> Result<(), ReadError> {
    let wrong = |c: &u8| usize::from(*c) >= choices;
    let (found, of) = match value {
        Value::Scalar(Const::U8(c)) if wrong(c) => (*c, String::new()),
        Value::Array(ArrayValue {
            data: Data::U8(all),
            ..
        }) => match all.iter().position(wrong) {
            Some(i) => (
                all[i],
                format!(" of element {i}, counted from 0 in row-major order,"),
            ),
            None => return Ok(()),
        },
        Value::Scalar(_) | Value::Array(_) => return Ok(()),
    };
    let why = format!(
        "constructor {found}{of} is none of the type, which has {choices}, numbered from 0"
    );
    Err(ReadError::new(place(), why))
}

/// The next value of a source, which may say which of so many constructors there is.
fn leaf_value(
    reader: &mut Reader<'_>,
    leaf: Leaf,
    choices: Option<usize>,
) -> Result<Value, ReadError> {
    reader.skip();
    let start = reader.position();
    let value = reader.value(Some(leaf))?;
    if let Some(choices) = choices {
        check_constructors(&value, choices, || reader.place_of(start))?;
    }
    Ok(value)
}

/// Reads the arguments of an entry point from several sources, one after another; a source may hold several values.
pub fn read_arguments(entry: &Entry, sources: &[Source]) -> Result<Vec<Value>, ReadError> {
    let mut arguments = Arguments {
        rest: sources.iter(),
        current: None,
    };
    let mut values = Vec::new();
    for (i, param) in entry.params.iter().enumerate() {
        // What is left of the parameter, the next of it at the end.
        let mut items = vec![Item::Type(param.ty.clone(), 0)];
        while let Some(item) = items.pop() {
            let read = arguments.item(&item).map_err(|e| {
                let leaf = match &item {
                    Item::Leaf(leaf, _) => *leaf,
                    Item::Type(ty, _) => leaves(ty).first().copied().unwrap_or(Leaf {
                        rank: 0,
                        elem: ScalarType::Bool,
                    }),
                };
                e.for_parameter(i + 1, &param.name, leaf)
            });
            match (read?, item) {
                (Some(read), _) => values.extend(read),
                (None, Item::Type(ty, outer)) => {
                    items.extend(Item::parts(&ty, outer).into_iter().rev());
                }
                (None, Item::Leaf(..)) => {}
            }
        }
    }
    arguments.end()?;
    Ok(values)
}

/// Sources that are being read.
struct Arguments<'s> {
    rest: std::slice::Iter<'s, Source>,
    current: Option<(&'s Source, Reader<'s>)>,
}

impl Arguments<'_> {
    /// What is next: one value, or those of a type that has a notation of its own, and nothing if that is not used.
    fn item(&mut self, item: &Item) -> Result<Option<Vec<Value>>, ReadError> {
        loop {
            if let Some((source, reader)) = &mut self.current {
                let source = *source;
                let read = if source.is_npz() || source.is_npy() {
                    let read = from_numpy(source, item);
                    if !matches!(read, Ok(None)) {
                        self.current = None;
                    }
                    Some(read)
                } else if reader.at_end() {
                    None
                } else {
                    Some(match item {
                        Item::Type(ty, outer) => reader.structured(ty, *outer),
                        Item::Leaf(..) => reader.item(item).map(Some),
                    })
                };
                if let Some(read) = read {
                    return read.map_err(|e| e.in_source(source.name()));
                }
            }
            match (self.rest.next(), item) {
                (Some(source), _) => self.current = Some((source, Reader::new(source.bytes()))),
                (None, Item::Leaf(leaf, _)) => return Err(ReadError::missing(*leaf)),
                (None, Item::Type(..)) => return Ok(None),
            }
        }
    }

    /// Nothing must be left.
    fn end(self) -> Result<(), ReadError> {
        if let Some((source, mut reader)) = self.current
            && (source.is_npy() || source.is_npz() || !reader.at_end())
        {
            return Err(match source.is_npy() || source.is_npz() {
                true => ReadError::unused(source.name()),
                false => reader.trailing().in_source(source.name()),
            });
        }
        let mut rest = self.rest;
        match rest.find(|s| s.is_npy() || s.is_npz() || !Reader::new(s.bytes()).at_end()) {
            Some(extra) => Err(ReadError::unused(extra.name())),
            None => Ok(()),
        }
    }
}

/// The values in a NumPy file or archive; nothing if the item is to be taken apart.
fn from_numpy(source: &Source, item: &Item) -> Result<Option<Vec<Value>>, ReadError> {
    match item {
        Item::Type(ty, 0) if source.is_npz() => match levels(ty) {
            Some((levels, elem)) => npz::read(source.bytes(), &levels, elem).map(Some),
            None => Ok(None),
        },
        Item::Type(..) => Ok(None),
        Item::Leaf(..) if source.is_npz() => Err(ReadError::new(
            Place::Nowhere,
            ".npz files are read for irregular arrays of numbers only",
        )),
        Item::Leaf(leaf, choices) => {
            let value = read_npy(source.bytes(), Some(*leaf))?;
            if let Some(choices) = choices {
                check_constructors(&value, *choices, || Place::Nowhere)?;
            }
            Ok(Some(vec![value]))
        }
    }
}

/// Reads every value of a source, each of the type that it says it has.
pub fn read_all(source: &Source) -> Result<Vec<Value>, ReadError> {
    if source.is_npy() {
        let value = read_npy(source.bytes(), None).map_err(|e| e.in_source(source.name()))?;
        return Ok(vec![value]);
    }
    let mut reader = Reader::new(source.bytes());
    let mut values = Vec::new();
    while !reader.at_end() {
        if reader.ragged() {
            let all = reader.ragged_values(None);
            values.extend(all.map_err(|e| e.in_source(source.name()))?);
            continue;
        }
        values.push(reader.value(None).map_err(|e| e.in_source(source.name()))?);
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
