//! Memory of work items: a stack of allocations in pieces, so that addresses stay valid while it grows. Leaving a scope
//! gives back everything that was taken in it.
//!
//! Before each allocation stands its size in bytes. A loop that carries buffers from one iteration to the next cannot
//! give back memory at the end of an iteration; there, what is still live is moved together from time to time.

use crate::worker::Worker;
use std::alloc::Layout;

/// Bytes before each allocation, of which the first eight hold its size. Keeps allocations aligned.
pub(crate) const HEADER: i64 = 16;
/// Bytes that a loop may leave behind before its live buffers are moved together.
pub(crate) const SLACK: i64 = 64 << 10;
/// The smallest piece; below the size from which allocators ask the system each time.
const PIECE: usize = 64 << 10;

/// A piece of an arena.
pub(crate) struct Piece {
    start: *mut u8,
    layout: Layout,
}

impl Piece {
    /// Whether an address lies in the piece, or just past its end, as the first free byte of a full piece does.
    fn spans(&self, address: usize) -> bool {
        let start = self.start as usize;
        (start..=start + self.layout.size()).contains(&address)
    }
    fn end(&self) -> *mut u8 {
        self.start.wrapping_add(self.layout.size())
    }
}

impl Worker<'_> {
    /// Room for `bytes` and their header, in a new piece. Null after reporting that there is no memory.
    fn grow(&mut self, bytes: usize) -> *mut u8 {
        let most = isize::MAX as usize / 2;
        if bytes > most {
            self.launch.exhausted(bytes as u64);
            return std::ptr::null_mut();
        }
        let taken = bytes + HEADER as usize;
        let twice = self
            .pieces
            .last()
            .map_or(PIECE, |piece| (2 * piece.layout.size()).min(64 << 20));
        let layout =
            Layout::from_size_align(taken.max(twice), 64).expect("the size was checked above");
        let size = layout.size();
        if self.launch.account.take(size as u64).is_err() {
            self.launch.exhausted(bytes as u64);
            return std::ptr::null_mut();
        }
        // SAFETY: the size is not zero.
        let start = unsafe { std::alloc::alloc(layout) };
        if start.is_null() {
            self.launch.account.give(size as u64);
            self.launch.exhausted(bytes as u64);
            return start;
        }
        self.pieces.push(Piece { start, layout });
        self.top = start.wrapping_add(taken);
        self.end = start.wrapping_add(size);
        // SAFETY: the piece begins with room for the header.
        unsafe { start.cast::<u64>().write(bytes as u64) };
        start.wrapping_add(HEADER as usize)
    }

    /// Goes back to an earlier state whose first free byte was `top`, freeing younger pieces.
    fn release(&mut self, top: *mut u8) {
        while let Some(piece) = self.pieces.last() {
            if piece.spans(top as usize) {
                (self.top, self.end) = (top, piece.end());
                return;
            }
            if top.is_null() && self.pieces.len() == 1 {
                // The very first piece is kept: the next work item will want it.
                (self.top, self.end) = (piece.start, piece.end());
                return;
            }
            self.drop_piece();
        }
    }

    fn drop_piece(&mut self) {
        if let Some(piece) = self.pieces.pop() {
            self.launch.account.give(piece.layout.size() as u64);
            // SAFETY: allocated with this layout, and freed once.
            unsafe { std::alloc::dealloc(piece.start, piece.layout) };
        }
    }

    /// The pieces, each with its first byte younger than `mark`; older pieces are left out.
    fn younger(&self, mark: *mut u8) -> impl Iterator<Item = (usize, &Piece)> {
        let first = self
            .pieces
            .iter()
            .rposition(|piece| piece.spans(mark as usize));
        let from = first.unwrap_or(0);
        self.pieces[from..]
            .iter()
            .enumerate()
            .map(move |(i, piece)| {
                let young = if i == 0 && first.is_some() {
                    mark as usize
                } else {
                    piece.start as usize
                };
                (young, piece)
            })
    }

    /// Moves the allocations at `addresses` that are younger than `mark` together behind it, and frees the others.
    /// Nothing is done as long as fewer than `limit` bytes are in use behind the mark. Whether there was memory.
    fn compact(&mut self, mark: *mut u8, addresses: &mut [*mut u8], limit: &mut i64) -> bool {
        let last = self.pieces.len();
        let used: usize = self
            .younger(mark)
            .map(|(young, piece)| {
                let is_last = std::ptr::eq(piece, &raw const self.pieces[last - 1]);
                (if is_last { self.top } else { piece.end() }) as usize - young
            })
            .sum();
        if (used as i64) < *limit {
            return true;
        }
        let mut saved: Vec<(usize, Vec<u8>)> = Vec::new();
        for address in addresses.iter().map(|a| *a as usize) {
            let young = self
                .younger(mark)
                .any(|(young, piece)| (young..piece.end() as usize).contains(&address));
            if young && !saved.iter().any(|(known, _)| *known == address) {
                let start = address as *const u8;
                // SAFETY: an allocation of the arena, behind its header.
                let bytes = unsafe {
                    let size = start.sub(HEADER as usize).cast::<u64>().read() as usize;
                    std::slice::from_raw_parts(start, size).to_vec()
                };
                saved.push((address, bytes));
            }
        }
        self.release(mark);
        // A new address may be another buffer's old one, so that all are looked up among the old.
        let before = addresses.to_vec();
        let mut live = 0;
        for (old, bytes) in saved {
            let start = self.place(bytes.len());
            if start.is_null() {
                return false;
            }
            // SAFETY: just allocated with this size.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), start, bytes.len()) };
            for (address, before) in addresses.iter_mut().zip(&before) {
                if *before as usize == old {
                    *address = start;
                }
            }
            live += bytes.len() as i64;
        }
        *limit = SLACK.max(4 * live);
        true
    }

    /// Room for `bytes`, a multiple of 16, wherever there is some.
    fn place(&mut self, bytes: usize) -> *mut u8 {
        let start = self.top;
        let taken = bytes + HEADER as usize;
        if (self.end as usize) - (start as usize) < taken {
            return self.grow(bytes);
        }
        self.top = start.wrapping_add(taken);
        // SAFETY: the room was checked.
        unsafe { start.cast::<u64>().write(bytes as u64) };
        start.wrapping_add(HEADER as usize)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        while !self.pieces.is_empty() {
            self.drop_piece();
        }
    }
}

