//! Histograms. Where the buckets are few for the points, chunks have copies of their own, merged in order; else the
//! points are worked through in order. Which of the two depends on sizes and cost alone.

use super::ragged::Part;
use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces, scalar, width};
use crate::compile::{Code, CompiledHist};
use crate::worker::Worker;
use midend::trap::RunError;

type Chunk = unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, *const *mut u8) -> u8;
type Ragged =
    unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, i64, i64, *const *mut u8) -> u8;
type Merge = unsafe extern "C" fn(
    *mut Worker<'_>,
    *const u64,
    i64,
    i64,
    *const *mut u8,
    *const *mut u8,
) -> u8;

/// The most copies of the buckets.
const COPIES: i64 = 32;
/// Estimated nanoseconds to fill and merge one value of a bucket.
const MERGE: f64 = 1.0;

/// One component of one histogram in the memory of a copy.
struct Column {
    /// Bytes from the start of the copy.
    offset: usize,
    bytes: usize,
    len: usize,
    neutral: u64,
}

impl Run<'_> {
    pub(super) fn hist(&self, chunk: Code, hists: &[CompiledHist]) -> Result<(), RunError> {
        let (total, cost) = self.items();
        if total <= 0 {
            return Ok(());
        }
        let call = |worker: &mut Worker<'_>, (lo, hi): (i64, i64), table: &[*mut u8]| {
            if let Some(rows) = self.rows {
                return self.hist_part(chunk, worker, rows.part((lo, hi)), table);
            }
            // SAFETY: chunk units of histograms have this signature; `table` holds an address per destination with room
            // for all buckets.
            unsafe {
                let chunk: Chunk = function(chunk);
                chunk(worker, self.slots.as_ptr(), lo, hi, table.as_ptr());
            }
        };
        let dests: Vec<usize> = hists.iter().flat_map(|h| h.dests.iter().copied()).collect();
        let table = self.table(&dests);
        let columns = self.columns(hists);
        let values: usize = columns.iter().map(|c| c.len).sum();
        let work = total as f64 * cost;
        // A copy must pay: its chunk is dearer than making and merging it.
        let least = (4.0 * MERGE * values as f64).max(CHUNK.0) / cost;
        let size = piece_size(total, COPIES, least);
        let exact = hists.iter().all(|h| h.tuple.is_exact());
        let alone = work < ALONE || size >= total || (self.threads <= 1 && exact);
        if alone {
            let step = ((1e7 / cost) as i64).max(1);
            let here = Shared(table.as_ptr().cast_mut());
            self.chunks_here(pieces(total, step), &|worker, i| {
                // SAFETY: the table lives until the chunks are done, and is only read.
                let table = unsafe { std::slice::from_raw_parts(here.at(0), dests.len()) };
                call(worker, piece(i, step, total), table);
            });
            return Ok(());
        }
        let count = pieces(total, size);
        let stride = columns
            .last()
            .map_or(0, |c| (c.offset + c.bytes * c.len).next_multiple_of(64))
            + 64;
        let bytes = stride.saturating_mul(count);
        self.account.take(bytes as u64)?;
        let mut copies = Vec::<u64>::new();
        if copies.try_reserve_exact(bytes / 8).is_err() {
            self.account.give(bytes as u64);
            return Err(self.account.exhausted(bytes as u64));
        }
        let memory = Shared(copies.as_mut_ptr().cast::<u8>());
        self.chunks(count, &|worker, i| {
            let base = memory.at(i * stride);
            let table: Vec<*mut u8> = columns
                .iter()
                .map(|c| base.wrapping_add(c.offset))
                .collect();
            for (column, start) in columns.iter().zip(&table) {
                // SAFETY: the column lies within this chunk's copy.
                unsafe { fill(*start, column) };
            }
            call(worker, piece(i, size, total), &table);
        });
        if !self.launch.over() {
            self.merge(hists, &columns, &table, memory, (count, stride));
        }
        self.account.give(bytes as u64);
        Ok(())
    }

    /// Runs a part of a ragged space.
    fn hist_part(&self, chunk: Code, worker: &mut Worker<'_>, part: Part, table: &[*mut u8]) {
        let Part { rows, points } = part;
        let (slots, table) = (self.slots.as_ptr(), table.as_ptr());
        // SAFETY: as for regular spaces; chunk units for ragged ones have this signature.
        unsafe {
            let chunk: Ragged = function(chunk);
            chunk(worker, slots, rows.0, rows.1, points.0, points.1, table);
        }
    }

    /// The layout of a copy.
    fn columns(&self, hists: &[CompiledHist]) -> Vec<Column> {
        let mut offset = 0usize;
        let mut columns = Vec::new();
        for hist in hists {
            let len = usize::try_from(scalar(hist.buckets, self.slots) as i64).unwrap_or(0);
            for (ty, neutral) in hist.tuple.types.iter().zip(self.neutral(&hist.tuple)) {
                let bytes = width(*ty);
                columns.push(Column {
                    offset,
                    bytes,
                    len,
                    neutral,
                });
                offset = offset
                    .saturating_add(bytes.saturating_mul(len))
                    .next_multiple_of(64);
            }
        }
        columns
    }

    /// Puts the copies into the destinations, first chunk first, ranges of buckets in parallel.
    fn merge(
        &self,
        hists: &[CompiledHist],
        columns: &[Column],
        table: &[*mut u8],
        memory: Shared<u8>,
        (count, stride): (usize, usize),
    ) {
        let mut first = 0;
        for hist in hists {
            let k = hist.dests.len();
            let mine = &columns[first..first + k];
            let dests = Shared(table[first..].as_ptr().cast_mut());
            first += k;
            let len = mine.first().map_or(0, |c| c.len as i64);
            if len == 0 {
                continue;
            }
            let step = piece_size(len, 64, CHUNK.0 / (MERGE * count as f64));
            self.chunks(pieces(len, step), &|worker, i| {
                let (lo, hi) = piece(i, step, len);
                for c in 0..count {
                    let sources: Vec<*mut u8> = mine
                        .iter()
                        .map(|m| memory.at(c * stride + m.offset))
                        .collect();
                    // SAFETY: merging units have this signature; both tables hold an address per component.
                    unsafe {
                        let merge: Merge = function(hist.merge);
                        merge(
                            worker,
                            self.slots.as_ptr(),
                            lo,
                            hi,
                            dests.at(0),
                            sources.as_ptr(),
                        );
                    }
                }
            });
        }
    }
}

/// Sets every bucket of a column to the neutral element.
///
/// # Safety
/// `start` is the memory of the column.
unsafe fn fill(start: *mut u8, column: &Column) {
    macro_rules! each {
        ($ty:ty) => {
            for i in 0..column.len {
                // SAFETY: promised by the caller.
                unsafe { start.cast::<$ty>().add(i).write(column.neutral as $ty) };
            }
        };
    }
    match column.bytes {
        1 => each!(u8),
        2 => each!(u16),
        4 => each!(u32),
        _ => each!(u64),
    }
}
