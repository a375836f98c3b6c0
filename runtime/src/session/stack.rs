//! Room for recursion.

/// Walks over deeply nested programs and deep recursion in the interpreter fit into this; only what is touched takes
/// memory.
const STACK: usize = 1 << 30;

/// Runs the work on a thread with a big stack. A panic in it goes on in the caller.
pub fn on_big_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    if IS_BIG.get() {
        return work();
    }
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name(String::from("arrc-main"))
            .stack_size(STACK)
            .spawn_scoped(scope, || {
                IS_BIG.set(true);
                work()
            });
        match thread.map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(why) => {
                // The work went into the thread that could not be started: there is nothing left to run.
                std::panic::panic_any(format!("cannot start a thread: {why}"))
            }
        }
    })
}

thread_local! {
    /// Whether this thread is such a thread already.
    static IS_BIG: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}
