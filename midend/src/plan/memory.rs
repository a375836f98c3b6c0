//! Counting the memory of a device.

use crate::device::Device;
use crate::ir::types::ScalarType;
use crate::trap::RunError;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much memory of a device is in use, and how much may be.
#[derive(Debug)]
pub struct Memory {
    limit: Option<u64>,
    used: AtomicU64,
    peak: AtomicU64,
}

impl Memory {
    /// Nothing in use; at most `limit` bytes may be, if given.
    pub const fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            used: AtomicU64::new(0),
            peak: AtomicU64::new(0),
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

    /// Notes that `bytes` more are wanted.
    fn take(&self, bytes: u64) -> Result<(), RunError> {
        let used = self
            .used
            .fetch_add(bytes, Ordering::Relaxed)
            .saturating_add(bytes);
        if self.limit.is_some_and(|limit| used > limit) {
            self.give(bytes);
            return Err(RunError::OutOfMemory {
                bytes,
                limit: self.limit,
                trail: Vec::new(),
            });
        }
        self.peak.fetch_max(used, Ordering::Relaxed);
        Ok(())
    }

    fn give(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Memory of a device that is counted as long as a reference to it lives.
#[derive(Debug)]
pub(super) struct Counted<B> {
    pub(super) buffer: B,
    bytes: u64,
    memory: Arc<Memory>,
}

impl<B> Drop for Counted<B> {
    fn drop(&mut self) {
        self.memory.give(self.bytes);
    }
}

/// Gets memory for `len` elements with `make`, counted.
pub(super) fn counted<D: Device>(
    memory: &Arc<Memory>,
    elem: ScalarType,
    len: usize,
    make: impl FnOnce() -> Result<D::Buffer, RunError>,
) -> Result<Arc<Counted<D::Buffer>>, RunError> {
    let bytes = (len as u64).saturating_mul(elem.bytes() as u64);
    memory.take(bytes)?;
    match make() {
        Ok(buffer) => Ok(Arc::new(Counted {
            buffer,
            bytes,
            memory: Arc::clone(memory),
        })),
        Err(error) => {
            memory.give(bytes);
            Err(error)
        }
    }
}
