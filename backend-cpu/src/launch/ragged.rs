//! Spaces with ragged dimensions, cut into pieces of equal work. What is outside of the innermost dimension makes rows.
//! The *items* of a space are its points, and for each row its end, which stands behind the points of the row: a cut
//! of the items into even pieces shares out long rows as well as many empty ones. Where a piece begins is searched for
//! once, near where it would be if all rows had one length. Cuts depend on the offsets and the cost alone. In a steady
//! kernel a row is cut at multiples of a number of points from its own start, or not at all, whatever is beside it.

mod search;

use super::reduce::combine;
use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces, width};
use crate::compile::{Code, Compiled, Dimension, Tuple};
use crate::worker::Worker;
use midend::fired::fired;
use midend::trap::{RunError, check_count};
use search::near;

/// Estimated nanoseconds that a row costs besides its points.
const ROW: f64 = 2.0;
/// The most pieces that rows are cut into: so many that those who are ready first do not wait long for the last one.
const CUTS: i64 = 256;

type Reduce = unsafe extern "C" fn(
    *mut Worker<'_>,
    *const u64,
    i64,
    i64,
    i64,
    i64,
    *const *mut u8,
    *mut u64,
) -> u8;
type Scan = unsafe extern "C" fn(
    *mut Worker<'_>,
    *const u64,
    i64,
    i64,
    i64,
    i64,
    *mut u64,
    *const *mut u8,
) -> u8;
type Fix = super::scan::Fix;

/// The rows of a ragged space.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rows<'a> {
    /// So many rows of so many points each.
    Even(i64, i64),
    /// Where rows start, and the number of points.
    Offsets(&'a [i64]),
}

/// A part of a space: from a point in a row to one before a point in another row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The first row, and the one in which the part ends, which is not finished.
    pub(crate) rows: (i64, i64),
    /// The first point, and one past the last.
    pub(crate) points: (i64, i64),
}

impl Rows<'_> {
    /// The number of rows.
    pub(crate) fn count(self) -> i64 {
        match self {
            Self::Even(rows, _) => rows,
            Self::Offsets(offsets) => offsets.len() as i64 - 1,
        }
    }

    /// The number of the first point of a row; of the row behind the last, how many points there are.
    pub(crate) fn start(self, row: i64) -> i64 {
        match self {
            Self::Even(_, points) => row * points,
            Self::Offsets(offsets) => offsets[row as usize],
        }
    }

    /// The number of points, saturating.
    pub(crate) fn points(self) -> i64 {
        match self {
            Self::Even(rows, points) => rows.saturating_mul(points),
            Self::Offsets(_) => self.start(self.count()),
        }
    }

    /// The number of items.
    pub(crate) fn items(self) -> i64 {
        self.points().saturating_add(self.count())
    }

    /// The row and the point before which so many items are.
    fn split(self, items: i64) -> (i64, i64) {
        let row = match self {
            Self::Even(_, points) => items / (points + 1),
            Self::Offsets(offsets) => {
                // The ends of rows are ever further behind.
                let is_before = |row: usize| offsets[row + 1] + (row as i64) < items;
                let rows = offsets.len() - 1;
                let share = items as f64 / self.items().max(1) as f64;
                near(rows, (share * rows as f64) as usize, is_before) as i64
            }
        };
        (row, items - row)
    }

    /// The part that items make.
    pub(crate) fn part(self, (lo, hi): (i64, i64)) -> Part {
        let ((first, from), (last, to)) = (self.split(lo), self.split(hi));
        Part {
            rows: (first, last),
            points: (from, to),
        }
    }
}

/// How the items of rows are cut.
struct Cuts<'a> {
    rows: Rows<'a>,
    by: By,
}

enum By {
    /// Into pieces of so many, of so many in all.
    Items(i64, i64),
    /// Before these rows and points.
    Rows(Vec<(i64, i64)>),
}

