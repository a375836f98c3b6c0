//! Refuses a `match` whose cases do not cover all values.

use super::context::{Cx, Res};
use super::ty::Type;
use crate::diagnostic::{Code, Diagnostic};
use crate::exhaustive::missing;
use crate::source::Span;
use crate::typed::Case;

/// Refuses a `match` that leaves values without a case.
pub(crate) fn check(_cx: &mut Cx<'_>, span: Span, cases: &[Case], scrutinee: &Type) -> Res<()> {
    let Some(value) = missing(cases.iter().map(|case| &case.pat), scrutinee) else {
        return Ok(());
    };
    let message = format!("unmatched values: no case of this `match` fits `{value}`");
    let error = Diagnostic::error(Code::UnmatchedCases, span, message);
    Err(Box::new(error.hint(format!(
        "add `case {value} -> ..`, or a last `case _ -> ..`"
    ))))
}
