//! Filters, for the tiles in which nothing else happens: each warp puts what it keeps into shared memory, side by side, while
//! earlier tiles are being counted. What comes before is known then, and whole runs go to where they belong.

use super::count::Counted;
use super::{Lower, Tile};
use crate::lower::THREADS;
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Operand, Reg, Ty};
use midend::analysis::filters;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Lambda};
use midend::ir::types::ScalarType;

/// Runs of a warp that are under way together.
const TOGETHER: u32 = 4;

/// What is kept of each element: where it goes, and which result of the body it is.
pub(super) struct Keeping {
    stores: Vec<(Var, usize)>,
    pub(super) types: Vec<ScalarType>,
}

/// What a filter keeps, if it is made of results of the body alone and only the last element does anything else.
pub(super) fn keeping(
    kernel: &Kernel,
    ops: &[Operator<Mem>],
    (then, types): (&Lambda<Mem>, &[ScalarType]),
) -> Option<Keeping> {
    let kept = filters::kept(kernel, ops, then).filter(|kept| kept.else_at_end)?;
    let param = |(buffer, value): (Var, Atom)| {
        let value = value.as_var()?;
        let k = then.params.iter().position(|p| *p == value)?;
        // The first is the place.
        (k > 0).then_some((buffer, k))
    };
    let stores: Vec<(Var, usize)> = kept.stores.into_iter().map(param).collect::<Option<_>>()?;
    Some(Keeping {
        types: stores.iter().map(|(_, k)| types[*k]).collect(),
        stores,
    })
}

impl Lower<'_> {
    /// Code for tiles with all their elements that others follow, and for others.
    pub(super) fn if_inner(
        &mut self,
        tile: &Tile,
        f: impl FnOnce(&mut Self),
        g: impl FnOnce(&mut Self),
    ) {
        let size = Operand::Imm(u64::from(THREADS * tile.items));
        let end = self.b.bin(Binary::Add, Ty::U64, tile.start, size);
        let is_inner = self.b.cmp(Cmp::Lt, Ty::U64, end, tile.end);
        self.if_else(is_inner, f, g);
    }

    /// Counts the elements of a warp, and puts those that are kept into the tile's arrays.
    pub(super) fn keep(&mut self, (of, keeping): (Counted<'_>, &Keeping), tile: &Tile, count: Reg) {
        let run = self.run_of_warp(tile);
        for elements in self.elements_of_lane(tile).chunks(of.each(self.program)) {
            let tuples = self.elements(of.kernel, of.types, elements, None);
            self.gather_warp();
            for values in tuples {
                let counts = self.b.cmp(Cmp::Ne, Ty::U64, values[0], Operand::Imm(0));
                let rank = self.rank(counts, count);
                let at = self.b.bin(Binary::Add, Ty::U32, run, rank);
                let kept: Vec<Operand> = keeping.stores.iter().map(|(_, k)| values[*k]).collect();
                self.when(counts, |lower| {
                    lower.store_shared(&tile.tables, &keeping.types, at, &kept);
                });
            }
        }
    }

    /// Hands on what a warp keeps: `count` elements, with so many before them.
    pub(super) fn hand_on_kept(
        &mut self,
        keeping: &Keeping,
        tile: &Tile,
        (count, before): (Reg, Reg),
    ) {
        let lane = self.b.special(Special::Lane);
        let run = self.run_of_warp(tile);
        let from = self.b.bin(Binary::Add, Ty::U32, run, lane);
        let from = self.shared_at(&tile.tables, &keeping.types, from);
        let ahead = self.wide(lane);
        let first = self.b.bin(Binary::Add, Ty::U64, before, ahead);
        let to = self.strided(first, 32, tile.items);
        let steps: Vec<u32> = (0..tile.items).collect();
        for steps in steps.chunks(TOGETHER as usize) {
            let some = Operand::Imm(u64::from(32 * steps[0]));
            let some = self.b.cmp(Cmp::Gt, Ty::U32, count, some);
            self.if_warp(some, |lower| {
                for &step in steps {
                    let ahead = Operand::Imm(u64::from(32 * step));
                    let number = lower.b.bin(Binary::Add, Ty::U32, lane, ahead);
                    let exists = lower.b.cmp(Cmp::Lt, Ty::U32, number, count);
                    lower.when(exists, |lower| {
                        let values = lower.load_near(&from, &keeping.types, 32 * step);
                        let both = keeping.stores.iter().zip(&keeping.types).zip(values);
                        for (((buffer, _), ty), value) in both {
                            let buffer = lower.value(*buffer);
                            let place = lower.place(buffer, *ty, to[step as usize].into());
                            lower.store(*ty, place, value);
                        }
                    });
                }
            });
        }
    }

    /// Where the run of a warp begins in the tile's arrays.
    fn run_of_warp(&mut self, tile: &Tile) -> Reg {
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let run = Operand::Imm(u64::from(32 * tile.items));
        self.b.bin(Binary::Mul, Ty::U32, warp, run)
    }
}