impl<'a> Cuts<'a> {
    /// Cuts that no row can tell what is beside it by: rows of fewer than `size` points are not cut, others at multiples of that.
    fn steady(rows: Rows<'a>, size: i64) -> Self {
        let mut cuts = vec![(0, 0)];
        // A row that is long enough to be cut has a cut of the items in it.
        for i in 1..pieces(rows.items(), size) {
            let (row, _) = rows.split(i as i64 * size);
            let (first, end) = (rows.start(row), rows.start(row + 1));
            if cuts.last().is_some_and(|(last, _)| *last > row) {
                continue;
            }
            cuts.push((row, first));
            if end - first >= size {
                cuts.extend((1..pieces(end - first, size)).map(|k| (row, first + k as i64 * size)));
                cuts.push((row + 1, end));
            }
        }
        cuts.push((rows.count(), rows.points()));
        cuts.dedup();
        Self {
            rows,
            by: By::Rows(cuts),
        }
    }

    fn count(&self) -> usize {
        match &self.by {
            By::Items(size, items) => pieces(*items, *size),
            By::Rows(cuts) => cuts.len() - 1,
        }
    }

    fn part(&self, i: usize) -> Part {
        match &self.by {
            By::Items(size, items) => self.rows.part(piece(i, *size, *items)),
            By::Rows(cuts) => {
                let ((first, from), (last, to)) = (cuts[i], cuts[i + 1]);
                Part {
                    rows: (first, last),
                    points: (from, to),
                }
            }
        }
    }
}

/// The rows of a kernel's space, if a dimension is ragged.
pub(super) fn rows<'a>(
    compiled: &Compiled,
    slots: &'a [u64],
) -> Result<Option<Rows<'a>>, RunError> {
    let ragged = |dim: &Dimension| matches!(dim, Dimension::Ragged(_));
    if !compiled.space.iter().any(ragged) {
        return Ok(None);
    }
    let mut rows = Rows::Even(1, 1);
    for dim in &compiled.space {
        let count = rows.points();
        rows = match *dim {
            Dimension::Regular(source) => {
                Rows::Even(count, (super::scalar(source, slots) as i64).max(0))
            }
            Dimension::Ragged(arg) => {
                let start = slots[arg] as *const i64;
                // SAFETY: a plan gives ragged dimensions a buffer with an offset for each row and one more, to which
                // no kernel over them writes.
                Rows::Offsets(unsafe { std::slice::from_raw_parts(start, count as usize + 1) })
            }
        };
    }
    check_count(rows.points())?;
    Ok(Some(rows))
}

