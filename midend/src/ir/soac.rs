//! The nested dialect: second-order array combinators (SOACs) with lambdas. Data only.

use super::array::ArrayOp;
use super::id::Var;
use super::syntax::{Atom, Lambda};
use super::types::Size;

/// An operation of the nested dialect.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Soac {
    /// An array operation without a lambda.
    Array(ArrayOp),
    /// Map, reduce, scan and any fusion of them in one traversal. The lambda takes one element of each array and
    /// yields, in order: the inputs of the scans, the inputs of the reductions, the elements of the mapped arrays.
    /// The statement binds, in the same order: scanned arrays (inclusive), reduced values, mapped arrays.
    Screma {
        /// The length of the arrays.
        width: Size,
        /// Inputs, all with outermost extent `width`.
        arrays: Vec<Var>,
        /// What is done to each element.
        lam: Lambda<Soac>,
        /// Scans of leading results.
        scans: Vec<Operator<Soac>>,
        /// Reductions of the results after those.
        reds: Vec<Operator<Soac>>,
    },
    /// Generalised histogram. The lambda yields for each operation its bucket index (`shape.len()` values of `i64`),
    /// for all operations first, then for each operation its values. Out-of-range buckets are ignored. Consumes the
    /// destinations and binds the updated ones.
    Hist {
        /// The length of the arrays.
        width: Size,
        /// Inputs.
        arrays: Vec<Var>,
        /// Element to buckets and values.
        lam: Lambda<Soac>,
        /// The operations.
        ops: Vec<HistOp<Soac>>,
    },
    /// Parallel writes. The lambda yields for each destination its index (`rank` values of `i64`), for all destinations first,
    /// then for each its value. Out-of-range indices are ignored. Consumes the destinations, binds the updated ones.
    Scatter {
        /// The length of the arrays.
        width: Size,
        /// Inputs.
        arrays: Vec<Var>,
        /// Element to indices and values.
        lam: Lambda<Soac>,
        /// Where to write.
        dests: Vec<ScatterDest>,
    },
    /// The elements for which the first result of the lambda holds, in order: binds their number, then one array
    /// for each further result.
    Filter {
        /// The length of the arrays.
        width: Size,
        /// Inputs.
        arrays: Vec<Var>,
        /// Element to a `bool` and the values to keep.
        lam: Lambda<Soac>,
    },
    /// Rows of any lengths, one after another. The lambda yields the length k of a row, which is not negative if there are rows of it,
    /// then `rows` arrays of k rows, then any further values. Binds the offsets, of which there is one more than elements: where the rows of each element
    /// begin, and at last the total; then the total; the `rows` arrays of so many rows; and one array for each further value.
    FlatMap {
        /// The length of the arrays.
        width: Size,
        /// Inputs.
        arrays: Vec<Var>,
        /// Element to a length, arrays of that length, and other values.
        lam: Lambda<Soac>,
        /// How many arrays have that length.
        rows: usize,
        /// The number of offsets, `width + 1`.
        marks: Size,
    },
    /// Any number of updates for each element, at places that the lambda finds. The lambda takes one element of each
    /// array, is handed the accumulators, and yields them. Consumes the destinations and binds the updated ones.
    WithAcc {
        /// The length of the arrays.
        width: Size,
        /// Inputs.
        arrays: Vec<Var>,
        /// What is done for each element.
        lam: Lambda<Soac>,
        /// What is updated.
        acc: Accumulation<Soac>,
    },
    /// An update of accumulators.
    UpdateAcc(UpdateAcc),
}

/// An associative operator on tuples of values, with its neutral element. Shared by reductions and scans.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Operator<D> {
    /// Whether operands may be exchanged (reductions only).
    pub comm: bool,
    /// Two tuples to one; `2k` parameters, `k` results.
    pub lam: Lambda<D>,
    /// The neutral element, `k` values.
    pub neutral: Vec<Atom>,
}

/// One histogram among those computed in one traversal.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct HistOp<D> {
    /// The shape of the bucket space, the outer dimensions of each destination.
    pub shape: Vec<Size>,
    /// Destinations, consumed.
    pub dests: Vec<Var>,
    /// The operator, associative and commutative.
    pub op: Operator<D>,
}

/// Arrays that a body updates through accumulators. Without an operator an update overwrites, and of several updates of one place
/// any may win (those made for one point in their order); with one it combines what is there with the new value.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Accumulation<D> {
    /// Names this accumulation in the types of its accumulators; a certificate, bound for the body.
    pub token: Var,
    /// The accumulators, bound for the body, one per destination.
    pub params: Vec<Var>,
    /// Destinations of one length, consumed. Updates address their outermost dimension.
    pub dests: Vec<Var>,
    /// The operator, associative and commutative.
    pub op: Option<Operator<D>>,
}

impl<D> Accumulation<D> {
    /// What is bound for the body besides the parameters of its lambda or the indices of its space.
    pub fn binders(&self) -> Vec<Var> {
        let accs = self.params.iter().copied();
        std::iter::once(self.token).chain(accs).collect()
    }
}

/// One update of all accumulators of an accumulation. Consumes them and binds their successors. An index out of range
/// is ignored.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct UpdateAcc {
    /// All accumulators of an accumulation, in order.
    pub accs: Vec<Var>,
    /// Where, in the outermost dimension.
    pub index: Atom,
    /// One element or row per accumulator.
    pub values: Vec<Atom>,
}

/// A destination of parallel writes.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct ScatterDest {
    /// How many indices address it.
    pub rank: usize,
    /// The array, consumed.
    pub array: Var,
}
