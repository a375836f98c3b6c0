//! Copies between buffers from the host: contiguous runs by `memcpy` or in blocks, transpositions in blocks, large ones on all
//! threads.

use crate::buffer::Buffer;
use midend::device::{Axis, Strided, axes};
use midend::trap::RunError;
use rayon::prelude::*;

/// Bytes from which on a copy is spread over threads.
pub(crate) const PARALLEL: usize = 1 << 20;
/// Bytes of a piece of a contiguous copy.
const PIECE: usize = 256 << 10;
/// Runs of blocks that are enough for threads.
const RUNS: i64 = 8;
/// Side of a block of a transposition, in elements.
const BLOCK: i64 = 32;

/// An address that threads share.
#[derive(Clone, Copy)]
struct Place(*mut u8);

// SAFETY: the threads write to distinct elements.
unsafe impl Send for Place {}
// SAFETY: as above.
unsafe impl Sync for Place {}

impl Place {
    fn offset(self, elements: i64, bytes: usize) -> Self {
        Self(self.0.wrapping_offset(elements as isize * bytes as isize))
    }
}

/// Bytes that are copied at once where `memcpy` is not used, and those of a page.
const BLOCK_BYTES: usize = 64;
const PAGE: usize = 4096;

/// Copies `bytes` contiguous bytes. Where the target begins a few bytes further behind the beginning of a page than the source, as that of
/// what is put behind a single element, `memcpy` of glibc 2.36 takes sixteen times as long on processors of AMD: it copies by a
/// string instruction there.
///
/// # Safety
/// Both sides hold as many bytes, and do not overlap.
pub(crate) unsafe fn contiguous(dst: *mut u8, src: *const u8, bytes: usize) {
    let ahead = (dst as usize).wrapping_sub(src as usize) % PAGE;
    let mut done = 0;
    if (1..BLOCK_BYTES).contains(&ahead) {
        while done + BLOCK_BYTES <= bytes {
            // SAFETY: a part of what the caller promised.
            unsafe {
                let (from, to) = (src.add(done), dst.add(done));
                std::ptr::copy_nonoverlapping(from, to, BLOCK_BYTES);
            }
            done += BLOCK_BYTES;
        }
    }
    // SAFETY: as above.
    unsafe { std::ptr::copy_nonoverlapping(src.add(done), dst.add(done), bytes - done) };
}

/// Copies `bytes` contiguous bytes, on all threads if they are many.
///
/// # Safety
/// Both sides hold as many bytes, and do not overlap.
pub(crate) unsafe fn bulk(dst: *mut u8, src: *const u8, bytes: usize) {
    if bytes < PARALLEL || rayon::current_num_threads() <= 1 {
        // SAFETY: promised by the caller.
        unsafe { contiguous(dst, src, bytes) };
        return;
    }
    let (dst, src) = (Place(dst), Place(src.cast_mut()));
    (0..bytes.div_ceil(PIECE)).into_par_iter().for_each(|i| {
        let lo = i * PIECE;
        let len = PIECE.min(bytes - lo);
        let (dst, src) = (dst.offset(lo as i64, 1), src.offset(lo as i64, 1));
        // SAFETY: a part of what the caller promised.
        unsafe { contiguous(dst.0, src.0, len) };
    });
}

/// Copies a strided box of elements.
pub(crate) fn strided(
    shape: &[i64],
    dst: Strided<'_, Buffer>,
    src: Strided<'_, Buffer>,
) -> Result<(), RunError> {
    let elem = dst.buffer.elem();
    if elem != src.buffer.elem() {
        return Err(RunError::Device(
            "a copy between buffers of different kinds".to_owned(),
        ));
    }
    if shape.iter().any(|n| *n <= 0) {
        return Ok(());
    }
    for side in [&dst, &src] {
        side.check(shape, side.buffer.len())?;
    }
    let bytes = elem.bytes();
    let to = Place(dst.buffer.start()).offset(dst.offset, bytes);
    let from = Place(src.buffer.start()).offset(src.offset, bytes);
    if to.0 == from.0 && dst.strides == src.strides {
        return Ok(());
    }
    let axes = axes(shape, dst.strides, src.strides);
    // SAFETY: the corners of the box were checked on both sides.
    unsafe {
        match bytes {
            1 => typed::<u8>(&axes, to, from),
            2 => typed::<u16>(&axes, to, from),
            4 => typed::<u32>(&axes, to, from),
            _ => typed::<u64>(&axes, to, from),
        }
    }
    Ok(())
}

