//! Elements of arrays: taking them out, and making arrays of them.

use super::types::{Kind, kind, opened};
use crate::data::{append, leaves};
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::ir::types::ScalarType;
use midend::value::{ArrayValue, Data, Value, elements};

/// Values of an array of this type that are being visited.
struct Cursor<'v> {
    values: std::slice::Iter<'v, Value>,
}

/// Which points of the outer dimensions are taken, counted in row-major order, and the dimensions that they get.
#[derive(Clone)]
struct Taken {
    outer: usize,
    from: usize,
    to: usize,
    shape: Vec<i64>,
}

fn malformed<T>() -> Result<T, String> {
    Err(String::from("the value is not of its type"))
}

impl<'v> Cursor<'v> {
    fn array(&mut self) -> Result<&'v ArrayValue, String> {
        match self.values.next() {
            Some(Value::Array(array)) => Ok(array),
            Some(Value::Scalar(_)) | None => malformed(),
        }
    }

    /// The values of what is taken of an array of this element type.
    fn take(&mut self, ty: &EntryType, taken: &Taken, out: &mut Vec<Value>) -> Result<(), String> {
        match ty {
            EntryType::Scalar(_) => self.leaf(taken, out),
            EntryType::Array { rank, elem } => {
                let Some(Value::Array(next)) = self.values.as_slice().first() else {
                    return malformed();
                };
                let Some(inner) = next.shape.get(taken.outer..taken.outer + rank) else {
                    return malformed();
                };
                let Some(count) = elements(inner) else {
                    return malformed();
                };
                let mut taken = taken.clone();
                taken.outer += rank;
                taken.from *= count;
                taken.to *= count;
                taken.shape.extend(inner);
                match leaves(elem).is_empty() {
                    true => self.leaf(&taken, out),
                    false => self.take(elem, &taken, out),
                }
            }
            EntryType::Rows(elem) => {
                let lengths = self.array()?;
                let sum = |from: usize, to: usize| {
                    let mut rows = (from..to).map(|i| length(&lengths.data, i));
                    rows.try_fold(0_usize, |sum, n| sum.checked_add(n?))
                };
                let (Some(before), Some(count)) = (sum(0, taken.from), sum(taken.from, taken.to))
                else {
                    return malformed();
                };
                // A row that is taken alone is an array.
                if !taken.shape.is_empty() {
                    let data = part(&lengths.data, taken.from, taken.to)?;
                    let shape = taken.shape.clone();
                    out.push(Value::Array(ArrayValue { shape, data }));
                }
                let rows = Taken {
                    outer: 1,
                    from: before,
                    to: before + count,
                    shape: vec![count as i64],
                };
                match leaves(elem).is_empty() {
                    true => self.leaf(&rows, out),
                    false => self.take(elem, &rows, out),
                }
            }
            EntryType::Tuple(parts) => parts.iter().try_for_each(|ty| self.take(ty, taken, out)),
            EntryType::Record(fields) => {
                let mut fields = fields.iter();
                fields.try_for_each(|(_, ty)| self.take(ty, taken, out))
            }
            EntryType::Sum(constructors) => {
                self.leaf(taken, out)?;
                let mut payloads = constructors.iter().flat_map(|(_, payload)| payload);
                payloads.try_for_each(|ty| self.take(ty, taken, out))
            }
            EntryType::Opaque { of, .. } => self.take(of, taken, out),
        }
    }

    fn leaf(&mut self, taken: &Taken, out: &mut Vec<Value>) -> Result<(), String> {
        let array = self.array()?;
        let data = part(&array.data, taken.from, taken.to)?;
        let shape = taken.shape.clone();
        out.push(match shape.is_empty() && data.len() == 1 {
            true => Value::Scalar(data.get(0)),
            false => Value::Array(ArrayValue { shape, data }),
        });
        Ok(())
    }
}

