//! Tables with a quick hash, and fingerprints. Most keys are dense identifiers, of which the checker, passes and the verifier look up
//! a few for every node of a program. Nothing that is put out depends on the order in such a table.

use rustc_hash::FxBuildHasher;
use std::hash::{Hash, Hasher};

/// A table.
pub type HashMap<K, V> = std::collections::HashMap<K, V, FxBuildHasher>;
/// A set.
pub type HashSet<K> = std::collections::HashSet<K, FxBuildHasher>;

/// 128 bits of hash that stand for a value: two values that differ have the same ones as good as never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint([u64; 2]);

impl Fingerprint {
    /// The fingerprint of a value.
    pub fn of(value: &impl Hash) -> Self {
        let mut hasher = Fingerprinter([0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03]);
        value.hash(&mut hasher);
        Self(hasher.0)
    }
}

/// Two hashes of 64 bits, each of which multiplies what it has by a constant of its own and adds the halves of the product.
struct Fingerprinter([u64; 2]);

impl Fingerprinter {
    const FACTORS: [u64; 2] = [0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];
}

impl Hasher for Fingerprinter {
    fn write_u64(&mut self, word: u64) {
        for (state, factor) in self.0.iter_mut().zip(Self::FACTORS) {
            let product = u128::from(*state ^ word) * u128::from(factor);
            // The lower half alone would not tell of the upper bits of the word.
            *state = (product as u64 ^ (product >> 64) as u64).wrapping_add(factor);
        }
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn finish(&self) -> u64 {
        self.0[0]
    }
}
