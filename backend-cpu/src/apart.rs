//! Threads that help stay away from the processor of the thread that they help: where it has been serial for a while, a system may wake them on that
//! one, behind it, and then a launch of some milliseconds is over before they have begun.
//!
//! Nothing is done where there are fewer processors than threads, or on systems that are not known.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use system::{Processors, Thread};

/// Which processors threads may be on.
#[derive(Debug, Default)]
pub(crate) struct Apart {
    /// The threads that have started.
    threads: Mutex<Vec<Thread>>,
    /// For which processor and for how many threads this was done last: one more than both, as one number.
    done: AtomicUsize,
    /// Those that all may be on; none if that is not known.
    all: Option<Processors>,
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
        if self.done.swap(what, Ordering::Relaxed) == what {
            return;
        }
        let Some(others) = system::others(all, here, threads.len()) else {
            return;
        };
        let mine = system::thread();
        for thread in threads.iter().filter(|thread| mine != Some(**thread)) {
            system::allow(*thread, &others);
        }
    }
}

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub(super) type Thread = Pid;
    pub(super) type Processors = CpuSet;

    /// This thread.
    pub(super) fn thread() -> Option<Thread> {
        Some(gettid())
    }

    /// The processor that this thread is on.
    pub(super) fn processor() -> Option<usize> {
        Some(sched_getcpu())
    }

    /// The processors that this thread may be on.
    pub(super) fn processors() -> Option<Processors> {
        sched_getaffinity(None).ok()
    }

    /// All but one, if there are some, and as many as threads before.
    pub(super) fn others(all: &Processors, here: usize, threads: usize) -> Option<Processors> {
        let count = all.count() as usize;
        let mut others = *all;
        if here < Processors::MAX_CPU {
            others.unset(here);
        }
        (count >= threads.max(2)).then_some(others)
    }

    /// Has a thread be on one of these processors. If it may not, it stays where it is.
    pub(super) fn allow(thread: Thread, set: &Processors) {
        let _ = sched_setaffinity(Some(thread), set);
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    pub(super) type Thread = ();
    pub(super) type Processors = ();

    pub(super) const fn thread() -> Option<Thread> {
        None
    }

    pub(super) const fn processor() -> Option<usize> {
        None
    }

    pub(super) const fn processors() -> Option<Processors> {
        None
    }

    pub(super) const fn others(
        _all: &Processors,
        _here: usize,
        _threads: usize,
    ) -> Option<Processors> {
        None
    }

    pub(super) const fn allow(_thread: Thread, _set: &Processors) {}
}

#[cfg(all(test, target_os = "linux"))]
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
        let (all, may) = (all.count(), may.count());
        assert_eq!(may, if all < 2 { all } else { all - 1 });
    }
}
