//! Where what a warp keeps goes. Bits of a register tell each lane which of its elements are kept. How many there are in each run of
//! neighbours, at most 128 in all lanes, has a byte of a register, so that one scan over the lanes counts four runs.

use super::Lower;
use crate::ptx::ops::{Binary, Shuffle, Ternary};
use crate::ptx::{Operand, Reg, Ty};

/// Bits of a count.
const BYTE: u32 = 8;
/// A one in each byte.
const ONES: u32 = 0x0101_0101;

impl Lower<'_> {
    /// The place of the first one kept of each run of a lane, of so many elements in runs of 1, 2 or 4, among those that the warp keeps:
    /// elements go by runs, in each by lanes.
    pub(super) fn places(&mut self, (items, run): (u32, u32), bits: Reg) -> Vec<Reg> {
        let runs = (items / run) as usize;
        let counts = self.count_fields(bits, run);
        // Of each word of bytes, those that count what lanes before have, and those that count what all have.
        let words = (BYTE / run) as usize;
        let mut scanned = Vec::new();
        for word in 0..words.min(runs) as u32 {
            let own = self.b.bin(
                Binary::Shr,
                Ty::U32,
                counts,
                Operand::Imm((word * run).into()),
            );
            let field = Operand::Imm((ONES * ((1 << run) - 1)).into());
            let own = self.b.bin(Binary::And, Ty::B32, own, field);
            let upto = self.b.mov(Ty::B32, own);
            for distance in [1, 2, 4, 8, 16] {
                let (other, has) = self.b.shuffle(Shuffle::Up, upto, Operand::Imm(distance), 0);
                let other = self.b.select(Ty::B32, has, other, Operand::Imm(0));
                self.b.bin_to(upto, Binary::Add, Ty::U32, upto, other);
            }
            let before = self.b.bin(Binary::Sub, Ty::U32, upto, own);
            let (all, _) = self.b.shuffle(Shuffle::Index, upto, Operand::Imm(31), 31);
            scanned.push((before, all));
        }
        let mut first: Operand = Operand::Imm(0);
        let mut places = Vec::new();
        for number in 0..runs {
            let (before, all) = scanned[number % words];
            let from = Operand::Imm(u64::from(BYTE) * (number / words) as u64);
            let mut byte = |word: Reg| {
                let field = [word.into(), from, Operand::Imm(BYTE.into())];
                self.b.tern(Ternary::Bfe, Ty::U32, field)
            };
            let (before, all) = (byte(before), byte(all));
            places.push(self.b.bin(Binary::Add, Ty::U32, before, first));
            first = self.b.bin(Binary::Add, Ty::U32, all, first).into();
        }
        places
    }

    /// How many bits there are in each field of 1, 2 or 4 bits.
    fn count_fields(&mut self, bits: Reg, width: u32) -> Reg {
        let mut counts = bits;
        if width >= 2 {
            let high = self.b.bin(Binary::Shr, Ty::U32, counts, Operand::Imm(1));
            let high = self
                .b
                .bin(Binary::And, Ty::B32, high, Operand::Imm(0x5555_5555));
            counts = self.b.bin(Binary::Sub, Ty::U32, counts, high);
        }
        if width >= 4 {
            let pairs = Operand::Imm(0x3333_3333);
            let high = self.b.bin(Binary::Shr, Ty::U32, counts, Operand::Imm(2));
            let high = self.b.bin(Binary::And, Ty::B32, high, pairs);
            let low = self.b.bin(Binary::And, Ty::B32, counts, pairs);
            counts = self.b.bin(Binary::Add, Ty::U32, high, low);
        }
        counts
    }
}
