//! Large transfers: by way of pinned memory, a chunk at a time, so that the device copies one chunk while this machine copies
//! another between its own places. From and to memory that is not pinned, the driver does neither two things at once nor with
//! several cores.

use super::{Failed, Gpu, Result, bytes_of};
use cudarc::driver::{result, sys};
use std::ffi::c_void;

/// Bytes of a chunk.
const CHUNK: usize = 8 << 20;
/// Chunks that are under way together.
const CHUNKS: usize = 3;
/// Bytes from which on a transfer goes by chunks.
const BULK: usize = 4 << 20;
/// Threads that copy a chunk on this machine, and the bytes that are worth one.
const COPIERS: (usize, usize) = (4, 1 << 20);

/// Pinned memory: [`CHUNKS`] of them.
#[derive(Debug)]
pub(super) struct Chunks(Vec<Chunk>);

/// Pinned memory of [`CHUNK`] bytes.
#[derive(Debug)]
struct Chunk {
    memory: *mut u8,
    /// After the last copy of the device from or to it.
    done: sys::CUevent,
}

// SAFETY: whoever holds the lock is alone with the memory, which any thread may use.
unsafe impl Send for Chunk {}

impl Drop for Chunk {
    /// The context must be current.
    fn drop(&mut self) {
        // SAFETY: both were made in this context, and nothing is under way: who drops it has waited. A failure leaves them taken.
        let _ = unsafe { result::event::destroy(self.done) };
        // SAFETY: as above.
        let _ = unsafe { result::free_host(self.memory.cast::<c_void>()) };
    }
}

/// A stream for transfers beside the work in the other one.
#[derive(Debug)]
pub(super) struct Beside {
    stream: sys::CUstream,
    /// After the last transfer.
    there: sys::CUevent,
}

// SAFETY: handles of streams and events may be used by any thread that has made their context current.
unsafe impl Send for Beside {}

impl Drop for Beside {
    /// The context must be current.
    fn drop(&mut self) {
        // SAFETY: both were made in this context; the driver lets what is under way end. A failure leaves them taken.
        let _ = unsafe { result::event::destroy(self.there) };
        // SAFETY: as above.
        let _ = unsafe { result::stream::destroy(self.stream) };
    }
}

impl Beside {
    /// The context must be current.
    fn new() -> Result<Self> {
        let stream = result::stream::create(result::stream::StreamKind::NonBlocking)?;
        match result::event::create(sys::CUevent_flags::CU_EVENT_DISABLE_TIMING) {
            Ok(there) => Ok(Self { stream, there }),
            Err(why) => {
                // SAFETY: it was just made, and nobody knows of it.
                let _ = unsafe { result::stream::destroy(stream) };
                Err(why.into())
            }
        }
    }
}

impl Chunks {
    /// The context must be current.
    fn new() -> Result<Self> {
        let mut all = Vec::new();
        for _ in 0..CHUNKS {
            // SAFETY: it is given back when the chunk is dropped.
            let memory = unsafe { result::malloc_host(CHUNK, 0) }?.cast::<u8>();
            let flags = sys::CUevent_flags::CU_EVENT_DISABLE_TIMING;
            match result::event::create(flags) {
                Ok(done) => all.push(Chunk { memory, done }),
                Err(why) => {
                    // SAFETY: it was just taken, and nobody knows of it.
                    let _ = unsafe { result::free_host(memory.cast::<c_void>()) };
                    return Err(why.into());
                }
            }
        }
        Ok(Self(all))
    }
}

impl Gpu {
    /// Does something with chunks, if there is pinned memory for them: nothing else.
    fn with_chunks<R>(&self, f: impl FnOnce(&[Chunk]) -> Result<R>) -> Option<Result<R>> {
        let mut chunks = super::lock(&self.chunks);
        if chunks.is_none() {
            *chunks = Chunks::new().ok();
        }
        chunks.as_ref().map(|chunks| f(&chunks.0))
    }

    /// Writes many bytes, which are in pinned memory or on the device when the call returns; nothing if there is no pinned memory.
    fn write_bulk(&self, address: u64, data: &[u8], stream: sys::CUstream) -> Option<Result<()>> {
        self.with_chunks(|chunks| {
            for (i, part) in data.chunks(CHUNK).enumerate() {
                let chunk = &chunks[i % CHUNKS];
                // SAFETY: the event is there; one that was never recorded is over.
                unsafe { result::event::synchronize(chunk.done) }?;
                // SAFETY: the memory has room for a chunk, and the device is done with it: nobody else has to do with it.
                let pinned = unsafe { std::slice::from_raw_parts_mut(chunk.memory, part.len()) };
                copy(pinned, part);
                // SAFETY: the caller holds memory for all data at the address; the chunk is not changed before the event.
                unsafe {
                    let to = address + (i * CHUNK) as u64;
                    result::memcpy_htod_async(to, pinned, stream)?;
                    result::event::record(chunk.done, stream)?;
                }
            }
            Ok(())
        })
    }

