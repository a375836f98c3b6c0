//! What a value varies with: the indices of the parallel operations around, and the parameters of the function.

/// A set of indices and parameters. A value that varies with none of a set is the same for all points that differ only there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Levels {
    /// The parallel operations around, the outermost of the function first; the last bit stands for all deeper ones.
    nests: u64,
    /// The parameters of the function; the last bit stands for all further ones.
    params: u64,
}

const LAST: usize = 63;

impl Levels {
    /// Nothing: the value is the same everywhere.
    pub const NONE: Self = Self {
        nests: 0,
        params: 0,
    };

    /// The index of the operation with so many operations around it.
    pub const fn nest(depth: usize) -> Self {
        let bit = if depth < LAST { depth } else { LAST };
        Self {
            nests: 1 << bit,
            params: 0,
        }
    }

    /// A parameter, by number.
    pub const fn param(number: usize) -> Self {
        let bit = if number < LAST { number } else { LAST };
        Self {
            nests: 0,
            params: 1 << bit,
        }
    }

    /// With either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self {
            nests: self.nests | other.nests,
            params: self.params | other.params,
        }
    }

    /// With both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            nests: self.nests & other.nests,
            params: self.params & other.params,
        }
    }

    /// Seen from outside of the operation with so many operations around it. What the last bit stands for stays.
    #[must_use]
    pub const fn outside(self, depth: usize) -> Self {
        let gone = if depth < LAST { 1 << depth } else { 0 };
        Self {
            nests: self.nests & !gone,
            params: self.params,
        }
    }

    /// The indices alone.
    #[must_use]
    pub const fn nests(self) -> Self {
        Self {
            nests: self.nests,
            params: 0,
        }
    }

    /// Whether the value is the same everywhere.
    pub const fn is_none(self) -> bool {
        self.nests == 0 && self.params == 0
    }

    /// Whether the two have something in common.
    pub const fn meets(self, other: Self) -> bool {
        !self.and(other).is_none()
    }

    /// The outermost of the operations; the `k` of the paper.
    pub const fn outermost(self) -> Option<u32> {
        match self.nests {
            0 => None,
            nests => Some(nests.trailing_zeros()),
        }
    }

    /// All of the operations, the outermost first.
    pub fn depths(self) -> impl Iterator<Item = usize> {
        (0..=LAST).filter(move |d| self.nests & (1 << d) != 0)
    }

    /// The parameters among the first `count`.
    pub fn params(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).filter(move |i| self.params & Self::param(*i).params != 0)
    }
}
