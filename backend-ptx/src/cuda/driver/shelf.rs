//! Memory that was given back and waits for whoever asks for as much: a loop that frees arrays and takes others of the same sizes in every
//! step then asks the driver for nothing. All happens in one stream, in whose order memory changes hands.

use std::collections::{HashMap, VecDeque};

/// Blocks that wait, at most.
const MOST: usize = 32;

/// Which blocks are taken, and which wait.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    /// The bytes of each block that is taken, by its address.
    taken: HashMap<u64, usize>,
    /// Addresses and bytes of those that wait; the oldest first.
    waiting: VecDeque<(u64, usize)>,
}

impl Shelf {
    /// A block of exactly so many bytes that waits, the newest: it may still be in a cache. It is taken then.
    pub(super) fn reuse(&mut self, bytes: usize) -> Option<u64> {
        let found = self.waiting.iter().rposition(|(_, size)| *size == bytes)?;
        let (address, _) = self.waiting.remove(found)?;
        self.taken.insert(address, bytes);
        Some(address)
    }

    /// A block of so many bytes has come from the driver.
    pub(super) fn take(&mut self, address: u64, bytes: usize) {
        self.taken.insert(address, bytes);
    }

    /// A block is given back and waits; which one the driver gets instead, if any: one that came from elsewhere, or has waited longest.
    pub(super) fn give_back(&mut self, address: u64) -> Option<u64> {
        let Some(bytes) = self.taken.remove(&address) else {
            return Some(address);
        };
        self.waiting.push_back((address, bytes));
        match self.waiting.len() > MOST {
            true => self.waiting.pop_front().map(|(address, _)| address),
            false => None,
        }
    }

    /// Whoever is short of memory gets all blocks that wait.
    pub(super) fn clear(&mut self) -> impl Iterator<Item = u64> {
        self.waiting.drain(..).map(|(address, _)| address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_for_as_much_gets_the_block_given_back_last() {
        let mut shelf = Shelf::default();
        for (address, bytes) in [(8, 64), (16, 64), (24, 128)] {
            shelf.take(address, bytes);
            assert_eq!(shelf.give_back(address), None);
        }
        assert_eq!(shelf.reuse(65), None);
        assert_eq!(shelf.reuse(64), Some(16));
        assert_eq!(shelf.reuse(64), Some(8));
        assert_eq!(shelf.reuse(64), None);
        assert_eq!(shelf.give_back(8), None);
        assert_eq!(shelf.clear().collect::<Vec<_>>(), [24, 8]);
        assert_eq!(shelf.reuse(128), None);
    }

    #[test]
    fn blocks_of_others_and_those_that_waited_longest_go_to_the_driver() {
        let mut shelf = Shelf::default();
        assert_eq!(shelf.give_back(8), Some(8));
        let most = MOST as u64;
        for address in 0..most + 2 {
            shelf.take(address, 64);
        }
        for address in 0..most {
            assert_eq!(shelf.give_back(address), None);
        }
        assert_eq!(shelf.give_back(most), Some(0));
        assert_eq!(shelf.give_back(most + 1), Some(1));
    }
}
