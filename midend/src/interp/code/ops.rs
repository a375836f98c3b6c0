//! Scalar operations resolved to functions of words, one for each operator and type: instances of their definition in
//! [`crate::interp::scalar`], which the compiler specialises.

use crate::interp::scalar::{ScalarTrap, convert::convert, float, int, order};
use crate::ir::constant::Scalar;
use crate::ir::scalar::{BinOp, CmpOp, Const, ScalarOp, UnOp};
use crate::ir::types::ScalarType;
use half::f16;

/// A function of one operand, for a single word and for columns of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unary {
    pub(crate) one: fn(u64) -> u64,
    pub(crate) many: fn(&[u64], &mut [u64]),
}

/// A function of two operands, for single words and for columns of words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binary {
    pub(crate) one: fn(u64, u64) -> u64,
    pub(crate) many: fn(&[u64], &[u64], &mut [u64]),
}

/// A function of two operands that has no value for some of them.
pub(crate) type Partial = fn(u64, u64) -> Option<u64>;

/// How an operation is executed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Resolved {
    Unary(Unary),
    Binary(Binary),
    Partial(Partial),
    /// One operand or another, by the first.
    Select,
    /// As its definition says: the functions of floats, which take longer than finding out what to do.
    Defined,
}

#[inline(always)]
fn word(value: Result<Const, ScalarTrap>) -> u64 {
    value.map_or(0, Const::word)
}

macro_rules! unary {
    (|$a:ident| $value:expr) => {{
        #[inline(always)]
        fn value($a: u64) -> u64 {
            $value
        }
        Unary {
            one: |a| value(a),
            many: |a, out| {
                for (a, out) in a.iter().zip(out) {
                    *out = value(*a);
                }
            },
        }
    }};
}

macro_rules! binary {
    (|$a:ident, $b:ident| $value:expr) => {{
        #[inline(always)]
        fn value($a: u64, $b: u64) -> u64 {
            $value
        }
        Binary {
            one: |a, b| value(a, b),
            many: |a, b, out| {
                for ((a, b), out) in a.iter().zip(b).zip(out) {
                    *out = value(*a, *b);
                }
            },
        }
    }};
}

macro_rules! int_types {
    ($ty:expr, |$rust:ident| $body:expr, else $other:expr) => {
        match $ty {
            ScalarType::I8 => {
                type $rust = i8;
                $body
            }
            ScalarType::I16 => {
                type $rust = i16;
                $body
            }
            ScalarType::I32 => {
                type $rust = i32;
                $body
            }
            ScalarType::I64 => {
                type $rust = i64;
                $body
            }
            ScalarType::U8 => {
                type $rust = u8;
                $body
            }
            ScalarType::U16 => {
                type $rust = u16;
                $body
            }
            ScalarType::U32 => {
                type $rust = u32;
                $body
            }
            ScalarType::U64 => {
                type $rust = u64;
                $body
            }
            ScalarType::F16 | ScalarType::F32 | ScalarType::F64 | ScalarType::Bool => $other,
        }
    };
}

macro_rules! all_types {
    ($ty:expr, |$rust:ident, $variant:ident| $body:expr) => {
        all_types!(@match $ty, $rust, $variant, $body, I8 i8 I16 i16 I32 i32 I64 i64 U8 u8 U16 u16 U32 u32 U64 u64 F16 f16 F32 f32 F64 f64 Bool bool)
    };
    (@match $ty:expr, $rust:ident, $variant:ident, $body:expr, $($v:ident $t:ident)*) => {
        match $ty {
            $(ScalarType::$v => {
                type $rust = $t;
                const $variant: ScalarType = ScalarType::$v;
                $body
            })*
        }
    };
}

/// How the operation is executed; nothing if it does not exist.
pub(crate) fn resolve(op: ScalarOp) -> Option<Resolved> {
    if !op.is_valid() {
        return None;
    }
    match op {
        ScalarOp::Un(op, ty) => un(op, ty),
        ScalarOp::Bin(op, ty) => bin(op, ty),
        ScalarOp::Cmp(op, ty) => Some(Resolved::Binary(compare(op, ty))),
        ScalarOp::Convert(from, to) => Some(Resolved::Unary(conversion(from, to))),
        ScalarOp::Select(_) => Some(Resolved::Select),
        ScalarOp::Tern(..) | ScalarOp::ToBits(_) | ScalarOp::FromBits(_) => Some(Resolved::Defined),
    }
}

