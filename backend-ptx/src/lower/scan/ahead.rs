//! What later tiles read is brought near while this one is worked on. Tiles that wait for those before them hold shared memory, so that
//! what is under way to it is too little to keep memory busy; what is under way to the cache of the device does not wait. (Copies to
//! shared memory by `cp.async` were tried instead, and are no faster than loads.)

use super::Tile;
use crate::lower::stride::Strides;
use crate::lower::{Lower, THREADS};
use crate::ptx::ops::{Binary, Cmp, Special};
use crate::ptx::{Inst, Operand, Ty};
use midend::ir::id::Var;
use midend::ir::mem::{Kernel, Mem};
use midend::ir::syntax::{Atom, Exp, Stm};
use midend::ir::types::Type;

/// Bytes that are brought near together.
const LINE: u32 = 128;
/// How many tiles ahead: an H200 does so many in a microsecond. On it, scans of 2^28 numbers of four bytes take 0.89 of the time, and 0.94
/// with 256 tiles; with 512 the cache is too small.
const TILES: u64 = 64;

/// A read of what lies side by side for neighbours: the buffer, the index, and what computes it.
struct Read<'k> {
    buffer: Var,
    index: Atom,
    stms: Vec<&'k Stm<Mem>>,
}

/// The statements that compute a number, if nothing is read for it.
fn computed<'k>(stms: &'k [Stm<Mem>], number: Atom, all: &mut Vec<&'k Stm<Mem>>) -> bool {
    let Atom::Var(var) = number else { return true };
    let Some(at) = stms.iter().position(|stm| stm.binds.contains(&var)) else {
        return true;
    };
    let stm = &stms[at];
    if all.iter().any(|other| other.binds == stm.binds) {
        return true;
    }
    let mut operands = Vec::new();
    stm.exp.operands(&mut |atom| operands.push(atom));
    let is_plain = matches!(stm.exp, Exp::Atom(_) | Exp::Scalar(..));
    let can = is_plain
        && operands
            .into_iter()
            .all(|atom| computed(&stms[..at], atom, all));
    all.push(stm);
    can
}

fn reads(kernel: &Kernel) -> Vec<Read<'_>> {
    let strides = Strides::of(kernel);
    let stms = &kernel.body.stms;
    let mut reads: Vec<Read<'_>> = Vec::new();
    for stm in stms {
        let Exp::Op(Mem::Load { buffer, index }) = stm.exp else {
            continue;
        };
        // Memory of the thread's own, which the body allocates, is not there at other points.
        if stms.iter().any(|stm| stm.binds.contains(&buffer)) {
            continue;
        }
        let mut needed = Vec::new();
        let is_new = reads.iter().all(|read| read.buffer != buffer);
        if is_new && strides.is_one(index) && computed(stms, index, &mut needed) {
            reads.push(Read {
                buffer,
                index,
                stms: needed,
            });
        }
    }
    reads
}

impl Lower<'_> {
    /// Brings near what the body reads at the points of a later tile.
    pub(super) fn bring_near(&mut self, kernel: &Kernel, tile: &Tile) {
        let tid = self.b.special(Special::Tid);
        let tid = self.wide(tid);
        let size = THREADS * tile.items;
        let ahead = Operand::Imm(TILES * u64::from(size));
        let start = self.b.bin(Binary::Add, Ty::U64, tile.start, ahead);
        for read in reads(kernel) {
            if !matches!(self.ty(read.buffer), Type::Buffer(_)) {
                continue;
            }
            let bytes = self.elem(read.buffer).bytes() as u32;
            let run = LINE / bytes;
            for round in 0..(size * bytes).div_ceil(LINE * THREADS) {
                let first = Operand::Imm((round * THREADS * run).into());
                let mine = self
                    .b
                    .bin(Binary::Mul, Ty::U64, tid, Operand::Imm(run.into()));
                let mine = self.b.bin(Binary::Add, Ty::U64, mine, first);
                let inside = self
                    .b
                    .cmp(Cmp::Lt, Ty::U64, mine, Operand::Imm(size.into()));
                let element = self.b.bin(Binary::Add, Ty::U64, start, mine);
                let exists = self.b.cmp(Cmp::Lt, Ty::U64, element, tile.end);
                let exists = self.b.bin(Binary::And, Ty::Pred, exists, inside);
                self.when(exists, |lower| {
                    let outer = lower.values.clone();
                    lower.bind_element(kernel, element);
                    for stm in &read.stms {
                        lower.stm(stm);
                    }
                    let index = lower.atom(read.index);
                    let buffer = lower.value(read.buffer);
                    let place = lower.place(buffer, lower.elem(read.buffer), index);
                    lower.b.inst(Inst::Prefetch(place.at));
                    lower.values = outer;
                });
            }
        }
    }
}
