//! The binary format: `b`, version 2, rank, four characters of type, extents, elements, all little-endian.

use super::build::elements;
use super::{Leaf, Place, ReadError};
use half::f16;
use midend::ir::scalar::Const;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use std::io::{self, Write};

const VERSION: u8 = 2;

fn fail<T>(at: usize, message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::new(Place::Offset(at as u64), message))
}

/// The value whose `b` stands at `start`, and where it ends.
pub(super) fn read(
    bytes: &[u8],
    start: usize,
    expected: Option<Leaf>,
) -> Result<(Value, usize), ReadError> {
    let Some(header) = bytes.get(start..start + 7) else {
        return fail(
            start,
            "this begins like a binary value, but its header is cut off",
        );
    };
    if header[1] != VERSION {
        return fail(
            start + 1,
            format!(
                "binary values of version {VERSION} are supported, this one says version {}",
                header[1]
            ),
        );
    }
    let rank = usize::from(header[2]);
    let Some(elem) = type_of(&header[3..7]) else {
        let name = String::from_utf8_lossy(&header[3..7]).into_owned();
        return fail(start + 3, format!("unknown element type {name:?}"));
    };
    let leaf = Leaf { rank, elem };
    if let Some(wanted) = expected
        && wanted != leaf
    {
        return fail(
            start,
            format!("expected a value of type {wanted}, found a binary value of type {leaf}"),
        );
    }
    let dims_at = start + 7;
    let Some(dims) = bytes.get(dims_at..dims_at + 8 * rank) else {
        return fail(dims_at, "the input ends inside the extents of this array");
    };
    let shape: Vec<i64> = dims
        .as_chunks()
        .0
        .iter()
        .map(|chunk| i64::from_le_bytes(*chunk))
        .collect();
    let from = dims_at + 8 * rank;
    let size = elements(&shape).and_then(|n| n.checked_mul(elem.bytes()));
    let Some(body) = size.and_then(|size| bytes.get(from..from.checked_add(size)?)) else {
        let left = bytes.len().saturating_sub(from);
        return fail(
            from,
            format!("an array of shape {shape:?} of {elem} needs more than the {left} bytes left"),
        );
    };
    let data = decode(body, elem, from)?;
    let value = if rank == 0 {
        Value::Scalar(data.get(0))
    } else {
        Value::Array(ArrayValue { shape, data })
    };
    Ok((value, from + body.len()))
}

/// The shape and element type of the value that begins here, of which at least the header is there.
pub(super) fn shape(
    bytes: &[u8],
    expected: Option<Leaf>,
) -> Result<(Vec<i64>, ScalarType), ReadError> {
    let rank = usize::from(bytes.get(2).copied().unwrap_or(0));
    let Some(header) = bytes.get(..7 + 8 * rank) else {
        return fail(
            0,
            "this begins like a binary value, but its header is cut off",
        );
    };
    if header[1] != VERSION {
        return fail(
            1,
            format!("binary values of version {VERSION} are supported"),
        );
    }
    let Some(elem) = type_of(&header[3..7]) else {
        return fail(3, "unknown element type");
    };
    let leaf = Leaf { rank, elem };
    if let Some(wanted) = expected
        && wanted != leaf
    {
        return fail(
            0,
            format!("expected a value of type {wanted}, found a binary value of type {leaf}"),
        );
    }
    let extents = header[7..].as_chunks().0.iter();
    Ok((
        extents.map(|chunk| i64::from_le_bytes(*chunk)).collect(),
        elem,
    ))
}

pub(super) fn type_of(name: &[u8]) -> Option<ScalarType> {
    let name = str::from_utf8(name).ok()?;
    ScalarType::ALL
        .into_iter()
        .find(|ty| format!("{:>4}", ty.name()) == name)
}

/// Elements from their little-endian bytes, in bulk: each arm compiles to a copy.
pub(super) fn decode(body: &[u8], elem: ScalarType, at: usize) -> Result<Data, ReadError> {
    fn all<T, const N: usize>(body: &[u8], one: fn([u8; N]) -> T) -> Vec<T> {
        body.as_chunks().0.iter().map(|chunk| one(*chunk)).collect()
    }
    Ok(match elem {
        ScalarType::I8 => Data::I8(all(body, i8::from_le_bytes)),
        ScalarType::I16 => Data::I16(all(body, i16::from_le_bytes)),
        ScalarType::I32 => Data::I32(all(body, i32::from_le_bytes)),
        ScalarType::I64 => Data::I64(all(body, i64::from_le_bytes)),
        ScalarType::U8 => Data::U8(body.to_vec()),
        ScalarType::U16 => Data::U16(all(body, u16::from_le_bytes)),
        ScalarType::U32 => Data::U32(all(body, u32::from_le_bytes)),
        ScalarType::U64 => Data::U64(all(body, u64::from_le_bytes)),
        ScalarType::F16 => Data::F16(all(body, f16::from_le_bytes)),
        ScalarType::F32 => Data::F32(all(body, f32::from_le_bytes)),
        ScalarType::F64 => Data::F64(all(body, f64::from_le_bytes)),
        ScalarType::Bool => Data::Bool(truth_values(body, at)?),
    })
}

