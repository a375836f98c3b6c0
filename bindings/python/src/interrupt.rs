//! Ctrl-C while a program runs: the interpreter's handler only notes the signal, and the interpreter runs nothing before the call is over.

use midend::device::Stop;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The flag of the call of the main thread.
static STOP: AtomicPtr<Stop> = AtomicPtr::new(null_mut());
/// The handler of the interpreter.
static BEFORE: AtomicPtr<libc::c_void> = AtomicPtr::new(null_mut());

/// Stops the call, and lets the interpreter know.
extern "C" fn handle(signal: libc::c_int) {
    let stop = STOP.load(Ordering::SeqCst);
    // SAFETY: the flags of sessions are never freed.
    if let Some(stop) = unsafe { stop.as_ref() } {
        stop.raise();
    }
    let before = BEFORE.load(Ordering::SeqCst);
    if !before.is_null() {
        // SAFETY: it is the handler that was installed before, which takes the number of the signal.
        let before: extern "C" fn(libc::c_int) = unsafe { std::mem::transmute(before) };
        before(signal);
    }
}

/// While this lives, Ctrl-C raises the flag, if this is the main thread and the interpreter handles the signal.
pub(crate) struct Watch {
    before: Option<libc::sigaction>,
    stop: &'static Stop,
}

impl Watch {
    pub(crate) fn new(stop: &'static Stop) -> Self {
        let before = install(stop);
        Self { before, stop }
    }

    /// Whether Ctrl-C ended the call; the flag is lowered for the next one. Calls of other threads leave it as it is: the main thread's
    /// has to see it.
    pub(crate) fn was_stopped(&self) -> bool {
        let raised = self.before.is_some() && self.stop.is_raised();
        if raised {
            self.stop.lower();
        }
        raised
    }
}

/// Installs the handler; the one before.
fn install(stop: &'static Stop) -> Option<libc::sigaction> {
    // SAFETY: these have no preconditions.
    let is_main = unsafe { libc::getpid() == libc::syscall(libc::SYS_gettid) as libc::pid_t };
    if !is_main || !STOP.load(Ordering::SeqCst).is_null() {
        return None;
    }
    // SAFETY: all zeros is an action; the pointers are to actions of this function.
    let (mut before, mut ours): (libc::sigaction, libc::sigaction) = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    if unsafe { libc::sigaction(libc::SIGINT, null(), &raw mut before) } != 0 {
        return None;
    }
    let is_plain = before.sa_flags & libc::SA_SIGINFO == 0;
    if !is_plain || [libc::SIG_DFL, libc::SIG_IGN].contains(&before.sa_sigaction) {
        return None;
    }
    BEFORE.store(before.sa_sigaction as *mut libc::c_void, Ordering::SeqCst);
    STOP.store(std::ptr::from_ref(stop).cast_mut(), Ordering::SeqCst);
    ours.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
    ours.sa_flags = before.sa_flags;
    ours.sa_mask = before.sa_mask;
    // SAFETY: as above; the handler does nothing but what may be done in one.
    unsafe { libc::sigaction(libc::SIGINT, &raw const ours, null_mut()) };
    Some(before)
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // SAFETY: the action was read by `install`.
            unsafe { libc::sigaction(libc::SIGINT, before, null_mut()) };
            STOP.store(null_mut(), Ordering::SeqCst);
        }
    }
}
