//! Failures: what they are called, and the places they get on their way out.

use super::{Exec, Machine};
use crate::ir::id::SpanId;
use crate::ir::syntax::TrapKind;
use crate::trap::{RunError, Trap, trail};

impl<D: Exec> Machine<'_, D> {
    pub(crate) fn trap(&self, kind: TrapKind, text: String, span: SpanId) -> Box<RunError> {
        let trap = Trap::new(kind, text, &self.program.spans, span);
        Box::new(RunError::Trap(trap))
    }

    /// Adds the place to an error that has none yet.
    pub(crate) fn locate(&self, mut error: Box<RunError>, span: SpanId) -> Box<RunError> {
        match &mut *error {
            RunError::OutOfMemory { trail: places, .. } if places.is_empty() => {
                *places = trail(&self.program.spans, span);
            }
            RunError::Internal(why) if !why.contains("\n  at ") => {
                if let Some(place) = self.program.spans.place(span) {
                    let (line, column) = place.start;
                    why.push_str(&format!("\n  at {}:{line}:{column}", place.file));
                }
            }
            RunError::Trap(_)
            | RunError::OutOfMemory { .. }
            | RunError::Interrupted
            | RunError::OutOfFuel
            | RunError::BadArguments(_)
            | RunError::Device(_)
            | RunError::Internal(_) => {}
        }
        error
    }

    /// Adds the place of the call to the trail of a failure.
    pub(crate) fn called_from(&self, mut error: Box<RunError>, span: SpanId) -> Box<RunError> {
        match &mut *error {
            RunError::Trap(Trap { trail: places, .. })
            | RunError::OutOfMemory { trail: places, .. } => {
                // Deep recursion makes long trails; nobody reads more than this.
                if places.len() < 64 {
                    places.extend(trail(&self.program.spans, span));
                }
            }
            RunError::Interrupted
            | RunError::OutOfFuel
            | RunError::BadArguments(_)
            | RunError::Device(_)
            | RunError::Internal(_) => {}
        }
        error
    }
}
