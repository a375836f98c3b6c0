//! Scans: a thread or a warp per segment where segments are short, else in one pass over tiles with decoupled look-back
//! (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back").
//!
//! Blocks draw the numbers of their tiles from a counter, so that a tile only waits for tiles of blocks that run.
//!
//! Elements of a tile lie in shared memory, several for each thread. Where tuples are so wide that there is room for one at most, each
//! thread has one in its registers, and shared memory holds the sums of warps alone; where not even these fit, there are no tiles.

mod ahead;
mod count;
mod count_back;
mod keep;
mod look_back;
mod places;
mod tile;
mod warps;

pub(super) use warps::warps;

use super::reduce::Fold;
use super::tuple::Ops;
use super::{Entry, Lower, Shape, Source, THREADS, WARPS, components, entry, together, words_of};
use crate::ptx::ops::{Binary, Cmp, Round, Shuffle, Special, Ternary};
use crate::ptx::{Inst, Operand, Reg, Ty};
use count::Counted;
pub(super) use look_back::Tables;
use midend::analysis::kernels::summed;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::Lambda;
use midend::ir::types::ScalarType;

/// The most bytes of shared memory for the elements of a tile.
const TILE: u32 = 32 << 10;
/// The most elements that a thread has of a tile.
const ITEMS: u32 = 32;
/// Tiles of a group.
pub(crate) const GROUP: u32 = 32;
/// Parameters before the arrays of components.
pub(super) const SIZES: usize = 5;
/// Among these, the number of tiles, and where blocks draw their numbers from.
pub(super) const ALL_TILES: usize = 3;
pub(super) const COUNTER: usize = 4;

/// The elements that each thread has of a tile of tuples of these types: a power of two.
fn items(types: &[ScalarType]) -> u32 {
    let bytes: u32 = types.iter().map(|ty| ty.bytes() as u32).sum();
    let most = (TILE / (THREADS * bytes.max(1))).clamp(1, ITEMS);
    1 << most.ilog2()
}

/// The forms of a scan with several threads per segment.
#[derive(Debug)]
pub(crate) struct More {
    /// Blocks, whose threads have so many elements each, if tuples are so narrow that it can be.
    pub(crate) large: Option<Large>,
    /// A warp.
    pub(crate) warps: Entry,
    /// Whether neighbours of a segment lie side by side in memory.
    pub(crate) is_contiguous: bool,
}

/// A scan by tiles.
#[derive(Debug)]
pub(crate) struct Large {
    pub(crate) entry: Entry,
    /// The elements that each thread has of a tile.
    pub(crate) items: u32,
    pub(crate) published: Published,
}

/// What blocks tell one another, in arrays of 64-bit words that are zeros or have other tags at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Published {
    /// An array with a word for each tile.
    Counts,
    /// For each word of a tuple, an array with the aggregates of tiles; then so with the totals of groups, and with the
    /// prefixes of groups. Of wide tuples all words lie side by side, in one array.
    Tuples { words: usize },
}

/// Words of tuples that have an array for each.
const NARROW: usize = 32;

impl Published {
    /// What a tile or group publishes: how many arrays, and how many words in each.
    pub(crate) const fn arrays(self) -> (usize, usize) {
        match self {
            Self::Counts => (1, 1),
            Self::Tuples { words } if words <= NARROW => (words, 1),
            Self::Tuples { words } => (1, words),
        }
    }

    /// How many parameters that makes.
    pub(super) const fn parameters(self) -> usize {
        match self {
            Self::Counts => 1,
            Self::Tuples { .. } => 3 * self.arrays().0,
        }
    }
}

