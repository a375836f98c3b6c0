//! The surface syntax tree: what a source file says, before names mean anything. Data only.
//!
//! Every node carries its [`Span`]. Parentheses are not kept; precedence is already resolved.
//! A dotted path of names, `a.b.c`, is one [`QualName`]: whether a part is a module or a record field is
//! for the type checker, which knows the scope. What follows something that is no plain path,
//! `(f x).y` or `a.0`, is an [`ExpKind::Project`].

pub use super::name::Name;
pub use super::ptr::P;
pub use crate::source::{FileId, Span};

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

// --- Declarations -----------------------------------------------------------

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

// --- Modules ----------------------------------------------------------------

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

// --- Types ------------------------------------------------------------------

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

// --- Patterns ---------------------------------------------------------------

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

// --- Expressions ------------------------------------------------------------

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

// --- Literals ---------------------------------------------------------------

/// A literal. Whether its value fits its type is for the type checker.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// An integer; without a suffix the context gives the type, `i32` if it says nothing.
    Int {
        /// The value.
        value: u128,
        /// The type, if it was written.
        suffix: Option<IntType>,
    },
    /// A float; without a suffix the context gives the type, `f64` if it says nothing.
    Float {
        /// The digits, with nothing but underscores and the suffix removed; decimal or hexadecimal.
        digits: FloatDigits,
        /// The type, if it was written.
        suffix: Option<FloatType>,
    },
    /// `'a'`: its code point, as an integer of whichever type the context gives.
    Char(char),
    /// `true` or `false`.
    Bool(bool),
    /// `"abc"`: an array of bytes in UTF-8.
    Str(Vec<u8>),
}

/// The digits of a float literal; [`super::literal`] rounds them once to the wanted type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FloatDigits(pub Name);

/// The integer types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum IntType {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

/// The float types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum FloatType {
    F16,
    F32,
    F64,
}
