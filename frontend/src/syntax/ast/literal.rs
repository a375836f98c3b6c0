//! Literals. Data only.

use super::*;

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
    /// An integer without a suffix that no integer type holds: only a float type does.
    Large(FloatDigits),
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

/// The digits of a literal that may be a float; [`crate::syntax::literal`] rounds them once to the wanted type.
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
