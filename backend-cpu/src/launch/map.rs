//! Maps: points in any order.

use super::ragged::Part;
use super::{ALONE, CHUNK, Run, function, piece, piece_size, pieces, scalar};
use crate::compile::{Code, CompiledLanes, CompiledTiles};
use crate::emit::past::FAR;
use crate::worker::Worker;
use midend::fired::fired;
use std::sync::atomic::Ordering;

/// Fewer rows, columns or steps are not worth a tile.
const FEW_ROWS: i64 = 8;
const FEW_COLUMNS: i64 = 16;
const FEW_STEPS: i64 = 8;
/// Tiles are not made larger if there were fewer then.
const ENOUGH_TILES: usize = 32;

/// Bytes of a plane that stay near a thread beside those of the planes next to it: an eighth of the second nearest cache, or less.
const NEAR: i64 = 256 << 10;
/// What a point is taken to read and write of its own, in bytes.
const OF_POINT: i64 = 8;
/// Fewer planes are not worth an order of their own.
const FEW_PLANES: i64 = 4;

/// Rows of so many groups of lanes are short.
const SHORT: i64 = 16;
/// So many rows for each thread are enough for it to have as much to do as others.
const ROWS: i64 = 8;

/// Results of so many bytes are stored past the caches. Two cores of a Xeon with AVX-512 that shares its last cache with others, a loop in C
/// with stores of both kinds, in turns: a map of one array to one of 160 to 360 MiB takes 0.68 to 0.84 of the time with stores past
/// the caches, of 8 to 20 MiB 1.1 to 1.7 times as long, and one of 50 to 110 MiB sometimes the one and sometimes the other, since a last
/// cache that has room for it keeps it for whoever reads it next.
const LARGE: f64 = (128 << 20) as f64;

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

/// Points of several planes in an order in which a part of each plane comes before the next part of any: neighbours in the next plane
/// are read again soon, as is what all planes share. Where a thread goes through whole planes that are large, both are far away by then.
///
/// ```text
/// rows ×  columns    plane 0   1   2   3        plane 0   1   2   3
///                          0   4   8  12              0   1   2   3
///                          1   5   9  13       ──►    4   5   6   7
///                          2   6  10  14              8   9  10  11
///                          3   7  11  15             12  13  14  15
/// ```
#[derive(Clone, Copy, Debug)]
struct Planes {
    planes: i64,
    /// Points of a plane, and of a part of one.
    plane: i64,
    part: i64,
}

impl Planes {
    /// For planes of so many rows, if they are so large, of which so many bytes stay near, and points that cost so many nanoseconds: for more,
    /// memory is no matter.
    fn of(planes: i64, (rows, row): (i64, i64), (near, cost): (i64, f64)) -> Option<Self> {
        let plane = rows.checked_mul(row)?;
        let is_large = plane.checked_mul(OF_POINT)? > 4 * near;
        let part = (near / OF_POINT / row.max(1)).max(1) * row;
        let is_cheap = (CHUNK.0..4.0 * CHUNK.1).contains(&(part as f64 * cost));
        (is_large && is_cheap && part < plane && planes >= FEW_PLANES).then_some(Self {
            planes,
            plane,
            part,
        })
    }

    fn count(&self) -> usize {
        pieces(self.plane, self.part) * self.planes as usize
    }

    fn piece(&self, i: usize) -> (i64, i64) {
        let planes = self.planes as usize;
        let start = (i % planes) as i64 * self.plane;
        let (lo, hi) = piece(i / planes, self.part, self.plane);
        (start + lo, start + hi)
    }
}

