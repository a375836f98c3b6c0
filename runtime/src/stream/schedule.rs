//! How many elements of a sequence are worked on at once, found while it is gone through (*Streaming Irregular Arrays*, section 5).
//!
//! Chunks begin small. They grow as long as the device is not kept busy, that is, as long as starting the work of a chunk takes a part of its
//! time that can be told, and then as long as the time for each element falls; they shrink when that rises. What a chunk takes of memory is
//! measured, too, and no chunk is expected to take more than its share of what is left, of a limit less what the process had before.

use midend::hash::HashMap;
use midend::stream::{Room, Schedule};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The first chunk.
const FIRST: f64 = 64.0;

/// The largest chunk.
const MOST: f64 = (1u64 << 40) as f64;

/// A chunk that is done faster does not keep a device busy for four fifths of the time.
const BUSY: Duration = Duration::from_millis(1);

/// No chunk is made larger that takes so long: interrupts and progress wait for it.
const LONG: Duration = Duration::from_millis(250);

/// By how much chunks grow while the device is idle, and then; they shrink half as fast.
const IDLE: f64 = 4.0;
const GROW: f64 = 2.0;
const SHRINK: f64 = std::f64::consts::FRAC_1_SQRT_2;

/// The weight of the last chunk in the moving average.
const WEIGHT: f64 = 0.3;

/// What all of a chunk may take where there is no limit.
const ROOM: u64 = 1 << 30;

/// A chunk takes one part in so many of what a limit leaves: the one before is there until the next has been read, memory that was given
/// back may not be the system's yet, and results are there once more while they are written.
const SHARE: u64 = 6;

/// However much the process has besides its arrays, chunks may count on this part of a limit.
const LEFT: u64 = 4;

/// Bytes of memory that the process has, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

/// Chooses chunks for the loops over sequences of one call.
#[derive(Debug)]
pub(crate) struct Adaptive {
    limit: Option<u64>,
    /// Whether the limit is for all of the process.
    of_process: bool,
    /// Bytes that the process had besides its arrays when the first loop began, if that matters and is known.
    beside: OnceLock<u64>,
    loops: Mutex<HashMap<u32, Pace>>,
}

/// How a loop is getting on.
#[derive(Debug)]
struct Pace {
    since: Instant,
    /// The size of the chunk at hand, how large it was to be, and that of the next one, before it is rounded.
    chunk: i64,
    wanted: i64,
    size: f64,
    /// That of the next one, if it is settled.
    settled: Option<i64>,
    /// Bytes in use, and most bytes in use, when it began.
    used: u64,
    peak: u64,
    /// Seconds and bytes for an element.
    time: Option<f64>,
    bytes: f64,
}

impl Adaptive {
    /// Nothing is known yet; arrays may occupy `limit` bytes, or with all else that the process has `of_process`.
    pub(crate) fn new(limit: Option<u64>, of_process: bool) -> Self {
        Self {
            limit,
            of_process,
            beside: OnceLock::new(),
            loops: Mutex::default(),
        }
    }
}

impl Pace {
    fn new(room: &Room) -> Self {
        Self {
            since: Instant::now(),
            chunk: 0,
            wanted: 0,
            size: FIRST,
            settled: None,
            used: room.used,
            peak: room.peak,
            time: None,
            bytes: 0.0,
        }
    }

    /// What the last chunk tells of the next one.
    fn learn(&mut self, took: Duration, room: &Room, limit: Option<u64>) {
        let elements = self.chunk.max(1) as f64;
        let time = took.as_secs_f64() / elements;
        if room.peak > self.peak {
            let bytes = room.peak.saturating_sub(self.used) as f64 / elements;
            self.bytes = self.bytes.max(bytes);
        }
        let factor = match self.time {
            // The last chunk of a sequence says nothing, nor does one that was cut short.
            _ if self.chunk < self.wanted => 1.0,
            _ if took < BUSY => IDLE,
            Some(average) if time > average * 1.1 => SHRINK,
            _ if took > LONG => 1.0,
            None => GROW,
            Some(average) if time < average * 0.98 => GROW,
            Some(_) => 1.0,
        };
        let average = self.time.unwrap_or(time);
        self.time = Some(average + (time - average) * WEIGHT);
        let room = match limit {
            Some(limit) => limit.saturating_sub(room.used) / SHARE,
            None => ROOM,
        };
        let most = if self.bytes > 0.0 {
            room as f64 / self.bytes
        } else {
            MOST
        };
        self.size = (self.size * factor).min(most).clamp(1.0, MOST);
    }
}

impl Schedule for Adaptive {
    fn next(&self, stream: u32, before: i64, left: i64, room: &Room) -> i64 {
        let mut loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let limit = self.limit.or(room.limit);
        if limit.is_some() && self.of_process {
            let beside = || resident().map_or(0, |all| all.saturating_sub(room.used));
            self.beside.get_or_init(beside);
        }
        let pace = loops.entry(stream).or_insert_with(|| Pace::new(room));
        if before > 0 && pace.chunk > 0 {
            let took = now.duration_since(pace.since);
            let limit = limit.map(|limit| {
                let beside = self.beside.get().copied().unwrap_or(0);
                limit.saturating_sub(beside).max(limit / LEFT)
            });
            pace.learn(took, room, limit);
        }
        // What was learnt is kept for the next time that the loop is begun.
        (pace.used, pace.peak, pace.since) = (room.used, room.peak, now);
        pace.wanted = pace.settled.take().unwrap_or(pace.size as i64);
        pace.chunk = pace.wanted.clamp(1, left.max(1));
        pace.chunk
    }

    fn following(&self, stream: u32) -> Option<i64> {
        let mut loops = self.loops.lock().unwrap_or_else(PoisonError::into_inner);
        let pace = loops.get_mut(&stream)?;
        pace.settled = Some(pace.size as i64);
        pace.settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_grow_and_keep_to_the_limit() {
        let mut pace = Pace::new(&Room::default());
        let mut room = Room::default();
        for _ in 0..20 {
            (pace.chunk, pace.wanted) = (pace.size as i64, pace.size as i64);
            // Eight bytes for an element, and always the same time for each.
            room.peak = room.peak.max(8 * pace.chunk as u64);
            pace.learn(
                Duration::from_nanos(10 * pace.chunk as u64),
                &room,
                Some(1 << 20),
            );
            pace.peak = room.peak;
        }
        // The limit allows for a sixth of it.
        assert!(pace.size <= f64::from(1 << 20) / 6.0 / 8.0);
        assert!(pace.size > 1000.0);
    }

    #[test]
    fn chunks_shrink_when_elements_take_longer() {
        let room = Room::default();
        let mut pace = Pace::new(&room);
        for _ in 0..10 {
            pace.chunk = pace.size as i64;
            pace.learn(Duration::from_micros(pace.chunk as u64), &room, None);
        }
        let before = pace.size;
        pace.chunk = pace.size as i64;
        pace.learn(Duration::from_micros(3 * pace.chunk as u64), &room, None);
        assert!(pace.size < before);
    }
}
