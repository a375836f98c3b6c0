//! Histograms that the threads of a team share out: of shared memory, or of a local array of the point.
//!
//! Where the order of points does not matter and there are atomic operations, each thread changes buckets as it comes to them. Else
//! as many points as there are threads are worked on at a time, and what they come to is combined in their order: lanes of one bucket
//! are folded, the first of them changes it, and warps take turns.

use crate::lower::hist::{Native, updates};
use crate::lower::{Lower, THREADS, WARPS, components};
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::mem::{Kernel, MemHist};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// A histogram whose points the threads of a team share out.
    pub(super) fn share_histogram(
        &mut self,
        kernel: &Kernel,
        hists: &[MemHist],
        failed: Option<Reg>,
    ) {
        let natives = hists.iter().map(|hist| {
            let updates = updates(self.program, hist)?;
            updates.iter().map(|update| update.native).collect()
        });
        let natives: Option<Vec<Vec<Native>>> = natives.collect();
        match natives {
            Some(natives) => self.share_atomically(kernel, (hists, &natives), failed),
            None => self.share_in_order(kernel, hists, failed),
        }
    }

    /// Each thread changes buckets as it comes to them.
    fn share_atomically(
        &mut self,
        kernel: &Kernel,
        (hists, natives): (&[MemHist], &[Vec<Native>]),
        failed: Option<Reg>,
    ) {
        let count = self.points_of(&kernel.space);
        self.shared(count, |lower, point| {
            lower.indices(&kernel.space, point);
            lower.watched(failed, |lower| {
                lower.scoped(&kernel.body, |lower| {
                    let results = lower.scalars(&kernel.body);
                    let (buckets, mut values) = results.split_at(hists.len());
                    for ((hist, natives), bucket) in hists.iter().zip(natives).zip(buckets) {
                        let (mine, others) = values.split_at(natives.len());
                        values = others;
                        let extent = lower.atom(hist.buckets);
                        let inside = lower.is_below(*bucket, extent);
                        lower.when(inside, |lower| {
                            for ((dest, native), value) in hist.dests.iter().zip(natives).zip(mine)
                            {
                                lower.update_atomically(*dest, *native, *bucket, *value);
                            }
                        });
                    }
                });
            });
        });
    }

    /// A point of each thread at a time, combined in their order.
    fn share_in_order(&mut self, kernel: &Kernel, hists: &[MemHist], failed: Option<Reg>) {
        let (number, threads) = self.member();
        let number = self.wide(number);
        let count = self.points_of(&kernel.space);
        let parts: Vec<Vec<ScalarType>> = hists
            .iter()
            .map(|hist| components(self.program, std::slice::from_ref(&hist.op)))
            .collect();
        let buckets = hists.iter().map(|_| ScalarType::I64);
        let types: Vec<ScalarType> = buckets.chain(parts.concat()).collect();
        let range = (Operand::Imm(0), count, Operand::Imm(threads.into()));
        self.count(Ty::S64, range, true, |lower, first| {
            let point = lower.b.bin(Binary::Add, Ty::S64, first, number);
            let has = lower.b.cmp(Cmp::Lt, Ty::S64, point, count);
            let zeros = types.iter().map(|ty| lower.fresh(*ty, Operand::Imm(0)));
            let results: Vec<Reg> = zeros.collect();
            lower.when(has, |lower| {
                lower.indices(&kernel.space, point);
                lower.watched(failed, |lower| {
                    let values = lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body));
                    for ((result, ty), value) in results.iter().zip(&types).zip(values) {
                        lower.assign(*ty, *result, value);
                    }
                });
            });
            if threads != THREADS {
                return lower.combine_lanes((hists, &parts), &results, has);
            }
            let tid = lower.b.special(Special::Tid);
            let warp = lower.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
            let turns = (Operand::Imm(0), Operand::Imm(WARPS.into()), Operand::Imm(1));
            lower.count(Ty::U32, turns, true, |lower, turn| {
                let mine = lower.b.cmp(Cmp::Eq, Ty::U32, warp, turn);
                let (inside, exit) = (lower.b.block(), lower.b.block());
                lower.b.branch(mine, inside, exit, true);
                lower.b.begin(inside);
                lower.combine_lanes((hists, &parts), &results, has);
                lower.b.jump(exit);
                lower.b.begin(exit);
                lower.b.inst(Inst::Barrier);
            });
        });
    }

    /// Combines the results of the lanes of a warp, those that have some, with their buckets.
    fn combine_lanes(
        &mut self,
        (hists, parts): (&[MemHist], &[Vec<ScalarType>]),
        results: &[Reg],
        has: Reg,
    ) {
        let (buckets, mut values) = results.split_at(hists.len());
        for ((hist, types), bucket) in hists.iter().zip(parts).zip(buckets) {
            let (mine, others) = values.split_at(types.len());
            values = others;
            let extent = self.atom(hist.buckets);
            let inside = self.is_below(Operand::Reg(*bucket), extent);
            let inside = self.b.bin(Binary::And, Ty::Pred, inside, has);
            let place = self.low_word(*bucket);
            let ops = (std::slice::from_ref(&hist.op), &types[..]);
            let leads = self.fold_places(ops, (place, inside), mine);
            let mine: Vec<Operand> = mine.iter().map(|reg| Operand::Reg(*reg)).collect();
            self.when(leads, |lower| {
                lower.update(hist, Operand::Reg(*bucket), &mine);
            });
        }
    }
}
