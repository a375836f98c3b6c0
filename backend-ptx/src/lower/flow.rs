//! Pieces of control flow that kernels are made of.

use super::Lower;
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Guard, Operand, Reg, Ty};

impl Lower<'_> {
    /// Code for the first thread of a block.
    pub(super) fn leader(&mut self, f: impl FnOnce(&mut Self)) {
        let tid = self.b.special(Special::Tid);
        let first = self.b.cmp(Cmp::Eq, Ty::U32, tid, Operand::Imm(0));
        self.when(first, f);
    }

    /// Code for the first warp of a block.
    pub(super) fn first_warp(&mut self, f: impl FnOnce(&mut Self)) {
        let tid = self.b.special(Special::Tid);
        let first = self.b.cmp(Cmp::Lt, Ty::U32, tid, Operand::Imm(32));
        self.if_warp(first, f);
    }

    /// Code for warps all of whose lanes find that a condition holds.
    pub(super) fn if_warp(&mut self, cond: Reg, f: impl FnOnce(&mut Self)) {
        let (yes, join) = (self.b.block(), self.b.block());
        self.b.branch(cond, yes, join, true);
        self.b.begin(yes);
        f(self);
        self.b.jump(join);
        self.b.begin(join);
    }

    /// Code for blocks in which a condition holds, and for others.
    pub(super) fn if_else(
        &mut self,
        cond: Reg,
        f: impl FnOnce(&mut Self),
        g: impl FnOnce(&mut Self),
    ) {
        self.either(cond, true, f, g);
    }

    /// Code for threads where a condition holds, and for others; whether it is the same for all threads of a warp.
    pub(super) fn either(
        &mut self,
        cond: Reg,
        uniform: bool,
        f: impl FnOnce(&mut Self),
        g: impl FnOnce(&mut Self),
    ) {
        let (yes, no, join) = (self.b.block(), self.b.block(), self.b.block());
        self.b.branch(cond, yes, no, uniform);
        self.b.begin(yes);
        f(self);
        self.b.jump(join);
        self.b.begin(no);
        g(self);
        self.b.jump(join);
        self.b.begin(join);
    }

    /// Code for threads where a condition holds.
    pub(super) fn when(&mut self, cond: impl Into<Guard>, f: impl FnOnce(&mut Self)) {
        let (yes, join) = (self.b.block(), self.b.block());
        self.b.branch(cond, yes, join, false);
        self.b.begin(yes);
        f(self);
        self.b.jump(join);
        self.b.begin(join);
    }

    /// Counts a register up from a start, by a step, below an end, all of type `ty`.
    pub(super) fn count(
        &mut self,
        ty: Ty,
        (start, end, step): (Operand, Operand, Operand),
        uniform: bool,
        f: impl FnOnce(&mut Self, Reg),
    ) {
        let i = self.b.mov(Ty::of_class(ty.class()), start);
        let (head, inside, exit) = (self.b.block(), self.b.block(), self.b.block());
        self.b.begin(head);
        let more = self.b.cmp(Cmp::Lt, ty, i, end);
        self.b.branch(more, inside, exit, uniform);
        self.b.begin(inside);
        f(self, i);
        self.b.bin_to(i, Binary::Add, ty, i, step);
        self.b.jump(head);
        self.b.begin(exit);
    }
}
