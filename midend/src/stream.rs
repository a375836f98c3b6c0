//! Sequences as runs see them: who runs a program says how much of a sequence is worked on at once.

use std::fmt;

/// What is known of memory when the next chunk is chosen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    /// Bytes in use.
    pub used: u64,
    /// The most bytes that were in use at once so far.
    pub peak: u64,
    /// Bytes that may be in use at once, if there is a limit.
    pub limit: Option<u64>,
}

/// Chooses the sizes of chunks.
pub trait Schedule: Sync {
    /// How many elements of a sequence are worked on next. `stream` says which loop asks, `before` how many elements came
    /// before, `left` how many may come: at least one. What is given is brought between one and `left`.
    fn next(&self, stream: u32, before: i64, left: i64, room: &Room) -> i64;
}

/// What a run knows of sequences.
#[derive(Clone, Copy)]
pub struct Streams<'a> {
    schedule: &'a dyn Schedule,
}

impl<'a> Streams<'a> {
    /// Chunks of sizes that vary, small ones first: whether results depend on them shows soon.
    pub const VARIED: Streams<'static> = Streams { schedule: &Varied };

    /// All of a sequence at once.
    pub const WHOLE: Streams<'static> = Streams { schedule: &Whole };

    /// Chunks as `schedule` says.
    pub const fn new(schedule: &'a dyn Schedule) -> Self {
        Self { schedule }
    }

    /// The size of the next chunk.
    pub(crate) fn next(&self, stream: u32, before: i64, left: i64, room: &Room) -> i64 {
        let next = self.schedule.next(stream, before, left, room);
        next.min(left).max(1)
    }
}

impl fmt::Debug for Streams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}

struct Varied;

impl Schedule for Varied {
    fn next(&self, _: u32, before: i64, _: i64, _: &Room) -> i64 {
        1 + before / 2 + before % 5
    }
}

struct Whole;

impl Schedule for Whole {
    fn next(&self, _: u32, _: i64, left: i64, _: &Room) -> i64 {
        left
    }
}

/// Chunks of one size.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub i64);

impl Schedule for Fixed {
    fn next(&self, _: u32, _: i64, _: i64, _: &Room) -> i64 {
        self.0
    }
}
