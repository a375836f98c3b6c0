//! Large pages for large blocks: a page of 2 MiB is one entry of the processor's table of translations instead of 512, and one fault.
//! Only large blocks get them. What a compiler allocates is small and spread out, and in large pages it would touch, and have the system clear,
//! twice the memory that it needs.

use std::alloc::{GlobalAlloc, Layout};

/// Blocks of so many bytes and more are asked large pages for.
const LARGE: usize = 1 << 20;
/// Bytes of a large page.
#[cfg(target_os = "linux")]
const PAGE: usize = 2 << 20;

/// An allocator that asks for large pages for the blocks of another one, where systems give them when they are asked (Linux, `madvise`).
#[derive(Clone, Copy, Debug, Default)]
pub struct LargePages<A>(pub A);

// SAFETY: blocks are those of the other allocator, or come from it in a way that is right for every allocator.
unsafe impl<A: GlobalAlloc> GlobalAlloc for LargePages<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let block = unsafe { self.0.alloc(layout) };
        ask(block, layout.size());
        block
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: promised by the caller.
        let block = unsafe { self.0.alloc_zeroed(layout) };
        ask(block, layout.size());
        block
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { self.0.dealloc(block, layout) };
    }
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if size < LARGE || size <= layout.size() {
            // SAFETY: promised by the caller.
            return unsafe { self.0.realloc(block, layout, size) };
        }
        // The other allocator would fill the new block before large pages are asked for.
        // SAFETY: the caller promises a size that can be, and the alignment was used before.
        let fresh = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !fresh.is_null() {
            // SAFETY: both have at least as many bytes as the old one, which is freed once.
            unsafe {
                std::ptr::copy_nonoverlapping(block, fresh, layout.size());
                self.dealloc(block, layout);
            }
        }
        fresh
    }
}

/// Asks for large pages for a block, if it is large enough. They are as many as it touches: what else is in them gains, too. The system may
/// say no; then all stays as it was.
#[cfg(target_os = "linux")]
fn ask(block: *mut u8, size: usize) {
    use rustix::mm::{Advice, madvise};
    if size < LARGE || block.is_null() {
        return;
    }
    let before = block as usize % PAGE;
    let start = block.wrapping_sub(before);
    // SAFETY: advice changes no contents, whatever is there.
    let _ = unsafe {
        madvise(
            start.cast(),
            (before + size).next_multiple_of(PAGE),
            Advice::LinuxHugepage,
        )
    };
}

/// Elsewhere systems decide by themselves.
#[cfg(not(target_os = "linux"))]
fn ask(_: *mut u8, _: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::alloc::System;

    /// Whether large pages are asked for where a block begins, as the kernel tells it.
    fn asked(block: *const u8) -> bool {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("it is there on Linux");
        let mut inside = false;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|word| word.split_once('-'));
            let bound = |text: &str| usize::from_str_radix(text, 16).ok();
            if let Some((from, to)) = range.and_then(|(a, b)| Some((bound(a)?, bound(b)?))) {
                inside = (from..to).contains(&(block as usize));
            } else if let (true, Some(flags)) = (inside, line.strip_prefix("VmFlags:")) {
                return flags.split(' ').any(|flag| flag == "hg");
            }
        }
        false
    }

    #[test]
    fn large_blocks_have_large_pages() {
        let heap = LargePages(System);
        let layout = Layout::from_size_align(64 << 20, 64).expect("a size");
        // SAFETY: the layout is that of the blocks.
        unsafe {
            for block in [heap.alloc(layout), heap.alloc_zeroed(layout)] {
                assert!(asked(block));
                heap.dealloc(block, layout);
            }
        }
    }

    #[test]
    fn blocks_that_grow_keep_what_is_in_them() {
        let heap = LargePages(System);
        let mut layout = Layout::array::<u8>(1000).expect("a small size");
        // SAFETY: the layouts are those of the blocks, and only written bytes are read.
        unsafe {
            let mut block = heap.alloc_zeroed(layout);
            for i in 0..1000 {
                block.add(i).write(i as u8);
            }
            for size in [2000, LARGE, 8 * LARGE, 2 * LARGE, 1000] {
                block = heap.realloc(block, layout, size);
                layout = Layout::array::<u8>(size).expect("a small size");
                assert!(size < LARGE || asked(block), "{size} bytes");
                assert!((0..1000).all(|i| block.add(i).read() == i as u8));
            }
            heap.dealloc(block, layout);
        }
    }
}
