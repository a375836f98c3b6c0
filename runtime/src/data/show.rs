//! Results of entry points as text: records, sums and tuples in the notation of the source.

use super::{leaves, value_text};
use crate::script::index;
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::value::Value;

/// The value of a source-level type, given its leaves in order. What is missing among the leaves prints as `?`.
///
/// Arrays of tuples, records and sums are kept as tuples of arrays, and print as such.
pub fn structured_text(ty: &EntryType, values: &[Value]) -> String {
    text(ty, values, Arrays::ByParts)
}

/// As [`structured_text`], but arrays of tuples, records and sums print element by element, as the source would write them.
pub fn source_text(ty: &EntryType, values: &[Value]) -> String {
    text(ty, values, Arrays::ByElements)
}

/// As [`source_text`], but of every dimension of an array so many elements at most are shown, half of them from its end. An
/// array that is not shown whole is followed by its shape.
pub fn fitted_text(ty: &EntryType, values: &[Value], most: Most) -> String {
    text(ty, values, Arrays::Fitted(most))
}

/// So many elements of arrays are shown.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    /// Of a dimension that is not the last.
    pub rows: usize,
    /// Of the last dimension.
    pub elements: usize,
}

impl Most {
    /// The same for all dimensions.
    pub const fn of(items: usize) -> Self {
        Self {
            rows: items,
            elements: items,
        }
    }
}

/// How arrays of what has parts print.
#[derive(Clone, Copy)]
enum Arrays {
    /// As they are kept: for each part an array.
    ByParts,
    /// As the source writes them.
    ByElements,
    /// So too, but of each dimension so many elements at most.
    Fitted(Most),
}

fn text(ty: &EntryType, values: &[Value], arrays: Arrays) -> String {
    match ty {
        EntryType::Scalar(_) => leaf_text(values),
        EntryType::Array { .. } if let Some(text) = irregular_text(ty, values, arrays) => text,
        EntryType::Rows(_) => parts_text(values),
        EntryType::Array { rank, elem } => match (elem.as_ref(), arrays) {
            (EntryType::Rows(_), _) => parts_text(values),
            (inner, Arrays::Fitted(most)) => fitted_array(*rank, inner, values, most),
            (EntryType::Scalar(_), _) => leaf_text(values),
            (inner, Arrays::ByElements) => elements_text(*rank, inner, values, arrays),
            // Without data there are no parts.
            (inner, Arrays::ByParts) if leaves(inner).is_empty() => {
                elements_text(*rank, inner, values, arrays)
            }
            (EntryType::Sum(_), Arrays::ByParts) => parts_text(values),
            (
                inner @ (EntryType::Tuple(_)
                | EntryType::Record(_)
                | EntryType::Opaque { .. }
                | EntryType::Array { .. }),
                Arrays::ByParts,
            ) => text(inner, values, arrays),
        },
        EntryType::Tuple(parts) => {
            let texts = split(parts.iter(), values)
                .map(|(ty, values)| text(ty, values, arrays))
                .collect::<Vec<_>>();
            format!("({})", texts.join(", "))
        }
        EntryType::Record(fields) => {
            let texts = split(fields.iter().map(|(_, ty)| ty), values)
                .zip(fields)
                .map(|((ty, values), (name, _))| format!("{name} = {}", text(ty, values, arrays)))
                .collect::<Vec<_>>();
            format!("{{{}}}", texts.join(", "))
        }
        EntryType::Sum(constructors) => sum_text(constructors, values, arrays),
        EntryType::Opaque { of, .. } => text(of, values, arrays),
    }
}

/// An irregular array of scalars.
fn irregular_text(ty: &EntryType, values: &[Value], arrays: Arrays) -> Option<String> {
    let most = match arrays {
        Arrays::Fitted(most) => Some(most.elements),
        Arrays::ByParts | Arrays::ByElements => None,
    };
    super::irregular::text(ty, values, most)
}

/// An array of `rank` dimensions, element by element.
fn elements_text(rank: usize, elem: &EntryType, values: &[Value], arrays: Arrays) -> String {
    let count = values.first().and_then(|v| v.shape().first().copied());
    let count = count.unwrap_or(0);
    let most = match arrays {
        Arrays::Fitted(most) if rank > 1 => count.min(most.rows as i64),
        Arrays::Fitted(most) => count.min(most.elements as i64),
        Arrays::ByElements | Arrays::ByParts => count,
    };
    let row = |i| {
        let row = values.iter().map(|v| index(v, &[i])).collect();
        // Values that do not belong to the type print as what is missing does.
        let row: Vec<Value> = Result::unwrap_or_default(row);
        if rank > 1 {
            elements_text(rank - 1, elem, &row, arrays)
        } else {
            text(elem, &row, arrays)
        }
    };
    let first = (0..most - most / 2).map(row);
    let mut texts: Vec<String> = first.collect();
    if most < count {
        texts.push("...".to_owned());
    }
    texts.extend((count - most / 2..count).map(row));
    format!("[{}]", texts.join(", "))
}

/// An array with so many elements of each dimension, and its shape if that is not all of them.
fn fitted_array(rank: usize, elem: &EntryType, values: &[Value], most: Most) -> String {
    let text = elements_text(rank, elem, values, Arrays::Fitted(most));
    let shape = values.first().map_or(&[][..], |v| v.shape());
    let shape = &shape[..rank.min(shape.len())];
    let (last, outer) = shape.split_last().unwrap_or((&0, &[]));
    if outer.iter().all(|n| *n <= most.rows as i64) && *last <= most.elements as i64 {
        return text;
    }
    let extents: String = shape.iter().map(|n| format!("[{n}]")).collect();
    format!("{text} -- {extents}")
}

fn leaf_text(values: &[Value]) -> String {
    values.first().map_or_else(|| String::from("?"), value_text)
}

fn parts_text(values: &[Value]) -> String {
    let texts: Vec<String> = values.iter().map(value_text).collect();
    match texts.as_slice() {
        [one] => one.clone(),
        all => format!("({})", all.join(", ")),
    }
}

/// Deals the leaves out to the parts that they belong to.
fn split<'a>(
    parts: impl Iterator<Item = &'a EntryType>,
    values: &'a [Value],
) -> impl Iterator<Item = (&'a EntryType, &'a [Value])> {
    let mut rest = values;
    parts.map(move |ty| {
        let (mine, others) = rest.split_at(leaves(ty).len().min(rest.len()));
        rest = others;
        (ty, mine)
    })
}

fn sum_text(constructors: &[(String, Vec<EntryType>)], values: &[Value], arrays: Arrays) -> String {
    let Some((Value::Scalar(Const::U8(tag)), payloads)) = values.split_first() else {
        return parts_text(values);
    };
    let mut rest = payloads;
    for (i, (name, payload)) in constructors.iter().enumerate() {
        let count: usize = payload.iter().map(|ty| leaves(ty).len()).sum();
        let (mine, others) = rest.split_at(count.min(rest.len()));
        if i == usize::from(*tag) {
            let mut out = format!("#{name}");
            for (ty, values) in split(payload.iter(), mine) {
                out.push(' ');
                out.push_str(&argument_text(ty, values, arrays));
            }
            return out;
        }
        rest = others;
    }
    parts_text(values)
}

/// A payload, in parentheses where it is itself a constructor with payloads.
fn argument_text(ty: &EntryType, values: &[Value], arrays: Arrays) -> String {
    let text = text(ty, values, arrays);
    if text.starts_with('#') && text.contains(' ') {
        format!("({text})")
    } else {
        text
    }
}
