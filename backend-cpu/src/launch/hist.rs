//! Histograms. Where the buckets are few for the points, chunks have copies of their own, merged in order; else the
//! points are worked through in order. Which of the two depends on sizes and cost alone. Working in order may be shared out
//! by buckets: then each thread goes through all points, which changes no result.

mod own;

use super::ragged::Part;
use super::{ALONE, CHUNK, Late, Run, Shared, function, piece, piece_size, pieces, scalar, width};
use crate::compile::{Code, CompiledHist};
use crate::worker::Worker;
use midend::fired::fired;
use midend::trap::RunError;

type Chunk = unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, *const *mut u8) -> u8;
type Ragged =
    unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, i64, i64, *const *mut u8) -> u8;
type Window =
    unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, *const *mut u8, i64, i64) -> u8;
type RaggedWindow = unsafe extern "C" fn(
    *mut Worker<'_>,
    *const u64,
    i64,
    i64,
    i64,
    i64,
    *const *mut u8,
    i64,
    i64,
) -> u8;
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
/// Bytes of buckets that caches near the cores hold.
const CACHED: usize = 1 << 20;
/// Estimated nanoseconds to update a bucket that is in such a cache, and one that is not.
const HIT: f64 = 1.0;
const MISS: f64 = 4.0;
/// The most bytes of the tables that points go to in turn, without the first: they are in the nearest cache with others.
const TABLES: usize = 12 << 10;
/// How many points there must be for each bucket, so that making and merging such tables pays.
const TURNS: i64 = 32;

/// One component of one histogram in the memory of a copy.
struct Column {
    /// Bytes from the start of the copy.
    offset: usize,
    bytes: usize,
    len: usize,
    neutral: u64,
}

