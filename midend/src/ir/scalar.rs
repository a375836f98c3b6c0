//! Scalar constants and the table of scalar operations: names and types. Their values are defined by the
//! interpreter (`interp::scalar`), once for all targets (design 4.1).

use super::types::ScalarType;

/// A scalar constant. Floats are kept as bits, so that constants have equality and an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Const {
    /// Signed 8-bit.
    I8(i8),
    /// Signed 16-bit.
    I16(i16),
    /// Signed 32-bit.
    I32(i32),
    /// Signed 64-bit.
    I64(i64),
    /// Unsigned 8-bit.
    U8(u8),
    /// Unsigned 16-bit.
    U16(u16),
    /// Unsigned 32-bit.
    U32(u32),
    /// Unsigned 64-bit.
    U64(u64),
    /// The bits of a binary16.
    F16(u16),
    /// The bits of a binary32.
    F32(u32),
    /// The bits of a binary64.
    F64(u64),
    /// A truth value.
    Bool(bool),
}

/// A scalar operation with the type of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarOp {
    /// One operand.
    Un(UnOp, ScalarType),
    /// Two operands of one type.
    Bin(BinOp, ScalarType),
    /// Two operands of one type, a `bool` result.
    Cmp(CmpOp, ScalarType),
    /// Three operands of one type.
    Tern(TernOp, ScalarType),
    /// From the first type to the second: integers wrap, float to integer truncates and saturates (NaN and the infinities to 0),
    /// integer to float and float to float round once to nearest even, anything to `bool` is "not zero".
    Convert(ScalarType, ScalarType),
    /// The bits of a float as the unsigned integer of its width, a NaN as the canonical quiet NaN; the operand is of this float type.
    ToBits(ScalarType),
    /// A float of this type from the unsigned integer of its width.
    FromBits(ScalarType),
    /// `bool`, then two of the type: the first of them if the condition holds, else the second. Both are evaluated.
    Select(ScalarType),
}

