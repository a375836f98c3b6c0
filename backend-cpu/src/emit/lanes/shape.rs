//! How values of lanes are carried.

/// How a loop carries a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    Uniform,
    Many,
    /// So many vectors.
    Packed(usize),
    /// So many vectors with lanes of 32 bits, of numbers of 64 bits.
    Narrow(usize),
}

impl Shape {
    /// The number of values.
    pub(super) const fn count(self, width: usize) -> usize {
        match self {
            Self::Uniform => 1,
            Self::Many => width,
            Self::Packed(count) | Self::Narrow(count) => count,
        }
    }
}
