//! Reductions. Segments in parallel where there are many; else the inner dimension is cut into chunks whose partial
//! results are combined in order. Which of the two, and where the cuts are, depends on extents and cost alone; in a steady kernel on the
//! inner extent and cost.

use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces, width};
use crate::compile::{Code, Tuple};
use crate::worker::Worker;
use midend::fired::fired;

pub(super) type Chunk =
    unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, i64, i64, *const *mut u8) -> u8;
type Combine = unsafe extern "C" fn(*mut Worker<'_>, *const u64, *mut u64, *const u64) -> u8;

/// Segments from which on each is reduced by one thread.
pub(super) const MANY: i64 = 64;
/// The most chunks that a segment is cut into.
pub(super) const CUTS: i64 = 64;
/// How many times as long chunks are of points of which one is chosen.
const CHOSEN: f64 = 4.0;
/// The most points of which a part that counts is still near when they are reduced again.
const NEAR: i64 = 1 << 20;
/// Results for which no memory is asked for.
const FEW: usize = 8;

/// Combines the tuple in `left` with that in `right`, into `left`. Whether that went well.
pub(super) fn combine(
    code: Code,
    worker: &mut Worker<'_>,
    slots: &[u64],
    left: *mut u64,
    right: *const u64,
) -> bool {
    // SAFETY: combining units have this signature, and both sides hold a tuple.
    unsafe {
        let combine: Combine = function(code);
        combine(worker, slots.as_ptr(), left, right) == 0
    }
}

impl Run<'_> {
    /// The size of the chunks that segments of `inner` points are cut into, of `outer` segments.
    pub(super) fn cut(&self, outer: i64, inner: i64) -> i64 {
        let is_many = outer >= MANY && !self.steady;
        if is_many || inner as f64 * self.cost < ALONE {
            inner
        } else {
            piece_size(inner, CUTS, CHUNK.0 / self.cost)
        }
    }

    pub(super) fn reduce(&self, chunk: Code, combiner: Code, outs: &[usize], tuple: &Tuple) {
        let (inner, outer) = self
            .extents
            .split_last()
            .expect("a reduction has a dimension to reduce");
        let (inner, outer) = (*inner, self.points(outer));
        if outer <= 0 {
            return;
        }
        let table = self.table(outs);
        let call =
            |worker: &mut Worker<'_>, outer: (i64, i64), inner: (i64, i64), table: &[*mut u8]| {
                // SAFETY: chunk units of reductions have this signature; `table` holds an address per component, valid for
                // the outer points given.
                unsafe {
                    let chunk: Chunk = function(chunk);
                    chunk(
                        worker,
                        self.slots.as_ptr(),
                        outer.0,
                        outer.1,
                        inner.0,
                        inner.1,
                        table.as_ptr(),
                    );
                }
            };
        let mut size = self.cut(outer, inner);
        if size < inner && tuple.is_chosen {
            // Lanes do such points in far less time than is estimated, and what a piece costs besides is the most of it. Of what is chosen
            // nothing is rounded.
            size = piece_size(inner, CUTS, CHOSEN * CHUNK.0 / self.cost);
        }
        let table_here = Shared(table.as_ptr().cast_mut());
        if size >= inner {
            let work = outer as f64 * (inner as f64 * self.cost + 2.0);
            let per_point = work / outer as f64;
            let step = if self.threads <= 1 || work < ALONE {
                piece_size(outer, 1, 0.0).min(((1e7 / per_point) as i64).max(1))
            } else {
                let grain = (work / (8 * self.threads) as f64).clamp(CHUNK.0, CHUNK.1);
                piece_size(outer, outer, grain / per_point)
            };
            let count = pieces(outer, step);
            let each = |worker: &mut Worker<'_>, i: usize| {
                // SAFETY: the table lives until all chunks are done, and is only read.
                let table = unsafe { std::slice::from_raw_parts(table_here.at(0), outs.len()) };
                call(worker, piece(i, step, outer), (0, inner), table);
            };
            if work < ALONE {
                self.chunks_here(count, &each);
            } else {
                self.chunks(count, &each);
            }
            return;
        }
        fired("cpu/reduction-in-pieces");
        let count = pieces(inner, size);
        let k = outs.len();
        let mut partials = vec![0u64; count * k * outer as usize];
        let place = Shared(partials.as_mut_ptr());
        let each = |worker: &mut Worker<'_>, i: usize| {
            let (o, c) = ((i / count) as i64, i % count);
            // Where the chunk's results go, seen from an array over the outer points.
            let target = |j: usize| {
                let target = place.at(i * k + j).cast::<u8>();
                target.wrapping_sub(o as usize * width(tuple.types[j]))
            };
            let points = piece(c, size, inner);
            if k > FEW {
                let table: Vec<*mut u8> = (0..k).map(target).collect();
                return call(worker, (o, o + 1), points, &table);
            }
            let mut table = [std::ptr::null_mut(); FEW];
            for (j, entry) in table.iter_mut().take(k).enumerate() {
                *entry = target(j);
            }
            call(worker, (o, o + 1), points, &table);
        };
        if inner.saturating_mul(outer) <= NEAR {
            self.chunks_to_and_fro(count * outer as usize, &each);
        } else {
            self.chunks_apart(count * outer as usize, &each);
        }
        let mut worker = Worker::new(self.launch);
        for o in 0..outer as usize {
            let first = o * count * k;
            for c in 1..count {
                if self.launch.over() {
                    return;
                }
                let (left, right) = (place.at(first), place.at(first + c * k));
                if !combine(combiner, &mut worker, self.slots, left, right) {
                    return;
                }
            }
            for (j, ty) in tuple.types.iter().enumerate() {
                let (from, to) = (
                    place.at(first + j).cast::<u8>(),
                    table[j].wrapping_add(o * width(*ty)),
                );
                // SAFETY: the slot holds a scalar of the component's type, and the result has room for one per outer
                // point.
                unsafe { std::ptr::copy_nonoverlapping(from, to, width(*ty)) };
            }
        }
    }
}
