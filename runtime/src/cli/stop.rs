//! Ctrl-C and deadlines: both raise the session's stop flag, and end the process where that does not help.

use super::exit::{INTERRUPTED, TIMEOUT};
use super::output::to_stderr;
use midend::device::Stop;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How long work may take to see the flag.
const GRACE: Duration = Duration::from_secs(1);

/// On Ctrl-C, stops the work; ends the process when it does not stop soon.
pub(super) fn on_interrupt(stop: Arc<Stop>) {
    // Without a handler Ctrl-C ends the process at once, which is well too.
    let _ = ctrlc::set_handler(move || {
        stop.raise();
        std::thread::sleep(GRACE);
        std::process::exit(i32::from(INTERRUPTED));
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
                stop.raise();
                if wait(GRACE) {
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
