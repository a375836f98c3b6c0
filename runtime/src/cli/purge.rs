//! Memory that is freed goes back to the system at once where memory is limited: what lies about with the allocator counts towards the limit.

use std::process::Command;

/// How many milliseconds the allocator of the command (mimalloc) keeps what is freed. It takes its options from the environment, when it is
/// loaded, and from nowhere else without unsafe code.
const DELAY: &str = "MIMALLOC_PURGE_DELAY";

/// Begins the command anew with such an allocator, unless the environment says how long it is to wait. Nothing has been read yet; if that cannot
/// be done, the command goes on as it is.
#[cfg(unix)]
pub(super) fn purge_at_once() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(DELAY).is_some() {
        return;
    }
    if let Ok(program) = std::env::current_exe() {
        let mut again = Command::new(program);
        // What `exec` gives back is why it failed.
        let _ = again
            .args(std::env::args_os().skip(1))
            .env(DELAY, "0")
            .exec();
    }
}

/// Elsewhere a process cannot become another one.
#[cfg(not(unix))]
pub(super) fn purge_at_once() {}
