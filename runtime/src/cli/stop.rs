//! Ctrl-C and deadlines: both raise the session's stop flag while a program runs, which looks at it. Whatever else the
//! process is at (compiling, waiting for input, writing results) is ended with the process, as is a run that does not stop
//! soon.

use super::exit::{INTERRUPTED, TIMEOUT};
use super::output::to_stderr;
use midend::device::Stop;
use midend::trap::RunError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long work may take to see the flag.
const GRACE: Duration = Duration::from_secs(1);

/// How often programs began and ceased to run: odd while one runs, which looks at the flag.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Runs a program: until it returns, Ctrl-C and deadlines give it time to stop.
pub(super) fn while_running<T>(run: impl FnOnce() -> T) -> T {
    RUNS.fetch_add(1, Ordering::SeqCst);
    let result = run();
    RUNS.fetch_add(1, Ordering::SeqCst);
    result
}

/// The number of the run at hand, if a program runs.
fn running() -> Option<u64> {
    Some(RUNS.load(Ordering::SeqCst)).filter(|number| number % 2 == 1)
}

/// Stops the program that runs, if there is one, and waits whether it does. Whether it still runs; one that was begun
/// meanwhile is another one.
fn stop_gently(stop: &Stop) -> bool {
    let Some(number) = running() else {
        return false;
    };
    stop.raise();
    std::thread::sleep(GRACE);
    running() == Some(number)
}

/// On Ctrl-C, stops the work; ends the process when it does not stop soon.
pub(super) fn on_interrupt(stop: Arc<Stop>) {
    // Without a handler Ctrl-C ends the process at once, which is well too.
    let _ = ctrlc::set_handler(move || {
        stop_gently(&stop);
        to_stderr(&format!("{}\n", RunError::Interrupted));
        std::process::exit(i32::from(INTERRUPTED));
    });
}

/// On Ctrl-C, stops the work, and nothing else: between runs it is for whoever reads lines. Work that does not stop soon ends
/// with the process.
pub(super) fn on_interrupt_of_work(stop: impl Fn() -> Arc<Stop> + Send + 'static) {
    let _ = ctrlc::set_handler(move || {
        if stop_gently(&stop()) {
            to_stderr(&format!("{}\n", RunError::Interrupted));
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}

/// A deadline that holds until it is dropped.
pub(super) struct Deadline {
    passed: Arc<AtomicBool>,
    /// Dropped with the deadline, which wakes and ends the thread that waits for it.
    _alive: Sender<()>,
}

impl Deadline {
    /// Stops the work after so many seconds.
    pub(super) fn after(seconds: f64, stop: Arc<Stop>) -> Self {
        let (alive, dropped) = channel::<()>();
        let passed = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&passed);
        std::thread::spawn(move || {
            let wait = |time| dropped.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if wait(Duration::from_secs_f64(seconds)) {
                flag.store(true, Ordering::SeqCst);
                stop_gently(&stop);
                if wait(Duration::ZERO) {
                    to_stderr(&format!("error: stopped after {seconds} seconds\n"));
                    std::process::exit(i32::from(TIMEOUT));
                }
            }
        });
        Self {
            passed,
            _alive: alive,
        }
    }
    /// Whether the time is over.
    pub(super) fn passed(&self) -> bool {
        self.passed.load(Ordering::SeqCst)
    }
}