/// Copies the box by the outermost dimension, in parallel if it is large.
///
/// # Safety
/// The box lies within memory of elements of `T` on both sides.
unsafe fn typed<T: Copy>(axes: &[Axis], to: Place, from: Place) {
    let total: i64 = axes.iter().map(|a| a.extent).product();
    let bytes = total as usize * size_of::<T>();
    if let [only] = axes
        && only.dst == 1
        && only.src == 1
    {
        // SAFETY: promised by the caller.
        return unsafe { bulk(to.0, from.0, bytes) };
    }
    let Some(cut) = cut(axes).filter(|_| bytes >= PARALLEL && rayon::current_num_threads() > 1)
    else {
        // SAFETY: promised by the caller.
        return unsafe { boxed::<T>(axes, to, from) };
    };
    // Splitting one dimension into runs of a few blocks keeps every piece a box.
    let axis = axes[cut];
    let run = (axis.extent / 64).max(BLOCK);
    let runs = (axis.extent + run - 1) / run;
    (0..runs).into_par_iter().for_each(|i| {
        let mut part = axes.to_vec();
        part[cut].extent = run.min(axis.extent - i * run);
        let to = to.offset(i * run * axis.dst, size_of::<T>());
        let from = from.offset(i * run * axis.src, size_of::<T>());
        // SAFETY: a part of the box.
        unsafe { boxed::<T>(&part, to, from) };
    });
}

/// The dimension that is split among threads: the outermost one that can be split into enough runs, as what lies in one piece is best left in
/// one; else the widest.
fn cut(axes: &[Axis]) -> Option<usize> {
    let outermost = axes.iter().position(|axis| axis.extent >= RUNS * BLOCK);
    outermost.or_else(|| (0..axes.len()).max_by_key(|i| axes[*i].extent))
}

/// Copies a box on this thread.
///
/// # Safety
/// As [`typed`].
unsafe fn boxed<T: Copy>(axes: &[Axis], to: Place, from: Place) {
    match axes {
        [] => {
            // SAFETY: promised by the caller.
            unsafe { to.0.cast::<T>().write(from.0.cast::<T>().read()) };
        }
        [axis] => {
            // SAFETY: promised by the caller.
            unsafe { run::<T>(*axis, to, from) };
        }
        [rows, columns] if columns.dst.abs() > 1 || columns.src.abs() > 1 => {
            // SAFETY: promised by the caller.
            unsafe { blocks::<T>(*rows, *columns, to, from) };
        }
        [outer, inner @ ..] => {
            for i in 0..outer.extent {
                let to = to.offset(i * outer.dst, size_of::<T>());
                let from = from.offset(i * outer.src, size_of::<T>());
                // SAFETY: a part of the box.
                unsafe { boxed::<T>(inner, to, from) };
            }
        }
    }
}

/// Copies one dimension.
///
/// # Safety
/// As [`typed`].
unsafe fn run<T: Copy>(axis: Axis, to: Place, from: Place) {
    let (to, from) = (to.0.cast::<T>(), from.0.cast::<T>());
    if axis.dst == 1 && axis.src == 1 {
        // SAFETY: promised by the caller.
        unsafe { std::ptr::copy_nonoverlapping(from, to, axis.extent as usize) };
        return;
    }
    for i in 0..axis.extent as isize {
        // SAFETY: promised by the caller.
        unsafe {
            to.offset(i * axis.dst as isize)
                .write(from.offset(i * axis.src as isize).read())
        };
    }
}

/// Copies two dimensions block by block, so that both sides stay in the cache.
///
/// # Safety
/// As [`typed`].
unsafe fn blocks<T: Copy>(rows: Axis, columns: Axis, to: Place, from: Place) {
    let size = size_of::<T>();
    for r in (0..rows.extent).step_by(BLOCK as usize) {
        for c in (0..columns.extent).step_by(BLOCK as usize) {
            let (height, width) = (BLOCK.min(rows.extent - r), BLOCK.min(columns.extent - c));
            for i in r..r + height {
                let to = to.offset(i * rows.dst + c * columns.dst, size);
                let from = from.offset(i * rows.src + c * columns.src, size);
                // SAFETY: a part of the box.
                unsafe {
                    run::<T>(
                        Axis {
                            extent: width,
                            ..columns
                        },
                        to,
                        from,
                    )
                };
            }
        }
    }
}
