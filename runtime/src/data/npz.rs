//! Irregular arrays as NumPy's `.npz` files: archives with where the rows begin, and all elements.
//!
//! `offsets` has one number more than there are rows: row `i` are the elements `offsets[i]` to `offsets[i + 1]` of `data`.
//! Where several dimensions are irregular there are `offsets0`, `offsets1`, .. from the outside to the inside.

use super::irregular::{Level, levels};
use super::{Place, ReadError, leaves, read_npy, write_npy};
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value};
use std::io::{self, Cursor, Read as _, Seek, Write};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

fn fail<T>(message: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::new(Place::Nowhere, message))
}

/// What the offsets of a level are called, of so many.
fn name(level: usize, of: usize) -> String {
    if of == 1 {
        "offsets".into()
    } else {
        format!("offsets{level}")
    }
}

/// Whether the form has a name for each part: one dimension outside, then irregular ones, then those of rows of one length.
fn rows_of(levels: &[Level]) -> Option<usize> {
    let rows = levels.iter().filter(|l| **l == Level::Rows).count();
    let first = levels.iter().position(|l| *l == Level::Rows)?;
    let together = levels[1..].iter().take(rows).all(|l| *l == Level::Rows);
    (first == 1 && together).then_some(rows)
}

/// The lengths of each level of rows, and the elements.
pub(super) fn read(
    bytes: &[u8],
    levels: &[Level],
    elem: ScalarType,
) -> Result<Vec<Value>, ReadError> {
    let Some(rows) = rows_of(levels) else {
        return fail("an array with these irregular dimensions has no form in .npz files");
    };
    let mut archive = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(archive) => archive,
        Err(why) => return fail(format!("not a readable .npz file: {why}")),
    };
    let mut part = |name: &str| -> Result<ArrayValue, ReadError> {
        let mut file = match archive.by_name(&format!("{name}.npy")) {
            Ok(file) => file,
            Err(why) => return fail(format!("`{name}` of this .npz file cannot be read: {why}")),
        };
        let mut bytes = Vec::new();
        if let Err(why) = file.read_to_end(&mut bytes) {
            return fail(format!("`{name}` of this .npz file cannot be read: {why}"));
        }
        match read_npy(&bytes, None)? {
            Value::Array(array) => Ok(array),
            Value::Scalar(_) => fail(format!("`{name}` of this .npz file is not an array")),
        }
    };
    let mut values = Vec::with_capacity(rows + 1);
    let mut count: Option<i64> = None;
    for level in 0..rows {
        let name = name(level, rows);
        let offsets = part(&name)?;
        let numbers: Vec<i64> = match (&offsets.data, offsets.shape.len()) {
            (Data::I64(numbers), 1) => numbers.clone(),
            (Data::I32(numbers), 1) => numbers.iter().map(|n| i64::from(*n)).collect(),
            _ => {
                return fail(format!(
                    "`{name}` of this .npz file is no vector of 32 or 64 bit integers"
                ));
            }
        };
        let rising = numbers.is_sorted() && numbers.first() == Some(&0);
        if !rising {
            return fail(format!("`{name}` of this .npz file does not rise from 0"));
        }
        let lengths: Vec<i64> = numbers.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let n = lengths.len() as i64;
        if let Some(count) = count
            && count != n
        {
            return fail(format!(
                "`{name}` of this .npz file is for {n} rows, but there are {count}"
            ));
        }
        count = numbers.last().copied();
        values.push(Value::Array(ArrayValue {
            shape: vec![n],
            data: Data::I64(lengths),
        }));
    }
    let data = part("data")?;
    let (found, rank) = (data.data.elem(), data.shape.len());
    let wanted = levels.len() - rows;
    if (found, rank) != (elem, wanted) {
        return fail(format!(
            "`data` of this .npz file has {rank} dimensions of {found}, where {wanted} of {elem} are expected"
        ));
    }
    if data.shape.first().copied() != count {
        return fail(format!(
            "`data` of this .npz file has {} elements, but the last offset is {}",
            data.shape[0],
            count.unwrap_or(0)
        ));
    }
    values.push(Value::Array(data));
    Ok(values)
}

/// Writes results as a `.npz` file: of a single one the parts have plain names, of several `result0_data` and so on.
pub fn write_npz(types: &[EntryType], results: &[Value], out: impl Write + Seek) -> io::Result<()> {
    let mut archive = ZipWriter::new(out);
    let mut rest = results;
    for (i, ty) in types.iter().enumerate() {
        let (values, more) = rest.split_at(leaves(ty).len().min(rest.len()));
        rest = more;
        let prefix = match types {
            [_] => String::new(),
            _ => format!("result{i}_"),
        };
        let rows = levels(ty).and_then(|(levels, _)| rows_of(&levels));
        for (k, value) in values.iter().enumerate() {
            let (part, offsets) = match rows {
                Some(rows) if k < rows => (name(k, rows), Some(offsets(value))),
                Some(_) => ("data".into(), None),
                None if values.len() == 1 => ("data".into(), None),
                None => (format!("data{k}"), None),
            };
            archive.start_file(format!("{prefix}{part}.npy"), SimpleFileOptions::default())?;
            let mut bytes = Vec::new();
            write_npy(offsets.as_ref().unwrap_or(value), &mut bytes)?;
            archive.write_all(&bytes)?;
        }
    }
    archive.finish()?;
    Ok(())
}

/// Where rows of these lengths begin, and where the last one ends.
fn offsets(lengths: &Value) -> Value {
    let mut all = vec![0];
    if let Value::Array(ArrayValue {
        data: Data::I64(lengths),
        ..
    }) = lengths
    {
        let mut end = 0;
        all.extend(lengths.iter().map(|n| {
            end += n;
            end
        }));
    }
    Value::Array(ArrayValue {
        shape: vec![all.len() as i64],
        data: Data::I64(all),
    })
}
