//! `arrc literate`: a program as Markdown with the results of its directives.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stderr;
use super::stop::{on_interrupt, while_running};
use crate::literate::{Failure, Page, Paths, page};
use crate::session::{Options, Session};
use crate::target::Target;
use clap::Args;
use std::path::{Path, PathBuf};

/// What `arrc literate` takes.
#[derive(Args)]
pub(super) struct LiterateArguments {
    /// The program
    #[arg(value_name = "PROGRAM")]
    program: PathBuf,
    /// Write the Markdown to this file, and pictures to the directory beside it [default: PROGRAM.md and PROGRAM-img/]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing when a directive fails, and end with the first one that does
    #[arg(long)]
    stop_on_error: bool,
    /// What to run on: auto, cpu, ptx, ptx-emu or interp
    #[arg(long, default_value_t)]
    target: Target,
}

pub(super) fn run(arguments: &LiterateArguments) -> Outcome {
    let program = &arguments.program;
    if program
        .extension()
        .is_none_or(|extension| extension != "fut")
    {
        let message = "a literate program is a file whose name ends in .fut";
        return Err(Exit::user(format!("{}: {message}", program.display())));
    }
    let text = std::fs::read_to_string(program)
        .map_err(|why| Exit::user(format!("cannot read {}: {why}", program.display())))?;
    let output = arguments.output.clone();
    let output = output.unwrap_or_else(|| program.with_extension("md"));
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let link = format!("{stem}-img");
    let paths = Paths {
        program: program.clone(),
        images: output.parent().unwrap_or(Path::new("")).join(&link),
        link,
    };
    let options = Options {
        target: arguments.target,
        ..Options::default()
    };
    let session = Session::new(options).map_err(Exit::user)?;
    on_interrupt(session.stop());
    let made = while_running(|| page(&session, &text, &paths, arguments.stop_on_error));
    let Page { markdown, failures } = match made {
        Ok(page) => page,
        Err(Failure::Compile(error)) => return Err(Exit::compile(&error)),
        Err(Failure::Directive(line, why)) => {
            return Err(Exit::user(format!("{}:{line}: {why}", program.display())));
        }
    };
    std::fs::write(&output, markdown)
        .map_err(|why| Exit::user(format!("cannot write {}: {why}", output.display())))?;
    for (line, why) in &failures {
        to_stderr(&format!("error: {}:{line}: {why}\n", program.display()));
    }
    match failures.is_empty() {
        true => Ok(()),
        false => Err(Exit::silent(1)),
    }
}
