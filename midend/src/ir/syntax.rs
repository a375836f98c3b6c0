//! The syntax that all three dialects share. Data only: what can be done with it stands elsewhere.

use super::id::{FunId, IdVec, SpanId, Var};
use super::scalar::{Const, ScalarOp};
use super::span::Spans;
use super::threshold::Threshold;
use super::types::{ScalarType, Size, Type};
use super::walk::deep;
use std::hash::{Hash, Hasher};

/// A whole program of dialect `D`.
#[derive(Clone, Debug, PartialEq)]
pub struct Program<D> {
    /// Every variable of the program.
    pub vars: Vars,
    /// Every function, entry points among them.
    pub funs: IdVec<FunId, Fun<D>>,
    /// Every place that a statement names.
    pub spans: Spans,
}

impl<D> Program<D> {
    /// Changes every function by itself; variables may be added.
    #[must_use]
    pub fn map_funs(mut self, mut change: impl FnMut(&mut Vars, &mut Fun<D>)) -> Self {
        for fun in self.funs.iter_mut() {
            change(&mut self.vars, fun);
        }
        self
    }
}

/// The table of variables.
pub type Vars = IdVec<Var, VarInfo>;

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct VarInfo {
    /// A hint for printing, an identifier without digits at its end.
    pub name: String,
    /// The type; its sizes name variables that are in scope wherever this one is.
    pub ty: Type,
}

/// A function. Its results are described by *formals*: variables bound nowhere else, whose types may name the
/// parameters and earlier result formals (a result array of unknown length returns its length first).
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Fun<D> {
    /// A unique name.
    pub name: String,
    /// How values from outside map to parameters and results, for entry points.
    pub entry: Option<Entry>,
    /// Parameters; types may name earlier parameters.
    pub params: Vec<Param>,
    /// Result formals.
    pub results: Vec<Param>,
    /// What is computed.
    pub body: Body<D>,
    /// Whether calls may be replaced by the body.
    pub inline: Inline,
    /// Whether it is the derivative of a function (nested dialect, until [`crate::passes::derivatives`] has run).
    pub derivative: Option<Derivative>,
    /// Where the function was defined.
    pub span: SpanId,
}

/// A parameter or result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// The variable.
    pub var: Var,
    /// For a parameter: the function may consume it. For a result: it aliases no parameter that is not unique.
    pub unique: bool,
}

/// A function that is the derivative of another one: the function that the first statement of its body calls, which gives
/// that function's results. After these come the derivatives, for which zeros stand in the body: what a call computes is what
/// the interpreter says, and [`crate::passes::derivatives`] writes a body that does.
///
/// Derivatives have the types of what they belong to; those of what is not a float are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Derivative {
    /// What is computed.
    pub mode: Mode,
    /// The first of the parameters that it is differentiated with respect to. Others are constants.
    pub first: usize,
    /// How many of them there are. They are followed by the seeds.
    pub count: usize,
}

/// The modes of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Takes a direction, one value for each parameter; gives the derivative of each result along it.
    Forward,
    /// Takes a weight for each result; gives the derivative of the weighted sum with respect to each parameter.
    Reverse,
    /// No derivative, but a function that has one of its own in reverse mode: it gives the results of what it calls first. What it calls last takes
    /// these results and zeros, which stand for the weights of results, and gives the derivative with respect to each parameter.
    Custom,
}

/// What the source says about inlining.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inline {
    /// The budget decides.
    Auto,
    /// `#[inline]`.
    Always,
    /// `#[noinline]`, and recursive functions.
    Never,
}

/// The outside of an entry point. The function's first `size_params` parameters are extents found from the shapes of
/// the values; its first `size_results` results are extents that the values already carry. The other parameters and
/// results are those of the types below, flattened in order.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Entry {
    /// The name users call it by.
    pub name: String,
    /// The number of leading size parameters.
    pub size_params: usize,
    /// The number of leading size results.
    pub size_results: usize,
    /// Source parameters.
    pub params: Vec<EntryParam>,
    /// Source result; a tuple's components are separate results.
    pub results: Vec<EntryType>,
    /// Whether the result is a sequence, which [`super::array::StreamOp::Write`] hands over: no result of the function. As one
    /// value it is an array, the type of the one result.
    pub streamed: bool,
}

/// A source-level parameter of an entry point.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct EntryParam {
    /// Its name, or `_`.
    pub name: String,
    /// Its type.
    pub ty: EntryType,
    /// Whether it is consumed.
    pub unique: bool,
    /// Whether it is a sequence, which [`super::array::StreamOp::Read`] reads by its number among those: no parameter of the
    /// function. As one value it is an array, which is its type here.
    pub streamed: bool,
}

/// The type of a value as the outside sees it. Arrays of tuples, records and sums are flattened to tuples of arrays:
/// `Array` around them distributes over the leaves.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum EntryType {
    /// One IR value, a scalar.
    Scalar(ScalarType),
    /// An array with `rank` dimensions around the element type. As many IR values as the element type has.
    Array {
        /// Number of dimensions.
        rank: usize,
        /// Element type, not itself an array.
        elem: Box<EntryType>,
    },
    /// Inside of an array, rows of any lengths: their lengths, then the elements of all rows, one after another, as an array
    /// of one more dimension than an element has.
    Rows(Box<EntryType>),
    /// A tuple.
    Tuple(Vec<EntryType>),
    /// A record, fields sorted by name.
    Record(Vec<(String, EntryType)>),
    /// A sum: one `u8` for the constructor, then the payloads of all constructors one after another.
    Sum(Vec<(String, Vec<EntryType>)>),
    /// A value of an abstract or named type, with what it is made of.
    Opaque {
        /// The name as the source writes it.
        name: String,
        /// Its representation.
        of: Box<EntryType>,
    },
}

