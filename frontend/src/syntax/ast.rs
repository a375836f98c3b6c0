//! The surface syntax tree: what a source file says, before names mean anything. Data only.
//!
//! Every node carries its [`Span`]. Parentheses are not kept; precedence is already resolved.
//! A dotted path of names, `a.b.c`, is one [`QualName`]: whether a part is a module or a record field is
//! for the type checker, which knows the scope. What follows something that is no plain path,
//! `(f x).y` or `a.0`, is an [`ExpKind::Project`].

mod dec;
mod exp;
mod literal;
mod module;
mod pattern;
mod ty;

pub use super::name::Name;
pub use super::ptr::P;
pub use crate::source::{FileId, Span};
pub use dec::*;
pub use exp::*;
pub use literal::*;
pub use module::*;
pub use pattern::*;
pub use ty::*;

/// One source file.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The comment about the file as a whole, if it opens with one.
    pub doc: Option<Doc>,
    /// The declarations in order.
    pub decs: Vec<Dec>,
    /// One more than the largest [`ExpId`] in the file.
    pub exp_count: u32,
    /// The whole file.
    pub span: Span,
}

/// A documentation comment, `-- | ...`, without its markers.
#[derive(Clone, Debug, PartialEq)]
pub struct Doc {
    /// The text, lines separated by newlines.
    pub text: String,
    /// Where the comment is.
    pub span: Span,
}

/// A name where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// A name behind any number of qualifiers, `m.n.x`; the name may be an operator, `f32.+`.
#[derive(Clone, Debug, PartialEq)]
pub struct QualName {
    /// The parts before the last dot.
    pub quals: Vec<Ident>,
    /// The last part.
    pub name: Ident,
}

impl QualName {
    /// The whole path's span.
    pub fn span(&self) -> Span {
        match self.quals.first() {
            Some(first) => first.span.to(self.name.span),
            None => self.name.span,
        }
    }
}

impl std::fmt::Display for QualName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for qual in &self.quals {
            write!(f, "{}.", qual.name)?;
        }
        write!(f, "{}", self.name.name)
    }
}

/// An attribute, `#[name]`, `#[7]` or `#[name(argument, ..)]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Attr {
    /// What it says.
    pub kind: AttrKind,
    /// Where it stands, without the brackets.
    pub span: Span,
}

/// What an attribute says.
#[derive(Clone, Debug, PartialEq)]
pub enum AttrKind {
    /// A bare name.
    Name(Name),
    /// A number.
    Int(u128),
    /// A name with arguments.
    Call(Name, Vec<Attr>),
}
