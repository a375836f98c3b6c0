//! Room for recursion.

use std::thread::{Builder, JoinHandle};

/// Walks over deeply nested programs and deep recursion in the interpreter fit into this; only what is touched takes
/// memory.
const STACK: usize = 1 << 30;

/// Runs the work on a thread with a big stack. A panic in it goes on in the caller.
pub fn on_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if IS_BIG.get() {
        return work();
    }
    std::thread::scope(|scope| {
        result_of(
            builder().spawn_scoped(scope, || {
                IS_BIG.set(true);
                work()
            }),
            std::thread::ScopedJoinHandle::join,
        )
    })
}

/// Work on a thread with a big stack, which goes on while its caller does something else.
pub(super) struct OnBigStack<T>(std::io::Result<JoinHandle<T>>);

impl<T: Send + 'static> OnBigStack<T> {
    pub(super) fn start(work: impl FnOnce() -> T + Send + 'static) -> Self {
        Self(builder().spawn(|| {
            IS_BIG.set(true);
            work()
        }))
    }
    /// What came of it. A panic in it goes on in the caller.
    pub(super) fn wait(self) -> T {
        result_of(self.0, JoinHandle::join)
    }
}

fn builder() -> Builder {
    Builder::new()
        .name(String::from("arrc-main"))
        .stack_size(STACK)
}

/// What came of the work of a thread. If it could not be started, the work went into it: there is nothing left to run.
fn result_of<H, T>(
    thread: std::io::Result<H>,
    join: impl FnOnce(H) -> std::thread::Result<T>,
) -> T {
    match thread.map(join) {
        Ok(Ok(result)) => result,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(why) => std::panic::panic_any(format!("cannot start a thread: {why}")),
    }
}

thread_local! {
    /// Whether this thread is such a thread already.
    static IS_BIG: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}
