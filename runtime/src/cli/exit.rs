//! How commands end: messages on standard error and exit codes.

use crate::child::MISTAKE;
use crate::session::CompileError;
use frontend::render::Look;
use midend::trap::RunError;
use std::fmt::Display;
use std::io::Write as _;
use std::process::ExitCode;

/// A mistake in arrc itself (EX_SOFTWARE of sysexits).
pub(super) const INTERNAL: u8 = 70;
/// Out of time, as timeout(1) says it.
pub(super) const TIMEOUT: u8 = 124;
/// Interrupted, as shells say it.
pub(super) const INTERRUPTED: u8 = 130;

/// Why a command ends without success.
pub(super) struct Exit {
    code: u8,
    message: String,
}

impl Exit {
    /// A mistake in the program, the input or the usage.
    pub(super) fn user(message: impl Display) -> Self {
        Self {
            code: 1,
            message: format!("error: {message}\n"),
        }
    }
    /// A mistake in arrc.
    pub(super) fn internal(message: impl Display) -> Self {
        Self {
            code: INTERNAL,
            message: format!("{message}\n"),
        }
    }
    /// Something that has been reported already.
    pub(super) fn silent(code: u8) -> Self {
        Self {
            code,
            message: String::new(),
        }
    }
    /// Out of time.
    pub(super) fn timeout(seconds: f64) -> Self {
        Self {
            code: TIMEOUT,
            message: format!("error: stopped after {seconds} seconds\n"),
        }
    }
    /// A program that cannot be compiled.
    pub(super) fn compile(error: &CompileError) -> Self {
        Self {
            code: if error.is_internal() { INTERNAL } else { 1 },
            message: error.render(Look::for_stderr()),
        }
    }
    /// A run that gave no result.
    pub(super) fn run(error: &RunError) -> Self {
        let code = match error {
            RunError::Trap(_)
            | RunError::OutOfMemory { .. }
            | RunError::OutOfFuel
            | RunError::Device(_) => 2,
            RunError::BadArguments(_) => 1,
            RunError::Interrupted => INTERRUPTED,
            RunError::Internal(_) => INTERNAL,
        };
        Self {
            code,
            message: format!("{error}\n"),
        }
    }
    /// A failure to write results; nobody is told that a pipe was closed, for nobody is there.
    pub(super) fn write(why: &std::io::Error) -> Self {
        if why.kind() == std::io::ErrorKind::BrokenPipe {
            return Self::silent(0);
        }
        Self::user(format!("cannot write: {why}"))
    }
    /// Prints the message; the code to exit with.
    pub(super) fn report(self) -> ExitCode {
        // There is nobody to tell if the message cannot be printed.
        let _ = std::io::stderr().write_all(self.message.as_bytes());
        ExitCode::from(self.code)
    }
}

/// Makes panics short messages that say what to do, since every one of them is a mistake in arrc. The process ends with it, in whatever
/// thread it was.
pub(super) fn install_panic_hook() {
    std::panic::set_hook(Box::new(|info| {
        let place = info
            .location()
            .map(|at| format!(" at {}:{}", at.file(), at.line()))
            .unwrap_or_default();
        let what = info
            .payload_as_str()
            .unwrap_or("no message")
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let backtrace = match std::env::var_os("RUST_BACKTRACE") {
            Some(value) if value != "0" => {
                format!("{}\n", std::backtrace::Backtrace::force_capture())
            }
            Some(_) | None => String::new(),
        };
        let text = format!(
            "{MISTAKE}{place}: {what}\n{backtrace}This is a mistake in arrc, not in your program. Please report it, \
             with the program and the command line (RUST_BACKTRACE=1 shows more).\n"
        );
        let _ = std::io::stderr().write_all(text.as_bytes());
        std::process::exit(i32::from(INTERNAL));
    }));
}
