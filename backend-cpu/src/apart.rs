//! Threads that help stay away from the processor of the thread that they help: where it has been serial for a while, a system may wake them on that
//! one, behind it, and then a launch of some milliseconds is over before they have begun.
//!
//! Nothing is done where there are fewer processors than threads, or on systems that are not known.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Words of a set of processors: 1024 of them, as the C library has it.
const WORDS: usize = 16;

/// Which processors threads may be on.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// The threads that have started, by the numbers that the system gave them.
    threads: Mutex<Vec<i32>>,
    /// For which processor and for how many threads this was done last: one more than both, as one number.
    done: AtomicUsize,
    /// Those that all may be on; none if that is not known.
    all: Option<[u64; WORDS]>,
}

impl Apart {
    /// For threads that are to be started, on the processors of this one.
    pub(crate) fn new() -> Self {
        Self {
            all: system::processors(),
            ..Self::default()
        }
    }

    /// Takes note of the thread that this runs on.
    pub(crate) fn started(&self) {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.extend(system::thread());
    }

    /// Keeps the threads that have started away from the processor that this runs on, if there are others enough.
    pub(crate) fn keep_away(&self) {
        let (Some(all), Some(here)) = (&self.all, system::processor()) else {
            return;
        };
        let Ok(threads) = self.threads.try_lock() else {
            return;
        };
        let what = (here + 1) << 16 | threads.len();
        if self.done.load(Ordering::Relaxed) == what {
            return;
        }
        self.done.store(what, Ordering::Relaxed);
        let count: usize = all.iter().map(|word| word.count_ones() as usize).sum();
        let mut others = *all;
        let Some(word) = others.get_mut(here / 64) else {
            return;
        };
        *word &= !(1 << (here % 64));
        if count < 2 || count < threads.len() {
            return;
        }
        let mine = system::thread();
        for thread in threads.iter().filter(|thread| mine != Some(**thread)) {
            system::allow(*thread, &others);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use super::WORDS;

    unsafe extern "C" {
        fn gettid() -> i32;
        fn sched_getcpu() -> i32;
        fn sched_getaffinity(thread: i32, bytes: usize, set: *mut u64) -> i32;
        fn sched_setaffinity(thread: i32, bytes: usize, set: *const u64) -> i32;
    }

    /// The number of this thread.
    pub(super) fn thread() -> Option<i32> {
        // SAFETY: it only tells a number.
        Some(unsafe { gettid() })
    }

    /// The processor that this thread is on.
    pub(super) fn processor() -> Option<usize> {
        // SAFETY: it only tells a number.
        usize::try_from(unsafe { sched_getcpu() }).ok()
    }

    /// The processors that this thread may be on.
    pub(super) fn processors() -> Option<[u64; WORDS]> {
        let mut all = [0; WORDS];
        // SAFETY: the set has as many bytes as is said.
        let failed = unsafe { sched_getaffinity(0, size_of_val(&all), all.as_mut_ptr()) };
        (failed == 0).then_some(all)
    }

    /// Has a thread be on one of these processors. If it may not, it stays where it is.
    pub(super) fn allow(thread: i32, set: &[u64; WORDS]) {
        // SAFETY: the set has as many bytes as is said, and is only read.
        unsafe { sched_setaffinity(thread, size_of_val(set), set.as_ptr()) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::WORDS;

    pub(super) const fn thread() -> Option<i32> {
        None
    }

    pub(super) const fn processor() -> Option<usize> {
        None
    }

    pub(super) const fn processors() -> Option<[u64; WORDS]> {
        None
    }

    pub(super) const fn allow(_thread: i32, _set: &[u64; WORDS]) {}
}

#[cfg(test)]
mod tests {
    use super::{Apart, system};
    use std::sync::Arc;
    use std::sync::mpsc::channel;

    #[test]
    fn threads_are_kept_away() {
        let apart = Arc::new(Apart::new());
        let (begin, waiting) = channel::<()>();
        let (tell, told) = channel();
        let helper = {
            let apart = Arc::clone(&apart);
            std::thread::spawn(move || {
                apart.started();
                tell.send(None).expect("it is heard");
                waiting.recv().expect("it begins");
                tell.send(system::processors()).expect("it is heard");
            })
        };
        told.recv().expect("it has started");
        apart.keep_away();
        begin.send(()).expect("it waits");
        let may = told.recv().expect("it tells");
        helper.join().expect("it ends");
        let (Some(all), Some(may)) = (apart.all, may) else {
            return;
        };
        let count = |set: [u64; super::WORDS]| -> u32 { set.iter().map(|w| w.count_ones()).sum() };
        let (all, may) = (count(all), count(may));
        assert_eq!(may, if all < 2 { all } else { all - 1 });
    }
}
