//! `arrc fmt`: formats programs.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use crate::harness::discover;
use crate::session::{format_file, format_text};
use clap::Args;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What `arrc fmt` takes.
#[derive(Args)]
pub(super) struct FmtArguments {
    /// The programs, and directories of programs, which are rewritten; without one, standard input is formatted to standard output
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing, and fail if a program is not formatted
    #[arg(long)]
    check: bool,
}

pub(super) fn run(arguments: &FmtArguments) -> Outcome {
    if arguments.files.is_empty() {
        return standard_input(arguments.check);
    }
    let mut failed = false;
    for path in discover(&arguments.files).map_err(Exit::user)? {
        if let Err(exit) = file(&path, arguments.check) {
            failed = true;
            exit.report();
        }
    }
    if failed {
        return Err(Exit::silent(1));
    }
    Ok(())
}

/// Formats a file, or reports that it is not formatted.
fn file(path: &Path, check: bool) -> Outcome {
    let text = format_file(path).map_err(|error| Exit::compile(&error))?;
    if text.after == text.before {
        return Ok(());
    }
    let name = path.display();
    if check {
        let message = format!("{name} is not formatted\nhint: `arrc fmt {name}` formats it");
        return Err(Exit::user(message));
    }
    std::fs::write(path, text.after)
        .map_err(|why| Exit::user(format!("cannot write {name}: {why}")))
}

fn standard_input(check: bool) -> Outcome {
    let mut bytes = Vec::new();
    std::io::stdin()
        .read_to_end(&mut bytes)
        .map_err(|why| Exit::user(format!("cannot read standard input: {why}")))?;
    let text =
        String::from_utf8(bytes).map_err(|_| Exit::user("standard input is not text in UTF-8"))?;
    let text = format_text("<stdin>", &text).map_err(|error| Exit::compile(&error))?;
    if !check {
        return to_stdout(|out| out.write_all(text.after.as_bytes()));
    }
    if text.after == text.before {
        return Ok(());
    }
    Err(Exit::user("standard input is not formatted"))
}
