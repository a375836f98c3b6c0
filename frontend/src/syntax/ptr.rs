//! The owning pointer of the syntax tree: a box whose drop cannot overflow the stack.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Below this many bytes of free stack a drop continues on a new segment.
const RED_ZONE: usize = 32 * 1024;
const SEGMENT: usize = 1024 * 1024;

/// An owning pointer to a child in the syntax tree.
///
/// It is a `Box`, except that dropping, cloning, comparing and printing a chain of any length are safe: source text decides how deep a
/// tree is, and source text is untrusted.
pub struct P<T>(Option<Box<T>>);

impl<T> P<T> {
    /// Puts a value on the heap.
    pub fn new(value: T) -> P<T> {
        P(Some(Box::new(value)))
    }

    /// Takes the value out.
    pub fn into_inner(mut self) -> T {
        *self.0.take().expect("only drop and into_inner empty it")
    }
}

impl<T> Deref for P<T> {
    type Target = T;
    fn deref(&self) -> &T {
        self.0
            .as_deref()
            .expect("only drop and into_inner empty it")
    }
}

impl<T> DerefMut for P<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0
            .as_deref_mut()
            .expect("only drop and into_inner empty it")
    }
}

impl<T> Drop for P<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.0.take() {
            stacker::maybe_grow(RED_ZONE, SEGMENT, || drop(inner));
        }
    }
}

impl<T: Clone> Clone for P<T> {
    fn clone(&self) -> P<T> {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || P::new((**self).clone()))
    }
}

impl<T: PartialEq> PartialEq for P<T> {
    fn eq(&self, other: &P<T>) -> bool {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || **self == **other)
    }
}

impl<T: fmt::Debug> fmt::Debug for P<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        stacker::maybe_grow(RED_ZONE, SEGMENT, || (**self).fmt(f))
    }
}
