//! What is remembered about each place of memory, and which accesses are in order.
//!
//! Time is cut into *intervals*: a block begins a new one when it starts and at every barrier, and no two blocks share
//! one. Two accesses of one interval are in order if one thread made them, or if lanes of one warp did and the warp came
//! together in between (its *epoch* counts that). Accesses of earlier intervals of the same block are in order. Those of
//! other blocks of the launch are if a release and an acquire lie between, which [`Clock`]s carry from block to block.
//! This is the idea of FastTrack (Flanagan and Freund), with barriers as the clock.

use std::collections::BTreeMap;

/// The interval of what happens outside of launches.
pub(super) const HOST: u32 = 1;

const THREAD: u32 = 0x3ff;
const EPOCH: u32 = 0xffff << 10;
/// The access takes part in races with those of its own block alone.
const NARROW: u32 = 1 << 26;
/// Of readers: several lanes of one warp.
const WARP: u32 = 1 << 27;
/// Of readers: several warps.
const MANY: u32 = 1 << 28;
/// Of readers: several blocks.
const BLOCKS: u32 = 1 << 29;
/// The access takes part in a race by its nature.
const ATOMIC: u32 = 1 << 30;
/// A store beside which others may be made.
const ANY: u32 = 1 << 31;

/// The last write and the last read of a place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    /// Interval of the last write; 0 if there was none.
    written: u32,
    writer: u32,
    read: u32,
    reader: u32,
}

impl Cell {
    /// A place that was written before the launch.
    pub(super) const DEFINED: Self = Self {
        written: HOST,
        writer: 0,
        read: 0,
        reader: 0,
    };

    /// Makes the place undefined.
    pub(super) const fn forget(&mut self) {
        self.written = 0;
    }

    /// Whether something was ever written there.
    pub(super) const fn written_ever(self) -> bool {
        self.written != 0
    }
}

/// Who makes an access.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    /// The interval.
    pub(super) when: u32,
    /// The thread, the epoch of its warp, and marks.
    mark: u32,
    block: u32,
}

impl Who {
    pub(super) const fn new(block: u32, when: u32, thread: u32, epoch: u32) -> Self {
        Self {
            when,
            mark: (thread & THREAD) | ((epoch << 10) & EPOCH),
            block,
        }
    }
    pub(super) const fn atomic(self) -> Self {
        Self {
            mark: self.mark | ATOMIC,
            ..self
        }
    }
    /// The same with the scope of its block, if it is `narrow`.
    pub(super) const fn within_block(self, narrow: bool) -> Self {
        Self {
            mark: self.mark | if narrow { NARROW } else { 0 },
            ..self
        }
    }
    pub(super) const fn is_atomic(self) -> bool {
        self.mark & ATOMIC != 0
    }
    pub(super) const fn any_wins(self) -> Self {
        Self {
            mark: self.mark | ANY,
            ..self
        }
    }
    /// The same with another lane's thread.
    pub(super) const fn thread(self, thread: u32) -> Self {
        Self {
            mark: (self.mark & !THREAD) | thread,
            ..self
        }
    }
}

/// Why an access is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bad {
    /// Nothing was ever written there.
    Undefined,
    /// Another thread writes there.
    RaceWithWrite { thread: u32, block: u32 },
    /// Another thread reads there.
    RaceWithRead { thread: u32, block: u32 },
}

/// What a block knows of the past of other blocks: of each the latest interval and the threads of it that are known up
/// to that interval; of others in the block, all earlier intervals are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock(BTreeMap<u32, (u32, Vec<u32>)>);

impl Clock {
    /// Adds that threads of a block are known in an interval.
    pub(super) fn add(&mut self, block: u32, when: u32, threads: &[u32]) {
        let (known, whose) = self.0.entry(block).or_default();
        if when > *known {
            (*known, *whose) = (when, threads.to_vec());
        } else if when == *known {
            whose.extend(
                threads
                    .iter()
                    .filter(|t| !whose.contains(t))
                    .collect::<Vec<_>>(),
            );
        }
    }
    /// Adds all that another clock knows.
    pub(super) fn join(&mut self, other: &Self) {
        for (block, (when, threads)) in &other.0 {
            self.add(*block, *when, threads);
        }
    }
    fn covers(&self, block: u32, when: u32, thread: u32) -> bool {
        self.0.get(&block).is_some_and(|(known, threads)| {
            *known > when || (*known == when && threads.contains(&thread))
        })
    }
}

/// The intervals of the launch at hand.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    /// The first one.
    pub(super) first: u32,
    /// Whose each is.
    owners: Vec<u32>,
}

