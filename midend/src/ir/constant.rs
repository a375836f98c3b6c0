//! Constants as the Rust values that they stand for, and as the slots that kernels take them in.

use super::scalar::Const;
use super::types::ScalarType;
use half::f16;

/// A Rust type that values of one scalar type are represented by.
pub trait Scalar: Copy + PartialEq + PartialOrd + std::fmt::Debug + Into<Const> + 'static {
    /// The scalar type.
    const TYPE: ScalarType;
    /// The value of a constant of this type; nothing for a constant of another type.
    fn from_const(c: Const) -> Option<Self>;
    /// The bits of the value, with zeros above them.
    fn word(self) -> u64;
    /// The value with these bits; what stands above them is ignored.
    fn from_word(word: u64) -> Self;
}

impl Const {
    /// The type of the constant.
    pub const fn ty(self) -> ScalarType {
        match self {
            Self::I8(_) => ScalarType::I8,
            Self::I16(_) => ScalarType::I16,
            Self::I32(_) => ScalarType::I32,
            Self::I64(_) => ScalarType::I64,
            Self::U8(_) => ScalarType::U8,
            Self::U16(_) => ScalarType::U16,
            Self::U32(_) => ScalarType::U32,
            Self::U64(_) => ScalarType::U64,
            Self::F16(_) => ScalarType::F16,
            Self::F32(_) => ScalarType::F32,
            Self::F64(_) => ScalarType::F64,
            Self::Bool(_) => ScalarType::Bool,
        }
    }
    /// A binary32 constant.
    pub const fn f32(value: f32) -> Self {
        Self::F32(value.to_bits())
    }
    /// A binary64 constant.
    pub const fn f64(value: f64) -> Self {
        Self::F64(value.to_bits())
    }
    /// A binary16 constant.
    pub const fn f16(value: f16) -> Self {
        Self::F16(value.to_bits())
    }
    /// The constant in 8 bytes, as arguments of kernels are: the low bytes are those that it has in memory, integers are
    /// extended as their type says.
    pub const fn to_slot(self) -> u64 {
        match self {
            Self::I8(x) => x as i64 as u64,
            Self::I16(x) => x as i64 as u64,
            Self::I32(x) => x as i64 as u64,
            Self::I64(x) => x as u64,
            Self::U8(x) => x as u64,
            Self::U16(x) | Self::F16(x) => x as u64,
            Self::U32(x) | Self::F32(x) => x as u64,
            Self::U64(x) | Self::F64(x) => x,
            Self::Bool(x) => x as u64,
        }
    }
    /// The constant of a type in the low bytes of a slot.
    pub const fn from_slot(ty: ScalarType, slot: u64) -> Self {
        match ty {
            ScalarType::I8 => Self::I8(slot as i8),
            ScalarType::I16 => Self::I16(slot as i16),
            ScalarType::I32 => Self::I32(slot as i32),
            ScalarType::I64 => Self::I64(slot as i64),
            ScalarType::U8 => Self::U8(slot as u8),
            ScalarType::U16 => Self::U16(slot as u16),
            ScalarType::U32 => Self::U32(slot as u32),
            ScalarType::U64 => Self::U64(slot),
            ScalarType::F16 => Self::F16(slot as u16),
            ScalarType::F32 => Self::F32(slot as u32),
            ScalarType::F64 => Self::F64(slot),
            ScalarType::Bool => Self::Bool(slot as u8 != 0),
        }
    }
}

macro_rules! scalar {
    ($($rust:ident $variant:ident $raw:ident |$bits:ident| $from:expr, |$value:ident| $to:expr;)*) => {
        $(
            impl From<$rust> for Const {
                fn from($value: $rust) -> Self {
                    Self::$variant($to)
                }
            }
            impl Scalar for $rust {
                const TYPE: ScalarType = ScalarType::$variant;
                fn from_const(c: Const) -> Option<Self> {
                    if let Const::$variant($bits) = c { Some($from) } else { None }
                }
                #[inline]
                fn word(self) -> u64 {
                    let $value = self;
                    u64::from(($to) as $raw)
                }
                #[inline]
                fn from_word(word: u64) -> Self {
                    let $bits = scalar!(@bits $variant $raw word);
                    $from
                }
            }
        )*
        impl Const {
            /// The bits of the value, with zeros above them.
            #[inline]
            pub fn word(self) -> u64 {
                match self {
                    $(Self::$variant($bits) => <$rust as Scalar>::word($from),)*
                }
            }
            /// The constant of a type with these bits.
            #[inline]
            pub fn from_word(ty: ScalarType, word: u64) -> Self {
                match ty {
                    $(ScalarType::$variant => <$rust as Scalar>::from_word(word).into(),)*
                }
            }
        }
    };
    (@bits Bool $raw:ident $word:ident) => { $word & 1 != 0 };
    (@bits I8 $raw:ident $word:ident) => { $word as i8 };
    (@bits I16 $raw:ident $word:ident) => { $word as i16 };
    (@bits I32 $raw:ident $word:ident) => { $word as i32 };
    (@bits I64 $raw:ident $word:ident) => { $word as i64 };
    (@bits $variant:ident $raw:ident $word:ident) => { $word as $raw };
}

