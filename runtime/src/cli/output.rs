//! Printing to standard output.

use super::exit::Exit;
use std::io::{BufWriter, Write};

/// Runs the work with a buffered standard output, and flushes it.
pub(super) fn to_stdout(
    work: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), Exit> {
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    work(&mut out)
        .and_then(|()| out.flush())
        .map_err(|why| Exit::write(&why))
}

/// Prints text to standard error; failures are not reported, since there is nowhere to report them to.
pub(super) fn to_stderr(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