    /// Writes bytes of this machine, behind what was asked for in the stream.
    pub(super) fn write_in(&self, stream: sys::CUstream, address: u64, data: &[u8]) -> Result<()> {
        if data.len() >= BULK
            && let Some(written) = self.write_bulk(address, data, stream)
        {
            return written;
        }
        if !data.is_empty() {
            // SAFETY: the caller holds memory of that size there. The data lies in pageable memory, which the driver has
            // copied when the call returns.
            unsafe { result::memcpy_htod_async(address, data, stream) }?;
        }
        Ok(())
    }

    /// Memory with these elements, which come there beside what was asked for before. Whoever uses it, or gives it back, asks it to
    /// [arrive](Self::arrive) first. `T` is a number or a truth value.
    pub(in super::super) fn put_ahead<T: Copy>(&self, data: &[T]) -> Result<u64> {
        self.context.bind_to_thread()?;
        let mut beside = super::lock(&self.beside);
        let beside = match &mut *beside {
            Some(beside) => beside,
            none => none.insert(Beside::new()?),
        };
        let bytes = bytes_of(data);
        let address = match super::alloc_in(beside.stream, bytes.len()) {
            Err(Failed::Memory(_)) => {
                self.trim()?;
                super::alloc_in(beside.stream, bytes.len())?
            }
            made => made?,
        };
        let written = self.write_in(beside.stream, address, bytes);
        // SAFETY: event and stream are of the current context.
        let noted = unsafe { result::event::record(beside.there, beside.stream) };
        match written.and(noted.map_err(Failed::from)) {
            Ok(()) => Ok(address),
            Err(why) => {
                // SAFETY: the memory came from this stream, and is given back behind all that was asked for in it.
                let _ = unsafe { result::free_async(address, beside.stream) };
                Err(why)
            }
        }
    }

    /// All that is asked for from now on happens after what was put ahead is there.
    pub(in super::super) fn arrive(&self) -> Result<()> {
        let stream = self.stream()?;
        if let Some(beside) = &*super::lock(&self.beside) {
            let flags = sys::CUevent_wait_flags::CU_EVENT_WAIT_DEFAULT;
            // SAFETY: the event was recorded behind the last transfer.
            unsafe { result::stream::wait_event(stream, beside.there, flags) }?;
        }
        Ok(())
    }

    /// Reads many bytes; nothing if there is no pinned memory.
    pub(super) fn read_bulk(&self, data: &mut [u8], address: u64) -> Option<Result<()>> {
        if data.len() < BULK {
            return None;
        }
        self.with_chunks(|chunks| {
            let stream = self.stream()?;
            let len = data.len();
            let fetch = |i: usize| -> Result<()> {
                let start = i * CHUNK;
                if start < len {
                    let chunk = &chunks[i % CHUNKS];
                    // SAFETY: the caller holds memory for all data at the address; what was in the chunk has been copied.
                    unsafe {
                        let size = CHUNK.min(len - start);
                        let pinned = std::slice::from_raw_parts_mut(chunk.memory, size);
                        result::memcpy_dtoh_async(pinned, address + start as u64, stream)?;
                        result::event::record(chunk.done, stream)?;
                    }
                }
                Ok(())
            };
            (0..CHUNKS).try_for_each(&fetch)?;
            for (i, part) in data.chunks_mut(CHUNK).enumerate() {
                let chunk = &chunks[i % CHUNKS];
                // SAFETY: the event was recorded behind the copy into this chunk.
                unsafe { result::event::synchronize(chunk.done) }?;
                // SAFETY: so many bytes have been copied there.
                copy(part, unsafe {
                    std::slice::from_raw_parts(chunk.memory, part.len())
                });
                fetch(i + CHUNKS)?;
            }
            Ok(())
        })
    }
}

/// Copies bytes of this machine, by some threads: one alone does not keep up with the device.
fn copy(to: &mut [u8], from: &[u8]) {
    let (most, worth) = COPIERS;
    let each = from.len().div_ceil(most).max(worth);
    std::thread::scope(|scope| {
        let mut parts = to.chunks_mut(each).zip(from.chunks(each));
        let mine = parts.next();
        for (to, from) in parts {
            scope.spawn(|| to.copy_from_slice(from));
        }
        if let Some((to, from)) = mine {
            to.copy_from_slice(from);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_by_several_threads_are_whole() {
        for len in [0, 1, COPIERS.1, COPIERS.1 + 1, CHUNK - 3, CHUNK] {
            let from: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let mut to = vec![0; len];
            copy(&mut to, &from);
            assert!(to == from, "{len} bytes");
        }
    }
}
