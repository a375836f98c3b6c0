//! Small questions about atoms.

use super::id::Var;
use super::scalar::Const;
use super::syntax::{Atom, Vars};
use super::types::{Size, Type};

impl Atom {
    /// The `i64` constant zero.
    pub const ZERO: Self = Self::i64(0);
    /// The `i64` constant one.
    pub const ONE: Self = Self::i64(1);

    /// An `i64` constant.
    pub const fn i64(value: i64) -> Self {
        Self::Const(Const::I64(value))
    }
    /// A `bool` constant.
    pub const fn bool(value: bool) -> Self {
        Self::Const(Const::Bool(value))
    }
    /// The variable, if it is one.
    pub const fn as_var(self) -> Option<Var> {
        match self {
            Self::Var(v) => Some(v),
            Self::Const(_) => None,
        }
    }
    /// The constant, if it is one.
    pub const fn as_const(self) -> Option<Const> {
        match self {
            Self::Const(c) => Some(c),
            Self::Var(_) => None,
        }
    }
    /// The value of an `i64` constant.
    pub const fn as_i64(self) -> Option<i64> {
        match self {
            Self::Const(Const::I64(n)) => Some(n),
            Self::Const(_) | Self::Var(_) => None,
        }
    }
    /// The value of a `bool` constant.
    pub const fn as_bool(self) -> Option<bool> {
        match self {
            Self::Const(Const::Bool(b)) => Some(b),
            Self::Const(_) | Self::Var(_) => None,
        }
    }
    /// The atom as a size: a variable (an `i64` one, which is not looked up) or an `i64` constant.
    pub const fn as_size(self) -> Option<Size> {
        match self {
            Self::Var(v) => Some(Size::Var(v)),
            Self::Const(Const::I64(n)) => Some(Size::Const(n)),
            Self::Const(_) => None,
        }
    }
    /// The type of the atom.
    pub fn ty(self, vars: &Vars) -> Type {
        match self {
            Self::Const(c) => Type::Scalar(c.ty()),
            Self::Var(v) => vars[v].ty.clone(),
        }
    }
}

impl From<Const> for Atom {
    fn from(c: Const) -> Self {
        Self::Const(c)
    }
}

impl From<i64> for Atom {
    fn from(n: i64) -> Self {
        Self::i64(n)
    }
}

impl From<bool> for Atom {
    fn from(b: bool) -> Self {
        Self::bool(b)
    }
}

impl From<i64> for Size {
    fn from(n: i64) -> Self {
        Self::Const(n)
    }
}

impl From<Var> for Size {
    fn from(v: Var) -> Self {
        Self::Var(v)
    }
}

impl Size {
    /// The atom as a size.
    ///
    /// # Panics
    /// If the atom is a constant of another type than `i64`.
    pub fn of(a: Atom) -> Self {
        a.as_size().expect("a size is an i64")
    }
}
