//! Freed memory kept for the next allocation. Large blocks from the system come without pages behind them, and getting
//! those costs as much as filling them; programs allocate the same sizes again and again.

use crate::buffer::ALIGN;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Blocks smaller than this are left to the allocator, which keeps them itself.
const LARGE: usize = 128 << 10;
/// The most bytes that are kept.
const KEPT: usize = 1 << 30;

/// Freed blocks by size.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Blocks>);

#[derive(Debug, Default)]
struct Blocks {
    free: BTreeMap<usize, Vec<NonNull<u8>>>,
    bytes: usize,
}

// SAFETY: the blocks belong to the cache alone.
unsafe impl Send for Blocks {}

impl Cache {
    /// The size that a block for `bytes` is given: of large ones few sizes exist, so that they can be used again.
    pub(crate) fn size(bytes: usize) -> usize {
        let size = bytes.next_multiple_of(ALIGN);
        if size < LARGE {
            return size;
        }
        // Eight sizes from one power of two to the next.
        let step = 1 << (size.ilog2() - 3);
        size.next_multiple_of(step)
    }

    /// A block of a size that [`Cache::size`] gave.
    pub(crate) fn take(&self, size: usize) -> Option<NonNull<u8>> {
        if size >= LARGE {
            let mut blocks = self.lock();
            let block = blocks.free.get_mut(&size).and_then(Vec::pop);
            if block.is_some() {
                blocks.bytes -= size;
                return block;
            }
        }
        let layout = Layout::from_size_align(size, ALIGN).ok()?;
        // SAFETY: the size is not zero.
        let fresh = NonNull::new(unsafe { std::alloc::alloc(layout) });
        if fresh.is_some() {
            return fresh;
        }
        self.clear();
        // SAFETY: as above.
        NonNull::new(unsafe { std::alloc::alloc(layout) })
    }

    /// Takes a block back.
    ///
    /// # Safety
    /// The block came from [`Cache::take`] with this size, and is not used any more.
    pub(crate) unsafe fn give(&self, size: usize, block: NonNull<u8>) {
        if size >= LARGE {
            let mut blocks = self.lock();
            if blocks.bytes + size <= KEPT {
                blocks.bytes += size;
                blocks.free.entry(size).or_default().push(block);
                return;
            }
        }
        // SAFETY: promised by the caller.
        unsafe { free(size, block) };
    }

    /// Gives everything back to the system.
    pub(crate) fn clear(&self) {
        let mut blocks = self.lock();
        blocks.bytes = 0;
        for (size, list) in std::mem::take(&mut blocks.free) {
            for block in list {
                // SAFETY: blocks in the cache are not used.
                unsafe { free(size, block) };
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Blocks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.clear();
    }
}

/// # Safety
/// The block was allocated with this size.
unsafe fn free(size: usize, block: NonNull<u8>) {
    let layout = Layout::from_size_align(size, ALIGN).expect("blocks have valid layouts");
    // SAFETY: promised by the caller.
    unsafe { std::alloc::dealloc(block.as_ptr(), layout) };
}
