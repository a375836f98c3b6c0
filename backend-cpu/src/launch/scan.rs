//! Scans. Many segments are scanned by one thread each. A long one is cut into chunks: each is scanned on its own,
//! then the sums of earlier chunks are put in front of its elements. The body is executed once per point.

use super::reduce::{combine, cut};
use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces};
use crate::compile::{Code, Tuple};
use crate::worker::Worker;

type Chunk = unsafe extern "C" fn(
    *mut Worker<'_>,
    *const u64,
    i64,
    i64,
    i64,
    i64,
    *const u64,
    *mut u64,
    *const *mut u8,
) -> u8;
pub(super) type Fix =
    unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, *const u64, *const *mut u8) -> u8;

impl Run<'_> {
    pub(super) fn scan(
        &self,
        (chunk, combiner, fix): (Code, Code, Code),
        outs: &[usize],
        tuple: &Tuple,
    ) {
        let (inner, outer) = self
            .extents
            .split_last()
            .expect("a scan has a dimension to scan");
        let (inner, outer) = (*inner, self.points(outer));
        if outer <= 0 || inner <= 0 {
            return;
        }
        let k = outs.len();
        let table = self.table(outs);
        let results = Shared(table.as_ptr().cast_mut());
        let neutral = self.neutral(tuple);
        let call = |worker: &mut Worker<'_>,
                    outer: (i64, i64),
                    inner: (i64, i64),
                    start: *const u64,
                    end: *mut u64| {
            // SAFETY: chunk units of scans have this signature; `start` and `end` hold a tuple.
            unsafe {
                let chunk: Chunk = function(chunk);
                chunk(
                    worker,
                    self.slots.as_ptr(),
                    outer.0,
                    outer.1,
                    inner.0,
                    inner.1,
                    start,
                    end,
                    results.at(0),
                )
            }
        };
        let mut size = cut(outer, inner, self.cost);
        if self.threads <= 1 && tuple.is_exact() {
            // One thread gains nothing by chunks, and of exact operations nothing shows.
            size = inner;
        }
        if size >= inner {
            let per_point = inner as f64 * self.cost;
            let work = outer as f64 * per_point;
            let grain = (work / (8 * self.threads) as f64).clamp(CHUNK.0, CHUNK.1);
            let step = piece_size(outer, outer, grain / per_point);
            let each = |worker: &mut Worker<'_>, i: usize| {
                let mut end = vec![0; k];
                call(
                    worker,
                    piece(i, step, outer),
                    (0, inner),
                    neutral.as_ptr(),
                    end.as_mut_ptr(),
                );
            };
            let count = pieces(outer, step);
            if work < ALONE {
                self.chunks_here(count, &each);
            } else {
                self.chunks(count, &each);
            }
            return;
        }
        let count = pieces(inner, size);
        let total = count * outer as usize;
        let mut sums = vec![0u64; total * k];
        let ends = Shared(sums.as_mut_ptr());
        self.chunks(total, &|worker, i| {
            let (o, c) = ((i / count) as i64, i % count);
            call(
                worker,
                (o, o + 1),
                piece(c, size, inner),
                neutral.as_ptr(),
                ends.at(i * k),
            );
        });
        if self.launch.over() || !self.carries(combiner, &mut sums, count, k) {
            return;
        }
        let carries = Shared(sums.as_mut_ptr());
        self.chunks(total, &|worker, i| {
            let (o, c) = ((i / count) as i64, i % count);
            if c == 0 {
                return;
            }
            let (lo, hi) = piece(c, size, inner);
            // SAFETY: fixing units have this signature; the tuple before this one is the sum of all earlier chunks.
            unsafe {
                let fix: Fix = function(fix);
                let base = o * inner;
                fix(
                    worker,
                    self.slots.as_ptr(),
                    base + lo,
                    base + hi,
                    carries.at((i - 1) * k),
                    results.at(0),
                );
            }
        });
    }

    /// Turns the sums of chunks into the sums of all chunks up to each, segment by segment. Whether that went well.
    fn carries(&self, combiner: Code, sums: &mut [u64], count: usize, k: usize) -> bool {
        if k == 0 {
            // Dead code has left nothing to scan.
            return true;
        }
        let mut worker = Worker::new(self.launch);
        for segment in sums.chunks_mut(count * k) {
            for c in 1..count {
                let (before, from) = segment.split_at_mut(c * k);
                let mut sum = before[(c - 1) * k..].to_vec();
                if !combine(
                    combiner,
                    &mut worker,
                    self.slots,
                    sum.as_mut_ptr(),
                    from.as_ptr(),
                ) {
                    return false;
                }
                from[..k].copy_from_slice(&sum);
            }
        }
        true
    }
}
