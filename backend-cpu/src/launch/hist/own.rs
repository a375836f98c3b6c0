//! Histograms of sums of integers with few buckets: each thread has tables of its own for all of the points that it happens to be given,
//! to which these go in turn, and adds what is in them to the destination when no points are left. Sums are the same in any order, so that
//! there are as many tables as threads, however finely the points are shared out.

use super::{Chunk, Column, Merge, TABLES, TURNS};
use crate::compile::{Code, CompiledHist};
use crate::launch::{CHUNK, Run, Shared, function, piece, piece_size, pieces};
use crate::worker::Worker;
use midend::fired::fired;
use std::sync::{Mutex, PoisonError};

/// The most bytes of the tables of a thread, the first among them.
const OWN: usize = TABLES / 3 * 4;
/// How many pieces there are for each thread, so that all are through at about the same time.
const PIECES: i64 = 64;

impl Run<'_> {
    /// Runs the histogram in this way, if the points are many for the buckets and these few. Whether it did.
    pub(super) fn own_tables(
        &self,
        (chunk, tables): (Code, usize),
        (hist, column): (&CompiledHist, &Column),
        dest: *mut u8,
    ) -> bool {
        let (total, cost) = self.items();
        let stride = (column.bytes * column.len).next_multiple_of(64) + 64;
        let threads = self.threads as i64;
        if tables.saturating_mul(stride) > OWN || total / threads / TURNS < column.len as i64 {
            return false;
        }
        fired("cpu/tables-of-threads");
        let size = piece_size(total, PIECES.saturating_mul(threads), CHUNK.0 / cost);
        let count = pieces(total, size);
        let dest = Mutex::new(Shared(dest));
        self.claims_apart(self.hands(count), (count, false), &|worker, next| {
            let Some(first) = next() else { return };
            // Sums begin with zero.
            let mut memory = [0u64; OWN / 8];
            let memory = Shared(memory.as_mut_ptr().cast::<u8>());
            let table: Vec<*mut u8> = (0..tables).map(|i| memory.at(i * stride)).collect();
            for i in std::iter::once(first).chain(std::iter::from_fn(next)) {
                let (lo, hi) = piece(i, size, total);
                // SAFETY: the code of such chunks has this signature; `table` has as many addresses as it takes, each with room for all
                // buckets.
                unsafe {
                    let chunk: Chunk = function(chunk);
                    chunk(worker, self.slots.as_ptr(), lo, hi, table.as_ptr());
                }
            }
            for other in &table[1..] {
                self.add_table(worker, (hist, column), [table[0], *other]);
            }
            let dest = dest.lock().unwrap_or_else(PoisonError::into_inner);
            self.add_table(worker, (hist, column), [dest.at(0), table[0]]);
        });
        true
    }

    /// Puts a table into another.
    fn add_table(
        &self,
        worker: &mut Worker<'_>,
        (hist, column): (&CompiledHist, &Column),
        [to, from]: [*mut u8; 2],
    ) {
        let (slots, len) = (self.slots.as_ptr(), column.len as i64);
        // SAFETY: merging units have this signature; both tables hold an address for the one component.
        unsafe {
            let merge: Merge = function(hist.merge);
            merge(worker, slots, 0, len, &raw const to, &raw const from);
        }
    }
}
