//! How runs show values on their way, as `#[trace]` asks. This crate does no output: who runs a program is told.

use crate::ir::syntax::EntryType;
use crate::value::Value;

/// Is told what a run shows: a label, what the value is on the outside, and its leaves.
pub type Show<'a> = dyn Fn(&str, &EntryType, &[Value]) + Sync + 'a;

/// Looks at what a run shows.
#[derive(Clone, Copy)]
pub struct Tracer<'a>(&'a Show<'a>);

impl<'a> Tracer<'a> {
    /// Calls `show` with every value, in the order of execution.
    pub const fn new(show: &'a Show<'a>) -> Self {
        Self(show)
    }

    /// Shows a value.
    pub(crate) fn show(&self, label: &str, ty: &EntryType, values: &[Value]) {
        (self.0)(label, ty, values);
    }
}

impl std::fmt::Debug for Tracer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tracer")
    }
}
