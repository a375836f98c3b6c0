//! Declarations: values, functions, types, modules by name. Data only.

use super::*;

/// A declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct Dec {
    /// What is declared.
    pub kind: DecKind,
    /// The attributes before it, outermost first.
    pub attrs: Vec<Attr>,
    /// The comment that documents it.
    pub doc: Option<Doc>,
    /// The whole declaration, attributes included, comment excluded.
    pub span: Span,
}

/// What a declaration declares.
#[derive(Clone, Debug, PartialEq)]
pub enum DecKind {
    /// `def`, `let` or `entry`: a value or a function.
    Val(ValBind),
    /// `type t 'a [n] = ...`.
    Type(TypeBind),
    /// `module m (p: t): s = ...`.
    Module(ModBind),
    /// `module type t = ...`.
    ModType(ModTypeBind),
    /// `open m`.
    Open(ModExp),
    /// `import "path"`: opens the file's module.
    Import(ImportPath),
    /// `local ...`: in scope here, not seen from outside.
    Local(P<Dec>),
}

/// The path of an import, as written.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportPath {
    /// The path without the quotes.
    pub path: String,
    /// The string literal.
    pub span: Span,
}

/// The keyword that opened a value declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValKeyword {
    /// `def`.
    Def,
    /// `let`, the older spelling of `def`.
    Let,
    /// `entry`: callable from outside.
    Entry,
}

/// A value or function declaration. The name may be an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct ValBind {
    /// `def`, `let` or `entry`.
    pub keyword: ValKeyword,
    /// What is bound.
    pub name: Ident,
    /// Size and type parameters.
    pub type_params: Vec<TypeParam>,
    /// The parameters; none makes it a value.
    pub params: Vec<Pat>,
    /// The declared result type.
    pub ret: Option<TypeExp>,
    /// The right-hand side.
    pub body: Exp,
}

/// A type abbreviation.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeBind {
    /// `type`, `type~` or `type^`.
    pub lift: Lift,
    /// The name of the type.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<TypeParam>,
    /// What it stands for.
    pub body: TypeExp,
}

/// How much a type may hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lift {
    /// No mark: all sizes known, no functions inside.
    Unlifted,
    /// `~`: may hide sizes.
    SizeLifted,
    /// `^`: may hide sizes and functions.
    Lifted,
}

/// A parameter that is a size or a type.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeParam {
    /// Size or type.
    pub kind: TypeParamKind,
    /// Its name.
    pub name: Ident,
    /// The whole parameter with its mark.
    pub span: Span,
}

/// Whether a parameter stands for a size or a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeParamKind {
    /// `[n]`.
    Size,
    /// `'a`, `'~a`, `'^a`.
    Type(Lift),
}

/// A module declaration; with parameters it is a functor.
#[derive(Clone, Debug, PartialEq)]
pub struct ModBind {
    /// The name of the module.
    pub name: Ident,
    /// The module parameters.
    pub params: Vec<ModParam>,
    /// The module type ascribed to the body.
    pub ascription: Option<ModTypeExp>,
    /// The right-hand side.
    pub body: ModExp,
}

/// A module parameter, `(p: mt)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ModParam {
    /// Its name.
    pub name: Ident,
    /// Its module type.
    pub mod_type: ModTypeExp,
    /// With the parentheses.
    pub span: Span,
}

/// A module type declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct ModTypeBind {
    /// The name of the module type.
    pub name: Ident,
    /// The right-hand side.
    pub body: ModTypeExp,
}
