//! `--threshold NAME=N`: forcing the versions of code that a run takes.

use super::exit::Exit;
use midend::ir::threshold::Forced;

/// What the command line says.
pub(super) fn parse(texts: &[String]) -> Result<Forced, Exit> {
    let mut forced = Forced::new();
    for text in texts {
        forced.add(text).map_err(Exit::user)?;
    }
    Ok(forced)
}
