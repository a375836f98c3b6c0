//! Filters, for the tiles in which nothing else happens. Each warp puts its elements into shared memory and counts those that it keeps:
//! later tiles wait for that, so that nothing else is done before. Then it moves what it keeps together, while earlier tiles are being
//! counted. What comes before is known after that, and whole runs go to where they belong.

use super::count::Counted;
use super::{Lower, Tile};
use crate::lower::THREADS;
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special, Unary};
use crate::ptx::{Operand, Reg, Ty};
use midend::analysis::filters;
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::soac::Operator;
use midend::ir::syntax::{Atom, Lambda};
use midend::ir::types::ScalarType;

/// Runs of a warp that are under way together.
const TOGETHER: u32 = 4;
/// Elements of a lane that are moved together.
const NEAR: u32 = 8;

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

    /// Counts the elements of a warp, and puts what might be kept of them into the tile's arrays, element by element. Of each element
    /// that counts, `bits` of its lane has one.
    pub(super) fn keep(
        &mut self,
        (of, keeping): (Counted<'_>, &Keeping),
        tile: &Tile,
        (bits, count): (Reg, Reg),
    ) {
        let at = self.elements_of_warp(keeping, tile);
        let mut k = 0;
        for elements in self.elements_of_lane(tile).chunks(of.each(self.program)) {
            for values in self.elements(of.kernel, of.types, elements, None) {
                let counts = self.b.cmp(Cmp::Ne, Ty::U64, values[0], Operand::Imm(0));
                let bit = Operand::Imm(1 << k);
                let bit = self.b.select(Ty::B32, counts, bit, Operand::Imm(0));
                self.b.bin_to(bits, Binary::Or, Ty::B32, bits, bit);
                let kept: Vec<Operand> = keeping.stores.iter().map(|(_, k)| values[*k]).collect();
                self.store_near(&at, &keeping.types, 32 * k, &kept);
                k += 1;
            }
        }
        self.gather_warp();
        let own = self.b.un(Unary::Popc, Ty::B32, bits);
        self.b.set(Ty::B32, count, own);
        for distance in [16, 8, 4, 2, 1] {
            let distance = Operand::Imm(distance);
            let (other, _) =
                self.other_lane(Shuffle::Butterfly, ScalarType::I32, count, distance, 31);
            self.b.bin_to(count, Binary::Add, Ty::U32, count, other);
        }
    }

    /// Moves what a warp keeps together, to the begin of its elements. What is stored comes after what is read together, and takes no
    /// more room than that and what was before.
    pub(super) fn move_together(&mut self, keeping: &Keeping, tile: &Tile, bits: Reg) {
        let run = self.run_of_warp(tile);
        let at = self.elements_of_warp(keeping, tile);
        let count = self.b.mov(Ty::B32, Operand::Imm(0));
        let steps: Vec<u32> = (0..tile.items).collect();
        for steps in steps.chunks(NEAR as usize) {
            let elements: Vec<(Reg, Vec<Operand>)> = steps
                .iter()
                .map(|&k| {
                    let bit = self.b.bin(Binary::And, Ty::B32, bits, Operand::Imm(1 << k));
                    let counts = self.b.cmp(Cmp::Ne, Ty::U32, bit, Operand::Imm(0));
                    (counts, self.load_near(&at, &keeping.types, 32 * k))
                })
                .collect();
            self.gather_warp();
            for (counts, values) in elements {
                let rank = self.rank(counts, count);
                let to = self.b.bin(Binary::Add, Ty::U32, run, rank);
                self.when(counts, |lower| {
                    lower.store_shared(&tile.tables, &keeping.types, to, &values);
                });
            }
            self.gather_warp();
        }
    }

    /// The addresses of the first element of a lane.
    fn elements_of_warp(&mut self, keeping: &Keeping, tile: &Tile) -> Vec<Reg> {
        let run = self.run_of_warp(tile);
        let lane = self.b.special(Special::Lane);
        let first = self.b.bin(Binary::Add, Ty::U32, run, lane);
        self.shared_at(&tile.tables, &keeping.types, first)
    }

    /// Hands on what a warp keeps: `count` elements, with so many before them.
    pub(super) fn hand_on_kept(
        &mut self,
        keeping: &Keeping,
        tile: &Tile,
        (count, before): (Reg, Reg),
    ) {
        let lane = self.b.special(Special::Lane);
        let from = self.elements_of_warp(keeping, tile);
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
