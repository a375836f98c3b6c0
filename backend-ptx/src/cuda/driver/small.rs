//! Small reads: a number that decides what happens next, or whether a check has failed. The device writes it to pinned memory, at best
//! by a kernel of its own, which this machine watches; the driver then has nothing to do but to start the kernel.

use super::{Function, Gpu, Result, STAGED, lock};
use crate::device::Grid;
use crate::report;
use cudarc::driver::{result, sys};
use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Looks at the flag, from one look at the stream, which may have failed, to the next.
const LOOKS: u32 = 512;
/// How long the flag is watched before the driver is asked to wait.
const PATIENCE: Duration = Duration::from_millis(2);

impl Gpu {
    /// Reads bytes of some places, [`STAGED`] at most in all, when all that has been asked for is done.
    pub(in crate::cuda) fn read_staged(&self, places: &[(u64, usize)]) -> Result<Vec<u8>> {
        let all: usize = places.iter().map(|(_, bytes)| bytes).sum();
        assert!(all <= STAGED, "{all} bytes are too many to be staged");
        let stream = self.stream()?;
        let staging = lock(&self.staging);
        let mut read = 0;
        for &(address, bytes) in places {
            if bytes > 0 {
                // SAFETY: the caller holds memory of so many bytes there, and the staging has room; nobody else touches
                // it before the copy is done.
                unsafe {
                    let to = std::slice::from_raw_parts_mut(staging.memory.add(read), bytes);
                    result::memcpy_dtoh_async(to, address, stream)?;
                }
                read += bytes;
            }
        }
        self.wait()?;
        // SAFETY: so many bytes have been copied there.
        Ok(unsafe { std::slice::from_raw_parts(staging.memory, read) }.to_vec())
    }

    /// The same of few bytes, by the kernel that reports them.
    pub(in crate::cuda) fn read_reported(
        &self,
        kernel: &Function,
        places: &[(u64, usize)],
    ) -> Result<Vec<u8>> {
        let all: usize = places.iter().map(|(_, bytes)| bytes).sum();
        assert!(all <= report::BYTES, "{all} bytes are too many to report");
        let mut staging = lock(&self.staging);
        staging.reports += 1;
        let number = staging.reports;
        // SAFETY: behind the memory for data there is that of the flag, which begins at a multiple of its size; it is a number that
        // the device and this machine access as a whole.
        let flag = unsafe {
            let flag = staging.memory.add(STAGED).cast::<u64>();
            AtomicU64::from_ptr(flag)
        };
        // A device knows pinned memory by the same addresses.
        let to = staging.memory.expose_provenance() as u64;
        let mut slots = report::slots(to, (to + STAGED as u64, number), places);
        self.launch(kernel, report::THREADS, Grid::of(1), &mut slots)?;
        self.watch(|| flag.load(Ordering::Acquire) == number)?;
        // SAFETY: so many bytes were written there before the flag, or before the stream was done.
        Ok(unsafe { std::slice::from_raw_parts(staging.memory, all) }.to_vec())
    }

    /// Returns when something has come to be that the stream brings about; it must be there when the stream is done.
    fn watch(&self, is_there: impl Fn() -> bool) -> Result<()> {
        let start = Instant::now();
        loop {
            for _ in 0..LOOKS {
                if is_there() {
                    return Ok(());
                }
                spin_loop();
            }
            let goes_on = self.state() == Some(sys::CUresult::CUDA_ERROR_NOT_READY);
            if !goes_on || start.elapsed() > PATIENCE {
                return self.wait();
            }
        }
    }
}
