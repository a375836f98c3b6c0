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
pub use text::Reader;

use midend::ir::scalar::Const;
use midend::ir::syntax::{Entry, EntryParam};
use midend::value::{ArrayValue, Data, Value};

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

/// Reads the arguments of an entry point from several sources, one after another; a source may hold several values.
pub fn read_arguments(entry: &Entry, sources: &[Source]) -> Result<Vec<Value>, ReadError> {
    let mut values = Vec::new();
    let mut rest = sources.iter();
    let mut current: Option<(&Source, Reader<'_>)> = None;
    let choices = entry.params.iter().flat_map(|p| choices(&p.ty));
    // What the text of an irregular array has shown beside the leaf at hand, and of which parameter.
    let (mut ahead, mut at) = (Vec::new().into_iter(), None);
    for ((number, param, leaf), choices) in parameter_leaves(entry).into_iter().zip(choices) {
        if let Some(value) = ahead.next() {
            values.push(value);
            continue;
        }
        let levels = irregular::levels(&param.ty).filter(|_| at.replace(number) != Some(number));
        let check = |value: Value, place: &dyn Fn() -> Place| match choices {
            Some(choices) => check_constructors(&value, choices, place).map(|()| value),
            None => Ok(value),
        };
        let value = loop {
            if let Some((source, reader)) = &mut current {
                let source = *source;
                if source.is_npz() {
                    current = None;
                    let all = match &levels {
                        Some((levels, elem)) => npz::read(source.bytes(), levels, *elem),
                        None => Err(ReadError::new(
                            Place::Nowhere,
                            ".npz files are read for irregular arrays of numbers only",
                        )),
                    };
                    ahead = match all.map_err(|e| e.in_source(source.name())) {
                        Ok(all) => all.into_iter(),
                        Err(why) => break Err(why),
                    };
                    match ahead.next() {
                        Some(first) => break Ok(first),
                        None => continue,
                    }
                }
                if source.is_npy() {
                    current = None;
                    break read_npy(source.bytes(), Some(leaf))
                        .and_then(|value| check(value, &|| Place::Nowhere))
                        .map_err(|e| e.in_source(source.name()));
                }
                if !reader.at_end() {
                    let start = reader.position();
                    if let Some((levels, elem)) = &levels
                        && (reader.ragged() || reader.depth() == levels.len())
                    {
                        let all = if reader.ragged() {
                            reader.ragged_values(Some((levels.as_slice(), *elem)))
                        } else {
                            reader.irregular(levels, Some(*elem))
                        };
                        ahead = match all.map_err(|e| e.in_source(source.name())) {
                            Ok(all) => all.into_iter(),
                            Err(why) => break Err(why),
                        };
                        if let Some(first) = ahead.next() {
                            break Ok(first);
                        }
                    }
                    break reader
                        .value(Some(leaf))
                        .and_then(|value| check(value, &|| reader.place_of(start)))
                        .map_err(|e| e.in_source(source.name()));
                }
            }
            match rest.next() {
                Some(source) => current = Some((source, Reader::new(source.bytes()))),
                None => break Err(ReadError::missing(leaf)),
            }
        };
        values.push(value.map_err(|e| e.for_parameter(number + 1, &param.name, leaf))?);
    }
    if let Some((source, reader)) = &mut current
        && !reader.at_end()
    {
        return Err(reader.trailing().in_source(source.name()));
    }
    match rest.find(|s| s.is_npy() || s.is_npz() || !Reader::new(s.bytes()).at_end()) {
        Some(extra) => Err(ReadError::unused(extra.name())),
        None => Ok(values),
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
