//! Failures, which a thread keeps until it asks.

use arrc::RunError;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;

/// `arrc_status`
#[derive(Clone, Copy)]
#[repr(i32)]
pub(crate) enum Kind {
    Compile = 1,
    Run,
    Memory,
    Argument,
    Interrupted,
    Device,
    Internal,
}

/// Why a function gave nothing.
pub(crate) struct Failure {
    kind: Kind,
    why: String,
}

impl Failure {
    pub(crate) const fn new(kind: Kind, why: String) -> Self {
        Self { kind, why }
    }

    pub(crate) fn argument(why: &str) -> Self {
        Self::new(Kind::Argument, why.to_owned())
    }

    pub(crate) fn run(why: RunError) -> Self {
        let kind = match why {
            RunError::Trap(_) | RunError::OutOfFuel => Kind::Run,
            RunError::OutOfMemory { .. } => Kind::Memory,
            RunError::Interrupted => Kind::Interrupted,
            RunError::BadArguments(_) => Kind::Argument,
            RunError::Internal(_) => Kind::Internal,
            RunError::Device(_) => Kind::Device,
        };
        Self::new(kind, why.to_string())
    }

    fn panicked(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or(panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("no message");
        Self::new(
            Kind::Internal,
            format!("a mistake in arrc, please report it: {text}"),
        )
    }
}

thread_local! {
    /// The last failure of this thread.
    static LAST: RefCell<(i32, CString)> = RefCell::new((0, CString::default()));
}

fn keep(failure: Failure) -> i32 {
    let status = failure.kind as i32;
    let why = failure.why.replace('\0', " ");
    LAST.set((status, CString::new(why).unwrap_or_default()));
    status
}

/// Does what a function does that gives a status.
pub(crate) fn status(work: impl FnOnce() -> Result<(), Failure>) -> i32 {
    let done = catch_unwind(AssertUnwindSafe(work));
    let done = done.unwrap_or_else(|panic| Err(Failure::panicked(panic.as_ref())));
    done.map_or_else(keep, |()| 0)
}

/// Does what a function does that gives a pointer.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<*mut T, Failure>) -> *mut T {
    let mut out = null_mut();
    status(|| {
        out = work()?;
        Ok(())
    });
    out
}

/// See `arrc.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn arrc_error() -> *const c_char {
    LAST.with_borrow(|(_, why)| why.as_ptr())
}

/// See `arrc.h`.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn arrc_error_status() -> i32 {
    LAST.with_borrow(|(status, _)| *status)
}