fn un(op: UnOp, ty: ScalarType) -> Option<Resolved> {
    macro_rules! table {
        ($($int:ident)*; $($float:ident)*; $($defined:ident)*; $($only:tt)*) => {
            match (op, ty) {
                $((UnOp::$int, ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64
                    | ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64) => {
                    int_types!(ty, |T| unary!(|a| word(int::un(UnOp::$int, T::from_word(a)))), else return None)
                })*
                (UnOp::Not, ScalarType::Bool) => unary!(|a| a ^ 1),
                $((UnOp::$float, ScalarType::F16) => {
                    unary!(|a| word(float::un_f16(UnOp::$float, f16::from_word(a))))
                }
                (UnOp::$float, ScalarType::F32) => {
                    unary!(|a| word(float::un_f32(UnOp::$float, f32::from_word(a))))
                }
                (UnOp::$float, ScalarType::F64) => {
                    unary!(|a| word(float::un_f64(UnOp::$float, f64::from_word(a))))
                })*
                ($(UnOp::$defined)|*, _) => return Some(Resolved::Defined),
                ($($only)*, _) => return None,
            }
        };
    }
    Some(Resolved::Unary(table! {
        Neg Not Abs Signum Popcount Clz Ctz;
        Neg Abs Signum Sqrt Rsqrt Floor Ceil Round Trunc IsNan IsInf;
        Cbrt Exp Log Log2 Log10 Log1p Sin Cos Tan SinNear CosNear ExpNear SqrtNear RsqrtNear Sinpi Cospi Tanpi Asin Acos Atan Asinpi Acospi Atanpi Sinh Cosh Tanh
        Asinh Acosh Atanh Erf Erfc Gamma Lgamma;
        UnOp::Neg | UnOp::Not | UnOp::Abs | UnOp::Signum | UnOp::Popcount | UnOp::Clz | UnOp::Ctz | UnOp::IsNan
        | UnOp::IsInf | UnOp::Sqrt | UnOp::Rsqrt | UnOp::Floor | UnOp::Ceil | UnOp::Round | UnOp::Trunc
    }))
}

fn bin(op: BinOp, ty: ScalarType) -> Option<Resolved> {
    match ty {
        ScalarType::F16 | ScalarType::F32 | ScalarType::F64 => float_bin(op, ty),
        ScalarType::Bool => Some(Resolved::Binary(match op {
            BinOp::And | BinOp::Min => binary!(|a, b| a & b),
            BinOp::Or | BinOp::Max => binary!(|a, b| a | b),
            BinOp::Xor => binary!(|a, b| a ^ b),
            BinOp::Add
            | BinOp::Sub
            | BinOp::Mul
            | BinOp::Div
            | BinOp::Mod
            | BinOp::Quot
            | BinOp::Rem
            | BinOp::Pow
            | BinOp::Shl
            | BinOp::Shr
            | BinOp::MulHi
            | BinOp::AddSat
            | BinOp::MulSat
            | BinOp::Atan2
            | BinOp::Atan2pi
            | BinOp::Hypot
            | BinOp::DivNear
            | BinOp::Copysign
            | BinOp::Nextafter
            | BinOp::Ldexp => return None,
        })),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64 => int_bin(op, ty),
    }
}

fn int_bin(op: BinOp, ty: ScalarType) -> Option<Resolved> {
    macro_rules! table {
        ($($total:ident)*; $($partial:ident)*; $($none:ident)*) => {
            match op {
                $(BinOp::$total => Resolved::Binary(int_types!(
                    ty,
                    |T| binary!(|a, b| word(int::bin(BinOp::$total, T::from_word(a), T::from_word(b)))),
                    else return None
                )),)*
                $(BinOp::$partial => Resolved::Partial(int_types!(
                    ty,
                    |T| |a, b| int::bin(BinOp::$partial, T::from_word(a), T::from_word(b)).ok().map(Const::word),
                    else return None
                )),)*
                $(BinOp::$none)|* => return None,
            }
        };
    }
    Some(table! {
        Add Sub Mul And Or Xor Shl Shr Min Max MulHi AddSat MulSat;
        Div Mod Quot Rem Pow;
        Atan2 Atan2pi Hypot DivNear Copysign Nextafter Ldexp
    })
}

fn float_bin(op: BinOp, ty: ScalarType) -> Option<Resolved> {
    macro_rules! table {
        ($rust:ident $f:ident; $($total:ident)*; $($defined:ident)*; $($none:ident)*) => {
            match op {
                $(BinOp::$total => Resolved::Binary(
                    binary!(|a, b| word(float::$f(BinOp::$total, $rust::from_word(a), $rust::from_word(b))))
                ),)*
                $(BinOp::$defined)|* => Resolved::Defined,
                $(BinOp::$none)|* => return None,
            }
        };
        ($rust:ident $f:ident) => {
            table! {
                $rust $f;
                Add Sub Mul Div Mod Min Max Copysign Nextafter;
                Pow Atan2 Atan2pi Hypot DivNear Ldexp;
                Quot Rem And Or Xor Shl Shr MulHi AddSat MulSat
            }
        };
    }
    Some(match ty {
        ScalarType::F16 => table!(f16 bin_f16),
        ScalarType::F32 => table!(f32 bin_f32),
        ScalarType::F64 => table!(f64 bin_f64),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::I32
        | ScalarType::I64
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::U32
        | ScalarType::U64
        | ScalarType::Bool => return None,
    })
}

fn compare(op: CmpOp, ty: ScalarType) -> Binary {
    macro_rules! table {
        ($($op:ident)*) => {
            match op {
                $(CmpOp::$op => all_types!(ty, |T, _TYPE| {
                    binary!(|a, b| u64::from(order(CmpOp::$op, T::from_word(a), T::from_word(b))))
                }),)*
            }
        };
    }
    table!(Eq Lt Le)
}

fn conversion(from: ScalarType, to: ScalarType) -> Unary {
    all_types!(from, |From, _FROM| {
        all_types!(to, |_To, TO| {
            unary!(|a| convert(TO, From::from_word(a).into()).word())
        })
    })
}