/// Truth values from bytes, in one trip to memory: each piece is checked and then converted while it is in the cache.
fn truth_values(body: &[u8], at: usize) -> Result<Vec<bool>, ReadError> {
    const PIECE: usize = 8192;
    let mut values = Vec::with_capacity(body.len());
    for piece in body.chunks(PIECE) {
        if piece.iter().fold(0, |all, b| all | b) > 1 {
            let start = at + values.len();
            let bad = piece.iter().position(|b| *b > 1).unwrap_or(0);
            return fail(
                start + bad,
                format!("expected a truth value (0 or 1), found {}", piece[bad]),
            );
        }
        values.extend(piece.iter().map(|b| *b != 0));
    }
    Ok(values)
}

/// Writes a value in the binary format.
pub fn write_binary(value: &Value, out: &mut impl Write) -> io::Result<()> {
    write_header(value.shape(), value.elem(), out)?;
    write_elements(value, out)
}

/// Writes what stands before the elements of a value.
pub(crate) fn write_header(
    shape: &[i64],
    elem: ScalarType,
    out: &mut impl Write,
) -> io::Result<()> {
    let rank = u8::try_from(shape.len())
        .map_err(|_| io::Error::other("an array of more than 255 dimensions"))?;
    out.write_all(&[b'b', VERSION, rank])?;
    write!(out, "{:>4}", elem.name())?;
    for dim in shape {
        out.write_all(&dim.to_le_bytes())?;
    }
    Ok(())
}

/// Writes the elements of a value, little-endian.
pub(crate) fn write_elements(value: &Value, out: &mut impl Write) -> io::Result<()> {
    match value {
        Value::Scalar(c) => out.write_all(scalar_bytes(*c).as_ref()),
        Value::Array(array) => write_data(&array.data, out),
    }
}

fn scalar_bytes(c: Const) -> Vec<u8> {
    match c {
        Const::I8(x) => x.to_le_bytes().to_vec(),
        Const::I16(x) => x.to_le_bytes().to_vec(),
        Const::I32(x) => x.to_le_bytes().to_vec(),
        Const::I64(x) => x.to_le_bytes().to_vec(),
        Const::U8(x) => vec![x],
        Const::U16(x) | Const::F16(x) => x.to_le_bytes().to_vec(),
        Const::U32(x) | Const::F32(x) => x.to_le_bytes().to_vec(),
        Const::U64(x) | Const::F64(x) => x.to_le_bytes().to_vec(),
        Const::Bool(x) => vec![u8::from(x)],
    }
}

fn write_data(data: &Data, out: &mut impl Write) -> io::Result<()> {
    /// Pieces small enough for the cache, so that the conversion costs no second trip to memory.
    const PIECE: usize = 8192;
    fn all<T: Copy, const N: usize>(
        items: &[T],
        one: fn(T) -> [u8; N],
        out: &mut impl Write,
    ) -> io::Result<()> {
        for piece in items.chunks(PIECE) {
            let bytes: Vec<u8> = piece.iter().flat_map(|x| one(*x)).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    }
    match data {
        Data::I8(v) => all(v, i8::to_le_bytes, out),
        Data::I16(v) => all(v, i16::to_le_bytes, out),
        Data::I32(v) => all(v, i32::to_le_bytes, out),
        Data::I64(v) => all(v, i64::to_le_bytes, out),
        Data::U8(v) => out.write_all(v),
        Data::U16(v) => all(v, u16::to_le_bytes, out),
        Data::U32(v) => all(v, u32::to_le_bytes, out),
        Data::U64(v) => all(v, u64::to_le_bytes, out),
        Data::F16(v) => all(v, f16::to_le_bytes, out),
        Data::F32(v) => all(v, f32::to_le_bytes, out),
        Data::F64(v) => all(v, f64::to_le_bytes, out),
        Data::Bool(v) => all(v, |x| [u8::from(x)], out),
    }
}
