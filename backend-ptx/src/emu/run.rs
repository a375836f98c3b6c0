//! What instructions act on: the registers of a warp, its block, and the world.

use super::code::{Doubles, Words};
use super::memory::{Bank, Memory};
use super::shadow::{Clock, Intervals, Who};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The register files of a frame.
#[derive(Default)]
pub(super) struct Regs {
    pub(super) words: Vec<Words>,
    pub(super) doubles: Vec<Doubles>,
    pub(super) preds: Vec<u32>,
}

/// A local array: each byte for all lanes, and the lanes that have written it.
pub(super) struct LocalBank {
    pub(super) bytes: Vec<[u8; 32]>,
    pub(super) defined: Vec<u32>,
}

/// A warp without its control flow.
pub(super) struct WarpCore {
    pub(super) number: u32,
    /// How often its lanes came together since the last barrier.
    pub(super) epoch: u32,
    pub(super) locals: Vec<Option<LocalBank>>,
}

/// A block without its warps.
pub(super) struct BlockCore {
    pub(super) number: u32,
    /// The interval that it is in.
    pub(super) interval: u32,
    pub(super) shared: Vec<Bank>,
    /// What all threads know of other blocks.
    pub(super) clock: Clock,
    /// What the threads of each warp have come to know since the last barrier.
    pub(super) pending: Vec<Clock>,
    /// What was known at the last fence of each thread.
    released: BTreeMap<u32, Rc<Clock>>,
    /// What relaxed loads of each thread have seen, to be known after its next fence.
    observed: BTreeMap<u32, Clock>,
    pub(super) copies: Copies,
}

impl BlockCore {
    pub(super) fn new(number: u32, interval: u32, shared: Vec<Bank>, warps: u32) -> Self {
        Self {
            number,
            interval,
            shared,
            clock: Clock::default(),
            pending: vec![Clock::default(); warps as usize],
            released: BTreeMap::new(),
            observed: BTreeMap::new(),
            copies: Copies::default(),
        }
    }

    pub(super) fn clocks(&self, warp: u32) -> [&Clock; 2] {
        [&self.clock, &self.pending[warp as usize]]
    }

    /// All threads have come together: what some know, all do.
    pub(super) fn barrier(&mut self, interval: u32) {
        self.interval = interval;
        for pending in &mut self.pending {
            self.clock.join(&std::mem::take(pending));
        }
    }
}

/// Asynchronous copies under way.
#[derive(Default)]
pub(super) struct Copies {
    /// Of each thread: groups, the last one still open.
    groups: BTreeMap<u32, Vec<Vec<Copy>>>,
}

/// The shared array, the place in it, the bytes.
type Copy = (usize, usize, Vec<u8>);

impl Copies {
    pub(super) fn begin(&mut self, thread: u32, (bank, place): (usize, usize), bytes: &[u8]) {
        let groups = self.groups.entry(thread).or_default();
        if groups.is_empty() {
            groups.push(Vec::new());
        }
        if let Some(open) = groups.last_mut() {
            open.push((bank, place, bytes.to_vec()));
        }
    }
    pub(super) fn commit(&mut self, thread: u32) {
        let groups = self.groups.entry(thread).or_default();
        if groups.is_empty() {
            groups.push(Vec::new());
        }
        groups.push(Vec::new());
    }
    /// The copies of all committed groups but the latest `left`.
    pub(super) fn arrived(&mut self, thread: u32, left: usize) -> Vec<Copy> {
        let groups = self.groups.entry(thread).or_default();
        let committed = groups.len().saturating_sub(1);
        groups
            .drain(..committed.saturating_sub(left))
            .flatten()
            .collect()
    }
}

/// What all blocks of a launch share.
pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) intervals: Intervals,
    /// What is known through each word that was written with an order.
    words: HashMap<u64, Clock>,
    pub(super) params: Vec<u8>,
    pub(super) threads: u32,
    pub(super) blocks: u32,
    /// Looks at memory since something changed.
    pub(super) polls: u64,
    /// Lanes times instructions so far.
    pub(super) steps: u64,
}

