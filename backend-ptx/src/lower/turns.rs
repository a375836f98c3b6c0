//! Tiles in turn: blocks draw the numbers of tiles from a counter until there are none left. There are as many blocks as run at once, so
//! that a tile need not wait for a block to be started.

use super::Lower;
use crate::ptx::ops::{AtomOp, Binary, Cmp, Round, Special};
use crate::ptx::{Inst, Operand, Order, Reg, Scope, Space, Ty};

impl Lower<'_> {
    /// Code for each tile of a block, of so many in all; it gets the number of the tile, drawn from a counter.
    ///
    /// A number is drawn when the block has nothing else to do: later tiles wait for the tile from then on. (On an H200, with the number
    /// on its way while results are stored, scans of 2^28 numbers take 1.06 of the time.)
    pub(super) fn in_turn(&mut self, (counter, tiles): (Reg, Reg), f: impl FnOnce(&mut Self, Reg)) {
        let drawn = self.b.mov(Ty::B32, Operand::Imm(0));
        // Every block draws once in vain; the last one of all leaves the counter at zero.
        let blocks = self.b.special(Special::Nctaid);
        let draws = self.b.convert(Ty::U32, Ty::U64, Round::Exact, tiles);
        let draws = self.b.bin(Binary::Add, Ty::U32, draws, blocks);
        let last = self.b.bin(Binary::Sub, Ty::U32, draws, Operand::Imm(1));
        // Two accesses to memory are under way together.
        self.draw((counter, last), drawn);
        self.skip_after_failure();
        let slot = self.b.variable("turn", Space::Shared, 4, 1);
        let slot = self.b.address_of(slot);
        let (head, inside) = (self.b.block(), self.b.block());
        let (next, exit) = (self.b.block(), self.b.block());
        self.b.begin(head);
        self.leader(|lower| lower.b.store(Space::Shared, Ty::U32, slot, drawn));
        self.b.inst(Inst::Barrier);
        let number = self.b.load(Space::Shared, Ty::U32, slot);
        let number = self.wide(number);
        let exists = self.b.cmp(Cmp::Lt, Ty::U64, number, tiles);
        self.b.branch(exists, inside, exit, true);
        self.b.begin(inside);
        // What may fail is protected, one by one; whatever else fails comes to the next tile with the others.
        let outer = std::mem::replace(&mut self.fail, next);
        f(self, number);
        self.fail = outer;
        self.b.jump(next);
        self.b.begin(next);
        self.gather_warp();
        self.draw((counter, last), drawn);
        self.b.jump(head);
        self.b.begin(exit);
    }

    /// The leader of the block draws a number; after the last one comes zero.
    fn draw(&mut self, (counter, last): (Reg, Reg), drawn: Reg) {
        self.leader(|lower| {
            lower.b.inst(Inst::Atom {
                op: AtomOp::Inc,
                space: Space::Global,
                order: Order::Relaxed(Scope::Gpu),
                ty: Ty::U32,
                dst: Some(drawn),
                at: counter.into(),
                a: last.into(),
                b: None,
            });
        });
    }
}
