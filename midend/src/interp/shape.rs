//! Shapes and spaces in numbers. Rows of a ragged dimension are numbered over all dimensions outside of it; a *position*
//! is the number of a point in row-major order.
//!
//! ```text
//! [2][..[0, 3, 4]]     positions   row 0: 0 1 2   row 1: 3
//! ```

use super::value::{Run, internal};
use std::rc::Rc;

/// The extent of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The same in every row.
    Regular(i64),
    /// The positions at which rows start, and the number of points.
    Ragged(Rc<[i64]>),
}

/// Extents, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Shape(Vec<Extent>);

impl Shape {
    /// Checks that no extent is negative, that offsets start at zero and never fall, and that there is one row for
    /// each point of the dimensions outside.
    pub(crate) fn new(extents: Vec<Extent>) -> Run<Self> {
        let mut count = 1i64;
        for (d, extent) in extents.iter().enumerate() {
            count = match extent {
                Extent::Regular(n @ 0..) => count.saturating_mul(*n),
                Extent::Regular(n) => {
                    return internal(format!("a size of {n}, and no check before it"));
                }
                Extent::Ragged(_) if d == 0 => {
                    return internal("the outermost dimension is ragged");
                }
                Extent::Ragged(offsets) => check_offsets(offsets, count)?,
            };
        }
        Ok(Self(extents))
    }

    pub(crate) fn rank(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn extents(&self) -> &[Extent] {
        &self.0
    }

    /// The extents, if none is ragged.
    pub(crate) fn as_regular(&self) -> Option<Vec<i64>> {
        self.regular_from(0)
    }

    /// The outer dimensions.
    pub(crate) fn outer(&self, rank: usize) -> Run<Self> {
        Self::new(self.0[..rank].to_vec())
    }

    /// This shape around a regular one.
    pub(crate) fn with_row(&self, row: &[i64]) -> Run<Self> {
        let row = row.iter().map(|&n| Extent::Regular(n));
        Self::new(self.0.iter().cloned().chain(row).collect())
    }

    /// The extents of the dimensions from `k` on, if none of them is ragged.
    pub(crate) fn regular_from(&self, k: usize) -> Option<Vec<i64>> {
        let extents = self.0[k..].iter().map(|extent| match extent {
            Extent::Regular(n) => Some(*n),
            Extent::Ragged(_) => None,
        });
        extents.collect()
    }

    /// The number of positions of the outer `k` dimensions.
    pub(crate) fn count_of(&self, k: usize) -> i64 {
        self.0[..k].iter().fold(1, |count, extent| match extent {
            Extent::Regular(n) => count.saturating_mul(*n),
            Extent::Ragged(offsets) => offsets.last().copied().unwrap_or(0),
        })
    }

    /// The number of all positions.
    pub(crate) fn count(&self) -> i64 {
        self.count_of(self.rank())
    }

    /// The positions, of dimensions up to `k`, of the points in a row of dimension `k`: the first, and one past the last.
    pub(crate) fn row(&self, k: usize, row: i64) -> (i64, i64) {
        match &self.0[k] {
            Extent::Regular(n) => (row * n, (row + 1) * n),
            Extent::Ragged(offsets) => (offsets[row as usize], offsets[row as usize + 1]),
        }
    }

    /// The position, among all, of the first point in a row of dimension `k`, or of what follows the last row.
    pub(crate) fn start(&self, k: usize, row: i64) -> i64 {
        self.0[k..].iter().fold(row, |at, extent| match extent {
            Extent::Regular(n) => at * n,
            Extent::Ragged(offsets) => offsets[at as usize],
        })
    }

    /// The position of leading indices among those of their dimensions; nothing if one lies outside.
    pub(crate) fn position(&self, indices: impl Iterator<Item = i64>) -> Option<i64> {
        indices.enumerate().try_fold(0, |at, (k, i)| {
            let (lo, hi) = self.row(k, at);
            (0..hi - lo).contains(&i).then_some(lo + i)
        })
    }

    /// Calls `f` with the number of each dimension, innermost first, the index of a position in it, and where its row
    /// starts.
    pub(crate) fn indices<E>(
        &self,
        mut position: i64,
        mut f: impl FnMut(usize, i64, i64) -> Result<(), E>,
    ) -> Result<(), E> {
        for (k, extent) in self.0.iter().enumerate().rev() {
            let row = match extent {
                Extent::Regular(n) => position / n,
                Extent::Ragged(offsets) => {
                    offsets.partition_point(|&start| start <= position) as i64 - 1
                }
            };
            let (start, _) = self.row(k, row);
            f(k, position - start, start)?;
            position = row;
        }
        Ok(())
    }
}

/// The number of points that offsets over `rows` rows state.
fn check_offsets(offsets: &[i64], rows: i64) -> Run<i64> {
    let fits = i64::try_from(offsets.len()).is_ok_and(|n| n == rows.saturating_add(1));
    if !fits {
        return internal(format!("{} offsets for {rows} rows", offsets.len()));
    }
    if offsets[0] != 0 {
        return internal(format!("offsets begin with {} instead of 0", offsets[0]));
    }
    match offsets.windows(2).find(|pair| pair[1] < pair[0]) {
        Some(pair) => internal(format!("offsets fall from {} to {}", pair[0], pair[1])),
        None => Ok(offsets[offsets.len() - 1]),
    }
}
