//! Kernels of points that stand alone: one thread for each, or one thread for all.

use super::{Entry, Lower, Shape, Source, entry, name_of};
use crate::ptx::{Operand, Reg, Ty};
use midend::ir::id::Var;
use midend::ir::mem::Kernel;

/// One point per thread; with fewer threads than points, each takes further ones. The parameter is the number of points.
pub(super) fn map(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Entry {
    let shape = Shape {
        name: name_of(&kernel.name, ""),
        kernel,
        args,
        extras: 1,
    };
    entry(source, &shape, |lower, extras| {
        lower.points(extras[0], |lower, point| {
            lower.indices(&kernel.space, point);
            lower.scoped(&kernel.body, |lower| {
                lower.body(&kernel.body);
            });
        });
    })
}

/// One thread.
pub(super) fn seq(source: &mut Source<'_>, kernel: &Kernel, args: &[Var]) -> Entry {
    let shape = Shape {
        name: name_of(&kernel.name, ""),
        kernel,
        args,
        extras: 0,
    };
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
