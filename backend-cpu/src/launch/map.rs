//! Maps: points in any order.

use super::{ALONE, CHUNK, Run, function, piece, piece_size, pieces};
use crate::compile::Code;
use crate::worker::Worker;

type Chunk = unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64) -> u8;

/// Runs the points `lo..hi`.
pub(super) fn call(code: Code, worker: &mut Worker<'_>, slots: &[u64], lo: i64, hi: i64) {
    // SAFETY: chunk units of maps and sequential kernels have this signature; the slots were checked against the
    // kernel's arguments, and the program does not leave its buffers. A failure is in the launch's record.
    unsafe {
        let chunk: Chunk = function(code);
        chunk(worker, slots.as_ptr(), lo, hi);
    }
}

impl Run<'_> {
    pub(super) fn map(&self, chunk: Code, lanes: i64) {
        let total = self.points(self.extents);
        if total <= 0 {
            return;
        }
        let work = total as f64 * self.cost;
        if self.threads <= 1 || work < ALONE || total == 1 {
            // Pieces remain, so that a stop is noticed between them.
            let size = piece_size(total, 1, 0.0).min(((1e7 / self.cost) as i64).max(1));
            let count = pieces(total, size);
            self.chunks_here(count, &|worker, i| {
                let (lo, hi) = piece(i, size, total);
                call(chunk, worker, self.slots, lo, hi);
            });
            return;
        }
        let grain = (work / (8 * self.threads) as f64).clamp(CHUNK.0, CHUNK.1);
        let size = self.whole(piece_size(total, total, grain / self.cost), lanes);
        let count = pieces(total, size);
        self.chunks(count, &|worker, i| {
            let (lo, hi) = piece(i, size, total);
            call(chunk, worker, self.slots, lo, hi);
        });
    }

    /// The size of pieces made larger, so that they are whole rows, or at least whole groups of lanes.
    fn whole(&self, size: i64, lanes: i64) -> i64 {
        let row = self.extents.last().copied().unwrap_or(1).max(1);
        let unit = if size >= row { row } else { lanes };
        size.saturating_add(unit - 1) / unit * unit
    }
}
