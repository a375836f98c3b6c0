//! `arrc check`: looks programs over for mistakes.

use super::exit::Exit;
use super::output::to_stderr;
use super::{Outcome, stop};
use crate::session;
use clap::Args;
use frontend::render::{Look, render_all};
use midend::device::Stop;
use std::path::PathBuf;
use std::sync::Arc;

/// What `arrc check` takes.
#[derive(Args)]
pub(super) struct CheckArguments {
    /// The programs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// One line per message, for editors and scripts
    #[arg(long)]
    line: bool,
    /// Remark on arrays that stay irregular, too
    #[arg(short, long)]
    verbose: bool,
}

pub(super) fn run(arguments: &CheckArguments) -> Outcome {
    stop::on_interrupt(Arc::new(Stop::new()));
    let look = if arguments.line {
        Look::Line
    } else {
        Look::for_stderr()
    };
    let mut wrong = false;
    for (i, file) in arguments.files.iter().enumerate() {
        match session::check_file(file, arguments.verbose) {
            Ok(checked) => {
                to_stderr(&render_all(&checked.sources, &checked.warnings, look));
                if i + 1 == arguments.files.len() {
                    // The process ends now, and its memory with it; taking a large program apart would take longer.
                    std::mem::forget(checked);
                }
            }
            Err(error) => {
                wrong = true;
                to_stderr(&error.render(look));
            }
        }
    }
    if wrong { Err(Exit::silent(1)) } else { Ok(()) }
}
