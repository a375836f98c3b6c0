//! Recursion whose depth the program decides.

const SEGMENT: usize = 4 * 1024 * 1024;

/// Runs a step of a recursion over a tree; with less than `red_zone` bytes of free stack it continues on a new segment.
pub fn deep<T>(red_zone: usize, step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(red_zone, SEGMENT, step)
}