/// Called by compiled code when the arena's piece has no room for `count` elements of `size` bytes. Null if there
/// is no memory.
///
/// # Safety
/// The worker is alive and used by this thread alone.
pub(crate) unsafe extern "C" fn arena_grow(
    worker: *mut Worker<'_>,
    count: i64,
    size: i64,
) -> *mut u8 {
    // SAFETY: promised by the caller.
    let worker = unsafe { &mut *worker };
    let bytes = count.max(0).saturating_mul(size).saturating_add(15) & !15;
    worker.grow(usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Called by compiled code to leave a scope in which the arena got new pieces.
///
/// # Safety
/// The worker is alive and used by this thread alone; `top` was its first free byte earlier.
pub(crate) unsafe extern "C" fn arena_release(worker: *mut Worker<'_>, top: *mut u8) {
    // SAFETY: promised by the caller.
    let worker = unsafe { &mut *worker };
    worker.release(top);
}

/// Called by compiled code at the end of an iteration that may have left much memory behind. False if there is no
/// memory.
///
/// # Safety
/// The worker is alive and used by this thread alone; `mark` was its first free byte when the loop began; `addresses`
/// holds the `count` buffers that the next iteration gets.
pub(crate) unsafe extern "C" fn arena_compact(
    worker: *mut Worker<'_>,
    mark: *mut u8,
    addresses: *mut *mut u8,
    count: usize,
    limit: *mut i64,
) -> u8 {
    // SAFETY: promised by the caller.
    let (worker, addresses, limit) = unsafe {
        (
            &mut *worker,
            std::slice::from_raw_parts_mut(addresses, count),
            &mut *limit,
        )
    };
    worker.compact(mark, addresses, limit).into()
}
