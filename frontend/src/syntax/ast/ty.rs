//! Type expressions, sizes, type schemes. Data only.

use super::*;

/// A type expression.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExp {
    /// What kind.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of type expression.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// A type by name.
    Name(QualName),
    /// A type constructor with its arguments; the head is nearly always a name.
    Apply(P<TypeExp>, Vec<TypeArg>),
    /// `(a, b)`; no element is the unit type, one element does not occur.
    Tuple(Vec<TypeExp>),
    /// `{x: a, y: b}`.
    Record(Vec<FieldType>),
    /// `[n]t`.
    Array(SizeExp, P<TypeExp>),
    /// `a -> b` or `(x: a) -> b`.
    Arrow {
        /// The name of the parameter, if it has one.
        param: Option<Ident>,
        /// The parameter's type.
        from: P<TypeExp>,
        /// The result's type.
        to: P<TypeExp>,
    },
    /// `*t`.
    Unique(P<TypeExp>),
    /// `#a t u | #b`.
    Sum(Vec<SumClause>),
    /// `?[n][m].t`.
    Exists(Vec<Ident>, P<TypeExp>),
}

/// The argument of a type constructor.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeArg {
    /// `[n]` or `[]`.
    Size(SizeExp),
    /// A type.
    Type(TypeExp),
}

/// A size between brackets.
#[derive(Clone, Debug, PartialEq)]
pub enum SizeExp {
    /// `[]`: some size; the span covers the brackets.
    Any(Span),
    /// `[..]`: an irregular dimension; the span covers the brackets.
    Ragged(Span),
    /// `[e]`: any expression of type `i64`; the span covers the brackets.
    Exp(P<Exp>, Span),
}

impl SizeExp {
    /// The span with the brackets.
    pub fn span(&self) -> Span {
        match self {
            SizeExp::Any(span) | SizeExp::Ragged(span) | SizeExp::Exp(_, span) => *span,
        }
    }
}

/// A field of a record type; the name may be a number.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldType {
    /// The field's name.
    pub name: Ident,
    /// The field's type.
    pub ty: TypeExp,
}

/// One alternative of a sum type.
#[derive(Clone, Debug, PartialEq)]
pub struct SumClause {
    /// The constructor's name without the `#`.
    pub name: Ident,
    /// What it carries.
    pub payload: Vec<TypeExp>,
    /// The whole alternative.
    pub span: Span,
}

/// A polymorphic type as tables of built-in functions write it, `'a [n] : [n]a -> a`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeScheme {
    /// Size and type parameters.
    pub params: Vec<TypeParam>,
    /// The type.
    pub ty: TypeExp,
}