impl Intervals {
    pub(super) const fn new(first: u32) -> Self {
        Self {
            first,
            owners: Vec::new(),
        }
    }
    /// Begins an interval of a block.
    pub(super) fn begin(&mut self, block: u32) -> u32 {
        self.owners.push(block);
        self.end() - 1
    }
    /// The first interval after all of the launch.
    pub(super) fn end(&self) -> u32 {
        self.first.saturating_add(self.owners.len() as u32)
    }
    fn owner(&self, when: u32) -> u32 {
        self.owners[(when - self.first) as usize]
    }

    /// Whether an access of this launch by the marked thread is before what `who` does.
    fn is_before(&self, when: u32, mark: u32, who: &Who, clocks: &[&Clock]) -> bool {
        if when == who.when {
            let (a, b) = (mark & THREAD, who.mark & THREAD);
            let same_warp = a / 32 == b / 32;
            if mark & MANY != 0 {
                return false;
            }
            let same_thread = a == b && mark & WARP == 0;
            return same_thread || (same_warp && (mark ^ who.mark) & EPOCH != 0);
        }
        let owner = self.owner(when);
        owner == who.block
            || clocks
                .iter()
                .any(|clock| clock.covers(owner, when, mark & THREAD))
    }

    /// Whether two accesses are both of a kind that may race, and each is in the scope of the other. The earlier one was made in this
    /// interval of the launch, and perhaps in other `blocks`.
    fn may_race(&self, when: u32, mark: u32, who: &Who, blocks: bool) -> bool {
        let is_narrow = (mark | who.mark) & NARROW != 0;
        mark & who.mark & ATOMIC != 0 && (!is_narrow || (self.owner(when) == who.block && !blocks))
    }

    /// Notes a read.
    #[inline]
    pub(super) fn note_read(
        &self,
        cell: &mut Cell,
        who: &Who,
        clocks: &[&Clock],
        undefined: bool,
    ) -> Result<(), Bad> {
        if cell.written < self.first {
            if cell.written == 0 && !undefined {
                return Err(Bad::Undefined);
            }
        } else if !self.may_race(cell.written, cell.writer, who, false)
            && !self.is_before(cell.written, cell.writer, who, clocks)
        {
            return Err(Bad::RaceWithWrite {
                thread: cell.writer & THREAD,
                block: self.owner(cell.written),
            });
        }
        if cell.read < self.first {
            (cell.read, cell.reader) = (who.when, who.mark);
        } else {
            self.another_reader(cell, who);
        }
        Ok(())
    }

    /// A place that was read in this launch before is read again.
    fn another_reader(&self, cell: &mut Cell, who: &Who) {
        let plain_before = cell.reader & ATOMIC == 0;
        if plain_before && who.mark & ATOMIC != 0 {
            return;
        }
        if cell.read != who.when {
            let others = self.owner(cell.read) != who.block;
            let blocks = if others { BLOCKS } else { cell.reader & BLOCKS };
            let narrow = cell.reader & NARROW;
            (cell.read, cell.reader) = (who.when, who.mark | blocks | narrow);
            return;
        }
        let (a, b) = (cell.reader & THREAD, who.mark & THREAD);
        let same_warp = a / 32 == b / 32;
        // What lanes of the warp read before it came together is before all that it does now.
        let came_together = same_warp && (cell.reader ^ who.mark) & EPOCH != 0;
        let kept = if came_together {
            MANY | BLOCKS | NARROW
        } else {
            WARP | MANY | BLOCKS | NARROW
        };
        let marks = cell.reader & kept;
        let more = if a == b || came_together {
            0
        } else if same_warp {
            WARP
        } else {
            MANY
        };
        cell.reader = who.mark | marks | more;
    }

    /// Notes a write.
    #[inline]
    pub(super) fn note_write(
        &self,
        cell: &mut Cell,
        who: &Who,
        clocks: &[&Clock],
    ) -> Result<(), Bad> {
        if cell.written >= self.first
            && cell.writer & who.mark & ANY == 0
            && !self.may_race(cell.written, cell.writer, who, false)
            && !self.is_before(cell.written, cell.writer, who, clocks)
        {
            return Err(Bad::RaceWithWrite {
                thread: cell.writer & THREAD,
                block: self.owner(cell.written),
            });
        }
        if cell.read >= self.first
            && !self.may_race(cell.read, cell.reader, who, cell.reader & BLOCKS != 0)
            && (cell.reader & BLOCKS != 0 || !self.is_before(cell.read, cell.reader, who, clocks))
        {
            return Err(Bad::RaceWithRead {
                thread: cell.reader & THREAD,
                block: self.owner(cell.read),
            });
        }
        (cell.written, cell.writer) = (who.when, who.mark);
        Ok(())
    }
}