macro_rules! operators {
    ($(#[$doc:meta])* $name:ident { $(#[doc = $vdoc:literal] $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $vdoc] $variant,)*
        }
        impl $name {
            /// Every operator of the kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];
            /// The name in the text form.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
            /// What the operator computes, in a sentence or two.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $vdoc,)* }
            }
            /// The operator with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

operators! {
    /// Operators of one operand and a result of the same type, except where said.
    UnOp {
        /// Negation, wrapping.
        Neg = "neg",
        /// Bitwise complement; logical negation of `bool`.
        Not = "not",
        /// Absolute value; wraps at the minimum.
        Abs = "abs",
        /// -1, 0 or 1; of a float, also -0 and NaN stay.
        Signum = "signum",
        /// Number of set bits, an `i32`.
        Popcount = "popcount",
        /// Number of leading zero bits, an `i32`.
        Clz = "clz",
        /// Number of trailing zero bits, an `i32`.
        Ctz = "ctz",
        /// Whether the float is a NaN, a `bool`.
        IsNan = "isnan",
        /// Whether the float is infinite, a `bool`.
        IsInf = "isinf",
        /// Square root, correctly rounded.
        Sqrt = "sqrt",
        /// Reciprocal square root.
        Rsqrt = "rsqrt",
        /// Cube root.
        Cbrt = "cbrt",
        /// Largest integer not above.
        Floor = "floor",
        /// Smallest integer not below.
        Ceil = "ceil",
        /// Nearest integer, ties to even.
        Round = "round",
        /// Integer part.
        Trunc = "trunc",
        /// e^x.
        Exp = "exp",
        /// Natural logarithm.
        Log = "log",
        /// Base-2 logarithm.
        Log2 = "log2",
        /// Base-10 logarithm.
        Log10 = "log10",
        /// log(1 + x).
        Log1p = "log1p",
        /// Sine.
        Sin = "sin",
        /// Cosine.
        Cos = "cos",
        /// Tangent.
        Tan = "tan",
        /// Sine, off by up to 4 units in the last place (what `sin` becomes with `--fast-math`).
        SinNear = "sin_near",
        /// Cosine, off by up to 4 units in the last place (what `cos` becomes with `--fast-math`).
        CosNear = "cos_near",
        /// e^x, off by up to 4 units in the last place (what `exp` of f32 becomes with `--fast-math`).
        ExpNear = "exp_near",
        /// Square root, off by up to 4 units in the last place (what `sqrt` of f32 becomes with `--fast-math`).
        SqrtNear = "sqrt_near",
        /// Reciprocal square root, off by up to 4 units in the last place (what `rsqrt` of f32 becomes with `--fast-math`).
        RsqrtNear = "rsqrt_near",
        /// Sine of pi x.
        Sinpi = "sinpi",
        /// Cosine of pi x.
        Cospi = "cospi",
        /// Tangent of pi x.
        Tanpi = "tanpi",
        /// Arc sine.
        Asin = "asin",
        /// Arc cosine.
        Acos = "acos",
        /// Arc tangent.
        Atan = "atan",
        /// Arc sine over pi.
        Asinpi = "asinpi",
        /// Arc cosine over pi.
        Acospi = "acospi",
        /// Arc tangent over pi.
        Atanpi = "atanpi",
        /// Hyperbolic sine.
        Sinh = "sinh",
        /// Hyperbolic cosine.
        Cosh = "cosh",
        /// Hyperbolic tangent.
        Tanh = "tanh",
        /// Inverse hyperbolic sine.
        Asinh = "asinh",
        /// Inverse hyperbolic cosine.
        Acosh = "acosh",
        /// Inverse hyperbolic tangent.
        Atanh = "atanh",
        /// Error function.
        Erf = "erf",
        /// 1 - erf(x).
        Erfc = "erfc",
        /// Gamma function.
        Gamma = "gamma",
        /// Logarithm of the absolute value of the gamma function.
        Lgamma = "lgamma",
    }
}

operators! {
    /// Operators of two operands and a result of one type.
    BinOp {
        /// Sum, wrapping.
        Add = "add",
        /// Difference, wrapping.
        Sub = "sub",
        /// Product, wrapping.
        Mul = "mul",
        /// Quotient: of integers rounded down, of floats rounded to nearest. The divisor of an integer is not zero.
        Div = "div",
        /// What `div` leaves: has the sign of the divisor. Of floats: x - y * floor(x/y) computed as C's `fmod`, moved to the sign of the divisor.
        Mod = "mod",
        /// Integer quotient rounded to zero. The divisor is not zero.
        Quot = "quot",
        /// What `quot` leaves: has the sign of the dividend.
        Rem = "rem",
        /// Power. Of integers wrapping; a negative exponent is an error checked before.
        Pow = "pow",
        /// Bitwise and; conjunction of `bool`.
        And = "and",
        /// Bitwise or; disjunction of `bool`.
        Or = "or",
        /// Bitwise exclusive or.
        Xor = "xor",
        /// Shift left; the count is masked by the width.
        Shl = "shl",
        /// Shift right, arithmetic for signed types; the count is masked by the width.
        Shr = "shr",
        /// Smaller one; of floats IEEE minimumNumber with -0 < +0.
        Min = "min",
        /// Larger one; of floats IEEE maximumNumber with -0 < +0.
        Max = "max",
        /// Upper half of the double-width product.
        MulHi = "mulhi",
        /// Sum, saturating (of `i64`): a count of elements that does not fit stays too large.
        AddSat = "add_sat",
        /// Product, saturating (of `i64`): a count of elements that does not fit stays too large.
        MulSat = "mul_sat",
        /// Angle of the point (second operand, first operand).
        Atan2 = "atan2",
        /// Angle over pi.
        Atan2pi = "atan2pi",
        /// Square root of the sum of squares, without overflow on the way.
        Hypot = "hypot",
        /// Quotient, off by up to 4 units in the last place (what `div` of f32 becomes with `--fast-math`).
        DivNear = "div_near",
        /// Magnitude of the first, sign of the second.
        Copysign = "copysign",
        /// Next float from the first towards the second.
        Nextafter = "nextafter",
        /// First times two to the power of the second (truncated to an integer).
        Ldexp = "ldexp",
    }
}

operators! {
    /// Operators of three operands and a result of one type.
    TernOp {
        /// a * b + c rounded once.
        Fma = "fma",
        /// a * b + c: of floats rounded twice, of integers wrapping.
        Mad = "mad",
        /// Upper half of a * b, plus c.
        MadHi = "madhi",
        /// a + (b - a) * c.
        Lerp = "lerp",
    }
}

operators! {
    /// Comparisons. Of `bool`, false < true.
    CmpOp {
        /// Equal.
        Eq = "eq",
        /// Less.
        Lt = "lt",
        /// Less or equal.
        Le = "le",
    }
}

impl UnOp {
    /// The type of the result for an operand of type `ty`.
    pub const fn result(self, ty: ScalarType) -> ScalarType {
        match self {
            Self::Popcount | Self::Clz | Self::Ctz => ScalarType::I32,
            Self::IsNan | Self::IsInf => ScalarType::Bool,
            Self::Neg
            | Self::Not
            | Self::Abs
            | Self::Signum
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Cbrt
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Trunc
            | Self::Exp
            | Self::Log
            | Self::Log2
            | Self::Log10
            | Self::Log1p
            | Self::Sin
            | Self::Cos
            | Self::Tan
            | Self::SinNear
            | Self::CosNear
            | Self::ExpNear
            | Self::SqrtNear
            | Self::RsqrtNear
            | Self::Sinpi
            | Self::Cospi
            | Self::Tanpi
            | Self::Asin
            | Self::Acos
            | Self::Atan
            | Self::Asinpi
            | Self::Acospi
            | Self::Atanpi
            | Self::Sinh
            | Self::Cosh
            | Self::Tanh
            | Self::Asinh
            | Self::Acosh
            | Self::Atanh
            | Self::Erf
            | Self::Erfc
            | Self::Gamma
            | Self::Lgamma => ty,
        }
    }

    /// Whether the operator exists for operands of type `ty`.
    pub const fn accepts(self, ty: ScalarType) -> bool {
        match self {
            Self::Not => !ty.is_float(),
            Self::Neg | Self::Abs | Self::Signum => !matches!(ty, ScalarType::Bool),
            Self::Popcount | Self::Clz | Self::Ctz => ty.is_integer(),
            Self::IsNan
            | Self::IsInf
            | Self::Sqrt
            | Self::Rsqrt
            | Self::Cbrt
            | Self::Floor
            | Self::Ceil
            | Self::Round
            | Self::Trunc
            | Self::Exp
            | Self::Log
            | Self::Log2
            | Self::Log10
            | Self::Log1p
            | Self::Sin
            | Self::Cos
            | Self::Tan
            | Self::SinNear
            | Self::CosNear
            | Self::ExpNear
            | Self::SqrtNear
            | Self::RsqrtNear
            | Self::Sinpi
            | Self::Cospi
            | Self::Tanpi
            | Self::Asin
            | Self::Acos
            | Self::Atan
            | Self::Asinpi
            | Self::Acospi
            | Self::Atanpi
            | Self::Sinh
            | Self::Cosh
            | Self::Tanh
            | Self::Asinh
            | Self::Acosh
            | Self::Atanh
            | Self::Erf
            | Self::Erfc
            | Self::Gamma
            | Self::Lgamma => ty.is_float(),
        }
    }
}

impl BinOp {
    /// Whether the operator exists for operands of type `ty`.
    pub const fn accepts(self, ty: ScalarType) -> bool {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Mod | Self::Pow => {
                !matches!(ty, ScalarType::Bool)
            }
            Self::Min | Self::Max => true,
            Self::Quot | Self::Rem | Self::Shl | Self::Shr | Self::MulHi => ty.is_integer(),
            Self::AddSat | Self::MulSat => matches!(ty, ScalarType::I64),
            Self::And | Self::Or | Self::Xor => !ty.is_float(),
            Self::Atan2
            | Self::Atan2pi
            | Self::Hypot
            | Self::DivNear
            | Self::Copysign
            | Self::Nextafter
            | Self::Ldexp => ty.is_float(),
        }
    }
}

impl TernOp {
    /// Whether the operator exists for operands of type `ty`.
    pub const fn accepts(self, ty: ScalarType) -> bool {
        match self {
            Self::Fma | Self::Lerp => ty.is_float(),
            Self::Mad => !matches!(ty, ScalarType::Bool),
            Self::MadHi => ty.is_integer(),
        }
    }
}

impl ScalarOp {
    /// The number of operands.
    pub const fn arity(self) -> usize {
        match self {
            Self::Un(..) | Self::Convert(..) | Self::ToBits(_) | Self::FromBits(_) => 1,
            Self::Bin(..) | Self::Cmp(..) => 2,
            Self::Tern(..) | Self::Select(_) => 3,
        }
    }
    /// The type of operand `i`.
    pub const fn operand(self, i: usize) -> ScalarType {
        match self {
            Self::Un(_, ty)
            | Self::Bin(_, ty)
            | Self::Cmp(_, ty)
            | Self::Tern(_, ty)
            | Self::Convert(ty, _)
            | Self::ToBits(ty) => ty,
            Self::FromBits(ty) => bits_of(ty),
            Self::Select(ty) => {
                if i == 0 {
                    ScalarType::Bool
                } else {
                    ty
                }
            }
        }
    }
    /// The type of the result.
    pub const fn result(self) -> ScalarType {
        match self {
            Self::Un(op, ty) => op.result(ty),
            Self::Bin(_, ty)
            | Self::Tern(_, ty)
            | Self::Convert(_, ty)
            | Self::FromBits(ty)
            | Self::Select(ty) => ty,
            Self::Cmp(..) => ScalarType::Bool,
            Self::ToBits(ty) => bits_of(ty),
        }
    }
    /// Whether the operation exists.
    pub const fn is_valid(self) -> bool {
        match self {
            Self::Un(op, ty) => op.accepts(ty),
            Self::Bin(op, ty) => op.accepts(ty),
            Self::Tern(op, ty) => op.accepts(ty),
            Self::Cmp(..) | Self::Convert(..) | Self::Select(_) => true,
            Self::ToBits(ty) | Self::FromBits(ty) => ty.is_float(),
        }
    }
}

/// The unsigned integer type as wide as the float type.
const fn bits_of(ty: ScalarType) -> ScalarType {
    match ty {
        ScalarType::F16 => ScalarType::U16,
        ScalarType::F32 => ScalarType::U32,
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::F64
        | ScalarType::Bool => ScalarType::U64,
    }
}
