//! The types of the typed program: scalars, arrays with sizes, tuples, records, sums, functions, named types.

use std::sync::Arc;

pub use super::size::{Atom, Opaque, Size};

/// The dense id of a binding: a value, a size, a type, a type parameter or a parametric module.
///
/// Ids are unique in one typed program; what an id stands for is in [`crate::typed::Names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Name(pub u32);

impl Name {
    /// The size `..`: of an irregular dimension, whose rows have any lengths.
    pub const IRREGULAR: Name = Name(0);
}

/// A field or constructor name (a tuple has no fields of this kind, see [`Type::Tuple`]).
pub type Sym = crate::syntax::name::Name;

/// The twelve scalar types.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "each variant is the scalar type of its name")]
pub enum Prim {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
    Bool,
}

impl Prim {
    /// Every scalar type, integers first.
    pub const ALL: [Prim; 12] = [
        Prim::I8,
        Prim::I16,
        Prim::I32,
        Prim::I64,
        Prim::U8,
        Prim::U16,
        Prim::U32,
        Prim::U64,
        Prim::F16,
        Prim::F32,
        Prim::F64,
        Prim::Bool,
    ];

    /// The name in source programs.
    pub fn name(self) -> &'static str {
        match self {
            Prim::I8 => "i8",
            Prim::I16 => "i16",
            Prim::I32 => "i32",
            Prim::I64 => "i64",
            Prim::U8 => "u8",
            Prim::U16 => "u16",
            Prim::U32 => "u32",
            Prim::U64 => "u64",
            Prim::F16 => "f16",
            Prim::F32 => "f32",
            Prim::F64 => "f64",
            Prim::Bool => "bool",
        }
    }

    /// The scalar type of a source name.
    pub fn from_name(name: &str) -> Option<Prim> {
        Prim::ALL.into_iter().find(|p| p.name() == name)
    }

    /// Signed and unsigned integers.
    pub fn is_integer(self) -> bool {
        !self.is_float() && self != Prim::Bool
    }

    /// Signed integers only.
    pub fn is_signed(self) -> bool {
        matches!(self, Prim::I8 | Prim::I16 | Prim::I32 | Prim::I64)
    }

    /// `f16`, `f32` and `f64`.
    pub fn is_float(self) -> bool {
        matches!(self, Prim::F16 | Prim::F32 | Prim::F64)
    }

    /// Width of a value; a `bool` counts as 8.
    pub fn bits(self) -> u32 {
        match self {
            Prim::I8 | Prim::U8 | Prim::Bool => 8,
            Prim::I16 | Prim::U16 | Prim::F16 => 16,
            Prim::I32 | Prim::U32 | Prim::F32 => 32,
            Prim::I64 | Prim::U64 | Prim::F64 => 64,
        }
    }
}

/// A type. Cheap to clone: everything below the first node is shared.
///
/// Equality is structural and ignores nothing (sizes and uniqueness count); the checker compares with its own
/// unification, which ignores uniqueness.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    /// A scalar.
    Prim(Prim),
    /// `[size]elem`.
    Array(Arc<ArrayType>),
    /// `(a, b, ..)`: a record with the fields `0`, `1`, ..; the unit type is the empty tuple. Never of length one.
    Tuple(Arc<[Type]>),
    /// A record whose fields are not those of a tuple, sorted by field name.
    Record(Arc<[(Sym, Type)]>),
    /// A sum, sorted by constructor name.
    Sum(Arc<[(Sym, Vec<Type>)]>),
    /// A function of one parameter (functions of several are curried).
    Fun(Arc<FunType>),
    /// A type parameter or an abstract type, applied to arguments.
    Named(Arc<NamedType>),
    /// A type that is being inferred; never in a finished program.
    Meta(u32),
}

/// The type of an array.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArrayType {
    /// Outermost size.
    pub size: Size,
    /// Row type; another array for more dimensions.
    pub elem: Type,
    /// `*[n]t`. Only the outermost dimension of an array carries the mark.
    pub unique: bool,
}

/// The type of a function: `(param: arg) -> ?[exts].ret`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunType {
    /// The name by which `ret` may refer to the argument (as a size).
    pub param: Option<Name>,
    /// Parameter type; the uniqueness marks in it say what a call consumes.
    pub arg: Type,
    /// Result type.
    pub ret: RetType,
}

/// A result type that may bind sizes which only the call makes known.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RetType {
    /// The existential sizes, bound in `ty`.
    pub exts: Vec<Name>,
    /// The type itself; uniqueness marks say what is fresh (aliases nothing).
    pub ty: Type,
}

/// An applied type parameter or abstract type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NamedType {
    /// The type parameter or abstract type.
    pub name: Name,
    /// Its arguments in the order of its declaration.
    pub args: Vec<TypeArg>,
    /// `*t`.
    pub unique: bool,
}

/// An argument of a named type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeArg {
    /// For a size parameter.
    Size(Size),
    /// For a type parameter.
    Type(Type),
}

/// What a type parameter may stand for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Lift {
    /// `'t`: no functions, no existential sizes; may be in arrays.
    Plain,
    /// `'~t`: values whose sizes may vary; no functions.
    Size,
    /// `'^t`: functions too.
    Full,
}

/// A parameter of a type or of a module's type declaration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TypeParam {
    /// `[n]`.
    Size(Name),
    /// `'t`, `'~t`, `'^t`.
    Type(Name, Lift),
}

/// A type with its universally quantified names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Scheme {
    /// Type parameters, in order: the order of [`crate::typed::Inst::types`].
    pub types: Vec<(Name, Lift)>,
    /// Size parameters, in order: the order of [`crate::typed::Inst::sizes`].
    pub sizes: Vec<Name>,
    /// The type.
    pub ty: Type,
}

impl Type {
    /// The empty tuple.
    pub fn unit() -> Type {
        Type::Tuple(Arc::from([]))
    }

    /// A tuple of two or more, or the unit type of none.
    pub fn tuple(fields: Vec<Type>) -> Type {
        Type::Tuple(fields.into())
    }

    /// `[size]elem`, not unique.
    pub fn array(size: Size, elem: Type) -> Type {
        Type::Array(Arc::new(ArrayType {
            size,
            elem,
            unique: false,
        }))
    }

    /// A plain function type without existential sizes.
    pub fn fun(param: Option<Name>, arg: Type, ret: Type) -> Type {
        Type::Fun(Arc::new(FunType {
            param,
            arg,
            ret: RetType {
                exts: Vec::new(),
                ty: ret,
            },
        }))
    }

    /// A named type without arguments.
    pub fn named(name: Name) -> Type {
        Type::Named(Arc::new(NamedType {
            name,
            args: Vec::new(),
            unique: false,
        }))
    }

    /// The scalar type, if it is one.
    pub fn as_prim(&self) -> Option<Prim> {
        match self {
            Type::Prim(p) => Some(*p),
            Type::Array(_)
            | Type::Tuple(_)
            | Type::Record(_)
            | Type::Sum(_)
            | Type::Fun(_)
            | Type::Named(_)
            | Type::Meta(_) => None,
        }
    }
}

impl Scheme {
    /// A type without quantified names.
    pub fn mono(ty: Type) -> Scheme {
        Scheme {
            types: Vec::new(),
            sizes: Vec::new(),
            ty,
        }
    }
}
