//! Reductions and scans that the threads of a team share out; and what one thread does of kernels inside of its point.

use crate::lower::reduce::Fold;
use crate::lower::tuple::Ops;
use crate::lower::{Lower, THREADS, WARPS, components};
use crate::ptx::ops::{Binary, Cmp, Shuffle, Special};
use crate::ptx::{Inst, Operand, Reg, Ty};
use midend::ir::mem::{Extent, Kernel, KernelKind};
use midend::ir::types::ScalarType;

impl Lower<'_> {
    /// The extent of the only dimension of a kernel.
    fn length(&self, kernel: &Kernel) -> Operand {
        match kernel.space.first() {
            Some((_, Extent::Regular(n))) => self.atom(*n),
            Some((_, Extent::Ragged { .. })) | None => {
                unreachable!("what threads share out has one regular dimension")
            }
        }
    }

    /// The results of the body at an element, 0 if it fails.
    fn watched_element(
        &mut self,
        kernel: &Kernel,
        types: &[ScalarType],
        (element, failed): (Reg, Option<Reg>),
    ) -> Vec<Operand> {
        self.bind_element(kernel, element);
        let zero = |lower: &mut Self, ty: &ScalarType| lower.fresh(*ty, Operand::Imm(0));
        let results: Vec<Reg> = types.iter().map(|ty| zero(self, ty)).collect();
        self.watched(failed, |lower| {
            let values = lower.scoped(&kernel.body, |lower| lower.scalars(&kernel.body));
            for ((result, ty), value) in results.iter().zip(types).zip(values) {
                lower.assign(*ty, *result, value);
            }
        });
        results.into_iter().map(Operand::Reg).collect()
    }

    /// A reduction: threads fold runs of neighbours (of commutative operators: every so many), then lanes and warps are folded in order.
    pub(super) fn share_reduction(
        &mut self,
        kernel: &Kernel,
        (ops, outs): Fold<'_>,
        failed: Option<Reg>,
    ) {
        let types = components(self.program, ops);
        let (number, threads) = self.member();
        let count = self.length(kernel);
        let acc = self.start(ops, &types);
        let one = |lower: &mut Self, i: Reg| {
            let values = lower.watched_element(kernel, &types, (i, failed));
            lower.accumulate(ops, &types, &acc, values);
        };
        if ops.iter().all(|op| op.comm) {
            self.shared(count, one);
        } else {
            let low = self.b.mov(Ty::B64, Operand::Imm(0));
            let high = self.b.mov(Ty::B64, count);
            let range = self.share((low, high), (number, threads));
            self.count(Ty::S64, range, false, one);
        }
        let total = if threads == THREADS {
            let tables = self.fold_warps((ops, &types), &acc);
            self.fold_table((ops, &types), &tables, Operand::Imm(WARPS.into()))
        } else {
            self.over_lanes((Shuffle::Down, 31), (ops, &types), &acc, |lower, others| {
                lower.accumulate(ops, &types, &acc, others);
            });
            acc
        };
        self.first(|lower| {
            let zero = lower.b.mov(Ty::B64, Operand::Imm(0));
            lower.store_tuple(outs, &types, zero, &total);
        });
    }

    /// A scan: as many elements at a time as there are threads, each with what comes before it.
    pub(super) fn share_scan(
        &mut self,
        kernel: &Kernel,
        (ops, outs): Fold<'_>,
        failed: Option<Reg>,
    ) {
        let types = components(self.program, ops);
        let (number, threads) = self.member();
        let number = self.wide(number);
        let count = self.length(kernel);
        let carry = self.start(ops, &types);
        let range = (Operand::Imm(0), count, Operand::Imm(threads.into()));
        self.count(Ty::S64, range, true, |lower, first| {
            let i = lower.b.bin(Binary::Add, Ty::S64, first, number);
            let has = lower.b.cmp(Cmp::Lt, Ty::S64, i, count);
            let own = lower.start(ops, &types);
            lower.when(has, |lower| {
                let values = lower.watched_element(kernel, &types, (i, failed));
                for ((reg, ty), value) in own.iter().zip(&types).zip(values) {
                    lower.assign(*ty, *reg, value);
                }
            });
            lower.scan_lanes((ops, &types), &own);
            let before: Vec<Operand> = carry.iter().map(|reg| Operand::Reg(*reg)).collect();
            let before = match threads == THREADS {
                true => lower.before_warp((ops, &types), (&own, &before), &carry),
                false => before,
            };
            let right: Vec<Operand> = own.iter().map(|reg| Operand::Reg(*reg)).collect();
            let sums = lower.combined(ops, &types, &before, &right);
            lower.when(has, |lower| lower.store_tuple(outs, &types, i, &sums));
            if threads != THREADS {
                for ((reg, ty), sum) in carry.iter().zip(&types).zip(&sums) {
                    let last = Operand::Imm(31);
                    let (last, _) = lower.other_lane(Shuffle::Index, *ty, *sum, last, 31);
                    lower.assign(*ty, *reg, last);
                }
            }
        });
    }

    /// What comes before the elements of each warp, of which the lanes are scanned; the carry becomes what comes before the next ones.
    fn before_warp(
        &mut self,
        (ops, types): Ops<'_>,
        (own, before): (&[Reg], &[Operand]),
        carry: &[Reg],
    ) -> Vec<Operand> {
        let tables = self.tables("warps", types, WARPS);
        let tid = self.b.special(Special::Tid);
        let warp = self.b.bin(Binary::Shr, Ty::U32, tid, Operand::Imm(5));
        let lane = self.b.special(Special::Lane);
        let last = self.b.cmp(Cmp::Eq, Ty::U32, lane, Operand::Imm(31));
        let values: Vec<Operand> = own.iter().map(|reg| Operand::Reg(*reg)).collect();
        self.when(last, |lower| {
            lower.store_shared(&tables, types, warp, &values)
        });
        self.b.inst(Inst::Barrier);
        let earlier = self.fold_table((ops, types), &tables, warp.into());
        let earlier: Vec<Operand> = earlier.into_iter().map(Operand::Reg).collect();
        let result = self.combined(ops, types, before, &earlier);
        let all = self.fold_table((ops, types), &tables, Operand::Imm(WARPS.into()));
        let all: Vec<Operand> = all.into_iter().map(Operand::Reg).collect();
        self.accumulate(ops, types, carry, all);
        self.b.inst(Inst::Barrier);
        result.into_iter().map(Operand::Reg).collect()
    }

    /// A kernel inside of the point of one thread.
    pub(in crate::lower) fn alone(&mut self, kernel: &Kernel) {
        let zero = self.b.mov(Ty::B64, Operand::Imm(0));
        match &kernel.kind {
            KernelKind::Map => {
                let count = self.points_of(&kernel.space);
                let range = (Operand::Imm(0), count, Operand::Imm(1));
                self.count(Ty::S64, range, false, |lower, point| {
                    lower.indices(&kernel.space, point);
                    lower.scoped(&kernel.body, |lower| lower.body(&kernel.body));
                });
            }
            KernelKind::Red { ops, outs } => {
                let types = components(self.program, ops);
                let acc = self.start(ops, &types);
                self.segment(kernel, zero, |lower, _, values| {
                    lower.accumulate(ops, &types, &acc, values);
                });
                self.store_tuple(outs, &types, zero, &acc);
            }
            KernelKind::Scan { ops, outs, .. } => {
                let types = components(self.program, ops);
                let acc = self.start(ops, &types);
                self.segment(kernel, zero, |lower, point, values| {
                    lower.accumulate(ops, &types, &acc, values);
                    lower.store_tuple(outs, &types, point, &acc);
                });
            }
            KernelKind::Hist(hists) => {
                let count = self.points_of(&kernel.space);
                let range = (Operand::Imm(0), count, Operand::Imm(1));
                self.count(Ty::S64, range, false, |lower, point| {
                    lower.indices(&kernel.space, point);
                    lower.scoped(&kernel.body, |lower| {
                        let results = lower.scalars(&kernel.body);
                        lower.update_all(hists, &results);
                    });
                });
            }
            KernelKind::Seq => unreachable!("the verifier lets no thread share out a loop"),
        }
    }
}
