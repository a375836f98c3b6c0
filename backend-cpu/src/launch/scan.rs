//! Scans. Many segments are scanned by one thread each. A long one is cut into chunks. Where the body is executed once per
//! point, each is scanned on its own, then the sums of earlier chunks are put in front of its elements. Where it may be executed
//! twice, chunks are small enough to stay near: a chunk is reduced, and scanned from the sum of what comes before it.

use super::reduce::{self, combine};
use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces, width};
use crate::compile::{Code, ScanCode, Tuple};
use crate::worker::Worker;
use midend::fired::fired;
use std::sync::atomic::{AtomicBool, Ordering};

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
        (chunk, combiner, other): (Code, Code, ScanCode),
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
        let k = tuple.types.len();
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
        let mut size = self.cut(outer, inner);
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
        fired("cpu/scan-in-pieces");
        let fix = match other {
            ScanCode::Fix(fix) => fix,
            ScanCode::Sum(sum) => {
                let row = Row {
                    inner,
                    size: size.min(near(inner, tuple)),
                    sum,
                    combiner,
                    tuple,
                };
                let scan = |worker: &mut Worker<'_>, o: i64, points: (i64, i64), start: &[u64]| {
                    let mut end = vec![0; k];
                    call(worker, (o, o + 1), points, start.as_ptr(), end.as_mut_ptr());
                };
                return self.scan_near(outer, &row, &neutral, &scan);
            }
        };
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

    /// Reduces each chunk, finds out what comes before it, and scans it from there. Chunks are taken in order, so that the one
    /// before is done or at work.
    fn scan_near(&self, outer: i64, row: &Row<'_>, neutral: &[u64], scan: &ScanPiece<'_>) {
        let k = neutral.len();
        let count = pieces(row.inner, row.size);
        let total = count * outer as usize;
        let mut sums = vec![0u64; total * k];
        let mut done = Vec::new();
        done.resize_with(total, || AtomicBool::new(false));
        let slots = Shared(sums.as_mut_ptr());
        self.chunks(total, &|worker, i| {
            let mut sum = None;
            // The last chunk of a segment has no next one.
            if i % count + 1 < count {
                sum = self.sum(worker, row, (i, count));
            }
            let start = match i % count {
                0 => Some(neutral.to_vec()),
                _ => self.before(worker, row, (i, count), (&done, slots)),
            };
            let Some(start) = start else { return };
            if let Some(sum) = sum {
                let Some(all) = self.after(worker, row, (i, count), &start, sum) else {
                    return;
                };
                for (j, word) in all.into_iter().enumerate() {
                    // SAFETY: the slots of a chunk are its thread's until it is done.
                    unsafe { slots.at(i * k + j).write(word) };
                }
                done[i].store(true, Ordering::Release);
            }
            if !self.launch.over() {
                let points = piece(i % count, row.size, row.inner);
                worker.next = row.size * self.threads as i64;
                scan(worker, (i / count) as i64, points, &start);
            }
        });
    }

    /// The sum of a chunk; nothing if that failed.
    fn sum(
        &self,
        worker: &mut Worker<'_>,
        row: &Row<'_>,
        (i, count): (usize, usize),
    ) -> Option<Vec<u64>> {
        let outer = (i / count) as i64;
        let inner = piece(i % count, row.size, row.inner);
        let mut slots = vec![0u64; row.tuple.types.len()];
        // Where the results go, seen from an array over the outer points.
        let places = row.tuple.types.iter().zip(&mut slots);
        let places = places.map(|(ty, slot)| {
            let target = std::ptr::from_mut(slot).cast::<u8>();
            target.wrapping_sub(outer as usize * width(*ty))
        });
        let table: Vec<*mut u8> = places.collect();
        // SAFETY: summing units have the signature of chunk units of reductions; there is a slot for each component.
        let status = unsafe {
            let chunk: reduce::Chunk = function(row.sum);
            chunk(
                worker,
                self.slots.as_ptr(),
                outer,
                outer + 1,
                inner.0,
                inner.1,
                table.as_ptr(),
            )
        };
        (status == 0).then_some(slots)
    }

    /// The sum up to the end of a chunk, whose own is `sum`; nothing if that failed.
    fn after(
        &self,
        worker: &mut Worker<'_>,
        row: &Row<'_>,
        (i, count): (usize, usize),
        before: &[u64],
        sum: Vec<u64>,
    ) -> Option<Vec<u64>> {
        if i % count == 0 {
            return Some(sum);
        }
        let mut all = before.to_vec();
        let right = sum.as_ptr();
        combine(row.combiner, worker, self.slots, all.as_mut_ptr(), right).then_some(all)
    }

    /// The sum of what comes before a chunk that is not the first of its segment; nothing if the launch is over. If the thread that
    /// has the chunk before does not get on, its sum is computed here, too, to the same bits.
    fn before(
        &self,
        worker: &mut Worker<'_>,
        row: &Row<'_>,
        (i, count): (usize, usize),
        (done, slots): (&[AtomicBool], Shared<u64>),
    ) -> Option<Vec<u64>> {
        let k = row.tuple.types.len();
        for _ in 0..SPIN {
            if done[i - 1].load(Ordering::Acquire) {
                // SAFETY: the chunk before has left its sum there, and nobody writes to it any more.
                let found = unsafe { std::slice::from_raw_parts(slots.at((i - 1) * k), k) };
                return Some(found.to_vec());
            }
            std::hint::spin_loop();
        }
        if self.launch.over() {
            return None;
        }
        let sum = self.sum(worker, row, (i - 1, count))?;
        let before = match (i - 1) % count {
            0 => Vec::new(),
            _ => self.before(worker, row, (i - 1, count), (done, slots))?,
        };
        self.after(worker, row, (i - 1, count), &before, sum)
    }
}

/// Scans points of a segment from a start.
type ScanPiece<'a> = dyn Fn(&mut Worker<'_>, i64, (i64, i64), &[u64]) + Sync + 'a;

/// Segments that are scanned in chunks which are reduced first.
struct Row<'a> {
    /// The points of a segment, and of a chunk.
    inner: i64,
    size: i64,
    sum: Code,
    combiner: Code,
    tuple: &'a Tuple,
}

/// How often a thread looks whether the chunk before is done.
const SPIN: u32 = 1_000;

/// Bytes of elements that stay near between two looks at them.
const NEAR: i64 = 128 << 10;

/// The points of a chunk whose elements stay near.
fn near(inner: i64, tuple: &Tuple) -> i64 {
    let bytes: usize = tuple.types.iter().map(|ty| width(*ty)).sum();
    piece_size(inner, inner, (NEAR / bytes.max(1) as i64) as f64)
}
