//! Rust functions that compiled code calls: the mid-end's mathematics under the C calling convention, and services of
//! the worker. A binary16 travels as the low half of an `i32`.

use crate::arena::{arena_compact, arena_grow, arena_release};
use crate::worker::{copy_bytes, trap};
use cranelift_codegen::ir::{Type, types};
use half::f16;
use midend::ir::scalar::{BinOp, TernOp, UnOp};
use midend::ir::types::ScalarType;
use midend::math;

/// A function that compiled code calls by its address.
#[derive(Clone, Copy)]
pub(crate) struct Helper {
    function: *const (),
    pub(crate) params: &'static [Type],
    pub(crate) result: Option<Type>,
}

// SAFETY: the pointer is the address of a function, which never changes.
unsafe impl Sync for Helper {}

impl Helper {
    /// The address of the function.
    pub(crate) fn address(&self) -> usize {
        self.function as usize
    }
}

macro_rules! helpers {
    ($($(#[$doc:meta])* $name:ident = $function:ident($($param:ident),*) $(-> $result:ident)?;)*) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: Helper = Helper {
                function: $function as *const (),
                params: &[$(types::$param),*],
                result: helpers!(@result $($result)?),
            };
        )*
    };
    (@result) => { None };
    (@result $result:ident) => { Some(types::$result) };
}

helpers! {
    /// Reports a failed check: worker, site, values.
    TRAP = trap(I64, I64, I64);
    /// Memory from a new piece of the arena: worker, elements, bytes of an element.
    ARENA_GROW = arena_grow(I64, I64, I64) -> I64;
    /// Back to an earlier state of the arena: worker, first free byte.
    ARENA_RELEASE = arena_release(I64, I64);
    /// Moves live buffers together: worker, first free byte when the loop began, addresses, their number, limit.
    ARENA_COMPACT = arena_compact(I64, I64, I64, I64, I64) -> I8;
    /// Copies: to, from, bytes.
    COPY_BYTES = copy_bytes(I64, I64, I64);
    /// Binary16 to binary32, exact.
    F16_TO_F32 = f16_to_f32(I32) -> F32;
    /// Binary32 to binary16.
    F32_TO_F16 = f32_to_f16(F32) -> I32;
    /// Binary64 to binary16, rounded once.
    F64_TO_F16 = f64_to_f16(F64) -> I32;
    /// Signed power, wrapping.
    POW_INT = pow_int(I64, I64) -> I64;
}

extern "C" fn f16_to_f32(x: u32) -> f32 {
    f16::from_bits(x as u16).to_f32()
}
extern "C" fn f32_to_f16(x: f32) -> u32 {
    f16::from_f32(x).to_bits().into()
}
extern "C" fn f64_to_f16(x: f64) -> u32 {
    math::f64_to_f16(x).to_bits().into()
}
/// Of all integer types: the low bits of a power depend on the low bits of the base alone. A negative exponent was
/// ruled out by a check, and an unsigned one is taken as it is.
extern "C" fn pow_int(base: u64, exponent: u64) -> u64 {
    let (mut base, mut exponent, mut power) = (base, exponent, 1u64);
    while exponent != 0 {
        if exponent & 1 == 1 {
            power = power.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    power
}

macro_rules! wrappers {
    ([$($x:ident),*] $h:ident $s:ident $d:ident) => {
        extern "C" fn $h($($x: u32),*) -> u32 {
            math::$h($(f16::from_bits($x as u16)),*).to_bits().into()
        }
        extern "C" fn $s($($x: f32),*) -> f32 {
            math::$s($($x),*)
        }
        extern "C" fn $d($($x: f64),*) -> f64 {
            math::$d($($x),*)
        }
    };
    (@types [$($x:ident),*] $ty:ident) => { &[$(wrappers!(@each $x $ty)),*] };
    (@each $x:ident $ty:ident) => { types::$ty };
}

macro_rules! float_calls {
    ($lookup:ident($kind:ident) $xs:tt $($op:ident: $h:ident $s:ident $d:ident;)*) => {
        $(wrappers!($xs $h $s $d);)*
        /// The function of an operation on floats of a type, for operations that are calls.
        pub(crate) fn $lookup(op: $kind, ty: ScalarType) -> Option<Helper> {
            let (h, s, d) = match op {
                $($kind::$op => ($h as *const (), $s as *const (), $d as *const ()),)*
                _ => return None,
            };
            const H: &[Type] = wrappers!(@types $xs I32);
            const S: &[Type] = wrappers!(@types $xs F32);
            const D: &[Type] = wrappers!(@types $xs F64);
            let (function, params) = match ty {
                ScalarType::F16 => (h, H),
                ScalarType::F32 => (s, S),
                ScalarType::F64 => (d, D),
                ScalarType::I8
                | ScalarType::I16
                | ScalarType::I32
                | ScalarType::I64
                | ScalarType::U8
                | ScalarType::U16
                | ScalarType::U32
                | ScalarType::U64
                | ScalarType::Bool => return None,
            };
            Some(Helper { function, params, result: params.first().copied() })
        }
    };
}

mod lookups {
    use super::*;

    float_calls! { unary(UnOp) [x]
        Cbrt: f16_cbrt f32_cbrt f64_cbrt;
        Exp: f16_exp f32_exp f64_exp;
        Log: f16_log f32_log f64_log;
        Log2: f16_log2 f32_log2 f64_log2;
        Log10: f16_log10 f32_log10 f64_log10;
        Log1p: f16_log1p f32_log1p f64_log1p;
        Sin: f16_sin f32_sin f64_sin;
        Cos: f16_cos f32_cos f64_cos;
        Tan: f16_tan f32_tan f64_tan;
        Sinpi: f16_sinpi f32_sinpi f64_sinpi;
        Cospi: f16_cospi f32_cospi f64_cospi;
        Tanpi: f16_tanpi f32_tanpi f64_tanpi;
        Asin: f16_asin f32_asin f64_asin;
        Acos: f16_acos f32_acos f64_acos;
        Atan: f16_atan f32_atan f64_atan;
        Asinpi: f16_asinpi f32_asinpi f64_asinpi;
        Acospi: f16_acospi f32_acospi f64_acospi;
        Atanpi: f16_atanpi f32_atanpi f64_atanpi;
        Sinh: f16_sinh f32_sinh f64_sinh;
        Cosh: f16_cosh f32_cosh f64_cosh;
        Tanh: f16_tanh f32_tanh f64_tanh;
        Asinh: f16_asinh f32_asinh f64_asinh;
        Acosh: f16_acosh f32_acosh f64_acosh;
        Atanh: f16_atanh f32_atanh f64_atanh;
        Erf: f16_erf f32_erf f64_erf;
        Erfc: f16_erfc f32_erfc f64_erfc;
        Gamma: f16_gamma f32_gamma f64_gamma;
        Lgamma: f16_lgamma f32_lgamma f64_lgamma;
    }

    float_calls! { binary(BinOp) [x, y]
        Mod: f16_mod f32_mod f64_mod;
        Pow: f16_pow f32_pow f64_pow;
        Atan2: f16_atan2 f32_atan2 f64_atan2;
        Atan2pi: f16_atan2pi f32_atan2pi f64_atan2pi;
        Hypot: f16_hypot f32_hypot f64_hypot;
        Nextafter: f16_nextafter f32_nextafter f64_nextafter;
        Ldexp: f16_ldexp f32_ldexp f64_ldexp;
    }

    float_calls! { ternary(TernOp) [x, y, z]
        Fma: f16_fma f32_fma f64_fma;
    }
}

pub(crate) use lookups::{binary, ternary, unary};
