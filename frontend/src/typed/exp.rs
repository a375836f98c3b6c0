//! Typed expressions.

use super::{Name, Pat, Prim, RetType, Size, Sym, Type, ValueDef};
use crate::source::Span;
use crate::syntax::ptr::P;
use std::sync::Arc;

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Exp {
    /// The construct.
    pub kind: ExpKind,
    /// The type of the value; its sizes are in scope after the node's own `exts` have been bound.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
    /// Existential sizes bound here. Each is a whole dimension somewhere in `ty` and is bound from that dimension of the
    /// value; at a node of type `i64` the only one is the value itself.
    pub exts: Vec<Name>,
}

/// At what types and sizes a polymorphic binding is used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inst {
    /// For each type parameter of the binding's scheme.
    pub types: Vec<Type>,
    /// For each size parameter of the binding's scheme.
    pub sizes: Vec<Size>,
}

/// A scalar constant.
#[derive(Clone, Copy, Debug)]
pub enum Lit {
    /// An integer of an integer type, in range (unsigned values are not negative).
    Int(Prim, i128),
    /// A floating-point number, as the nearest `f64`, to be rounded to the type. `f16` and `f32` literals were rounded from the
    /// decimal text once: the `f64` is exactly the value of the narrower type.
    Float(Prim, f64),
    /// A truth value.
    Bool(bool),
}

/// The constructs.
#[derive(Clone, Debug)]
pub enum ExpKind {
    /// A scalar.
    Lit(Lit),
    /// A string: the bytes of an `[n]u8`.
    String(Vec<u8>),
    /// `???`: fails when it is evaluated.
    Hole,
    /// A value, function or intrinsic at an instance of its scheme.
    Var {
        /// The binding.
        name: Name,
        /// Types and sizes for the parameters of the scheme; empty for monomorphic bindings.
        inst: Inst,
    },
    /// A size as an `i64`.
    Size(Size),
    /// A tuple; of no components it is the unit value.
    Tuple(Vec<Exp>),
    /// A record, fields in source order (their order of evaluation).
    Record(Vec<(Sym, Exp)>),
    /// An array literal.
    Array(Vec<Exp>),
    /// `#c a b`.
    Construct(Sym, Vec<Exp>),
    /// `start..step..<end` of any integer type; the result's size is its type's. An invalid range fails at run time.
    Range {
        /// First element.
        start: P<Exp>,
        /// Second element, if given.
        second: Option<P<Exp>>,
        /// The bound and which kind it is.
        end: (RangeEnd, P<Exp>),
    },
    /// `e :> t`: checks that the value has the sizes of the node's type (only the dimensions that differ from those of `e`'s
    /// type need a check).
    Coerce(P<Exp>),
    /// `f a b ..`, at least one argument, curried: fewer than `f` takes make a partial application, more apply its result.
    Apply {
        /// The function.
        fun: P<Exp>,
        /// Arguments, evaluated from the last to the first, then the function: a size bound by a later argument may be used by
        /// an earlier one, and by the function's `Inst`.
        args: Vec<Exp>,
        /// `a op b`: the operands are evaluated from the first to the last.
        infix: bool,
    },
    /// `-e` of a number.
    Negate(P<Exp>),
    /// `!e`: of a `bool`, or the complement of an integer.
    Not(P<Exp>),
    /// `e.f` of a record.
    Field(P<Exp>, Sym),
    /// `e.0` of a tuple.
    TupleField(P<Exp>, usize),
    /// A function value. Operator, projection and index sections have this form too, with a `Let` around it for the operands.
    Lambda {
        /// Parameters, at least one.
        params: Vec<Pat>,
        /// The body.
        body: Arc<Exp>,
        /// Result type, with the existential sizes of a call.
        ret: RetType,
    },
    /// `let [sizes] pat = value in body`.
    Let {
        /// Sizes bound from the value's dimensions, by the pattern's type.
        sizes: Vec<Name>,
        /// What is bound.
        pat: Pat,
        /// The value.
        value: P<Exp>,
        /// Where the names are in scope.
        body: P<Exp>,
    },
    /// `let f x = .. in body`.
    LetFun {
        /// The function; closes over its context.
        def: Arc<ValueDef>,
        /// Where it is in scope.
        body: P<Exp>,
    },
    /// `if`; `&&` and `||` of the prelude are this too.
    If {
        /// Condition.
        cond: P<Exp>,
        /// Value if true.
        then: P<Exp>,
        /// Value if false.
        otherwise: P<Exp>,
    },
    /// `match`; the first case that fits is taken.
    Match {
        /// What is matched.
        scrutinee: P<Exp>,
        /// The cases, at least one.
        cases: Vec<Case>,
    },
    /// A loop.
    Loop {
        /// Sizes that change from iteration to iteration. They are in scope in `pat`, the condition and the body.
        sizes: Vec<LoopSize>,
        /// The loop parameters.
        pat: Pat,
        /// Their initial value.
        init: P<Exp>,
        /// How often.
        form: LoopForm,
        /// The next value of the parameters. The node's own `exts` are the final values of sizes that changed.
        body: P<Exp>,
    },
    /// `a[i, j:k]`; fewer indices than dimensions leave the inner dimensions whole.
    Index {
        /// The array.
        array: P<Exp>,
        /// At least one index.
        slices: Vec<Slice>,
    },
    /// `e with path = value`, in place if the path has an index (then the array reached by the fields before it is consumed).
    Update {
        /// The old value.
        source: P<Exp>,
        /// Fields and indices to what is replaced, outermost first; at least one.
        path: Vec<Step>,
        /// The new part.
        value: P<Exp>,
    },
    /// `assert cond body`.
    Assert {
        /// Must hold.
        cond: P<Exp>,
        /// Source text of the condition, for the message.
        text: String,
        /// The value.
        body: P<Exp>,
    },
    /// An expression with an attribute, for example `unsafe` or `sequential`.
    Attr(Attr, P<Exp>),
}

