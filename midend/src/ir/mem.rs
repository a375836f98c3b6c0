//! The plan dialect: buffers, kernels and host control flow. Both back ends consume it. Data only.
//!
//! There are no arrays here: every value is a scalar, a buffer or a certificate, and index functions are explicit
//! arithmetic. Outside kernels the code is host code, executed statement by statement against a `Device`; inside a
//! kernel it is device code. A buffer is a counted reference: binding or passing it shares it, `Free` drops the name.

use super::array::StreamOp;
use super::id::Var;
use super::soac::Operator;
use super::syntax::{Atom, Body, EntryType, Lambda};
use super::types::ScalarType;

/// An operation of the plan dialect.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Mem {
    /// Binds a new buffer of `len` elements without defined values. On the host it lives until its last name goes;
    /// in a kernel, until the work item ends.
    Alloc {
        /// Element type.
        elem: ScalarType,
        /// Number of elements.
        len: Atom,
        /// A buffer that the next kernel reads for the last time, each element before it writes the same one of the new
        /// buffer. Its memory is taken if it has this size and no other name (host code only).
        over: Option<Var>,
    },
    /// Drops a name of a buffer at its last use (host code only). Binds nothing.
    Free(Var),
    /// Says of the loop that this begins (host code only): all that its body makes, and hands on to the next step, has this outermost
    /// extent, and what has one outermost index is computed from what has the same one, and from what there was before the loop. Binds
    /// nothing ([`crate::analysis::apart`]).
    Apart(Atom),
    /// Binds the element at `index`.
    Load {
        /// The buffer.
        buffer: Var,
        /// Element index, `i64`, in range.
        index: Atom,
    },
    /// Writes an element. Binds nothing.
    Store {
        /// The buffer.
        buffer: Var,
        /// Element index, `i64`, in range.
        index: Atom,
        /// The new value.
        value: Atom,
    },
    /// Copies a box of elements between buffers. If both sides are the same memory under the same layout, nothing
    /// is done; otherwise they do not overlap. Binds nothing.
    Copy {
        /// Extents of the box, outermost first; empty for one element.
        shape: Vec<Atom>,
        /// Where to.
        dst: Region,
        /// Where from.
        src: Region,
    },
    /// Runs a kernel; host code, or the body of a kernel, where it is a map, reduction or scan over regular dimensions whose points the
    /// threads that work on a point share out. Binds nothing: kernels write to buffers.
    Launch(Box<Kernel>),
    /// Shows a value to whoever runs the program; host code only. Binds nothing.
    Trace(Box<MemTrace>),
    /// A step of a sequence; host code only.
    Stream(MemStream),
}

/// As [`super::array::Stream`], of scalars and row-major arrays at the start of buffers. What is read is bound the same way.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct MemStream {
    /// What is done.
    pub op: StreamOp,
    /// Which sequence.
    pub stream: u32,
    /// Scalars, and buffers with the extents of the arrays at their start.
    pub args: Vec<(Atom, Vec<Atom>)>,
    /// Where the sizes that are bound are found ([`crate::stream::sizes_of`]).
    pub sizes: Vec<(usize, usize)>,
}

/// As [`super::array::Trace`], of scalars and row-major arrays.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct MemTrace {
    /// What stands before the value.
    pub label: String,
    /// What the value is on the outside.
    pub ty: EntryType,
    /// Scalars, and buffers with the extents of the arrays at their start.
    pub values: Vec<(Atom, Vec<Atom>)>,
}

/// A strided box of elements in a buffer: element (i0, i1, ..) is at `offset + i0*strides[0] + ..`.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Region {
    /// The buffer.
    pub buffer: Var,
    /// Index of the first element.
    pub offset: Atom,
    /// One per dimension.
    pub strides: Vec<Atom>,
}

/// A kernel, in place where it is launched. Variables free in it are its arguments.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Kernel {
    /// A name unique in the program, for profiles and dumps.
    pub name: String,
    /// Index variable and extent of each dimension, outermost first. The body runs once for every point.
    pub space: KernelSpace,
    /// As [`super::seg::SegOp::tiled`].
    pub tiled: usize,
    /// As the field of this name of [`super::seg::SegOp`].
    pub steady: bool,
    /// What a block of threads needs to work on a point, if its body launches kernels whose points the threads share out, and a block can
    /// do so.
    pub block: Option<BlockNeeds>,
    /// What a point does.
    pub body: Body<Mem>,
    /// What becomes of the results of the body.
    pub kind: KernelKind,
}

impl Kernel {
    /// A map over one regular dimension.
    pub const fn map(name: String, space: KernelSpace, body: Body<Mem>) -> Self {
        Self {
            name,
            space,
            tiled: 0,
            steady: false,
            block: None,
            body,
            kind: KernelKind::Map,
        }
    }
}

/// What a block of threads needs to work on a point of a kernel together; the host knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockNeeds {
    /// The most points that the threads share out at a time.
    pub width: Atom,
    /// The bytes of the buffers that the body allocates itself, with [`ROUNDING`] for each. None is allocated in a loop.
    pub bytes: Atom,
}

/// Buffers begin at multiples of so many bytes, of which each may take up to so many more for that.
pub const ROUNDING: i64 = 16;

/// The dimensions of a kernel.
pub type KernelSpace = Vec<(Var, Extent)>;

/// The extent of one dimension of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// The same at every outer point.
    Regular(Atom),
    /// Row `i` of the dimensions outside, which are numbered row-major, has `offsets[i+1] - offsets[i]` points. The
    /// outermost dimension is never ragged.
    Ragged {
        /// A buffer of `i64` that begins with the offsets, one more than there are rows.
        offsets: Var,
        /// Bound for the body: the offset of the row that the point is in. With the index added, it is the row-major number of
        /// the point among those of the dimensions so far.
        start: Var,
    },
}

/// What becomes of the results of a kernel's body.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum KernelKind {
    /// There are none: the body stores. Points are independent, but for several stores to one place, any of which may win.
    Map,
    /// One point, run sequentially; the space is empty.
    Seq,
    /// Scalar results are reduced along the innermost dimension of the space; for each outer point, the values go to
    /// the buffers at the row-major index of that point (0 if the space has one dimension).
    Red {
        /// Operators on scalars; together they take all results.
        ops: Vec<Operator<Mem>>,
        /// One per result.
        outs: Vec<Var>,
    },
    /// Scalar results are scanned, inclusively, along the innermost dimension; values go to the row-major index of
    /// each point.
    Scan {
        /// Operators on scalars; together they take all results, or the first ones if something is done then.
        ops: Vec<Operator<Mem>>,
        /// One per result that is scanned; none if something is done then.
        outs: Vec<Var>,
        /// What is done at each point with its sums and the results that are not scanned; it stores. The body of the kernel may be
        /// executed several times for a point, so it only reads and computes.
        then: Option<Lambda<Mem>>,
    },
    /// The results are, for each operation, its flat bucket index (`i64`; outside 0..buckets is ignored), for all
    /// operations first, then for each its scalar values, which are combined into the destinations in place. Or there are no
    /// results: the body combines, any number of times, by reading, operating and writing; then the destinations that it
    /// sees may be copies filled with neutral elements, which are combined with the others in the end.
    Hist(Vec<MemHist>),
}

/// One histogram of a kernel.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct MemHist {
    /// The number of buckets.
    pub buckets: Atom,
    /// One buffer per value.
    pub dests: Vec<Var>,
    /// The operator on scalars.
    pub op: Operator<Mem>,
}
