//! Rust functions that compiled code calls: the mid-end's mathematics under the C calling convention, and services of
//! the worker. A binary16 travels as the low half of an `i32`.

use crate::arena::{arena_compact, arena_grow, arena_release};
use crate::emit::ragged::search_offsets;
use crate::worker::{copy_bytes, copy_past, trap};
use cranelift_codegen::ir::{Type, types};
use half::f16;
use midend::interp::scalar;
use midend::ir::scalar::{BinOp, Const, ScalarOp, TernOp, UnOp};
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
    /// Copies, past the caches if results are stored so: worker, where the first of all go, to, from, bytes, whether they are the last.
    COPY_PAST = copy_past(I64, I64, I64, I64, I64, I64);
    /// The row that a point is in: offsets, their number without the last, the number of the point.
    SEARCH_OFFSETS = search_offsets(I64, I64, I64) -> I64;
    /// Binary16 to binary32, exact.
    F16_TO_F32 = f16_to_f32(I32) -> F32;
    /// Binary32 to binary16.
    F32_TO_F16 = f32_to_f16(F32) -> I32;
    /// Binary64 to binary16, rounded once.
    F64_TO_F16 = f64_to_f16(F64) -> I32;
    /// Signed power, wrapping.
    POW_INT = pow_int(I64, I64) -> I64;
    /// An operation by its number, as the interpreter has it, on so many floats at an address, of which results take the places.
    EVAL_F32 = eval_f32(I64, I64, I64);
    /// As above.
    EVAL_F64 = eval_f64(I64, I64, I64);
    /// The same with as many second operands at another address.
    EVAL2_F32 = eval2_f32(I64, I64, I64, I64);
    /// As above.
    EVAL2_F64 = eval2_f64(I64, I64, I64, I64);
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

    float_calls! { binary(BinOp) [x, y]
        Mod: f16_mod f32_mod f64_mod;
        Nextafter: f16_nextafter f32_nextafter f64_nextafter;
    }

    float_calls! { ternary(TernOp) [x, y, z]
        Fma: f16_fma f32_fma f64_fma;
    }
}

/// The function that evaluates an operation on floats of one type, and the number that it knows the operation by.
pub(crate) fn evaluation(op: ScalarOp) -> (&'static Helper, i64) {
    let single = op.operand(0) == ScalarType::F32;
    match op {
        ScalarOp::Un(op, _) if single => (&EVAL_F32, op as i64),
        ScalarOp::Un(op, _) => (&EVAL_F64, op as i64),
        ScalarOp::Bin(op, _) if single => (&EVAL2_F32, op as i64),
        ScalarOp::Bin(op, _) => (&EVAL2_F64, op as i64),
        ScalarOp::Cmp(..)
        | ScalarOp::Tern(..)
        | ScalarOp::Convert(..)
        | ScalarOp::ToBits(_)
        | ScalarOp::FromBits(_)
        | ScalarOp::Select(_) => unreachable!("functions have one operand or two"),
    }
}

/// Whether a function is one of these.
pub(crate) fn evaluates(address: u64) -> bool {
    let all = [&EVAL_F32, &EVAL_F64, &EVAL2_F32, &EVAL2_F64];
    all.iter().any(|helper| helper.address() as u64 == address)
}

macro_rules! evaluations {
    ($($name:ident $ty:ident $bits:ident $variant:ident $kind:ident $eval:ident ($($x:ident)*);)*) => {
        $(
            unsafe extern "C" fn $name(op: usize, count: usize, $($x: *mut $bits),*) {
                let op = $kind::ALL[op];
                for lane in 0..count {
                    // SAFETY: compiled code has stored so many numbers at each of the addresses.
                    $(let $x = unsafe { &mut *$x.add(lane) };)*
                    let result = match scalar::$eval(op, $(Const::$variant(*$x)),*) {
                        Ok(Const::$variant(bits)) => bits,
                        _ => $ty::NAN.to_bits(),
                    };
                    *[$($x),*][0] = result;
                }
            }
        )*
    };
}

evaluations! {
    eval_f32 f32 u32 F32 UnOp un (x);
    eval_f64 f64 u64 F64 UnOp un (x);
    eval2_f32 f32 u32 F32 BinOp bin (x y);
    eval2_f64 f64 u64 F64 BinOp bin (x y);
}

pub(crate) use lookups::{binary, ternary};
