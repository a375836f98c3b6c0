//! NumPy's `.npy` files. The header is npyz's to read; the elements are converted in bulk.

use super::build::elements;
use super::{Leaf, Place, ReadError, binary};
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use midend::with_data;
use npyz::{DType, Endianness, NpyHeader, Order, TypeChar};
use std::io::{self, Cursor, Write};

/// The description of an array nests three brackets at most, one of a tuple in a list in a dictionary.
const MAX_BRACKETS: usize = 4;

fn fail<T>(at: u64, message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::new(Place::Offset(at), message))
}

/// What the header of a `.npy` file says.
pub(super) struct Header {
    pub(super) shape: Vec<i64>,
    pub(super) elem: ScalarType,
    /// Whether the elements are in row-major order.
    pub(super) by_rows: bool,
    big_endian: bool,
    /// Where the elements begin.
    pub(super) start: usize,
}

/// The most bytes that a header may have: a description of a plain array is short, and a long one is an attack on a recursive parser.
pub(super) const MAX_HEADER: usize = 12 + MAX_DESCRIPTION as usize;
const MAX_DESCRIPTION: u64 = 4096;

/// Reads the header of a `.npy` file, of which no more than that need be there.
pub(super) fn header(bytes: &[u8], expected: Option<Leaf>) -> Result<Header, ReadError> {
    check_header(bytes)?;
    let mut cursor = Cursor::new(bytes);
    let header = match NpyHeader::from_reader(&mut cursor) {
        Ok(header) => header,
        Err(why) => return fail(0, format!("not a readable .npy file: {why}")),
    };
    let (elem, endianness) = element_type(&header.dtype())?;
    let mut shape = Vec::new();
    for dim in header.shape() {
        match i64::try_from(*dim) {
            Ok(dim) => shape.push(dim),
            Err(_) => return fail(0, format!("an extent of {dim} is too large")),
        }
    }
    let leaf = Leaf {
        rank: shape.len(),
        elem,
    };
    if let Some(wanted) = expected
        && wanted != leaf
    {
        return fail(
            0,
            format!("expected a value of type {wanted}, found a NumPy array of type {leaf}"),
        );
    }
    Ok(Header {
        shape,
        elem,
        by_rows: matches!(header.order(), Order::C),
        big_endian: endianness == Endianness::Big && elem.bytes() > 1,
        start: usize::try_from(cursor.position()).unwrap_or(usize::MAX),
    })
}

impl Header {
    /// Elements from their bytes, which stand at a place of the file.
    pub(super) fn decode(&self, body: &[u8], at: usize) -> Result<Data, ReadError> {
        if self.big_endian {
            let mut swapped = body.to_vec();
            swapped
                .chunks_exact_mut(self.elem.bytes())
                .for_each(<[u8]>::reverse);
            return binary::decode(&swapped, self.elem, at);
        }
        binary::decode(body, self.elem, at)
    }
}

/// The array or scalar in the bytes of a `.npy` file.
pub fn read_npy(bytes: &[u8], expected: Option<Leaf>) -> Result<Value, ReadError> {
    let header = header(bytes, expected)?;
    let (elem, from) = (header.elem, header.start);
    let size = elements(&header.shape).and_then(|n| n.checked_mul(elem.bytes()));
    let Some(body) = size.and_then(|size| bytes.get(from..from.checked_add(size)?)) else {
        let left = bytes.len().saturating_sub(from);
        return fail(
            from as u64,
            format!(
                "an array of shape {:?} of {elem} needs more than the {left} bytes left",
                header.shape
            ),
        );
    };
    let data = header.decode(body, from)?;
    let shape = header.shape;
    if shape.is_empty() {
        return Ok(Value::Scalar(data.get(0)));
    }
    let data = match header.by_rows {
        true => data,
        false => row_major(data, &shape),
    };
    Ok(Value::Array(ArrayValue { shape, data }))
}