/// A sequence of statements and what it yields.
#[derive(Clone, Debug, PartialEq)]
pub struct Body<D> {
    /// Statements in order.
    pub stms: Vec<Stm<D>>,
    /// What the body yields.
    pub result: Vec<Atom>,
}

impl<D: Hash> Hash for Body<D> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        deep(|| (&self.stms, &self.result).hash(state));
    }
}

/// One statement. The variables it binds are its formals: their types may name earlier ones of the same statement
/// (`let n, ys = filter ..` has `ys: [n]t`).
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Stm<D> {
    /// Variables bound.
    pub binds: Vec<Var>,
    /// Certificates of the checks that must have been passed before this statement is executed.
    pub certs: Vec<Var>,
    /// What is computed.
    pub exp: Exp<D>,
    /// Where it came from.
    pub span: SpanId,
}

/// A variable or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A constant.
    Const(Const),
    /// A variable.
    Var(Var),
}

/// A function without a name, for an operation to apply.
#[derive(Clone, Debug, PartialEq, Hash)]
pub struct Lambda<D> {
    /// Parameters.
    pub params: Vec<Var>,
    /// What is computed.
    pub body: Body<D>,
}

impl<D> Lambda<D> {
    /// Whether an atom is a parameter or what a statement of the body itself binds.
    pub fn binds(&self, atom: Atom) -> bool {
        let bound = self.body.stms.iter().flat_map(|stm| &stm.binds);
        self.params
            .iter()
            .chain(bound)
            .any(|&v| atom == Atom::Var(v))
    }
}

/// What a statement computes.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum Exp<D> {
    /// The value of an atom, an alias if it is an array.
    Atom(Atom),
    /// A scalar operation.
    Scalar(ScalarOp, Vec<Atom>),
    /// Fails with the message unless the condition holds; binds one certificate.
    Assert {
        /// The condition.
        cond: Atom,
        /// What to report if it does not hold.
        message: Message,
    },
    /// Whether the device can be kept busy by this much parallelism: binds a `bool`, true if the measure reaches the
    /// threshold. Host code only; any answer is right.
    Guard {
        /// What it is compared with.
        threshold: Threshold,
        /// The amount, an `i64`.
        measure: Atom,
    },
    /// One of two bodies.
    If {
        /// The condition.
        cond: Atom,
        /// When it holds.
        then: Body<D>,
        /// When it does not.
        otherwise: Body<D>,
    },
    /// A sequential loop; yields the last values of its parameters. A parameter's type may name earlier parameters;
    /// an array that the body consumes must be consumable at the start (the loop consumes it then).
    Loop {
        /// Loop-carried values and their starts.
        params: Vec<LoopParam>,
        /// When to stop.
        form: LoopForm<D>,
        /// One step, yielding the next values of the parameters.
        body: Body<D>,
    },
    /// A call.
    Call {
        /// The function.
        fun: FunId,
        /// One argument per parameter.
        args: Vec<Atom>,
    },
    /// An operation of the dialect.
    Op(D),
}

/// A loop-carried value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LoopParam {
    /// The variable in the body.
    pub var: Var,
    /// Its value in the first iteration.
    pub init: Atom,
}

/// When a loop stops.
#[derive(Clone, Debug, PartialEq, Hash)]
pub enum LoopForm<D> {
    /// For `index` = 0, 1, .. below `bound`; index and bound have the same integer type. No iteration if the bound is negative.
    For {
        /// The counter.
        index: Var,
        /// The number of iterations.
        bound: Atom,
    },
    /// As long as the condition, a body over the loop's parameters with one `bool` result, holds.
    While(Body<D>),
}

/// The message of a failed check: text with values in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Message {
    /// What kind of failure it is.
    pub kind: TrapKind,
    /// Text and values in order. Values are scalars.
    pub parts: Vec<MessagePart>,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MessagePart {
    /// Fixed text.
    Text(String),
    /// The value of a scalar atom.
    Value(Atom),
}

/// The kinds of run-time failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrapKind {
    /// An index or slice outside its array.
    Bounds,
    /// Shapes that must agree and do not.
    Shape,
    /// A size coercion or ascription that does not hold.
    Coercion,
    /// A failed `assert` of the source.
    Assert,
    /// Integer division by zero.
    DivisionByZero,
    /// A negative size.
    NegativeSize,
    /// A count of elements that overflows: no memory holds them.
    Memory,
    /// A range that does not go where it should.
    Range,
    /// A hole was reached.
    Hole,
    /// Recursion went too deep.
    Recursion,
    /// Anything else that the program itself reports.
    Other,
}

impl From<Size> for Atom {
    fn from(size: Size) -> Self {
        match size {
            Size::Const(n) => Self::Const(Const::I64(n)),
            Size::Var(v) => Self::Var(v),
        }
    }
}

impl From<Var> for Atom {
    fn from(v: Var) -> Self {
        Self::Var(v)
    }
}
