//! Reductions of columns: points of the outer dimensions side by side. If they are few, the inner dimension is cut into pieces whose
//! partial results are combined in order; where depends on extents and cost alone.
//!
//! ```text
//!            i ─►                       strips of outer points, pieces of the inner dimension
//!        j   0 0 0 0 | 1 1 1 1          piece p:  partial[p, i] = sum of xss[j, i] for j in the piece
//!        │   0 0 0 0 | 1 1 1 1
//!        ▼   --------+--------          out[i] = partial[0, i] + partial[1, i] + ..
//!            2 2 2 2 | 3 3 3 3
//! ```

use super::reduce::{CUTS, Chunk, combine};
use super::{ALONE, CHUNK, Run, Shared, function, piece, piece_size, pieces, width};
use crate::compile::{Code, Tuple};
use crate::worker::Worker;
use midend::fired::fired;

/// The fewest neighbours that are worth a register.
const FEW: i64 = 16;
/// Outer points of a strip, where they are cut into strips: as many as groups have at most.
const STRIP: i64 = 64;
/// Strips of pieces are so many at least, if there is work for them.
const ENOUGH: i64 = 64;

impl Run<'_> {
    /// Whether enough outer points lie side by side.
    pub(super) fn is_wide(&self) -> bool {
        matches!(self.extents, [.., row, _] if *row >= FEW)
    }

    /// The outer points of a strip, and the inner points of a piece.
    fn strips(&self, outer: i64, inner: i64) -> (i64, i64) {
        let work = outer as f64 * inner as f64 * self.cost;
        if work < ALONE {
            return (outer, inner.max(1));
        }
        let least = CHUNK.0 / (self.cost * inner.max(1) as f64);
        let strip = piece_size(outer, outer / STRIP, least.max(STRIP as f64));
        let strips = pieces(outer, strip) as i64;
        let cuts = (ENOUGH / strips).min(CUTS);
        if cuts <= 1 {
            return (strip, inner.max(1));
        }
        let least = CHUNK.0 / (self.cost * strip.min(outer) as f64);
        (strip, piece_size(inner, cuts, least))
    }

    pub(super) fn reduce_columns(
        &self,
        (code, combiner): (Code, Code),
        outs: &[usize],
        tuple: &Tuple,
    ) {
        let Some((inner, outer)) = self.extents.split_last() else {
            return;
        };
        let (inner, outer) = (*inner, self.points(outer));
        if outer <= 0 {
            return;
        }
        let (strip, size) = self.strips(outer, inner);
        let (strips, cuts) = (pieces(outer, strip), pieces(inner, size).max(1));
        let outs = self.table(outs);
        let widths: Vec<usize> = tuple.types.iter().map(|ty| width(*ty)).collect();
        // A piece has room for each component of all points, one after the other; nothing is lost if results go where they belong.
        let mut starts = Vec::new();
        let mut room = 0;
        for width in &widths {
            starts.push(room);
            room += (width * outer as usize).next_multiple_of(LINE);
        }
        let mut partials = vec![0u64; if cuts > 1 { cuts * room / 8 } else { 0 }];
        let place = Shared(partials.as_mut_ptr().cast::<u8>());
        let table_of = |cut: usize| -> Vec<*mut u8> {
            let starts = starts.iter();
            starts.map(|at| place.at(cut * room + at)).collect()
        };
        let results = Shared(outs.as_ptr().cast_mut());
        let each = |worker: &mut Worker<'_>, i: usize| {
            let (cut, at) = (i / strips, i % strips);
            let partial = if cuts > 1 { table_of(cut) } else { Vec::new() };
            let table = match cuts {
                1 => results.at(0).cast_const(),
                _ => partial.as_ptr(),
            };
            let (outer, inner) = (piece(at, strip, outer), piece(cut, size, inner));
            // SAFETY: column units have this signature; the table holds an address per component, valid for the outer points given.
            unsafe {
                let chunk: Chunk = function(code);
                let slots = self.slots.as_ptr();
                chunk(worker, slots, outer.0, outer.1, inner.0, inner.1, table);
            }
        };
        let count = strips * cuts;
        if count == 1 {
            return self.chunks_here(count, &each);
        }
        self.chunks_apart(count, &each);
        if cuts == 1 {
            return;
        }
        fired("cpu/columns-in-pieces");
        let mut worker = Worker::new(self.launch);
        let (mut left, mut right) = (vec![0u64; widths.len()], vec![0u64; widths.len()]);
        for point in 0..outer as usize {
            for cut in 0..cuts {
                let slots = if cut == 0 { &mut left } else { &mut right };
                for (k, (slot, width)) in slots.iter_mut().zip(&widths).enumerate() {
                    let from = place.at(cut * room + starts[k] + point * width);
                    // SAFETY: the partial result has the bytes of a scalar of the component's type, which a slot has room for.
                    unsafe { std::ptr::copy_nonoverlapping(from, (&raw mut *slot).cast(), *width) };
                }
                if cut > 0 {
                    let (left, right) = (left.as_mut_ptr(), right.as_ptr());
                    if self.launch.over()
                        || !combine(combiner, &mut worker, self.slots, left, right)
                    {
                        return;
                    }
                }
            }
            for ((out, slot), width) in outs.iter().zip(&left).zip(&widths) {
                let to = out.wrapping_add(point * width);
                // SAFETY: as above; the result has room for one per outer point.
                unsafe { std::ptr::copy_nonoverlapping((&raw const *slot).cast(), to, *width) };
            }
        }
    }
}

/// Bytes of a line of the cache, which threads do not share.
const LINE: usize = 64;
