//! Kernels of points that stand alone: one thread for each, or one thread for all.

use super::runs::Runs;
use super::{Entry, Lower, Shape, Source, THREADS, entry};
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Kernel;

/// One point per thread; with fewer threads than points, each takes further ones. The parameter is the number of points.
pub(super) fn map(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Entry {
    let shape = Shape::of(kernel, args, "", 1);
    entry(source, &shape, |lower, extras| {
        lower.points(extras[0], |lower, point| {
            lower.indices(&kernel.space, point);
            lower.scoped(&kernel.body, |lower| {
                lower.body(&kernel.body);
            });
        });
    })
}

/// Several points per thread, if that pays: a block has a tile of neighbours, of which the threads take runs in turn. The parameter is
/// the number of points.
pub(super) fn wide(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Option<(Entry, u32)> {
    let runs = Runs::of(source.program, kernel, false)?;
    let points = runs.each;
    let shape = Shape::of(kernel, args, "wide", 1);
    let entry = entry(source, &shape, |lower, extras| {
        let tile = Operand::Imm(u64::from(THREADS * points));
        let block = lower.b.special(Special::Ctaid);
        let start = lower.b.bin(Binary::MulWide, Ty::U32, block, tile);
        let end = lower.b.bin(Binary::Add, Ty::U64, start, tile);
        let tid = lower.b.special(Special::Tid);
        let tid = lower.wide(tid);
        let is_whole = lower.b.cmp(Cmp::Le, Ty::U64, end, extras[0]);
        let (whole, last, join) = (lower.b.block(), lower.b.block(), lower.b.block());
        lower.b.branch(is_whole, whole, last, true);
        lower.b.begin(whole);
        let all = lower.numbers(&runs, start, (tid, THREADS));
        lower.together(kernel, &all, Some(&runs), |lower, point| {
            lower.indices(&kernel.space, point);
        });
        lower.b.jump(join);
        lower.b.begin(last);
        let first = lower.b.bin(Binary::Add, Ty::U64, start, tid);
        let range = (first.into(), extras[0].into(), Operand::Imm(THREADS.into()));
        lower.count(Ty::U64, range, false, |lower, point| {
            lower.indices(&kernel.space, point);
            lower.body(&kernel.body);
        });
        lower.b.jump(join);
        lower.b.begin(join);
    });
    Some((entry, points))
}

/// One thread.
pub(super) fn seq(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Entry {
    let shape = Shape::of(kernel, args, "", 0);
    entry(source, &shape, |lower, _| {
        lower.leader(|lower| {
            lower.body(&kernel.body);
        });
    })
}

impl Lower<'_> {
    /// Code for every point of `0..count`, one per thread, then those further on.
    pub(super) fn points(&mut self, count: Reg, f: impl FnOnce(&mut Self, Reg)) {
        let (thread, all) = self.thread();
        let range = (thread.into(), count.into(), Operand::Reg(all));
        self.count(Ty::U64, range, false, f);
    }
}