scalar! {
    i8 I8 u8 |x| x, |x| x;
    i16 I16 u16 |x| x, |x| x;
    i32 I32 u32 |x| x, |x| x;
    i64 I64 u64 |x| x, |x| x;
    u8 U8 u8 |x| x, |x| x;
    u16 U16 u16 |x| x, |x| x;
    u32 U32 u32 |x| x, |x| x;
    u64 U64 u64 |x| x, |x| x;
    f16 F16 u16 |x| f16::from_bits(x), |x| x.to_bits();
    f32 F32 u32 |x| f32::from_bits(x), |x| x.to_bits();
    f64 F64 u64 |x| f64::from_bits(x), |x| x.to_bits();
    bool Bool u8 |x| x, |x| x;
}

impl Const {
    /// Zero of the type; `false` for `bool`.
    pub const fn zero(ty: ScalarType) -> Self {
        Self::small(ty, 0)
    }
    /// One of the type; `true` for `bool`.
    pub const fn one(ty: ScalarType) -> Self {
        Self::small(ty, 1)
    }
    /// A number that every type can hold.
    const fn small(ty: ScalarType, n: u8) -> Self {
        match ty {
            ScalarType::I8 => Self::I8(n as i8),
            ScalarType::I16 => Self::I16(n as i16),
            ScalarType::I32 => Self::I32(n as i32),
            ScalarType::I64 => Self::I64(n as i64),
            ScalarType::U8 => Self::U8(n),
            ScalarType::U16 => Self::U16(n as u16),
            ScalarType::U32 => Self::U32(n as u32),
            ScalarType::U64 => Self::U64(n as u64),
            ScalarType::F16 => Self::F16(if n == 0 { 0 } else { 0x3c00 }),
            ScalarType::F32 => Self::f32(n as f32),
            ScalarType::F64 => Self::f64(n as f64),
            ScalarType::Bool => Self::Bool(n != 0),
        }
    }
    /// The value of an integer constant, whatever its type; nothing for floats and truth values.
    pub const fn as_int(self) -> Option<i128> {
        match self {
            Self::I8(x) => Some(x as i128),
            Self::I16(x) => Some(x as i128),
            Self::I32(x) => Some(x as i128),
            Self::I64(x) => Some(x as i128),
            Self::U8(x) => Some(x as i128),
            Self::U16(x) => Some(x as i128),
            Self::U32(x) => Some(x as i128),
            Self::U64(x) => Some(x as i128),
            Self::F16(_) | Self::F32(_) | Self::F64(_) | Self::Bool(_) => None,
        }
    }
    /// The value of an `i64` constant.
    pub const fn as_i64(self) -> Option<i64> {
        if let Self::I64(x) = self {
            Some(x)
        } else {
            None
        }
    }
    /// The value of a `bool` constant.
    pub const fn as_bool(self) -> Option<bool> {
        if let Self::Bool(x) = self {
            Some(x)
        } else {
            None
        }
    }
    /// The integer constant of this type that is `n` modulo the range; nothing for floats and truth values.
    pub const fn int(ty: ScalarType, n: i128) -> Option<Self> {
        Some(match ty {
            ScalarType::I8 => Self::I8(n as i8),
            ScalarType::I16 => Self::I16(n as i16),
            ScalarType::I32 => Self::I32(n as i32),
            ScalarType::I64 => Self::I64(n as i64),
            ScalarType::U8 => Self::U8(n as u8),
            ScalarType::U16 => Self::U16(n as u16),
            ScalarType::U32 => Self::U32(n as u32),
            ScalarType::U64 => Self::U64(n as u64),
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 | ScalarType::Bool => return None,
        })
    }
}
