//! Places in the source text, with the calls through which inlined code came there.

use super::id::{IdVec, SpanId};
use std::sync::Arc;

/// A place in a source file. Lines and columns count from 1; columns count characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The name of the file as the user gave it.
    pub file: Arc<str>,
    /// First line and column.
    pub start: (u32, u32),
    /// Line and column just past the end.
    pub end: (u32, u32),
    /// The call that this place was inlined through, if any. Following it gives the call trail.
    pub inlined_at: Option<SpanId>,
}

/// All places of a program. [`Spans::NONE`] is the place of code that the compiler made from nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spans {
    rows: IdVec<SpanId, Option<Place>>,
}

impl Spans {
    /// The place of code that has none.
    pub const NONE: SpanId = SpanId(0);

    /// A table that knows only [`Spans::NONE`].
    pub fn new() -> Self {
        Self {
            rows: IdVec::from_iter([None]),
        }
    }
    /// Adds a place.
    pub fn push(&mut self, place: Place) -> SpanId {
        self.rows.push(Some(place))
    }
    /// The place of a span, or nothing for [`Spans::NONE`].
    pub fn place(&self, span: SpanId) -> Option<&Place> {
        self.rows.get(span).and_then(Option::as_ref)
    }
    /// The line of `span`, or of the call in the file of the function at `function` through which it came there.
    pub fn line_in(&self, function: SpanId, span: SpanId) -> Option<u32> {
        let own = self.place(function).map(|p| &p.file);
        let mut places =
            std::iter::successors(self.place(span), |place| self.place(place.inlined_at?));
        let innermost = places.clone().next();
        places
            .find(|place| own == Some(&place.file))
            .or(innermost)
            .map(|place| place.start.0)
    }
    /// The number of rows, [`Spans::NONE`] included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    /// Whether only [`Spans::NONE`] is there.
    pub fn is_empty(&self) -> bool {
        self.rows.len() <= 1
    }
}

impl Default for Spans {
    fn default() -> Self {
        Self::new()
    }
}