/// Tiles. The parameters are elements of a segment, tiles of a segment, groups of a segment, all tiles, the counter of tiles, then
/// what is published. Nothing if the sums of a block's warps do not fit into shared memory.
pub(super) fn large(
    source: &mut Source<'_>,
    kernel: &Kernel,
    args: &[Var],
    (ops, outs): Fold<'_>,
    then: Option<&Lambda<Mem>>,
) -> Option<Large> {
    let types = components(source.program, ops);
    let all: Vec<ScalarType> = match then {
        None => types.clone(),
        Some(then) => {
            let elem = |v: &Var| source.program.vars[*v].ty.elem();
            then.params.iter().filter_map(elem).collect()
        }
    };
    let counted = then.filter(|then| count::counts(source.program, kernel, ops, then));
    let counted = counted.map(|then| Counted {
        kernel,
        types: &all,
        then,
    });
    let keeping = counted.and_then(|of| keep::keeping(source.program, of, ops));
    // An element that is alone with its thread stays in its registers, so that tuples may be of any size.
    let alone = counted.is_none() && items(&types) == 1;
    let (shared, items) = match (counted, &keeping) {
        (None, _) if alone => (Vec::new(), 1),
        (None, _) => (types.clone(), items(&types)),
        (Some(_), Some(keeping)) => (keeping.types.clone(), keeping.items()),
        (Some(of), None) => (Vec::new(), of.items()),
    };
    let published = match counted {
        Some(_) => Published::Counts,
        None => Published::Tuples {
            words: types.iter().map(|ty| words_of(*ty)).sum(),
        },
    };
    let shape = Shape {
        skips_itself: true,
        ..Shape::of(kernel, args, "large", SIZES + published.parameters())
    };
    let scanned = match then {
        None => kernel,
        Some(_) => &summed(&source.program.vars, kernel, ops),
    };
    let entry = entry(source, &shape, |lower, extras| {
        lower.in_turn((extras[COUNTER], extras[ALL_TILES]), |lower, number| {
            let tile = lower.tile(kernel, (&shared, items), (number, extras));
            lower.outer_indices(kernel, tile.segment);
            lower.bring_near(kernel, &tile);
            let is_short = together::are_short(lower.program, ops, tile.items);
            let mut held = None;
            let mut own = Vec::new();
            let (before, warps) = match counted {
                Some(of) => {
                    let (found, before, warps) =
                        lower.count_tile((of, keeping.as_ref()), (ops, &types), &tile);
                    held = Some((of, found));
                    (before, warps)
                }
                None if alone => {
                    own = lower.own_element(scanned, (ops, &types), &tile);
                    lower.scan_threads((ops, &types), &own)
                }
                None => {
                    lower.fill(scanned, (ops, &types), &tile, is_short);
                    let sum = lower.fold_run((ops, &types), &tile, is_short);
                    lower.scan_threads((ops, &types), &sum)
                }
            };
            let carry = lower.tables("carry", &types, 1);
            let all_warps = Operand::Imm(WARPS.into());
            // A filter tells its count before it does anything else. The warp then adds it up once more: what one condition computes
            // has no value where another one holds.
            if let Some((_, held)) = &held {
                lower.first_warp(|lower| {
                    let own = lower.fold_table((ops, &types), &warps, all_warps);
                    lower.tell_count(&tile, extras[SIZES], own[0]);
                });
                lower.prepare(&tile, held);
            }
            lower.first_warp(|lower| {
                let own = lower.fold_table((ops, &types), &warps, all_warps);
                let prefix = match published {
                    Published::Counts => vec![lower.count_back(&tile, extras[SIZES], own[0])],
                    Published::Tuples { .. } => {
                        let (arrays, width) = published.arrays();
                        let tables: Vec<&[Reg]> = extras[SIZES..].chunks(arrays).collect();
                        let tables = Tables {
                            tiles: tables[0],
                            totals: tables[1],
                            prefixes: tables[2],
                            count: extras[2],
                            width,
                        };
                        lower.look_back((ops, &types), &tile, &tables, &own)
                    }
                };
                lower.leader(|lower| {
                    let zero = lower.b.mov(Ty::B32, Operand::Imm(0));
                    let prefix: Vec<Operand> = prefix.into_iter().map(Operand::Reg).collect();
                    lower.store_shared(&carry, &types, zero, &prefix);
                });
            });
            lower.b.inst(Inst::Barrier);
            let zero = lower.b.mov(Ty::B32, Operand::Imm(0));
            let carry = lower.load_shared(&carry, &types, zero);
            let before: Vec<Operand> = before.into_iter().map(Operand::Reg).collect();
            let prefix = lower.combined(ops, &types, &carry, &before);
            if let Some((of, held)) = held {
                return lower.hand_on(of, &tile, &held, prefix[0]);
            }
            if alone {
                let own: Vec<Operand> = own.into_iter().map(Operand::Reg).collect();
                lower.accumulate(ops, &types, &prefix, own);
                return lower.drain_own((kernel, outs, then), (&types, &all), &tile, &prefix);
            }
            lower.scan_run((ops, &types), &tile, &prefix, is_short);
            lower.b.inst(Inst::Barrier);
            match then {
                None => lower.drain(outs, &types, &tile),
                Some(then) => lower.drain_into((kernel, then), (&types, &all), &tile),
            }
        });
    });
    Some(Large {
        entry: entry.fitting()?,
        items,
        published,
    })
}

