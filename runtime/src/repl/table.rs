//! Arrays of records as tables: a column for each field, a row for each element.
//!
//! ```text
//! [{mass = 1.0, id = 0}, {mass = 2.5, id = 1}]
//!   id     mass
//! 0i32  1.0f32
//! 1i32  2.5f32
//! ```

use crate::data::{Most, fitted_text, leaves};
use crate::script::index;
use crate::text::table;
use midend::ir::syntax::EntryType;
use midend::value::Value;

/// The table of a value, if it is an array of records of one dimension that is not empty, and the table is not wider than that.
/// Of more than so many elements those in the middle are left out, and their number follows.
pub(super) fn text(ty: &EntryType, values: &[Value], items: usize, width: usize) -> Option<String> {
    let fields = fields(ty)?;
    let count = usize::try_from(*values.first()?.shape().first()?).ok()?;
    if count == 0 || fields.is_empty() {
        return None;
    }
    let most = items.min(count);
    let row = |i: usize| -> Option<Vec<String>> {
        let at = [i64::try_from(i).ok()?];
        let values = values.iter().map(|value| index(value, &at));
        let values = values.collect::<Result<Vec<_>, _>>().ok()?;
        let mut rest = values.as_slice();
        let mut cells = Vec::new();
        for (_, ty) in fields {
            let (mine, others) = rest.split_at_checked(leaves(ty).len())?;
            rest = others;
            cells.push(fitted_text(ty, mine, Most::of(items)));
        }
        Some(cells)
    };
    let head = fields.iter().map(|(name, _)| name.clone()).collect();
    let mut rows = vec![head];
    for i in 0..most - most / 2 {
        rows.push(row(i)?);
    }
    if most < count {
        rows.push(vec![String::from("..."); fields.len()]);
    }
    for i in count - most / 2..count {
        rows.push(row(i)?);
    }
    let mut lines = table(&rows);
    if lines.iter().any(|line| line.chars().count() > width) {
        return None;
    }
    if most < count {
        lines.push(format!("-- [{count}]"));
    }
    Some(lines.join("\n"))
}

/// The fields of the elements of an array of records.
fn fields(ty: &EntryType) -> Option<&[(String, EntryType)]> {
    match plain(ty) {
        EntryType::Array { rank: 1, elem } => match plain(elem) {
            EntryType::Record(fields) => Some(fields),
            EntryType::Scalar(_)
            | EntryType::Array { .. }
            | EntryType::Rows(_)
            | EntryType::Tuple(_)
            | EntryType::Sum(_)
            | EntryType::Opaque { .. } => None,
        },
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_)
        | EntryType::Sum(_)
        | EntryType::Opaque { .. } => None,
    }
}

/// What a type is behind its name.
fn plain(ty: &EntryType) -> &EntryType {
    match ty {
        EntryType::Opaque { of, .. } => plain(of),
        EntryType::Scalar(_)
        | EntryType::Array { .. }
        | EntryType::Rows(_)
        | EntryType::Tuple(_)
        | EntryType::Record(_)
        | EntryType::Sum(_) => ty,
    }
}
