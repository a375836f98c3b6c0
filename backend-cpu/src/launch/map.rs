//! Maps: points in any order.

use super::ragged::Part;
use super::{ALONE, CHUNK, Run, function, piece, piece_size, pieces, scalar};
use crate::compile::{Code, CompiledTiles};
use crate::worker::Worker;
use midend::fired::fired;

/// Fewer rows, columns or steps are not worth a tile.
const FEW_ROWS: i64 = 8;
const FEW_COLUMNS: i64 = 16;
const FEW_STEPS: i64 = 8;
/// Tiles are not made larger if there were fewer then.
const ENOUGH_TILES: usize = 32;

type Chunk = unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64) -> u8;

type Ragged = unsafe extern "C" fn(*mut Worker<'_>, *const u64, i64, i64, i64, i64) -> u8;

/// Runs the points `lo..hi`.
pub(super) fn call(code: Code, worker: &mut Worker<'_>, slots: &[u64], (lo, hi): (i64, i64)) {
    // SAFETY: chunk units of maps and sequential kernels have this signature; the slots were checked against the
    // kernel's arguments, and the program does not leave its buffers. A failure is in the launch's record.
    unsafe {
        let chunk: Chunk = function(code);
        chunk(worker, slots.as_ptr(), lo, hi);
    }
}

impl Run<'_> {
    /// Runs items.
    fn map_items(&self, chunk: Code, worker: &mut Worker<'_>, items: (i64, i64)) {
        let Some(rows) = self.rows else {
            return call(chunk, worker, self.slots, items);
        };
        let Part { rows, points } = rows.part(items);
        // SAFETY: as above; chunk units of maps over ragged spaces have this signature.
        unsafe {
            let chunk: Ragged = function(chunk);
            let slots = self.slots.as_ptr();
            chunk(worker, slots, rows.0, rows.1, points.0, points.1);
        }
    }

    pub(super) fn map(&self, chunk: Code, lanes: i64) {
        let (total, cost) = self.items();
        if total <= 0 {
            return;
        }
        let work = total as f64 * cost;
        if self.threads <= 1 || work < ALONE || total == 1 {
            // Pieces remain, so that a stop is noticed between them.
            let size = piece_size(total, 1, 0.0).min(((1e7 / cost) as i64).max(1));
            let count = pieces(total, size);
            self.chunks_here(count, &|worker, i| {
                self.map_items(chunk, worker, piece(i, size, total));
            });
            return;
        }
        let grain = (work / (8 * self.threads) as f64).clamp(CHUNK.0, CHUNK.1);
        let size = self.whole(piece_size(total, total, grain / cost), lanes);
        let count = pieces(total, size);
        if count > 1 {
            fired("cpu/map-in-pieces");
        }
        self.chunks_apart(count, &|worker, i| {
            self.map_items(chunk, worker, piece(i, size, total));
        });
    }

    /// Runs a map in tiles, if there are enough rows, columns and steps for that to pay. Whether it did.
    pub(super) fn tiles(&self, tiles: &CompiledTiles) -> bool {
        let steps = scalar(tiles.steps, self.slots) as i64;
        let [outer @ .., rows, columns] = self.extents else {
            return false;
        };
        if *rows < FEW_ROWS || *columns < FEW_COLUMNS || steps < FEW_STEPS {
            return false;
        }
        let outer = self.points(outer) as usize;
        let tiles_of = |doubled: u32| {
            let rows = pieces(*rows, tiles.size.0 << doubled);
            let columns = pieces(*columns, tiles.size.1 << doubled);
            (rows * columns).saturating_mul(outer)
        };
        // Tiles as large as may be of which there are some for each thread of a usual machine.
        let mut larger = (1..=tiles.doubled).rev();
        let doubled = larger.find(|k| tiles_of(*k) >= ENOUGH_TILES).unwrap_or(0);
        let count = tiles_of(doubled);
        let work = self.points(self.extents) as f64 * self.cost;
        let run = |worker: &mut Worker<'_>, tile: usize| {
            call(
                tiles.code,
                worker,
                self.slots,
                (tile as i64, i64::from(doubled)),
            );
        };
        if self.threads <= 1 || work < ALONE {
            self.chunks_here(count, &run);
        } else {
            self.chunks(count, &run);
        }
        true
    }

    /// The size of pieces made larger, so that they are whole rows, or at least whole groups of lanes.
    fn whole(&self, size: i64, lanes: i64) -> i64 {
        if self.rows.is_some() {
            return size;
        }
        let row = self.extents.last().copied().unwrap_or(1).max(1);
        let unit = if size >= row { row } else { lanes };
        size.saturating_add(unit - 1) / unit * unit
    }
}