impl Run<'_> {
    pub(super) fn hist(
        &self,
        (chunk, tables): (Code, usize),
        window: Option<Late<'_>>,
        hists: &[CompiledHist],
    ) -> Result<(), RunError> {
        let (total, cost) = self.items();
        if total <= 0 {
            return Ok(());
        }
        let columns = self.columns(hists);
        let call = |worker: &mut Worker<'_>, (lo, hi): (i64, i64), table: &[*mut u8]| {
            if let Some(rows) = self.rows {
                return self.hist_part(chunk, worker, rows.part((lo, hi)), table);
            }
            if tables > 1 {
                return self.in_turn(
                    (chunk, tables),
                    worker,
                    (lo, hi),
                    table[0],
                    (&hists[0], &columns[0]),
                );
            }
            // SAFETY: chunk units of histograms have this signature; `table` holds an address per destination with room
            // for all buckets.
            unsafe {
                let chunk: Chunk = function(chunk);
                chunk(worker, self.slots.as_ptr(), lo, hi, table.as_ptr());
            }
        };
        let dests: Vec<usize> = hists.iter().flat_map(|h| h.dests.iter().copied()).collect();
        let mut table = self.table(&dests);
        // No sums may be rounded in parts.
        table.push(std::ptr::null_mut());
        let values: usize = columns.iter().map(|c| c.len).sum();
        let work = total as f64 * cost;
        // A copy must pay: its chunk is dearer than making and merging it.
        let least = (4.0 * MERGE * self.dearer * values as f64).max(CHUNK.0) / cost;
        let size = piece_size(total, COPIES, least);
        let exact = hists.iter().all(|h| h.tuple.is_exact());
        // Copies of a part of the points would begin and end elsewhere if there were others beside.
        let in_order = self.steady || (self.threads <= 1 && exact);
        let alone = work < ALONE || size >= total || in_order;
        if alone && let Some(window) = window.filter(|_| self.gains_by_windows(work, &columns)) {
            fired("cpu/histogram-by-buckets");
            self.windows(window()?, &table);
            return Ok(());
        }
        if alone {
            let step = ((1e7 / cost) as i64).max(1);
            let here = Shared(table.as_ptr().cast_mut());
            self.chunks_here(pieces(total, step), &|worker, i| {
                // SAFETY: the table lives until the chunks are done, and is only read.
                let table = unsafe { std::slice::from_raw_parts(here.at(0), dests.len() + 1) };
                call(worker, piece(i, step, total), table);
            });
            return Ok(());
        }
        if tables > 1 && self.own_tables((chunk, tables), (&hists[0], &columns[0]), table[0]) {
            return Ok(());
        }
        fired("cpu/histogram-in-copies");
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
            let starts = columns.iter().map(|c| base.wrapping_add(c.offset));
            // Sums may be rounded in parts, as they are by copies: see the code for rows.
            let table: Vec<*mut u8> = starts.chain([base]).collect();
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

    /// Runs a piece whose points go to so many tables in turn: where the points are many for the buckets and these few, to some that are
    /// made for it and put into the first afterwards.
    fn in_turn(
        &self,
        (chunk, tables): (Code, usize),
        worker: &mut Worker<'_>,
        (lo, hi): (i64, i64),
        first: *mut u8,
        (hist, column): (&CompiledHist, &Column),
    ) {
        let mut call = |table: &[*mut u8]| {
            // SAFETY: the code of such chunks has this signature; `table` has as many addresses as it takes, each with room for all
            // buckets.
            unsafe {
                let chunk: Chunk = function(chunk);
                chunk(worker, self.slots.as_ptr(), lo, hi, table.as_ptr());
            }
        };
        let stride = (column.bytes * column.len).next_multiple_of(64) + 64;
        let room = (tables - 1).saturating_mul(stride);
        if room > TABLES || (hi - lo) / TURNS < column.len as i64 {
            return call(&vec![first; tables]);
        }
        fired("cpu/tables-in-turn");
        let mut memory = [0u64; TABLES / 8];
        let others = Shared(memory.as_mut_ptr().cast::<u8>());
        let mut table = vec![first];
        table.extend((0..tables - 1).map(|i| others.at(i * stride)));
        for other in &table[1..] {
            // SAFETY: all of them fit, as was checked above.
            unsafe { fill(*other, column) };
        }
        call(&table);
        for i in 1..tables {
            let (slots, len) = (self.slots.as_ptr(), column.len as i64);
            let (to, from) = (&raw const table[0], &raw const table[i]);
            // SAFETY: merging units have this signature; both tables hold an address for the one component.
            unsafe {
                let merge: Merge = function(hist.merge);
                merge(worker, slots, 0, len, to, from);
            }
        }
    }

    /// Whether it is faster that each thread goes through all points and touches its own part of the buckets than that one
    /// does everything: it is if finding the buckets in memory costs more than finding out which they are.
    fn gains_by_windows(&self, work: f64, columns: &[Column]) -> bool {
        let bytes: usize = columns.iter().map(|c| c.bytes * c.len).sum();
        let (total, cost) = self.items();
        let update = self.dearer * if bytes > CACHED { MISS } else { HIT };
        let threads = self.threads as f64;
        self.threads > 1
            && work + total as f64 * update > 2.0 * ALONE
            && cost + update > 1.25 * (cost + update / threads)
    }

    /// Each thread touches its own part of the buckets. Every bucket is updated in the order of points, as by one thread.
    fn windows(&self, code: Code, table: &[*mut u8]) {
        let (total, _) = self.items();
        let dests = Shared(table.as_ptr().cast_mut());
        let parts = self.threads;
        // That it is worth all threads was found out by what updates cost.
        self.chunks_on(parts, parts, &|worker, i| {
            let (slots, table) = (self.slots.as_ptr(), dests.at(0).cast_const());
            let (which, parts) = (i as i64, parts as i64);
            match self.rows {
                // SAFETY: window units have this signature; `table` holds an address per destination with room for all
                // buckets, and no two windows touch the same ones.
                None => unsafe {
                    let window: Window = function(code);
                    window(worker, slots, 0, total, table, which, parts);
                },
                Some(rows) => {
                    let Part { rows, points } = rows.part((0, total));
                    let (first, last) = points;
                    // SAFETY: as above, for ragged spaces.
                    unsafe {
                        let window: RaggedWindow = function(code);
                        window(
                            worker, slots, rows.0, rows.1, first, last, table, which, parts,
                        );
                    }
                }
            }
        });
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
            let parts = pieces(len, step);
            let hands = self.threads.min(parts.div_ceil((ALONE / CHUNK.0) as usize));
            self.chunks_on(hands, parts, &|worker, i| {
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
