//! The built-in operations.

use super::Prim;

/// A built-in function or constant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Intrinsic {
    /// What it does.
    pub op: Op,
    /// The scalar type that it works on, for a member of a numeric module. `None`: the first type of the instance says it (the
    /// overloaded operators), or the operation has none.
    pub prim: Option<Prim>,
}

/// What a built-in does. `t` is the scalar type, `a` a type parameter; functions are curried.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(
    missing_docs,
    reason = "each variant is the built-in of its name; groups are described where they differ"
)]
pub enum Op {
    // t -> t -> t; for numbers, Pow for numbers, Quot and Rem truncate where Div and Mod floor.
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Quot,
    Rem,
    Pow,
    Min,
    Max,
    // t -> t -> t for integers, And Or Xor for bool too.
    And,
    Or,
    Xor,
    Shl,
    /// Arithmetic for signed types, logical for unsigned ones.
    Shr,
    /// Logical.
    LShr,
    MulHi,
    // t -> t -> bool; Eq and Ne for every type without functions.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    // bool -> bool -> bool, as function values (applied ones are `If`).
    LogAnd,
    LogOr,
    // t -> t
    Neg,
    /// Complement of an integer, `not` of a `bool`.
    Not,
    Abs,
    Sgn,
    /// Conversion from this scalar type to `prim`.
    Convert(Prim),
    // t -> i32
    Popc,
    Clz,
    Ctz,
    // t
    Highest,
    Lowest,
    Inf,
    Nan,
    Pi,
    E,
    Epsilon,
    /// `i32`.
    NumBits,
    // Bits: i32 -> t -> i32, and i32 -> t -> i32 -> t.
    GetBit,
    SetBit,
    // Floats, t -> t.
    Recip,
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Sin,
    Cos,
    Tan,
    SinPi,
    CosPi,
    TanPi,
    Asin,
    Acos,
    Atan,
    AsinPi,
    AcosPi,
    AtanPi,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Gamma,
    Lgamma,
    Erf,
    Erfc,
    Log,
    Log2,
    Log10,
    Log1p,
    Ceil,
    Floor,
    Trunc,
    Round,
    // t -> t -> t
    Atan2,
    Atan2Pi,
    Hypot,
    NextAfter,
    CopySign,
    /// t -> i32 -> t
    Ldexp,
    // t -> t -> t -> t; MadHi is for integers.
    Lerp,
    Mad,
    MadHi,
    Fma,
    // t -> bool
    IsInf,
    IsNan,
    /// unsigned integer of the same width -> t
    FromBits,
    /// t -> unsigned integer of the same width
    ToBits,
    /// i64 -> i64 -> t
    FromFraction,
    // [n]t -> t
    Sum,
    Product,
    Maximum,
    Minimum,

    /// `(a -> b) -> [n]a -> *[n]b`
    Map,
    /// `(a -> a -> a) -> a -> [n]a -> a`
    Reduce,
    /// As `Reduce`, the operator is commutative.
    ReduceComm,
    /// `(a -> a -> a) -> a -> [n]a -> *[n]a`
    Scan,
    /// `(a -> bool) -> [n]a -> *[]a`
    Filter,
    /// `(a -> bool) -> [n]a -> ?[k].([k]a, [n-k]a)`, both in order.
    Partition,
    /// `op -> ne -> k -> [n]i64 -> [n]a -> *[k]a`
    Hist,
    /// `*[k]a -> op -> ne -> [n]i64 -> [n]a -> *[k]a`
    ReduceByIndex1d,
    /// Indices are pairs.
    ReduceByIndex2d,
    /// Indices are triples.
    ReduceByIndex3d,
    /// `*[k]a -> [n]i64 -> [n]a -> *[k]a`
    Scatter1d,
    /// Indices are pairs.
    Scatter2d,
    /// Indices are triples.
    Scatter3d,
    /// `*[k]a -> (*acc [k]a -> b -> acc [k]a) -> [n]b -> *[k]a`
    ScatterStream,
    /// `*[k]a -> op -> ne -> (*acc [k]a -> b -> acc [k]a) -> [n]b -> *[k]a`
    HistStream,
    /// `*acc [k]a -> i64 -> a -> *acc [k]a`
    AccWrite,
    /// `[n]a -> [n]b -> *[n](a, b)`
    Zip,
    /// `[n](a, b) -> ([n]a, [n]b)`
    Unzip,
    /// `[n]a -> [m]a -> *[n+m]a`
    Concat,
    /// `[n][m]a -> [n*m]a`
    Flatten,
    /// `[n*m]a -> [n][m]a`; the instance's sizes are n and m.
    Unflatten,
    /// `[n][m]a -> [m][n]a`
    Transpose,
    /// `[n]a -> [n]a`
    Reverse,
    /// `i64 -> [n]a -> [n]a`; `rotate r a` has `a[(i+r) % n]` at `i`.
    Rotate,
    /// `i64 -> *[n]i64`
    Iota,
    /// `(n: i64) -> a -> *[n]a`
    Replicate,
    /// `[n]a -> i64`
    Length,
    /// `a -> *a`: a fresh copy of every array in the value.
    Copy,
    /// As `Copy`, in row-major order in memory.
    Manifest,
    /// `a -> a`, not looked through by optimisation.
    Opaque,
    /// `a -> a`, prints the value.
    Trace,
    /// `a -> a`, a stop for the debugger.
    Break,
    /// `(f: a -> ?[k].([k]b, c)) -> [n]a -> ?[m].([n]i64, [m]bool, [n]i64, [m]b, [n]c)`: lengths of the segments, flags that mark the
    /// first element of each, their offsets, the elements, the rest.
    FlatMap,
    /// `(f: a -> b) -> a -> a -> (b, b)`: the value of the function and its derivative along a direction.
    Jvp,
    /// `(f: a -> b) -> a -> b -> (b, a)`: the value of the function and the gradient of a weighted sum of it.
    Vjp,
    /// `(f: a -> b) -> (f': b -> b -> a) -> a -> b`: the function, whose gradient `f'` computes from its value and the weights.
    WithVjp,
    /// Rows of given lengths that one array is made of.
    Segment,
    /// `i64 -> bool -> (i64 -> (k: i64) -> ?[m].[m]t) -> seq t`: a sequence is a tuple of these.
    SeqMake,
    /// The tuple that a sequence is.
    SeqParts,
    /// `[n]t -> bool`: whether nothing in the elements has rows of any lengths.
    SeqFlat,
    /// `i64 -> (k: i64) -> ?[m].[m]t`: the next elements of the sequence of this number among the parameters of an entry point.
    SeqRead(u32),
    /// `[m]t -> i64`: hands elements of the result of an entry point over; how many.
    SeqPut,
    /// `(before: i64) -> (left: i64) -> i64`: the size of the next chunk.
    SeqNext,
}
