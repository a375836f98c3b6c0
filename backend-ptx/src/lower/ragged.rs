//! Rows of any lengths, shared out evenly: blocks have tiles of equal work, whatever the lengths are.
//!
//! The *items* of a space are its points, and for each row its end, which stands behind the points of the row. A tile is a run of
//! items, so that long rows as well as many empty ones are cut into tiles of one size (Merrill and Garland, "Merge-based Parallel
//! Sparse Matrix-Vector Multiplication"). Two warps search for the rows that a tile begins and ends in; then a bit in shared memory
//! for each item says whether it is the end of a row, and all else follows from bits that are counted.
//!
//! ```text
//! rows   [a b c] [] [d e]
//! items   a b c | | d e |      bits 0 0 0 1 1 0 0 1
//! ```
//!
//! What threads and tiles tell one another is whether a row ends in their items, and the sum of what stands behind the last end. That is
//! combined as by any operator (Blelloch, "Prefix Sums and Their Applications"): the sum before an end does not matter to what follows it.
//! So a reduction is a scan that keeps the sums at the ends of rows; the first row that ends in a tile gets what earlier tiles have of it.

mod fold;
mod points;
mod tile;

use super::reduce::{Fold, Keeps};
use super::scan::{ALL_TILES, COUNTER, Large, Published, SIZES};
use super::{Entry, Lower, Shape, Source, THREADS, components, entry, together, words_of};
use crate::ptx::ops::{Binary, Special};
use crate::ptx::{Operand, Ty};
use midend::analysis::kernels::summed;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Lambda;
use midend::ir::types::ScalarType;
use points::Point;

/// The most bytes of shared memory for the items of a tile.
const TILE: u32 = 36 << 10;
/// What is known of an item: a word.
const KNOWN: u32 = 4;
/// The most items that a thread has of a tile: few enough that numbers of items have 16 bits.
const ITEMS: u32 = 16;

/// The items that each thread has of a tile, if there is a tuple of these types for each: a power of two.
fn items(types: &[ScalarType]) -> u32 {
    let bytes: u32 = types.iter().map(|ty| ty.bytes() as u32).sum();
    let most = (TILE / (THREADS * (KNOWN + bytes))).clamp(1, ITEMS);
    1 << most.ilog2()
}

/// A reduction or a scan. The parameters are the number of rows, that of points, groups of tiles, tiles, the counter of tiles, then
/// what is published.
pub(super) fn fold(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
    keeps: Keeps<'_>,
) -> Option<Large> {
    let types = components(source.program, ops);
    let published = Published::Tuples {
        words: 1 + types.iter().map(|ty| words_of(*ty)).sum::<usize>(),
    };
    let items = items(&types);
    let shape = Shape {
        skips_itself: true,
        ..Shape::of(kernel, args, "rows", SIZES + published.parameters())
    };
    let scanned = match keeps {
        Keeps::Total | Keeps::Prefixes => kernel,
        Keeps::Then(_) => &summed(&source.program.vars, kernel, ops),
    };
    let entry = entry(source, &shape, |lower, extras| {
        lower.in_turn((extras[COUNTER], extras[ALL_TILES]), |lower, number| {
            let rows = lower.rows(kernel, (number, items), &types, [extras[0], extras[1]]);
            lower.tell_points(&rows, Some((ops, &types)));
            lower.fill_slots(scanned, &types, &rows);
            let is_short = together::are_short(lower.program, ops, items);
            let sum = lower.fold_items((ops, &types), &rows, is_short);
            match keeps {
                Keeps::Total => lower.keep_totals((ops, outs), &types, &rows, (&sum, extras)),
                Keeps::Prefixes | Keeps::Then(_) => {
                    lower.scan_items((ops, &types), &rows, (&sum, extras), is_short);
                    match keeps {
                        Keeps::Then(then) => lower.hand_on_points((kernel, then), &types, &rows),
                        Keeps::Total | Keeps::Prefixes => lower.store_points(outs, &types, &rows),
                    }
                }
            }
        });
    });
    entry.fitting().map(|entry| Large {
        entry,
        items,
        published,
    })
}

/// A map whose points need not be searched for one by one. The parameters are the number of rows and that of points.
pub(super) fn map(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> (Entry, u32) {
    let shape = Shape::of(kernel, args, "rows", 2);
    let items = items(&[]);
    let each = together::points_of(source.program, &kernel.body).unwrap_or(1);
    let entry = entry(source, &shape, |lower, extras| {
        let block = lower.b.special(Special::Ctaid);
        let number = lower.wide(block);
        let rows = lower.rows(kernel, (number, items), &[], [extras[0], extras[1]]);
        lower.tell_points(&rows, None);
        let body = |lower: &mut Lower<'_>, points: &[Point]| match points {
            [point] => {
                lower.bind_point(kernel, &rows, point);
                lower.scoped(&kernel.body, |lower| {
                    lower.body(&kernel.body);
                });
            }
            several => {
                lower.at_points(kernel, &rows, several);
            }
        };
        lower.whole_rounds(&rows, each, body);
    });
    (entry, items)
}

impl Lower<'_> {
    /// What a point does with its sums and with the results of the body that are not summed up, which is executed again.
    fn hand_on_points(
        &mut self,
        (kernel, then): (&Kernel, &Lambda<Mem>),
        types: &[ScalarType],
        rows: &tile::Rows,
    ) {
        let elem = |v: &Var| self.program.vars[*v].ty.elem();
        let all: Vec<ScalarType> = then.params.iter().filter_map(elem).collect();
        self.each_point(kernel, &all, rows, |lower, point, values| {
            let sums = lower.load_slot(types, rows, point);
            let rest = values.into_iter().skip(types.len());
            lower.then(then, sums.into_iter().chain(rest));
        });
    }

    fn store_points(&mut self, outs: &[Var], types: &[ScalarType], rows: &tile::Rows) {
        let tid = self.b.special(Special::Tid);
        let range = (tid.into(), rows.points.into(), Operand::Imm(THREADS.into()));
        self.count(Ty::U32, range, false, |lower, i| {
            let point = lower.point(rows, i);
            let sums = lower.load_slot(types, rows, &point);
            let at = lower.wide(i);
            let at = lower.b.bin(Binary::Add, Ty::U64, rows.first_point, at);
            for ((out, ty), value) in outs.iter().zip(types).zip(sums) {
                let place = lower.place(lower.value(*out), *ty, at.into());
                lower.store(*ty, place, value);
            }
        });
    }
}
