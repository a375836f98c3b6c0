//! `arrc explain`: what an error code means.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
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
                .try_for_each(|code| writeln!(out, "{code}: {}", words(*code)))
        });
    };
    let wanted = wanted.to_ascii_uppercase();
    match Code::ALL.iter().find(|code| code.as_str() == wanted) {
        Some(code) => to_stdout(|out| writeln!(out, "{code}: {}", words(*code))),
        None => Err(Exit::user(format!("there is no error code {wanted}"))),
    }
}

/// The name of a code as words.
fn words(code: Code) -> String {
    let mut out = String::new();
    for c in format!("{code:?}").chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push(' ');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}
