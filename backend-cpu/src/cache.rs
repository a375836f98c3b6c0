//! Freed memory kept for the next allocation. Large blocks from the system come without pages behind them, and getting
//! those costs as much as filling them; programs allocate the same sizes again and again. Of sizes that are asked for no more, as those of
//! the chunks of a sequence while they grow, nothing is kept for long.

use crate::buffer::ALIGN;
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// Blocks smaller than this are left to the allocator, which keeps them itself.
const LARGE: usize = 128 << 10;
/// The most bytes that are kept.
const KEPT: u64 = 1 << 30;
/// Of what a limit leaves, one part in so many is kept at most: the process holds more than what is counted.
const SHARE: u64 = 4;

/// Freed blocks by size.
#[derive(Debug, Default)]
pub(crate) struct Cache(Mutex<Blocks>);

#[derive(Debug, Default)]
struct Blocks {
    free: BTreeMap<usize, OfSize>,
    bytes: u64,
    /// How often a block was kept.
    clock: u64,
}

/// The blocks of a size, and when one was kept last.
#[derive(Debug, Default)]
struct OfSize {
    blocks: Vec<NonNull<u8>>,
    since: u64,
}

impl Blocks {
    /// Gives blocks back to the system, of the sizes that nobody has used for longest, until so many bytes are left.
    fn shrink(&mut self, most: u64) {
        while self.bytes > most {
            let oldest = self.free.iter_mut().min_by_key(|(_, of)| of.since);
            let Some((&size, of)) = oldest else { break };
            match of.blocks.pop() {
                Some(block) => {
                    self.bytes -= size as u64;
                    // SAFETY: blocks in the cache are not used.
                    unsafe { free(size, block) };
                }
                None => drop(self.free.remove(&size)),
            }
        }
    }
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

    /// A block of a size that [`Cache::size`] gave, after which `left` bytes more may be in use, if that is limited.
    pub(crate) fn take(&self, size: usize, left: Option<u64>) -> Option<NonNull<u8>> {
        if size >= LARGE {
            let mut blocks = self.lock();
            let block = blocks.free.get_mut(&size).and_then(|of| of.blocks.pop());
            if block.is_some() {
                blocks.bytes -= size as u64;
                return block;
            }
            if let Some(left) = left {
                blocks.shrink(left / SHARE);
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

    /// Takes a block back, where `left` bytes more may be in use, if that is limited.
    ///
    /// # Safety
    /// The block came from [`Cache::take`] with this size, and is not used any more.
    pub(crate) unsafe fn give(&self, size: usize, block: NonNull<u8>, left: Option<u64>) {
        let most = left.map_or(KEPT, |left| (left / SHARE).min(KEPT));
        if size >= LARGE && size as u64 <= most {
            let mut blocks = self.lock();
            blocks.shrink(most - size as u64);
            blocks.bytes += size as u64;
            blocks.clock += 1;
            let since = blocks.clock;
            let of = blocks.free.entry(size).or_default();
            of.since = since;
            of.blocks.push(block);
            return;
        }
        // SAFETY: promised by the caller.
        unsafe { free(size, block) };
    }

    /// Gives everything back to the system.
    pub(crate) fn clear(&self) {
        self.lock().shrink(0);
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