impl Run<'_> {
    /// The number of items to be shared out, and the cost of one: the points, and if the space is ragged the rows.
    pub(super) fn items(&self) -> (i64, f64) {
        let Some(rows) = self.rows else {
            return (self.points(self.extents), self.cost);
        };
        let (items, points) = (rows.items(), rows.points());
        let work = points as f64 * self.cost + rows.count() as f64 * ROW;
        (items, work / items.max(1) as f64)
    }

    /// The chunks of a reduction or scan over ragged rows.
    fn cuts<'r>(&self, rows: Rows<'r>) -> Cuts<'r> {
        if self.steady {
            let size = piece_size(1, 1, ALONE / self.cost);
            return Cuts::steady(rows, size);
        }
        let (items, cost) = self.items();
        let size = if items as f64 * cost < ALONE {
            items.max(1)
        } else {
            piece_size(items, CUTS, CHUNK.0 / cost)
        };
        let by = By::Items(size, items);
        Cuts { rows, by }
    }

    /// Rows that a cut goes through are put together from the parts that chunks found, in order.
    pub(super) fn reduce_ragged(
        &self,
        rows: Rows<'_>,
        (chunk, combiner): (Code, Code),
        outs: &[usize],
        tuple: &Tuple,
    ) {
        let table = self.table(outs);
        let results = Shared(table.as_ptr().cast_mut());
        let k = outs.len();
        let cuts = self.cuts(rows);
        let count = cuts.count();
        if count > 1 {
            fired("cpu/reduction-of-rows-in-pieces");
        }
        let mut tails = vec![0u64; count * k];
        let place = Shared(tails.as_mut_ptr());
        let mut parts = vec![None; count];
        let found = Shared(parts.as_mut_ptr());
        let work = |worker: &mut Worker<'_>, i: usize| {
            let part = cuts.part(i);
            // SAFETY: there is a place for each chunk, which is that of the thread that has it.
            unsafe { found.at(i).write(Some(part)) };
            // SAFETY: chunk units of reductions over ragged rows have this signature; the table has an address per
            // component, valid for all rows, and there are slots for the tuple of a row that is not finished.
            unsafe {
                let chunk: Reduce = function(chunk);
                chunk(
                    worker,
                    self.slots.as_ptr(),
                    part.rows.0,
                    part.rows.1,
                    part.points.0,
                    part.points.1,
                    results.at(0),
                    place.at(i * k),
                );
            }
        };
        self.chunks_apart(count, &work);
        if self.launch.over() || k == 0 {
            return;
        }
        let mut worker = Worker::new(self.launch);
        // What earlier chunks found of the row in which the chunk begins.
        let mut carry: Option<Vec<u64>> = None;
        for (i, part) in parts.into_iter().enumerate() {
            // All chunks have been done, as the launch was not over before.
            let Some(part) = part else { return };
            let tail = &tails[i * k..(i + 1) * k];
            let finishes = part.rows.0 < part.rows.1;
            if let Some(mut sum) = carry.take() {
                let mut mine = tail.to_vec();
                if finishes {
                    load(&mut mine, &table, tuple, part.rows.0);
                }
                let (left, right) = (sum.as_mut_ptr(), mine.as_ptr());
                if !combine(combiner, &mut worker, self.slots, left, right) {
                    return;
                }
                if finishes {
                    store(&sum, &table, tuple, part.rows.0);
                } else {
                    carry = Some(sum);
                }
            }
            if carry.is_none() && rows.start(part.rows.1) < part.points.1 {
                carry = Some(tail.to_vec());
            }
        }
    }

    /// As for regular rows, but chunks are not stopped by the ends of rows.
    pub(super) fn scan_ragged(
        &self,
        rows: Rows<'_>,
        (chunk, combiner, fix): (Code, Code, Code),
        outs: &[usize],
        tuple: &Tuple,
    ) {
        let k = outs.len();
        let table = self.table(outs);
        let results = Shared(table.as_ptr().cast_mut());
        let mut cuts = self.cuts(rows);
        if self.threads <= 1 && tuple.is_exact() {
            let items = rows.items();
            cuts.by = By::Items(items.max(1), items);
        }
        let count = cuts.count();
        if count > 1 {
            fired("cpu/scan-of-rows-in-pieces");
        }
        let mut sums = vec![0u64; count * k];
        let ends = Shared(sums.as_mut_ptr());
        self.chunks(count, &|worker, i| {
            let part = cuts.part(i);
            // SAFETY: chunk units of scans over ragged rows have this signature; there are slots for a tuple.
            unsafe {
                let chunk: Scan = function(chunk);
                chunk(
                    worker,
                    self.slots.as_ptr(),
                    part.rows.0,
                    part.rows.1,
                    part.points.0,
                    part.points.1,
                    ends.at(i * k),
                    results.at(0),
                );
            }
        });
        if self.launch.over() || k == 0 {
            return;
        }
        // The chunks that begin inside of a row: turn what those before found of it into its sum up to there.
        let mut worker = Worker::new(self.launch);
        let mut late = vec![false; count];
        for i in 1..count {
            let before = cuts.part(i - 1);
            late[i] = rows.start(before.rows.1) < before.points.1;
            if late[i] && late[i - 1] && before.rows.0 == before.rows.1 {
                let (earlier, from) = sums.split_at_mut((i - 1) * k);
                let mut sum = earlier[(i - 2) * k..].to_vec();
                let right = from.as_ptr();
                if !combine(combiner, &mut worker, self.slots, sum.as_mut_ptr(), right) {
                    return;
                }
                from[..k].copy_from_slice(&sum);
            }
        }
        let carries = Shared(sums.as_mut_ptr());
        self.chunks(count, &|worker, i| {
            if !late[i] {
                return;
            }
            let part = cuts.part(i);
            let end = rows.start(part.rows.0 + 1).min(part.points.1);
            // SAFETY: fixing units have this signature; the tuple before this one is the sum of the row so far.
            unsafe {
                let fix: Fix = function(fix);
                fix(
                    worker,
                    self.slots.as_ptr(),
                    part.points.0,
                    end,
                    carries.at((i - 1) * k),
                    results.at(0),
                );
            }
        });
    }
}

