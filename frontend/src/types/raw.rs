//! The resolved tree: what the first pass of the checker makes of an expression. Names are resolved, sugar is gone, types are
//! known up to sizes. The second pass turns it into the typed program.

use super::ty::{Lift, Name, Sym, Type};
use crate::source::Span;
use crate::syntax::ast::FloatDigits;
use crate::syntax::ptr::P;
use crate::typed::{Attr, RangeEnd};

/// An expression. The sizes in `ty` mean nothing.
#[derive(Debug, Clone)]
pub(crate) struct RExp {
    pub(crate) kind: RKind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum RLit {
    /// An integer; with a suffix of its type, a negation of it is taken modulo two to the width of the type.
    Int {
        value: i128,
        suffixed: bool,
    },
    /// A float, or an integer that only a float type holds.
    Float(FloatDigits),
    Bool(bool),
}

#[derive(Debug, Clone)]
pub(crate) enum RKind {
    Lit(RLit),
    String(Vec<u8>),
    Hole,
    Var {
        name: Name,
        inst: Vec<Type>,
    },
    Tuple(Vec<RExp>),
    Record(Vec<(Sym, RExp)>),
    Array(Vec<RExp>),
    Construct(Sym, Vec<RExp>),
    Range {
        start: P<RExp>,
        second: Option<P<RExp>>,
        end: (RangeEnd, P<RExp>),
    },
    Ascribe(P<RExp>, RType),
    Coerce(P<RExp>, RType),
    Apply {
        fun: P<RExp>,
        args: Vec<RExp>,
        infix: bool,
    },
    Negate(P<RExp>),
    Not(P<RExp>),
    Field(P<RExp>, Sym),
    Lambda {
        params: Vec<RPat>,
        body: P<RExp>,
        ret: Option<RType>,
    },
    Let {
        sizes: Vec<Name>,
        pat: RPat,
        value: P<RExp>,
        body: P<RExp>,
    },
    LetFun {
        def: Box<RDef>,
        body: P<RExp>,
    },
    If {
        cond: P<RExp>,
        then: P<RExp>,
        otherwise: P<RExp>,
    },
    Match {
        scrutinee: P<RExp>,
        cases: Vec<(RPat, RExp)>,
    },
    Loop {
        pat: RPat,
        init: P<RExp>,
        form: RForm,
        body: P<RExp>,
    },
    Index {
        array: P<RExp>,
        slices: Vec<RSlice>,
    },
    Update {
        source: P<RExp>,
        path: Vec<RStep>,
        value: P<RExp>,
    },
    Assert {
        cond: P<RExp>,
        text: String,
        body: P<RExp>,
    },
    Attr(Attr, P<RExp>),
}

#[derive(Debug, Clone)]
pub(crate) enum RForm {
    For(Name, P<RExp>),
    ForIn(RPat, P<RExp>),
    While(P<RExp>),
}

#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "a program has few slices, and each is built once"
)]
pub(crate) enum RSlice {
    Index(RExp),
    Range {
        start: Option<RExp>,
        end: Option<RExp>,
        stride: Option<RExp>,
    },
}

#[derive(Debug, Clone)]
pub(crate) enum RStep {
    Field(Sym),
    Index(Vec<RSlice>),
}

#[derive(Debug, Clone)]
pub(crate) struct RPat {
    pub(crate) kind: RPatKind,
    pub(crate) ty: Type,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum RPatKind {
    Name(Name),
    Wild,
    Tuple(Vec<RPat>),
    Record(Vec<(Sym, RPat)>),
    Lit { negative: bool, value: RLit },
    Construct(Sym, Vec<RPat>),
    Ascribe(P<RPat>, RType),
}

/// A written type. An atom `Meta(i)` in a size is the i-th of `pending`.
#[derive(Debug, Clone)]
pub(crate) struct RType {
    pub(crate) ty: Type,
    /// Sizes that the type leaves open (`[]`, `?[n].`), bound outside of all arrows.
    pub(crate) exts: Vec<Name>,
    /// Open sizes of the parameter types of arrows: no binder, so to be inferred.
    pub(crate) loose: Vec<Name>,
    pub(crate) pending: Vec<RExp>,
    pub(crate) lift: Lift,
    pub(crate) span: Span,
}

#[derive(Debug, Clone)]
pub(crate) struct RDef {
    pub(crate) name: Name,
    pub(crate) types: Vec<(Name, Lift)>,
    pub(crate) sizes: Vec<Name>,
    pub(crate) params: Vec<RPat>,
    pub(crate) ret: Option<RType>,
    pub(crate) body: RExp,
    pub(crate) recursive: bool,
    pub(crate) attrs: Vec<Attr>,
    pub(crate) span: Span,
    pub(crate) name_span: Span,
}