/// The length of a row.
fn length(lengths: &Data, i: usize) -> Option<usize> {
    match lengths {
        Data::I64(lengths) => usize::try_from(*lengths.get(i)?).ok(),
        Data::I8(_)
        | Data::I16(_)
        | Data::I32(_)
        | Data::U8(_)
        | Data::U16(_)
        | Data::U32(_)
        | Data::U64(_)
        | Data::F16(_)
        | Data::F32(_)
        | Data::F64(_)
        | Data::Bool(_) => None,
    }
}

/// Elements of an array.
fn part(data: &Data, from: usize, to: usize) -> Result<Data, String> {
    if from > to || to > data.len() {
        return malformed();
    }
    let mut out = Data::zeros(data.elem(), 0);
    for i in from..to {
        append(&mut out, &Value::Scalar(data.get(i)));
    }
    Ok(out)
}

/// The element of an array at an index, counted in row-major order.
pub(super) fn element(
    ty: &EntryType,
    rank: usize,
    values: &[Value],
    at: usize,
) -> Result<Vec<Value>, String> {
    let mut cursor = Cursor {
        values: values.iter(),
    };
    let taken = Taken {
        outer: rank,
        from: at,
        to: at + 1,
        shape: Vec::new(),
    };
    let mut out = Vec::new();
    match leaves(ty).is_empty() {
        // There is nothing to take.
        true => {}
        false => cursor.take(ty, &taken, &mut out)?,
    }
    Ok(out)
}

/// The shape of an array of this rank.
pub(super) fn shape(rank: usize, values: &[Value]) -> Result<Vec<i64>, String> {
    let shape = values.first().and_then(|first| first.shape().get(..rank));
    shape.map_or_else(malformed, |shape| Ok(shape.to_vec()))
}

/// How a leaf of an array comes from those of its elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// The dimensions of the array are put before those of the elements, which must be the same.
    Stack,
    /// The elements are put one behind the other: they are all rows.
    Append,
    /// The leaf is made of the lengths of the rows that follow.
    Lengths,
}

/// How the leaves of an array are made of those of elements of this type.
fn joins(ty: &EntryType, is_inner: bool, in_rows: bool, out: &mut Vec<Join>) {
    let here = if in_rows { Join::Append } else { Join::Stack };
    match ty {
        EntryType::Scalar(_) => out.push(here),
        EntryType::Array { elem, .. } => match leaves(elem).is_empty() {
            true => out.push(here),
            false => joins(elem, true, in_rows, out),
        },
        EntryType::Rows(elem) => {
            out.push(if is_inner { here } else { Join::Lengths });
            match leaves(elem).is_empty() {
                true => out.push(Join::Append),
                false => joins(elem, true, true, out),
            }
        }
        EntryType::Tuple(parts) => parts
            .iter()
            .for_each(|ty| joins(ty, is_inner, in_rows, out)),
        EntryType::Record(fields) => {
            let fields = fields.iter();
            fields.for_each(|(_, ty)| joins(ty, is_inner, in_rows, out));
        }
        EntryType::Sum(constructors) => {
            out.push(here);
            let payloads = constructors.iter().flat_map(|(_, payload)| payload);
            payloads.for_each(|ty| joins(ty, is_inner, in_rows, out));
        }
        EntryType::Opaque { of, .. } => joins(of, is_inner, in_rows, out),
    }
}

