//! The text form of programs: what a dialect adds to it, and the words that printer and reader share.
//!
//! ```text
//! nested
//!
//! fun sums(n_0: i64, m_1: i64, *xss_2: [n_0][m_1]i32) -> (*r_3: [n_0]i32)
//!   entry "sums" sizes 2 -> 1 (xss: *[][]i32) -> ([]i32) @1
//! {
//!   let c_4: bool = lt.i64(0, n_0)
//!   let ok_5: cert = assert c_4 bounds ("no rows: ", n_0) @2
//!   let r_6: [n_0]i32 = <ok_5> map n_0 (xss_2) \(xs_7: [m_1]i32) {
//!     let s_8: i32 = map m_1 (xs_7) \(x_9: i32) {
//!       yield x_9
//!     } reduce comm (0i32) \(a_10: i32, b_11: i32) {
//!       let c_12: i32 = add.i32(a_10, b_11)
//!       yield c_12
//!     } @3
//!     yield s_8
//!   }
//!   yield r_6
//! }
//!
//! span 1 "sums.fut" 1:7..1:11
//! span 2 "sums.fut" 2:3..2:20
//! span 3 "lib.fut" 7:1..7:9 in 2
//! ```
//!
//! - Variables are numbered in order of appearance; the name before the number is a hint and means nothing.
//! - An integer without a suffix is an `i64`. Floats that are no finite decimal are written `f32#inf`, `f32#nan`,
//!   `f64#7ff8000000000001` (bits).
//! - `let` binds variables with their types, `do` binds none. `<..>` before the expression are certificates, `@1` after it is
//!   its place. `*` marks unique parameters and results.
//! - `[..offs_3]` is a ragged dimension. `;` starts a comment.
//! - The words of the array operations, and of each dialect, stand in `read/ops.rs` and `read/mem.rs` beside their grammar.

use super::dialect::Dialect;
use super::print::Printer;
use super::read::{ReadError, Reader};
use super::scalar::{BinOp, CmpOp, ScalarOp, TernOp, UnOp};
use super::syntax::TrapKind;
use super::types::ScalarType;

/// What a dialect adds to the text form.
pub trait Text: Dialect {
    /// Prints one operation, from its word on.
    fn print_op(&self, p: &mut Printer<'_>);

    /// Reads one operation whose word (the part before a `.`) is `word`; the reader stands on the word. Nothing is
    /// read and nothing returned if the dialect knows no such word.
    fn read_op(word: &str, r: &mut Reader<'_>) -> Result<Option<Self>, ReadError>;
}

impl TrapKind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::Bounds,
        Self::Shape,
        Self::Coercion,
        Self::Assert,
        Self::DivisionByZero,
        Self::NegativeSize,
        Self::Memory,
        Self::Range,
        Self::Hole,
        Self::Recursion,
        Self::Other,
    ];

    /// The name in the text form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bounds => "bounds",
            Self::Shape => "shape",
            Self::Coercion => "coercion",
            Self::Assert => "assert",
            Self::DivisionByZero => "division_by_zero",
            Self::NegativeSize => "negative_size",
            Self::Memory => "memory",
            Self::Range => "range",
            Self::Hole => "hole",
            Self::Recursion => "recursion",
            Self::Other => "other",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Whether a name can stand in the text form without quotes.
pub(super) fn is_plain(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(is_start) && chars.all(is_inside)
}

/// Whether an identifier can start with the character.
pub(super) const fn is_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// Whether an identifier can go on with the character.
pub(super) const fn is_inside(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '.')
}

impl std::fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Un(op, ty) => write!(f, "{}.{ty}", op.name()),
            Self::Bin(op, ty) => write!(f, "{}.{ty}", op.name()),
            Self::Cmp(op, ty) => write!(f, "{}.{ty}", op.name()),
            Self::Tern(op, ty) => write!(f, "{}.{ty}", op.name()),
            Self::Convert(from, to) => write!(f, "convert.{from}.{to}"),
            Self::ToBits(ty) => write!(f, "tobits.{ty}"),
            Self::FromBits(ty) => write!(f, "frombits.{ty}"),
            Self::Select(ty) => write!(f, "select.{ty}"),
        }
    }
}

impl std::str::FromStr for ScalarOp {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.split('.');
        let name = parts.next().ok_or(())?;
        let ty = parts.next().and_then(ScalarType::from_name).ok_or(())?;
        let second = parts
            .next()
            .map(|t| ScalarType::from_name(t).ok_or(()))
            .transpose()?;
        let op = match (name, second) {
            ("convert", Some(to)) => Self::Convert(ty, to),
            (_, Some(_)) => return Err(()),
            ("tobits", None) => Self::ToBits(ty),
            ("frombits", None) => Self::FromBits(ty),
            ("select", None) => Self::Select(ty),
            (_, None) => UnOp::from_name(name)
                .map(|op| Self::Un(op, ty))
                .or_else(|| BinOp::from_name(name).map(|op| Self::Bin(op, ty)))
                .or_else(|| CmpOp::from_name(name).map(|op| Self::Cmp(op, ty)))
                .or_else(|| TernOp::from_name(name).map(|op| Self::Tern(op, ty)))
                .ok_or(())?,
        };
        if op.is_valid() && parts.next().is_none() {
            Ok(op)
        } else {
            Err(())
        }
    }
}
