//! Irregular arrays in the binary format: one value of version 3, which readers of plain values refuse by its version.
//!
//! `b`, 3, the number of dimensions, for each of them 0 (all rows have one length) or 1 (they need not), four characters of
//! type; then from the outside to the inside the extent of a dimension of one length, or the lengths of all its rows;
//! then all elements. Everything is little-endian.

use super::binary::{decode, type_of, write_elements};
use super::build::elements;
use super::irregular::{Level, levels};
use super::{Place, ReadError, leaves};
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use std::io::{self, Write};

/// The version of irregular arrays.
pub(super) const VERSION: u8 = 3;

fn fail<T>(at: usize, message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::new(Place::Offset(at as u64), message))
}

/// Whether an irregular array in binary form begins there.
pub(super) fn begins(bytes: &[u8], start: usize) -> bool {
    bytes.get(start..start + 2) == Some(&[b'b', VERSION])
}

/// The lengths of each level of rows and the elements of the array that begins at `start`, and where it ends.
pub(super) fn read(
    bytes: &[u8],
    start: usize,
    expected: Option<(&[Level], ScalarType)>,
) -> Result<(Vec<Value>, usize), ReadError> {
    let Some(rank) = bytes.get(start + 2).map(|rank| usize::from(*rank)) else {
        return fail(start, "the header of this irregular array is cut off");
    };
    let types = start + 3 + rank;
    let (Some(kinds), Some(name)) = (bytes.get(start + 3..types), bytes.get(types..types + 4))
    else {
        return fail(start, "the header of this irregular array is cut off");
    };
    let mut found = Vec::with_capacity(rank);
    for (i, kind) in kinds.iter().enumerate() {
        found.push(match kind {
            0 => Level::Fixed,
            1 if i > 0 => Level::Rows,
            _ => {
                return fail(
                    start + 3 + i,
                    format!("{kind} is no kind of this dimension"),
                );
            }
        });
    }
    let Some(elem) = type_of(name) else {
        let name = String::from_utf8_lossy(name).into_owned();
        return fail(types, format!("unknown element type {name:?}"));
    };
    if !found.contains(&Level::Rows) {
        return fail(start, "an irregular array without an irregular dimension");
    }
    if let Some((wanted, of)) = expected
        && (wanted != found || of != elem)
    {
        let (wanted, found) = (shown(wanted, of), shown(&found, elem));
        return fail(
            start,
            format!("expected a value of type {wanted}, found a binary value of type {found}"),
        );
    }
    let mut at = types + 4;
    let mut numbers = |count: usize| -> Result<Vec<i64>, ReadError> {
        let body = count
            .checked_mul(8)
            .and_then(|size| bytes.get(at..at.checked_add(size)?));
        let Some(body) = body else {
            return fail(
                at,
                "the input ends inside the lengths of this irregular array",
            );
        };
        let numbers: Vec<i64> = (body.as_chunks().0.iter())
            .map(|chunk| i64::from_le_bytes(*chunk))
            .collect();
        if let Some(i) = numbers.iter().position(|n| *n < 0) {
            return fail(
                at + 8 * i,
                format!("a row cannot have the length {}", numbers[i]),
            );
        }
        at += body.len();
        Ok(numbers)
    };
    let (mut shape, mut values) = (Vec::new(), Vec::new());
    for level in &found {
        match level {
            Level::Fixed => shape.extend(numbers(1)?),
            Level::Rows => {
                let Some(count) = elements(&shape) else {
                    return fail(start, "the extents of this irregular array are too large");
                };
                let lengths = numbers(count)?;
                let sum = lengths.iter().try_fold(0_i64, |sum, n| sum.checked_add(*n));
                let Some(sum) = sum else {
                    return fail(start, "the lengths of rows add up to too much");
                };
                let shape = std::mem::replace(&mut shape, vec![sum]);
                let data = Data::I64(lengths);
                values.push(Value::Array(ArrayValue { shape, data }));
            }
        }
    }
    let size = elements(&shape).and_then(|n| n.checked_mul(elem.bytes()));
    let Some(body) = size.and_then(|size| bytes.get(at..at.checked_add(size)?)) else {
        let left = bytes.len().saturating_sub(at);
        return fail(
            at,
            format!(
                "the elements of an irregular array of shape {shape:?} of {elem} need more than the {left} bytes left"
            ),
        );
    };
    let data = decode(body, elem, at)?;
    let end = at + body.len();
    values.push(Value::Array(ArrayValue { shape, data }));
    Ok((values, end))
}

/// A type in a message.
fn shown(levels: &[Level], elem: ScalarType) -> String {
    let dims = levels.iter().map(|level| match level {
        Level::Fixed => "[]",
        Level::Rows => "[..]",
    });
    dims.chain([elem.name()]).collect()
}

