//! Counting the memory of a device.

use crate::device::Device;
use crate::ir::id::SpanId;
use crate::ir::types::ScalarType;
use crate::trap::RunError;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How much memory of a device is in use, and how much may be.
#[derive(Debug)]
pub struct Memory {
    limit: Option<u64>,
    used: AtomicU64,
    peak: AtomicU64,
    /// Who asked for it, if somebody wants to know.
    askers: Option<Mutex<Askers>>,
}

/// Who asks for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asker {
    /// The caller, for arguments.
    Caller,
    /// A statement.
    Statement(SpanId),
}

/// Memory that one asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Buffers, in the whole run.
    pub buffers: u64,
    /// Bytes in use now.
    used: u64,
    /// Bytes that were in use when the most bytes were.
    pub at_peak: u64,
}

/// What each asked for, and the most that all together had.
#[derive(Debug, Default)]
struct Askers {
    shares: BTreeMap<Asker, Share>,
    used: u64,
    peak: u64,
}

impl Askers {
    fn take(&mut self, asker: Asker, bytes: u64) {
        let share = self.shares.entry(asker).or_default();
        share.buffers += 1;
        share.used += bytes;
        self.used += bytes;
        if self.used > self.peak {
            self.peak = self.used;
            self.shares
                .values_mut()
                .for_each(|share| share.at_peak = share.used);
        }
    }
    fn give(&mut self, asker: Asker, bytes: u64) {
        self.used -= bytes;
        if let Some(share) = self.shares.get_mut(&asker) {
            share.used -= bytes;
        }
    }
}

impl Memory {
    /// Nothing in use; at most `limit` bytes may be, if given.
    pub const fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
            askers: None,
        }
    }
    /// As [`Memory::new`], with a list of who asks, which costs time.
    pub fn watched(limit: Option<u64>) -> Self {
        Self {
            askers: Some(Mutex::default()),
            ..Self::new(limit)
        }
    }
    /// Bytes in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
    /// The most bytes that were in use at once.
    pub fn peak(&self) -> u64 {
        self.peak.load(Ordering::Relaxed)
    }
    /// Bytes that may be in use at once, if there is a limit.
    pub const fn limit(&self) -> Option<u64> {
        self.limit
    }
    /// Whether `bytes` more are within the limit now.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        let after = self.used().saturating_add(bytes);
        self.limit.is_none_or(|limit| after <= limit)
    }
    /// Who asked for how much; nothing if nobody watches.
    pub fn shares(&self) -> Vec<(Asker, Share)> {
        self.askers.as_ref().map_or_else(Vec::new, |askers| {
            let askers = askers.lock().unwrap_or_else(PoisonError::into_inner);
            askers.shares.iter().map(|(&a, &s)| (a, s)).collect()
        })
    }

    /// Notes that `bytes` more are wanted.
    fn take(&self, asker: Asker, bytes: u64) -> Result<(), RunError> {
        let used = self
            .used
            .fetch_add(bytes, Ordering::Relaxed)
            .saturating_add(bytes);
        if self.limit.is_some_and(|limit| used > limit) {
            self.used.fetch_sub(bytes, Ordering::Relaxed);
            return Err(RunError::OutOfMemory {
                bytes,
                limit: self.limit,
                trail: Vec::new(),
            });
        }
        self.peak.fetch_max(used, Ordering::Relaxed);
        self.watch(|askers| askers.take(asker, bytes));
        Ok(())
    }

    fn give(&self, asker: Asker, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        self.watch(|askers| askers.give(asker, bytes));
    }

    fn watch(&self, note: impl FnOnce(&mut Askers)) {
        if let Some(askers) = &self.askers {
            note(&mut askers.lock().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

/// Memory of a device that is counted as long as a reference to it lives.
#[derive(Debug)]
pub(super) struct Counted<B> {
    pub(super) buffer: B,
    pub(super) bytes: u64,
    pub(super) elem: ScalarType,
    /// Whether it belongs to somebody who does not want it to change.
    pub(super) is_read_only: bool,
    _booking: Option<Booking>,
}

impl<B: Clone> Counted<B> {
    /// The same memory, which is booked once.
    pub(super) fn another_name(&self) -> Self {
        Self {
            buffer: self.buffer.clone(),
            bytes: self.bytes,
            elem: self.elem,
            is_read_only: self.is_read_only,
            _booking: None,
        }
    }
}

impl<B> Counted<B> {
    /// Whether the memory may be taken for so many other elements, which are written where these have been read: nothing but so many names
    /// are there for it, be it that the program made it or that the caller gave it away.
    pub(super) fn is_free_for(
        self: &Arc<Self>,
        (elem, len): (ScalarType, usize),
        names: usize,
    ) -> bool {
        let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
        let is_unused = Arc::strong_count(self) == names && !self.is_read_only;
        is_unused && (self.elem, self.bytes) == (elem, bytes)
    }
}

/// Memory in use, until this is dropped.
#[derive(Debug)]
struct Booking {
    asker: Asker,
    bytes: u64,
    memory: Arc<Memory>,
}

impl Drop for Booking {
    fn drop(&mut self) {
        self.memory.give(self.asker, self.bytes);
    }
}

/// Gets memory for `len` elements with `make`, counted.
pub(super) fn counted<D: Device>(
    memory: &Arc<Memory>,
    asker: Asker,
    (elem, len): (ScalarType, usize),
    make: impl FnOnce() -> Result<D::Buffer, RunError>,
) -> Result<Arc<Counted<D::Buffer>>, RunError> {
    let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
    memory.take(asker, bytes)?;
    match make() {
        Ok(buffer) => Ok(Arc::new(Counted {
            buffer,
            bytes,
            elem,
            is_read_only: false,
            _booking: Some(Booking {
                asker,
                bytes,
                memory: Arc::clone(memory),
            }),
        })),
        Err(error) => {
            memory.give(asker, bytes);
            Err(error)
        }
    }
}