/// An array of these dimensions of elements in row-major order.
pub(super) fn array_of(
    ty: &EntryType,
    dims: &[i64],
    elements: &[Vec<Value>],
) -> Result<Vec<Value>, String> {
    let whole = super::types::array(dims.len(), ty.clone());
    let leaves_of_whole = leaves(&whole);
    let mut how = Vec::new();
    joins(ty, false, false, &mut how);
    if how.is_empty() {
        // Elements without data: the shape alone is kept.
        let data = Data::zeros(ScalarType::Bool, elements.len());
        let shape = dims.to_vec();
        return Ok(vec![Value::Array(ArrayValue { shape, data })]);
    }
    let mut out = Vec::with_capacity(how.len());
    // Which leaf of the elements is next.
    let mut next = 0;
    for (leaf, join) in leaves_of_whole.iter().zip(how) {
        let mine = || elements.iter().map(|element| element.get(next));
        if join == Join::Lengths {
            let rows = mine().map(|row| row.and_then(|row| row.shape().first().copied()));
            let Some(lengths) = rows.collect::<Option<Vec<i64>>>() else {
                return malformed();
            };
            let (shape, data) = (dims.to_vec(), Data::I64(lengths));
            out.push(Value::Array(ArrayValue { shape, data }));
            continue;
        }
        let outer = match join {
            Join::Stack => dims.len(),
            Join::Append | Join::Lengths => 1,
        };
        let mut inner: Option<Vec<i64>> = None;
        let (mut data, mut rows) = (Data::zeros(leaf.elem, 0), 0_i64);
        for value in mine() {
            let Some(value) = value else {
                return malformed();
            };
            let dims_of_it = match join {
                Join::Stack => value.shape(),
                Join::Append | Join::Lengths => value.shape().get(1..).unwrap_or(&[]),
            };
            let same = inner.get_or_insert_with(|| dims_of_it.to_vec());
            if *same != dims_of_it {
                return Err(format!(
                    "the elements of an array must have one shape: {same:?} is not {dims_of_it:?}"
                ));
            }
            rows += value.shape().first().copied().unwrap_or(0);
            append(&mut data, value);
        }
        let inner = inner.unwrap_or_else(|| vec![0; leaf.rank.saturating_sub(outer)]);
        let mut shape = match join {
            Join::Stack => dims.to_vec(),
            Join::Append | Join::Lengths => vec![rows],
        };
        shape.extend(inner);
        out.push(Value::Array(ArrayValue { shape, data }));
        next += 1;
    }
    Ok(out)
}

/// Replaces the element of an array at an index, counted in row-major order.
pub(super) fn replace(
    ty: &EntryType,
    dims: &[i64],
    values: &mut Vec<Value>,
    (at, new): (usize, Vec<Value>),
) -> Result<(), String> {
    let mut how = Vec::new();
    joins(ty, false, false, &mut how);
    if how.iter().all(|join| *join == Join::Stack) {
        for (value, new) in values.iter().zip(&new) {
            if value.shape().get(dims.len()..) != Some(new.shape()) {
                let (old, new) = (&value.shape()[dims.len()..], new.shape());
                return Err(format!(
                    "an element of shape {old:?} cannot be one of {new:?}"
                ));
            }
        }
        for (value, new) in values.iter_mut().zip(&new) {
            let Value::Array(array) = value else {
                return malformed();
            };
            match new {
                Value::Scalar(constant) => array.data.set(at, *constant),
                Value::Array(new) => {
                    let count = new.data.len();
                    (0..count).for_each(|i| array.data.set(at * count + i, new.data.get(i)));
                }
            }
        }
        return Ok(());
    }
    let Some(count) = elements(dims) else {
        return malformed();
    };
    let all = (0..count).map(|i| match i == at {
        true => Ok(new.clone()),
        false => element(ty, dims.len(), values, i),
    });
    *values = array_of(ty, dims, &all.collect::<Result<Vec<_>, _>>()?)?;
    Ok(())
}

/// Which constructor a value of a sum type is.
pub(super) fn constructor(values: &[Value]) -> Result<usize, String> {
    match values.first() {
        Some(Value::Scalar(Const::U8(tag))) => Ok(usize::from(*tag)),
        Some(Value::Scalar(_) | Value::Array(_)) | None => malformed(),
    }
}

/// The constructors of a sum type.
pub(super) fn constructors(ty: &EntryType) -> Result<&[(String, Vec<EntryType>)], String> {
    match (kind(ty), opened(ty)) {
        (Kind::Sum, EntryType::Sum(constructors)) => Ok(constructors),
        (Kind::Primitive | Kind::Array | Kind::Record | Kind::Sum | Kind::Opaque, _) => {
            Err(String::from("Not a sum type"))
        }
    }
}
