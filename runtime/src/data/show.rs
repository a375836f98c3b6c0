//! Results of entry points as text: records, sums and tuples in the notation of the source.

use super::{leaves, value_text};
use midend::ir::scalar::Const;
use midend::ir::syntax::EntryType;
use midend::value::Value;

/// The value of a source-level type, given its leaves in order. What is missing among the leaves prints as `?`.
///
/// Arrays of tuples, records and sums are kept as tuples of arrays, and print as such.
pub fn structured_text(ty: &EntryType, values: &[Value]) -> String {
    match ty {
        EntryType::Scalar(_) => leaf_text(values),
        EntryType::Array { elem, .. } => match elem.as_ref() {
            EntryType::Scalar(_) => leaf_text(values),
            EntryType::Sum(_) => parts_text(values),
            inner @ (EntryType::Tuple(_)
            | EntryType::Record(_)
            | EntryType::Opaque { .. }
            | EntryType::Array { .. }) => structured_text(inner, values),
        },
        EntryType::Tuple(parts) => {
            let texts = split(parts.iter(), values)
                .map(|(ty, values)| structured_text(ty, values))
                .collect::<Vec<_>>();
            format!("({})", texts.join(", "))
        }
        EntryType::Record(fields) => {
            let texts = split(fields.iter().map(|(_, ty)| ty), values)
                .zip(fields)
                .map(|((ty, values), (name, _))| {
                    format!("{name} = {}", structured_text(ty, values))
                })
                .collect::<Vec<_>>();
            format!("{{{}}}", texts.join(", "))
        }
        EntryType::Sum(constructors) => sum_text(constructors, values),
        EntryType::Opaque { of, .. } => structured_text(of, values),
    }
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

fn sum_text(constructors: &[(String, Vec<EntryType>)], values: &[Value]) -> String {
    let Some((Value::Scalar(Const::U8(tag)), payloads)) = values.split_first() else {
        return parts_text(values);
    };
    let mut rest = payloads;
    for (i, (name, payload)) in constructors.iter().enumerate() {
        let count: usize = payload.iter().map(|ty| leaves(ty).len()).sum();
        let (mine, others) = rest.split_at(count.min(rest.len()));
        if i == usize::from(*tag) {
            let mut text = format!("#{name}");
            for (ty, values) in split(payload.iter(), mine) {
                text.push(' ');
                text.push_str(&argument_text(ty, values));
            }
            return text;
        }
        rest = others;
    }
    parts_text(values)
}

/// A payload, in parentheses where it is itself a constructor with payloads.
fn argument_text(ty: &EntryType, values: &[Value]) -> String {
    let text = structured_text(ty, values);
    if text.starts_with('#') && text.contains(' ') {
        format!("({text})")
    } else {
        text
    }
}
