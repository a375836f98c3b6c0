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
                .try_for_each(|code| writeln!(out, "{code}: {}", code.summary()))
        });
    };
    let wanted = wanted.to_ascii_uppercase();
    match Code::ALL.iter().find(|code| code.as_str() == wanted) {
        Some(code) => to_stdout(|out| writeln!(out, "{code}: {}", section(*code).trim_end())),
        None => Err(Exit::user(format!("there is no error code {wanted}"))),
    }
}

/// The page that has a section for every code.
const PAGE: &str = include_str!("../../../docs/errors.md");

/// The section of a code.
fn section(code: Code) -> &'static str {
    let head = format!("## {code}\n\n");
    let Some((_, from)) = PAGE.split_once(&head) else {
        return code.summary();
    };
    from.split_once("\n## ")
        .map_or(from, |(section, _)| section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_section() {
        for code in Code::ALL {
            assert!(section(*code).starts_with(code.summary()), "{code}");
            assert!(!section(*code).contains("## "), "{code}");
        }
    }
}
