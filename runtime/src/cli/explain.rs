//! `arrc explain`: what an error code means.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use crate::explain::section;
use clap::Args;
use frontend::diagnostic::Code;

/// What `arrc explain` takes.
#[derive(Args)]
pub(super) struct ExplainArguments {
    /// A code such as E0301; without one, all are listed
    code: Option<String>,
}

pub(super) fn run(arguments: &ExplainArguments) -> Outcome {
    let Some(wanted) = &arguments.code else {
        return to_stdout(|out| {
            Code::ALL
                .iter()
                .try_for_each(|code| writeln!(out, "{code}: {}", code.summary()))
        });
    };
    let wanted = wanted.to_ascii_uppercase();
    match Code::ALL.iter().find(|code| code.as_str() == wanted) {
        Some(code) => to_stdout(|out| writeln!(out, "{code}: {}", section(*code).trim_end())),
        None => Err(Exit::user(format!("there is no error code {wanted}"))),
    }
}
