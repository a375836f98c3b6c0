//! Declarations and modules of the typed program.

use super::exp::Attr;
use super::{Exp, Inst, Name, Pat, RetType, Scheme, Type, TypeParam};
use crate::source::Span;
use crate::syntax::ptr::P;
use std::sync::Arc;

/// A declaration.
#[derive(Clone, Debug)]
pub enum Dec {
    /// A function or value.
    Value(Arc<ValueDef>),
    /// A module: evaluated for the ids it binds (also for `open`).
    Module(ModuleExp),
    /// A parametric module; the id is bound to a closure.
    Functor(Arc<Functor>),
}

/// A function or value definition, at top level, in a module, in the prelude or local.
#[derive(Clone, Debug)]
pub struct ValueDef {
    /// Its id; the scheme is in the side table too.
    pub name: Name,
    /// The type. For a function: the parameters' types to `ret`, curried.
    pub scheme: Scheme,
    /// Parameters; none for a value, which is evaluated once.
    pub params: Vec<Pat>,
    /// Result type.
    pub ret: RetType,
    /// The body.
    pub body: Exp,
    /// Whether the body refers to `name`.
    pub recursive: bool,
    /// Attributes.
    pub attrs: Vec<Attr>,
    /// The whole definition.
    pub span: Span,
}

/// An entry point.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The external name.
    pub name: String,
    /// The function or value.
    pub value: Name,
    /// The parameters.
    pub params: Vec<EntryParam>,
    /// How the result type is written in the source, if it is.
    pub result_text: Option<String>,
    /// The documentation comment of the definition.
    pub doc: Option<String>,
    /// The result type.
    pub result: RetType,
    /// What goes through the result, if that is a sequence.
    pub drain: Option<Name>,
    /// Attributes of the definition.
    pub attrs: Vec<Attr>,
}

/// A parameter of an entry point.
#[derive(Clone, Debug)]
pub struct EntryParam {
    /// Its name, if the pattern is one.
    pub name: Option<String>,
    /// How the type is written in the source.
    pub type_text: String,
    /// The type.
    pub ty: Type,
    /// Whether that is a sequence.
    pub streamed: bool,
}

/// A module expression, evaluated in an environment that it extends.
#[derive(Clone, Debug)]
pub enum ModuleExp {
    /// A module that is bound already: nothing to do, its ids have their values.
    Known,
    /// `{ .. }`: the declarations in order.
    Struct(Vec<Dec>),
    /// One after the other.
    Seq(Vec<ModuleExp>),
    /// Binds new ids from old ones: an ascription `m : S`. The old ones are bound before.
    Binds(P<ModuleBinds>),
    /// `f(arg)`. First `arg` is evaluated. Then the body of the functor's closure is evaluated in the closure's environment extended
    /// with `param` (whose right-hand sides are looked up *here*). Last, `result` binds ids here to what its right-hand sides are in the body's
    /// environment.
    Apply {
        /// The functor: an id that is bound to a closure.
        functor: Name,
        /// The argument.
        arg: P<ModuleExp>,
        /// Parameter's ids := argument's.
        param: P<ModuleBinds>,
        /// Result's ids here := the body's.
        result: P<ModuleBinds>,
        /// Where it stands.
        span: Span,
    },
}

/// `module f (p: S) = body`.
#[derive(Clone, Debug)]
pub struct Functor {
    /// Its id.
    pub name: Name,
    /// The body; refers to the ids of `p` freely.
    pub body: ModuleExp,
    /// Where it stands.
    pub span: Span,
}

/// New ids and what they stand for. A right-hand side refers to ids of the environment that the user of the list names.
#[derive(Clone, Debug, Default)]
pub struct ModuleBinds {
    /// Types first: the value bindings' instances may mention them.
    pub types: Vec<TypeBind>,
    /// Values.
    pub values: Vec<ValueBind>,
    /// Parametric modules.
    pub functors: Vec<FunctorBind>,
}

/// `name params := rhs`.
#[derive(Clone, Debug)]
pub struct TypeBind {
    /// An abstract type's id.
    pub name: Name,
    /// Parameters, in scope in `rhs`.
    pub params: Vec<TypeParam>,
    /// Sizes in `rhs` that nothing binds: they differ from value to value.
    pub exts: Vec<Name>,
    /// What it is.
    pub rhs: Type,
}

/// `name := value inst`, for all instances of `scheme`.
#[derive(Clone, Debug)]
pub struct ValueBind {
    /// The new id.
    pub name: Name,
    /// Its scheme; the parameters are in scope in `inst`.
    pub scheme: Scheme,
    /// The old id.
    pub value: Name,
    /// The instance of the old id's scheme.
    pub inst: Inst,
}

/// `name := functor`, with adaption on both sides.
#[derive(Clone, Debug)]
pub struct FunctorBind {
    /// The new id.
    pub name: Name,
    /// The old id.
    pub functor: Name,
    /// How to apply the new one: its caller has bound the *new* parameter's ids; these bind the *old* one's from them.
    pub param: ModuleBinds,
    /// After the old body has been evaluated: the ids that the caller of the new one expects, from the old body's.
    pub result: ModuleBinds,
}