/// Writes a value as a `.npy` file.
pub fn write_npy(value: &Value, out: &mut impl Write) -> io::Result<()> {
    let kind = match value.elem() {
        ScalarType::I8 => "|i1",
        ScalarType::I16 => "<i2",
        ScalarType::I32 => "<i4",
        ScalarType::I64 => "<i8",
        ScalarType::U8 => "|u1",
        ScalarType::U16 => "<u2",
        ScalarType::U32 => "<u4",
        ScalarType::U64 => "<u8",
        ScalarType::F16 => "<f2",
        ScalarType::F32 => "<f4",
        ScalarType::F64 => "<f8",
        ScalarType::Bool => "|b1",
    };
    let extents: String = value.shape().iter().map(|n| format!("{n}, ")).collect();
    let about = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({extents}), }}");
    // Elements begin at a multiple of 64: after ten bytes, the description, blanks and a line break.
    let width = (about.len() + 11).next_multiple_of(64) - 11;
    let length = u16::try_from(width + 1).map_err(|_| io::Error::other("too many dimensions"))?;
    out.write_all(b"\x93NUMPY\x01\0")?;
    out.write_all(&length.to_le_bytes())?;
    writeln!(out, "{about:width$}")?;
    binary::write_elements(value, out)
}

/// The header says how long its description is, and npyz would allocate that much before it reads; and it takes time
/// that doubles with every bracket that another one stands in.
fn check_header(bytes: &[u8]) -> Result<(), ReadError> {
    let declared = match bytes.get(6..12) {
        Some([1, _, a, b, _, _]) => u64::from(u16::from_le_bytes([*a, *b])),
        Some([_, _, a, b, c, d]) => u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        Some(_) | None => return fail(0, "not a readable .npy file: it is too short"),
    };
    if declared > bytes.len() as u64 {
        return fail(
            8,
            "not a readable .npy file: its header is longer than the file",
        );
    }
    if declared > MAX_DESCRIPTION {
        return fail(8, "not a readable .npy file: its header is too long");
    }
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate().take(12 + declared as usize) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_BRACKETS {
            return fail(
                at as u64,
                "not a readable .npy file: its header is nested too deeply",
            );
        }
    }
    // npyz multiplies the extents without a check.
    let description = bytes.get(12..12 + declared as usize).unwrap_or_default();
    let numbers = description.split(|b| !b.is_ascii_digit());
    let extents = numbers
        .filter(|digits| !digits.is_empty())
        .map(|digits| str::from_utf8(digits).ok()?.parse().ok());
    let product = extents
        .filter(|extent| *extent != Some(0))
        .try_fold(1_u64, |product, extent| product.checked_mul(extent?));
    if product.is_none() {
        return fail(12, "not a readable .npy file: its extents are too large");
    }
    Ok(())
}

fn element_type(dtype: &DType) -> Result<(ScalarType, Endianness), ReadError> {
    if let DType::Plain(plain) = dtype {
        let elem = match (plain.type_char(), plain.size_field()) {
            (TypeChar::Int, 1) => Some(ScalarType::I8),
            (TypeChar::Int, 2) => Some(ScalarType::I16),
            (TypeChar::Int, 4) => Some(ScalarType::I32),
            (TypeChar::Int, 8) => Some(ScalarType::I64),
            (TypeChar::Uint, 1) => Some(ScalarType::U8),
            (TypeChar::Uint, 2) => Some(ScalarType::U16),
            (TypeChar::Uint, 4) => Some(ScalarType::U32),
            (TypeChar::Uint, 8) => Some(ScalarType::U64),
            (TypeChar::Float, 2) => Some(ScalarType::F16),
            (TypeChar::Float, 4) => Some(ScalarType::F32),
            (TypeChar::Float, 8) => Some(ScalarType::F64),
            (TypeChar::Bool, 1) => Some(ScalarType::Bool),
            _ => None,
        };
        if let Some(elem) = elem {
            return Ok((elem, plain.endianness()));
        }
    }
    fail(
        0,
        format!("NumPy elements of type {} are not supported", dtype.descr()),
    )
}

/// Elements in row-major order from column-major order.
fn row_major(data: Data, shape: &[i64]) -> Data {
    let n = data.len();
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1usize;
    for dim in shape {
        strides.push(stride);
        stride *= usize::try_from(*dim).unwrap_or(0);
    }
    let mut order = Vec::with_capacity(n);
    let mut index = vec![0i64; shape.len()];
    let mut at = 0usize;
    for _ in 0..n {
        order.push(at);
        for k in (0..shape.len()).rev() {
            index[k] += 1;
            at += strides[k];
            if index[k] < shape[k] {
                break;
            }
            at -= strides[k] * usize::try_from(shape[k]).unwrap_or(0);
            index[k] = 0;
        }
    }
    let mut out = data;
    with_data!(&mut out, v => {
        let picked = order.iter().map(|i| v[*i]).collect();
        *v = picked;
    });
    out
}
