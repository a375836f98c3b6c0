//! Moving boxes of elements between typed vectors.

use super::value::Dim;
use crate::ir::constant::Scalar;
use crate::ir::scalar::Const;
use crate::value::Data;
use crate::with_data;

macro_rules! same_type {
    ($dst:expr, $src:expr, |$d:ident, $s:ident| $body:expr, $($variant:ident)*) => {
        match ($dst, $src) {
            $((Data::$variant($d), Data::$variant($s)) => $body,)*
            _ => {}
        }
    };
}

/// Copies a box. Both sides have the same extents and the same type, and lie inside their vectors; of different types,
/// nothing is done.
pub(crate) fn copy(
    dst: &mut Data,
    to: i64,
    dst_dims: &[Dim],
    src: &Data,
    from: i64,
    src_dims: &[Dim],
) {
    if dst_dims.iter().any(|d| d.extent == 0) {
        return;
    }
    same_type!(dst, src, |d, s| copy_typed(d, to, dst_dims, s, from, src_dims), I8 I16 I32 I64 U8 U16 U32 U64 F16 F32 F64 Bool);
}

fn copy_typed<T: Copy>(
    dst: &mut [T],
    to: i64,
    dst_dims: &[Dim],
    src: &[T],
    from: i64,
    src_dims: &[Dim],
) {
    let ([d, dst_rest @ ..], [s, src_rest @ ..]) = (dst_dims, src_dims) else {
        dst[to as usize] = src[from as usize];
        return;
    };
    if dst_rest.is_empty() && d.stride == 1 && s.stride == 1 {
        let (to, from, n) = (to as usize, from as usize, d.extent as usize);
        dst[to..to + n].copy_from_slice(&src[from..from + n]);
    } else if dst_rest.is_empty() {
        for i in 0..d.extent {
            dst[(to + i * d.stride) as usize] = src[(from + i * s.stride) as usize];
        }
    } else {
        for i in 0..d.extent {
            copy_typed(
                dst,
                to + i * d.stride,
                dst_rest,
                src,
                from + i * s.stride,
                src_rest,
            );
        }
    }
}

/// Sets every element to `value`; of another type, nothing is done.
pub(crate) fn fill(dst: &mut Data, value: Const) {
    fn set<T: Scalar>(v: &mut [T], value: Const) {
        if let Some(x) = T::from_const(value) {
            v.fill(x);
        }
    }
    with_data!(dst, v => set(v, value));
}

/// The bits of the element at `i`, which is in range.
#[inline]
pub(crate) fn word(data: &Data, i: usize) -> u64 {
    with_data!(data, v => v[i].word())
}

/// Sets the element at `i`, which is in range, to that with these bits.
#[inline]
pub(crate) fn set_word(data: &mut Data, i: usize, word: u64) {
    with_data!(data, v => v[i] = Scalar::from_word(word));
}
