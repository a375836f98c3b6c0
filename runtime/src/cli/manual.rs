//! `arrc completions` and `arrc man`: what shells and man(1) know of the command line, made from its one definition.

use super::exit::Exit;
use super::output::to_stdout;
use super::{Arguments, Outcome};
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;
use std::path::PathBuf;

/// What `arrc completions` takes.
#[derive(Args)]
pub(super) struct CompletionsArguments {
    /// The shell to complete for
    shell: Shell,
}

/// What `arrc man` takes.
#[derive(Args)]
pub(super) struct ManArguments {
    /// A command; without one, the page is about all
    command: Option<String>,
    /// Write the pages of all commands into this directory instead
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    directory: Option<PathBuf>,
}

pub(super) fn completions(arguments: &CompletionsArguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "arrc",
        &mut script,
    );
    to_stdout(|out| out.write_all(&script))
}

pub(super) fn man(arguments: &ManArguments) -> Outcome {
    let mut whole = Arguments::command().disable_help_subcommand(true);
    // Commands get their full names, `arrc-run`.
    whole.build();
    if let Some(directory) = &arguments.directory {
        let written = std::fs::create_dir_all(directory)
            .and_then(|()| clap_mangen::generate_to(whole, directory));
        return written
            .map_err(|why| Exit::user(format!("cannot write to {}: {why}", directory.display())));
    }
    let command = match &arguments.command {
        None => whole,
        Some(name) => match whole.find_subcommand(name) {
            Some(command) => command.clone(),
            None => return Err(Exit::user(format!("there is no command {name}"))),
        },
    };
    let mut page = Vec::new();
    let written = Man::new(command).render(&mut page);
    written.map_err(|why| Exit::write(&why))?;
    to_stdout(|out| out.write_all(&page))
}