impl World {
    pub(super) fn new(memory: Memory, params: &[u8], threads: u32, blocks: u32) -> Self {
        Self {
            intervals: Intervals::new(memory.next),
            memory,
            words: HashMap::new(),
            params: params.to_vec(),
            threads,
            blocks,
            polls: 0,
            steps: 0,
        }
    }
}

/// A warp in the act of executing.
pub(super) struct Cx<'a> {
    pub(super) regs: Regs,
    /// Arguments of the function; of a kernel, none.
    pub(super) args: Vec<Doubles>,
    /// The local array that each variable is.
    pub(super) locals: Vec<Option<u32>>,
    pub(super) warp: &'a mut WarpCore,
    pub(super) block: &'a mut BlockCore,
    pub(super) world: &'a mut World,
}

/// How an access to a word passes knowledge on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Synchronises {
    /// What was known through the word before is gone.
    Store,
    /// It stays.
    Update,
}

impl Cx<'_> {
    /// Who the first lane is.
    #[inline]
    pub(super) fn who(&self, atomic: bool, any_wins: bool) -> Who {
        let block = &self.block;
        let who = Who::new(block.number, block.interval, 0, self.warp.epoch);
        match (atomic, any_wins) {
            (true, _) => who.atomic(),
            (false, true) => who.any_wins(),
            (false, false) => who,
        }
    }

    /// Calls `f` with the number of the thread of every lane.
    pub(super) fn each(&mut self, mask: u32, mut f: impl FnMut(&mut Self, u32)) {
        let first = self.warp.number * 32;
        for lane in (0..32).filter(|lane| mask >> lane & 1 == 1) {
            f(self, first + lane);
        }
    }

    /// What the lanes know now.
    fn snapshot(&self, mask: u32) -> Clock {
        let mut clock = self.block.clock.clone();
        clock.join(&self.block.pending[self.warp.number as usize]);
        let first = self.warp.number * 32;
        let threads: Vec<u32> = (0..32)
            .filter(|lane| mask >> lane & 1 == 1)
            .map(|lane| first + lane)
            .collect();
        clock.add(self.block.number, self.block.interval, &threads);
        clock
    }

    /// What came before is published by later relaxed stores; what relaxed loads have seen is known from now on.
    pub(super) fn fence(&mut self, mask: u32) {
        let warp = self.warp.number as usize;
        let seen = Rc::new(self.snapshot(mask));
        self.each(mask, |cx, thread| {
            if let Some(observed) = cx.block.observed.remove(&thread) {
                cx.block.pending[warp].join(&observed);
            }
            cx.block.released.insert(thread, Rc::clone(&seen));
        });
    }

    /// Loads with an order have looked at words.
    pub(super) fn observe(&mut self, mask: u32, at: &[u64; 32], acquire: bool) {
        if self.world.words.is_empty() {
            return;
        }
        let warp = self.warp.number as usize;
        self.each(mask, |cx, thread| {
            let Some(clock) = cx.world.words.get(&at[thread as usize % 32]) else {
                return;
            };
            if acquire {
                cx.block.pending[warp].join(clock);
            } else {
                cx.block.observed.entry(thread).or_default().join(clock);
            }
        });
    }

    /// Stores with an order have written words.
    pub(super) fn publish(&mut self, mask: u32, at: &[u64; 32], how: Synchronises, release: bool) {
        let now = release.then(|| self.snapshot(mask));
        self.each(mask, |cx, thread| {
            let word = at[thread as usize % 32];
            let known = match &now {
                Some(now) => Some(now),
                None => cx.block.released.get(&thread).map(Rc::as_ref),
            };
            match (known, how) {
                (None, Synchronises::Update) => {}
                (None, Synchronises::Store) => {
                    cx.world.words.remove(&word);
                }
                (Some(known), Synchronises::Update) => {
                    cx.world.words.entry(word).or_default().join(known);
                }
                (Some(known), Synchronises::Store) => {
                    cx.world.words.insert(word, known.clone());
                }
            }
        });
    }
}
