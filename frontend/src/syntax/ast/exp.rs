//! Expressions. Data only.

use super::*;

/// The number of an expression, unique and dense within its file (a tool for side tables).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExpId(pub u32);

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Exp {
    /// Its number within the file.
    pub id: ExpId,
    /// What kind.
    pub kind: ExpKind,
    /// Where it stands; parentheses around it are included.
    pub span: Span,
}

/// The kinds of expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpKind {
    /// A dotted path of names: qualifiers, a variable, projections (the scope tells).
    Name(QualName),
    /// A number, character, truth value or string.
    Literal(Literal),
    /// `???`.
    Hole,
    /// `(a, b)`; no element is the unit value, one element does not occur.
    Tuple(Vec<Exp>),
    /// `{x = a, y}`.
    Record(Vec<FieldExp>),
    /// `[a, b]`.
    Array(Vec<Exp>),
    /// `a..b...c`, `a...c`, `a..<c`, `a..>c`.
    Range {
        /// The first element.
        first: P<Exp>,
        /// The second, which gives the step.
        second: Option<P<Exp>>,
        /// How the end is meant.
        end_kind: RangeEnd,
        /// The end.
        end: P<Exp>,
    },
    /// `e.x` or `e.0` where `e` is no plain path.
    Project(P<Exp>, Ident),
    /// `e[i, a:b:c]`.
    Index(P<Exp>, Vec<DimIndex>),
    /// `e with [i].x = v`.
    Update {
        /// What is updated.
        base: P<Exp>,
        /// The path into it, not empty.
        path: Vec<UpdateStep>,
        /// The new value.
        value: P<Exp>,
    },
    /// `m.(e)`.
    LocalOpen(QualName, P<Exp>),
    /// `f a b`; at least one argument; the head is never itself an application without parentheses.
    Apply(P<Exp>, Vec<Exp>),
    /// `a op b`; a function name stands for the operator in `` a `f` b ``.
    BinOp {
        /// The operator.
        op: QualName,
        /// Left of it.
        lhs: P<Exp>,
        /// Right of it.
        rhs: P<Exp>,
    },
    /// `-e`.
    Negate(P<Exp>),
    /// `!e`.
    Not(P<Exp>),
    /// `e : t`.
    Ascribe(P<Exp>, P<TypeExp>),
    /// `e :> t`.
    Coerce(P<Exp>, P<TypeExp>),
    /// `let [n] p = v in e`.
    Let {
        /// The sizes bound before the pattern.
        sizes: Vec<Ident>,
        /// What is bound.
        pat: P<Pat>,
        /// To what.
        value: P<Exp>,
        /// Where.
        body: P<Exp>,
    },
    /// `let f [n] 'a p q : t = v in e`.
    LetFun {
        /// The function.
        fun: P<LocalFun>,
        /// Where it is in scope.
        body: P<Exp>,
    },
    /// `let x[i].f = v in e`.
    LetUpdate {
        /// The variable that is updated and bound again.
        name: Ident,
        /// The path into it, not empty.
        path: Vec<UpdateStep>,
        /// The new value.
        value: P<Exp>,
        /// Where the new binding is in scope.
        body: P<Exp>,
    },
    /// `if c then a else b`.
    If {
        /// The condition.
        cond: P<Exp>,
        /// When it holds.
        then: P<Exp>,
        /// When not.
        otherwise: P<Exp>,
    },
    /// `loop p = e form do body`.
    Loop {
        /// The loop parameters.
        pat: P<Pat>,
        /// Their first values; without them the names of the pattern are read.
        init: Option<P<Exp>>,
        /// How often.
        form: LoopForm,
        /// One round.
        body: P<Exp>,
    },
    /// `match e case p -> a ...`.
    Match(P<Exp>, Vec<Case>),
    /// `\p q : t -> e`.
    Lambda {
        /// The parameters, at least one.
        params: Vec<Pat>,
        /// The declared result type.
        ret: Option<P<TypeExp>>,
        /// The body.
        body: P<Exp>,
    },
    /// `(+)`.
    OpSection(QualName),
    /// `(e +)`: the left operand is given.
    LeftSection(QualName, P<Exp>),
    /// `(+ e)`: the right operand is given.
    RightSection(QualName, P<Exp>),
    /// `(.x[i])`.
    PathSection(Vec<UpdateStep>),
    /// `#c a b`.
    Constr(Ident, Vec<Exp>),
    /// `assert c e`.
    Assert(P<Exp>, P<Exp>),
    /// `#[attr] e`.
    Attr(P<Attr>, P<Exp>),
}

/// How the end of a range is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeEnd {
    /// `...`: the end belongs to the range.
    Inclusive,
    /// `..<`: upwards, without the end.
    Below,
    /// `..>`: downwards, without the end.
    Above,
}

/// A field of a record expression.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldExp {
    /// The field's name; it may be a number.
    pub name: Ident,
    /// Its value; `{x}` has none and means the variable `x`.
    pub value: Option<Exp>,
}

/// One dimension of an index.
#[derive(Clone, Debug, PartialEq)]
pub enum DimIndex {
    /// `i`.
    Fix(P<Exp>),
    /// `start:end:stride`, all optional.
    Slice {
        /// The first index.
        start: Option<P<Exp>>,
        /// The end, exclusive.
        end: Option<P<Exp>>,
        /// The step.
        stride: Option<P<Exp>>,
        /// The whole slice; never empty.
        span: Span,
    },
}

impl DimIndex {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            DimIndex::Fix(exp) => exp.span,
            DimIndex::Slice { span, .. } => *span,
        }
    }
}

/// One step of a path into a record or array.
#[derive(Clone, Debug, PartialEq)]
pub enum UpdateStep {
    /// `[i, j]`; the span covers the brackets.
    Index(Vec<DimIndex>, Span),
    /// `.x`.
    Field(Ident),
}

/// A function bound by `let` inside an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalFun {
    /// Its name.
    pub name: Ident,
    /// Size and type parameters.
    pub type_params: Vec<TypeParam>,
    /// Parameters, at least one.
    pub params: Vec<Pat>,
    /// The declared result type.
    pub ret: Option<TypeExp>,
    /// The right-hand side.
    pub body: Exp,
    /// From the name to the end of the right-hand side.
    pub span: Span,
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopForm {
    /// `for i < n`.
    For(Ident, P<Exp>),
    /// `for p in xs`.
    ForIn(P<Pat>, P<Exp>),
    /// `while c`.
    While(P<Exp>),
}

/// One case of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// What it matches.
    pub pat: Pat,
    /// What it gives.
    pub body: Exp,
    /// From `case` on.
    pub span: Span,
}
