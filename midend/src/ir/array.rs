//! Array operations that the nested and the flat dialect share. Data only.
//!
//! Ragged arrays ([`Dim::Ragged`]) are made (`Replicate`, `Scratch`, results of parallel operations), copied, reshaped
//! from and to flat vectors, indexed, and updated in elements or in the regular rows inside of all ragged dimensions.
//! There are no slices, transpositions, concatenations or literals of them.

use super::id::Var;
use super::syntax::{Atom, EntryType};
use super::types::{Dim, ScalarType, Size, Type};

/// An operation on arrays without a lambda. Index checks are separate `assert` statements.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum ArrayOp {
    /// An element, or a row if there are fewer indices than dimensions. A row aliases the array. The lengths of a row
    /// along ragged dimensions are sizes bound before, which the type of the row names: all rows of the row must have them.
    Index {
        /// The array.
        array: Var,
        /// One `i64` per leading dimension.
        indices: Vec<Atom>,
    },
    /// A part; aliases the array.
    Slice {
        /// The array.
        array: Var,
        /// One per leading dimension; the rest are whole.
        dims: Vec<SliceDim>,
    },
    /// The array with a part replaced, in place: consumes `array`. The result has its type.
    Update {
        /// The array.
        array: Var,
        /// Which part; one per leading dimension.
        dims: Vec<SliceDim>,
        /// A value of the shape of the part.
        value: Atom,
    },
    /// The array of the given elements.
    Literal {
        /// Rows, all of type `row`.
        elems: Vec<Atom>,
        /// The type of a row.
        row: Type,
    },
    /// `start`, `start + step`, ..
    Iota {
        /// How many.
        len: Size,
        /// The first.
        start: Atom,
        /// The distance.
        step: Atom,
        /// The integer or float type of the elements.
        ty: ScalarType,
    },
    /// `value` repeated over new outer dimensions.
    Replicate {
        /// The new outer dimensions.
        shape: Vec<Dim>,
        /// A scalar or an array.
        value: Atom,
    },
    /// An array whose elements have no defined value yet.
    Scratch {
        /// The element type.
        elem: ScalarType,
        /// The shape.
        shape: Vec<Dim>,
    },
    /// A fresh copy, row-major.
    Copy(Var),
    /// Arrays one after another along the outermost dimension.
    Concat {
        /// The arrays, at least one.
        arrays: Vec<Var>,
        /// The sum of their lengths.
        len: Size,
    },
    /// Dimensions in another order: dimension `i` of the result is dimension `perm[i]` of the array. Aliases.
    Rearrange {
        /// The permutation.
        perm: Vec<usize>,
        /// The array.
        array: Var,
    },
    /// The same elements in row-major order under another shape. Aliases.
    Reshape {
        /// The new shape, of equal element count.
        shape: Vec<Dim>,
        /// The array.
        array: Var,
    },
    /// A fresh copy whose layout in memory follows the permutation of its dimensions.
    Manifest {
        /// Outermost dimension in memory first.
        perm: Vec<usize>,
        /// The array.
        array: Var,
    },
    /// Shows a value to whoever runs the program. Binds nothing and must stay; what runs in parallel shows nothing, so that
    /// flattening leaves it out there.
    Trace(Box<Trace>),
    /// A step of a sequence: what the host decides, brings in or takes out. Host code only.
    Stream(Stream),
}

/// A step of a sequence, of which no more than a chunk of elements is there at once.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Stream {
    /// What is done.
    pub op: StreamOp,
    /// For [`StreamOp::Next`], which loop over a sequence it is; else the number of the sequence among those that cross the
    /// entry point.
    pub stream: u32,
    /// Operands, as the operation says.
    pub args: Vec<Atom>,
}

impl Stream {
    /// For [`StreamOp::Next`]: all that is left.
    pub fn whole(&self) -> Atom {
        self.args.last().copied().unwrap_or(Atom::i64(1))
    }
}

/// What is done in a step of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StreamOp {
    /// Binds the number of elements to work on next, an `i64`. Operands: how many came before, and how many may be left, at
    /// least one. Any number from one to the latter is right, so that it must not be computed twice. Where code runs in
    /// parallel, flattening makes it the latter.
    Next,
    /// Binds the number of elements that were read of a sequence from outside, then other sizes, then the elements. Operand: how
    /// many are wanted. There are fewer at the end only.
    Read,
    /// Hands elements of a sequence over to the outside. Binds nothing. Operands: the elements.
    Write,
}

impl StreamOp {
    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Next => "next",
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What `#[trace]` shows.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Trace {
    /// What stands before the value.
    pub label: String,
    /// What the value is on the outside.
    pub ty: EntryType,
    /// Its leaves.
    pub values: Vec<Atom>,
}

/// One dimension of a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SliceDim {
    /// One index; the dimension disappears.
    Fix(Atom),
    /// `len` indices from `start`, `stride` apart (the stride may be negative or zero).
    Range {
        /// First index.
        start: Atom,
        /// Number of indices.
        len: Size,
        /// Distance.
        stride: Atom,
    },
}

/// The permutation that undoes another one.
pub fn inverse(perm: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; perm.len()];
    for (i, &p) in perm.iter().enumerate() {
        inverse[p] = i;
    }
    inverse
}