/// Writes results in the binary format, irregular arrays of scalars as one value each.
pub fn write_results(
    types: &[EntryType],
    results: &[Value],
    out: &mut impl Write,
) -> io::Result<()> {
    let mut rest = results;
    for ty in types {
        let (values, more) = rest.split_at(leaves(ty).len().min(rest.len()));
        rest = more;
        match levels(ty) {
            Some((levels, elem)) => write(&levels, elem, values, out)?,
            None => values
                .iter()
                .try_for_each(|v| super::write_binary(v, out))?,
        }
    }
    rest.iter().try_for_each(|v| super::write_binary(v, out))
}

fn write(
    levels: &[Level],
    elem: ScalarType,
    values: &[Value],
    out: &mut impl Write,
) -> io::Result<()> {
    let extent = |at: usize, dim: usize| values.get(at).and_then(|v| v.shape().get(dim).copied());
    write_parts((levels, elem), extent, out, |at, out| {
        values
            .get(at)
            .map_or(Ok(()), |value| write_elements(value, out))
    })
}

/// Writes an irregular array of which `extent` knows the extents of each value, and `elements` writes its elements.
pub(crate) fn write_parts<W: Write>(
    (levels, elem): (&[Level], ScalarType),
    extent: impl Fn(usize, usize) -> Option<i64>,
    out: &mut W,
    mut elements: impl FnMut(usize, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    let rank = u8::try_from(levels.len())
        .map_err(|_| io::Error::other("an array of more than 255 dimensions"))?;
    out.write_all(&[b'b', VERSION, rank])?;
    for level in levels {
        out.write_all(&[u8::from(*level == Level::Rows)])?;
    }
    write!(out, "{:>4}", elem.name())?;
    // Which value is at hand, and which of its extents: that of the first is known from the lengths before.
    let (mut at, mut dim) = (0, 0);
    for level in levels {
        match level {
            Level::Fixed => {
                out.write_all(&extent(at, dim).unwrap_or(0).to_le_bytes())?;
                dim += 1;
            }
            Level::Rows => {
                elements(at, out)?;
                (at, dim) = (at + 1, 1);
            }
        }
    }
    elements(at, out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Reader;

    fn array(shape: &[i64], data: Data) -> Value {
        let shape = shape.to_vec();
        Value::Array(ArrayValue { shape, data })
    }

    /// `[2][..][2]i16` as its type, its values, and its bytes.
    fn ragged() -> (EntryType, Vec<Value>, Vec<u8>) {
        let elem = Box::new(EntryType::Scalar(ScalarType::I16));
        let pairs = Box::new(EntryType::Array { rank: 1, elem });
        let rows = Box::new(EntryType::Rows(pairs));
        let ty = EntryType::Array {
            rank: 1,
            elem: rows,
        };
        let values = vec![
            array(&[2], Data::I64(vec![0, 1])),
            array(&[1, 2], Data::I16(vec![7, 8])),
        ];
        let mut bytes = b"b\x03\x03\0\x01\0 i16".to_vec();
        for number in [2_i64, 0, 1, 2] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend([7, 0, 8, 0]);
        (ty, values, bytes)
    }

    #[test]
    fn irregular_arrays_are_one_binary_value() {
        let (ty, values, bytes) = ragged();
        let mut written = Vec::new();
        write_results(&[ty], &values, &mut written).expect("writing to memory");
        assert_eq!(written, bytes);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.values(), Ok(values));
        assert!(reader.at_end());
    }

    #[test]
    fn broken_irregular_arrays_are_refused() {
        let (_, _, bytes) = ragged();
        for end in 2..bytes.len() {
            let refused = Reader::new(&bytes[..end]).values();
            assert!(refused.is_err(), "{end} bytes: {refused:?}");
        }
        let changed = |at: usize, byte: u8| {
            let mut bytes = bytes.clone();
            bytes[at] = byte;
            let refused = Reader::new(&bytes).values();
            refused
                .map_err(|e| e.to_string())
                .expect_err("it is broken")
        };
        assert!(changed(4, 2).contains("2 is no kind"));
        assert!(changed(4, 0).contains("without an irregular dimension"));
        assert!(changed(3, 1).contains("1 is no kind"));
        assert!(changed(9, b'7').contains("unknown element type"));
        assert!(changed(25, 0xff).contains("a row cannot have the length -"));
        assert!(changed(24, 0x7f).contains("need more than the"));
        assert!(changed(16, 0x7f).contains("ends inside the lengths"));
    }

    #[test]
    fn readers_of_plain_values_refuse_irregular_ones() {
        let (_, _, bytes) = ragged();
        let refused = Reader::new(&bytes).value(None).map_err(|e| e.to_string());
        assert!(refused.is_err_and(|why| why.contains("this one says version 3")));
    }
}