/// Copies the results of a row into slots.
fn load(slots: &mut [u64], table: &[*mut u8], tuple: &Tuple, row: i64) {
    for ((slot, place), ty) in slots.iter_mut().zip(table).zip(&tuple.types) {
        let from = place.wrapping_add(row as usize * width(*ty));
        // SAFETY: results have room for all rows, and a slot for each scalar.
        unsafe { std::ptr::copy_nonoverlapping(from, (slot as *mut u64).cast(), width(*ty)) };
    }
}

/// Copies slots into the results of a row.
fn store(slots: &[u64], table: &[*mut u8], tuple: &Tuple, row: i64) {
    for ((slot, place), ty) in slots.iter().zip(table).zip(&tuple.types) {
        let to = place.wrapping_add(row as usize * width(*ty));
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping((slot as *const u64).cast(), to, width(*ty)) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Cuts, Rows};

    /// The items of all parts, written out: points as they are, ends of rows as their negated numbers less one.
    fn items(rows: Rows<'_>, size: i64) -> Vec<i64> {
        let mut all = Vec::new();
        let total = rows.items();
        for i in 0..super::pieces(total, size) {
            let items = super::piece(i, size, total);
            let part = rows.part(items);
            let before = all.len();
            let mut point = part.points.0;
            for row in part.rows.0..part.rows.1 {
                all.extend(point..rows.start(row + 1));
                all.push(-1 - row);
                point = rows.start(row + 1);
            }
            all.extend(point..part.points.1);
            assert_eq!((all.len() - before) as i64, items.1 - items.0);
        }
        all
    }

    #[test]
    fn parts_are_equal_and_leave_nothing_out() {
        let offsets = [0, 0, 3, 3, 3, 10, 11, 11];
        let whole = items(Rows::Offsets(&offsets), 1000);
        assert_eq!(whole.len(), 18);
        for size in 1..=18 {
            assert_eq!(items(Rows::Offsets(&offsets), size), whole);
        }
        let even = [0, 4, 8, 12];
        for size in 1..=15 {
            let wanted = items(Rows::Offsets(&even), size);
            assert_eq!(items(Rows::Even(3, 4), size), wanted);
        }
        assert_eq!(items(Rows::Even(3, 0), 2), [-1, -2, -3]);
        assert_eq!(items(Rows::Offsets(&[0]), 1), [0; 0]);
    }

    #[test]
    fn a_steady_row_is_cut_in_the_same_way_whatever_is_beside_it() {
        let lengths = [0, 3, 40, 16, 0, 15, 17, 100, 1, 1, 1];
        let within = |lengths: &[i64], row: usize| {
            let mut offsets = vec![0];
            for n in lengths {
                offsets.push(offsets[offsets.len() - 1] + n);
            }
            let rows = Rows::Offsets(&offsets);
            let cuts = Cuts::steady(rows, 16);
            let mut inside = Vec::new();
            let mut end = (0, 0);
            for i in 0..cuts.count() {
                let part = cuts.part(i);
                assert_eq!((part.rows.0, part.points.0), end);
                end = (part.rows.1, part.points.1);
                let from = part.points.0 - offsets[row];
                if part.rows.0 == row as i64 && from > 0 {
                    inside.push(from);
                }
            }
            assert_eq!(end, (rows.count(), rows.points()));
            inside
        };
        for (row, &length) in lengths.iter().enumerate() {
            let alone = within(&[length], 0);
            for from in 0..=row {
                assert_eq!(within(&lengths[from..], row - from), alone, "row {row}");
            }
            assert_eq!(within(&lengths[..=row], row), alone, "row {row}");
        }
    }
}