impl Run<'_> {
    /// The order of points of a space of planes, if they are large.
    fn planes(&self) -> Option<Planes> {
        match self.extents {
            [outer @ .., rows, row] if self.rows.is_none() && !outer.is_empty() => {
                let near = (NEAR as f64 / self.dearer) as i64;
                Planes::of(self.points(outer), (*rows, *row), (near, self.cost))
            }
            _ => None,
        }
    }

    /// Has results stored past the caches if they are large, of which each point writes so many bytes.
    pub(super) fn store_past(&self, bytes: i64) {
        let (points, _) = self.items();
        if points as f64 * bytes as f64 * self.dearer >= LARGE {
            fired("cpu/stores-past-caches");
            self.launch.past.store(FAR, Ordering::Relaxed);
        }
    }

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

    /// The code for rows of so many points as there are: that for lanes where these are filled at least by half.
    pub(super) fn faster(&self, scalar: (Code, i64), vector: Option<CompiledLanes>) -> (Code, i64) {
        let width = match &self.rows {
            Some(rows) => rows.points() / rows.count().max(1),
            None => self.extents.last().copied().unwrap_or(1),
        };
        match vector.filter(|vector| width >= vector.least) {
            Some(vector) => {
                fired("cpu/map-under-a-mask");
                (vector.code, vector.lanes)
            }
            None => scalar,
        }
    }

    pub(super) fn map(&self, chunk: Code, lanes: i64) {
        let (total, cost) = self.items();
        if total <= 0 {
            return;
        }
        let work = total as f64 * cost;
        if let Some(planes) = self.planes() {
            fired("cpu/map-by-planes");
            self.chunks_apart(planes.count(), &|worker, i| {
                call(chunk, worker, self.slots, planes.piece(i));
            });
            return;
        }
        if self.threads <= 1 || work < ALONE || total == 1 {
            // Pieces remain, so that a stop is noticed between them.
            let size = piece_size(total, 1, 0.0).min(((1e7 / cost) as i64).max(1));
            let size = self.whole(size, lanes);
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

    /// Runs a map in tiles, or those of some of the outermost indices on this thread, if there are enough rows, columns and steps for
    /// that to pay, and an outermost dimension that tiles do not cut. Whether it did.
    pub(super) fn tiles(&self, tiles: &CompiledTiles, part: Option<(i64, i64)>) -> bool {
        let steps = scalar(tiles.steps, self.slots) as i64;
        let [outer @ .., rows, columns] = self.extents else {
            return false;
        };
        if *rows < FEW_ROWS || *columns < FEW_COLUMNS || steps < FEW_STEPS {
            return false;
        }
        let (first, outer) = match (part, outer) {
            (None, _) => (0, self.points(outer) as usize),
            (Some(_), []) => return false,
            (Some((lo, hi)), [_, inner @ ..]) => {
                let inner = self.points(inner);
                ((lo * inner) as usize, ((hi - lo) * inner) as usize)
            }
        };
        let tiles_of = |doubled: u32| {
            let rows = pieces(*rows, tiles.size.0 << doubled);
            let columns = pieces(*columns, tiles.size.1 << doubled);
            (rows * columns).saturating_mul(outer)
        };
        // Tiles as large as may be of which there are some for each thread of a usual machine.
        let mut larger = (1..=tiles.doubled).rev();
        let doubled = larger.find(|k| tiles_of(*k) >= ENOUGH_TILES).unwrap_or(0);
        let count = tiles_of(doubled);
        let first = count / outer.max(1) * first;
        let work = self.points(self.extents) as f64 * self.cost;
        let run = |worker: &mut Worker<'_>, tile: usize| {
            let tile = (first + tile) as i64;
            call(tiles.code, worker, self.slots, (tile, i64::from(doubled)));
        };
        if self.threads <= 1 || work < ALONE || part.is_some() {
            self.chunks_here(count, &run);
        } else {
            // What a thread has written is near when the next launch comes there.
            self.chunks_apart(count, &run);
        }
        true
    }

    /// The size of pieces made larger, so that they are whole rows, or at least whole groups of lanes. Short rows are not cut if there are
    /// some for each thread: what a cut leaves of a row, on both sides, is fewer points than lanes.
    fn whole(&self, size: i64, lanes: i64) -> i64 {
        if self.rows.is_some() {
            return size;
        }
        let row = self.extents.last().copied().unwrap_or(1).max(1);
        let (points, _) = self.items();
        let is_short = row <= SHORT * lanes && points / row >= ROWS * self.threads as i64;
        let unit = if size >= row || is_short { row } else { lanes };
        size.saturating_add(unit - 1) / unit * unit
    }
}

#[cfg(test)]
mod tests {
    use super::{NEAR, Planes};

    #[test]
    fn all_points_of_planes_are_done_once() {
        for (planes, rows, row) in [
            (4, 512, 512),
            (9, 1200, 129),
            (5, 1, 1 << 20),
            (64, 300_000, 1),
        ] {
            let Some(order) = Planes::of(planes, (rows, row), (NEAR, 1.0)) else {
                assert_eq!(rows, 1, "a row is no part of itself");
                continue;
            };
            let mut pieces: Vec<(i64, i64)> = (0..order.count()).map(|i| order.piece(i)).collect();
            // The same part of the next plane comes next.
            assert_eq!(pieces[1].0 - pieces[0].0, rows * row);
            pieces.sort_unstable();
            let ends = pieces.iter().fold(0, |end, (lo, hi)| {
                assert!(*lo == end && lo < hi && hi - lo <= order.part);
                *hi
            });
            assert_eq!(ends, planes * rows * row);
        }
    }

    #[test]
    fn small_planes_and_dear_points_are_left_in_order() {
        let is_other = |planes, sizes, cost| Planes::of(planes, sizes, (NEAR, cost)).is_some();
        assert!(is_other(64, (512, 512), 1.0));
        assert!(!is_other(64, (256, 256), 1.0));
        assert!(!is_other(3, (512, 512), 1.0));
        assert!(!is_other(64, (512, 512), 100.0));
        assert!(!is_other(9, (1 << 40, 1 << 40), 1.0));
    }
}