/// What a block works on.
pub(super) struct Tile {
    /// The number of the tile, and that within its segment.
    pub(super) number: Reg,
    pub(super) within: Reg,
    pub(super) segment: Reg,
    /// The first element: row-major, and within the segment; and the elements of the tile (in 32 bits).
    pub(super) first: Reg,
    pub(super) start: Reg,
    pub(super) count: Reg,
    /// The elements of the segment.
    pub(super) end: Reg,
    /// Arrays in shared memory for the elements of all threads, if they go there.
    pub(super) tables: Vec<Reg>,
    pub(super) items: u32,
}

impl Lower<'_> {
    /// The tile of a number.
    fn tile(
        &mut self,
        kernel: &Kernel,
        (shared, items): (&[ScalarType], u32),
        (number, extras): (Reg, &[Reg]),
    ) -> Tile {
        // Without outer dimensions there is one segment.
        let (segment, within) = if kernel.space.len() == 1 {
            (self.b.mov(Ty::B64, Operand::Imm(0)), number)
        } else {
            let segment = self.b.bin(Binary::Div, Ty::U64, number, extras[1]);
            (segment, self.b.bin(Binary::Rem, Ty::U64, number, extras[1]))
        };
        let size = u64::from(THREADS * items);
        let start = self.b.bin(Binary::Mul, Ty::U64, within, Operand::Imm(size));
        let mad = [segment.into(), extras[0].into(), start.into()];
        let first = self.b.tern(Ternary::Mad, Ty::U64, mad);
        let left = self.b.bin(Binary::Sub, Ty::U64, extras[0], start);
        let count = self.b.bin(Binary::Min, Ty::U64, left, Operand::Imm(size));
        let count = self.b.convert(Ty::U32, Ty::U64, Round::Exact, count);
        let tables = self.tables("items", shared, THREADS * items * 33 / 32);
        Tile {
            number,
            within,
            segment,
            first,
            start,
            count,
            end: extras[0],
            tables,
            items,
        }
    }

    /// What comes before the elements of each thread within the tile, and arrays with the sum of every warp.
    pub(super) fn scan_threads(
        &mut self,
        (ops, types): Ops<'_>,
        acc: &[Reg],
    ) -> (Vec<Reg>, Vec<Reg>) {
        let sums: Vec<Reg> = acc
            .iter()
            .zip(types)
            .map(|(reg, ty)| self.fresh(*ty, (*reg).into()))
            .collect();
        self.scan_lanes((ops, types), &sums);
        let warps = self.tables("warps", types, WARPS);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let lane = self.b.special(Special::Lane);
        let last = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(31));
        let values: Vec<Operand> = sums.iter().map(|r| Operand::Reg(*r)).collect();
        self.when(last, |lower| {
            lower.store_shared(&warps, types, warp, &values)
        });
        // Of the lane before; the first lane has none.
        let mut before = Vec::new();
        let mut has = None;
        for (reg, ty) in sums.iter().zip(types) {
            let (other, ok) = self.other_lane(Shuffle::Up, *ty, *reg, Operand::Imm(1), 0);
            before.push(other);
            has = Some(ok);
        }
        self.b.inst(Inst::Barrier);
        let total = self.fold_table((ops, types), &warps, warp.into());
        if let Some(has) = has {
            self.when(has, |lower| lower.accumulate(ops, types, &total, before));
        }
        (total, warps)
    }
}