/// An attribute: `name` or `name(args)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr {
    /// The name, or the text of a literal.
    pub name: String,
    /// Arguments; `None` if there are no parentheses.
    pub args: Option<Vec<Attr>>,
}

impl std::fmt::Display for Attr {
    /// As the source writes it, without the brackets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        let Some(args) = &self.args else {
            return Ok(());
        };
        f.write_str("(")?;
        for (i, arg) in args.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            arg.fmt(f)?;
        }
        f.write_str(")")
    }
}

/// The end of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RangeEnd {
    /// `...e`: up to and including (also downwards, when the second element is below the first).
    Inclusive,
    /// `..<e`.
    Below,
    /// `..>e`.
    Above,
}

/// A case of a `match`.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it fits.
    pub pat: Pat,
    /// The value.
    pub body: Exp,
}

/// A size that changes in a loop.
#[derive(Clone, Debug)]
pub struct LoopSize {
    /// The size inside the loop; bound from the dimensions of the loop parameters at the start of each iteration.
    pub name: Name,
    /// Its value at first.
    pub init: Size,
}

/// How a loop iterates.
#[derive(Clone, Debug)]
pub enum LoopForm {
    /// `for i < bound`, of any integer type.
    For {
        /// The counter, from zero.
        var: Name,
        /// Its type and the bound's.
        prim: Prim,
        /// Evaluated once.
        bound: P<Exp>,
    },
    /// `for p in array`.
    ForIn {
        /// Binds each element.
        pat: Pat,
        /// Evaluated once.
        array: P<Exp>,
    },
    /// `while cond`.
    While(P<Exp>),
}

/// One index of an array.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a program has few slices, and each is built once"
)]
pub enum Slice {
    /// An element or row; of any integer type.
    Index(Exp),
    /// `start:end:stride`, `i64` each.
    Range {
        /// First index.
        start: Option<Exp>,
        /// One past the last.
        end: Option<Exp>,
        /// The step, not zero.
        stride: Option<Exp>,
    },
}

/// One step of the path of an update.
#[derive(Clone, Debug)]
pub enum Step {
    /// A field of a record.
    Field(Sym),
    /// A component of a tuple.
    TupleField(usize),
    /// `[i, j:k]`.
    Index(Vec<Slice>),
}
