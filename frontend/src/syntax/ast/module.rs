//! Module expressions and module types. Data only.

use super::*;

/// A module expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ModExp {
    /// What kind.
    pub kind: ModExpKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of module expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ModExpKind {
    /// A module by name.
    Name(QualName),
    /// `{ decs }`.
    Struct(Vec<Dec>),
    /// `import "path"`.
    Import(ImportPath),
    /// `f m`: one functor applied to one module.
    Apply(P<ModExp>, P<ModExp>),
    /// `m : mt`.
    Ascribe(P<ModExp>, P<ModTypeExp>),
    /// `\(p: mt) : mt -> m`.
    Lambda {
        /// The parameter.
        param: P<ModParam>,
        /// The module type ascribed to the body.
        ascription: Option<P<ModTypeExp>>,
        /// The body.
        body: P<ModExp>,
    },
}

/// A module type expression.
#[derive(Clone, Debug, PartialEq)]
pub struct ModTypeExp {
    /// What kind.
    pub kind: ModTypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of module type expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ModTypeKind {
    /// A module type by name.
    Name(QualName),
    /// `{ specs }`.
    Sig(Vec<Spec>),
    /// `mt with t 'a = type`.
    With(P<ModTypeExp>, P<TypeRef>),
    /// `(p: mt) -> mt` or `mt -> mt`.
    Arrow {
        /// The name of the parameter, if it has one.
        param: Option<Ident>,
        /// The parameter's module type.
        from: P<ModTypeExp>,
        /// The result's module type.
        to: P<ModTypeExp>,
    },
}

/// A refinement of an abstract type, the part after `with`.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeRef {
    /// The type that is refined.
    pub name: QualName,
    /// Its parameters.
    pub params: Vec<TypeParam>,
    /// What it becomes.
    pub body: TypeExp,
    /// Without the `with`.
    pub span: Span,
}

/// One line of a module type.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// What is specified.
    pub kind: SpecKind,
    /// The attributes before it, outermost first.
    pub attrs: Vec<Attr>,
    /// The comment that documents it.
    pub doc: Option<Doc>,
    /// Attributes included, comment excluded.
    pub span: Span,
}

/// The kinds of specification.
#[derive(Clone, Debug, PartialEq)]
pub enum SpecKind {
    /// `val x 'a [n] : t`; the name may be an operator.
    Val {
        /// The name or operator.
        name: Ident,
        /// Size and type parameters.
        params: Vec<TypeParam>,
        /// The type.
        ty: TypeExp,
    },
    /// `type t 'a = ...`: a type that is known.
    Abbr(TypeBind),
    /// `type t 'a`: a type that is abstract.
    Type {
        /// `type`, `type~` or `type^`.
        lift: Lift,
        /// Its name.
        name: Ident,
        /// Its parameters.
        params: Vec<TypeParam>,
    },
    /// `module m : mt`.
    Module {
        /// Its name.
        name: Ident,
        /// Its module type.
        mod_type: ModTypeExp,
    },
    /// `include mt`.
    Include(ModTypeExp),
}
