//! Typed patterns.

use super::{Lit, Name, Sym, Type};
use crate::source::Span;

/// A pattern; ascriptions in it have gone into the types.
#[derive(Clone, Debug)]
pub struct Pat {
    /// The shape.
    pub kind: PatKind,
    /// The type of what it matches. In a parameter the uniqueness marks say what a call may consume.
    pub ty: Type,
    /// Where it stands.
    pub span: Span,
}

/// The shape of a pattern.
#[derive(Clone, Debug)]
pub enum PatKind {
    /// Binds the value. A name of type `i64` may occur in sizes.
    Name(Name),
    /// `_`.
    Wild,
    /// `(p, q)`; the empty tuple matches the unit value.
    Tuple(Vec<Pat>),
    /// `{a = p, b = q}`, every field of the record in the order of its type.
    Record(Vec<(Sym, Pat)>),
    /// A literal (a negative number too).
    Literal(Lit),
    /// `#c p q`.
    Construct(Sym, Vec<Pat>),
}
