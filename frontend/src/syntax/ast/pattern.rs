//! Patterns. Data only.

use super::*;

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pat {
    /// What kind.
    pub kind: PatKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum PatKind {
    /// Binds a name; an operator where it stood in parentheses.
    Name(Name),
    /// `_`.
    Wildcard,
    /// `(p, q)`; no element is the unit pattern, one element does not occur.
    Tuple(Vec<Pat>),
    /// `{x = p, y}`.
    Record(Vec<FieldPat>),
    /// `p : t`.
    Ascribe(P<Pat>, P<TypeExp>),
    /// `#c p q`.
    Constr(Ident, Vec<Pat>),
    /// A literal, perhaps with a minus sign before it.
    Literal {
        /// Whether a minus sign stood before it.
        negative: bool,
        /// The literal.
        value: Literal,
    },
    /// `#[attr] p`.
    Attr(P<Attr>, P<Pat>),
}

/// A field of a record pattern; `{x}` and `{x: t}` come with the pattern `x` spelt out.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldPat {
    /// The field's name; it may be a number.
    pub name: Ident,
    /// The pattern for its value.
    pub pat: Pat,
}
