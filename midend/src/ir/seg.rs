//! The flat dialect: parallel operations over spaces of indices. Inside the body of one, code is sequential unless
//! it holds an operation of a lower level. Data only.

use super::array::ArrayOp;
use super::id::Var;
use super::soac::{Accumulation, HistOp, Operator, ScatterDest, UpdateAcc};
use super::syntax::Body;
use super::types::Size;

/// An operation of the flat dialect.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Seg {
    /// An array operation.
    Array(ArrayOp),
    /// A parallel operation.
    Par(SegOp),
    /// As [`super::soac::Soac::UpdateAcc`].
    UpdateAcc(UpdateAcc),
}

/// A parallel operation: a body executed for every point of a space, and what becomes of its results.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct SegOp {
    /// The points.
    pub space: SegSpace,
    /// Where it runs.
    pub level: Level,
    /// How many of the innermost dimensions are worked on in tiles, up to two: neighbouring points go through the loop of the
    /// body together, and what several of them read in it is brought near once for all. Which loop and which reads those are,
    /// [`crate::analysis::tiles`] tells; how large tiles are, and what near is, a back end knows. What is computed stays the same.
    pub tiled: usize,
    /// Whether a row of the innermost dimension must be folded in the same way, to the last bit, however many rows there are.
    pub steady: bool,
    /// What is computed at a point; the indices of the space are in scope.
    pub body: Body<Seg>,
    /// What becomes of the results.
    pub kind: SegKind,
}

/// What becomes of the results of a body.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum SegKind {
    /// Each result becomes an array over the whole space.
    Map,
    /// The first results are reduced along the innermost dimension and give arrays over the outer dimensions
    /// (scalars if there are none); further results are as for `Map`.
    Red(Vec<Operator<Seg>>),
    /// The first results are scanned, inclusively, along the innermost dimension; further results as for `Map`.
    Scan(Vec<Operator<Seg>>),
    /// As [`super::soac::Soac::Hist`], over the whole space.
    Hist(Vec<HistOp<Seg>>),
    /// As [`super::soac::Soac::Scatter`], over the whole space.
    Scatter(Vec<ScatterDest>),
    /// As [`super::soac::Soac::Filter`], over a space of one dimension. The body yields scalars; it may be executed several times for
    /// a point.
    Filter,
    /// As [`super::soac::Soac::WithAcc`], over the whole space. The body yields the accumulators.
    WithAcc(Accumulation<Seg>),
}

/// A space of indices, outermost dimension first.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct SegSpace {
    /// Index variable (`i64`) and extent of each dimension.
    pub dims: Vec<(Var, SpaceDim)>,
}

/// The extent of one dimension of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceDim {
    /// The same at every outer point.
    Regular(Size),
    /// Row `i` of the enclosing dimension has `offsets[i+1] - offsets[i]` points.
    Ragged {
        /// The offsets vector.
        offsets: Var,
    },
}

/// Where a parallel operation runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// All of the device: one kernel.
    Device,
    /// Within a block of threads.
    Block,
    /// Within a thread, or the lanes of one core.
    Thread,
}
