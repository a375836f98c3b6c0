//! `arrc doc`: HTML of programs from their documentation comments, whose examples are executed.

use super::exit::Exit;
use super::output::{to_stderr, to_stdout};
use super::stop::{on_interrupt_of_work, while_running};
use super::{Outcome, examples};
use crate::harness::discover;
use crate::loader::FileLoader;
use crate::session::{CompileError, on_big_stack};
use crate::target::Target;
use clap::Args;
use doc::{Documentation, Site};
use midend::device::Stop;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What `arrc doc` takes.
#[derive(Args)]
pub(super) struct DocArguments {
    /// The programs, and directories of programs; what they import is documented, too
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The directory to write HTML to
    #[arg(short, long, value_name = "DIR", required_unless_present = "test")]
    output: Option<PathBuf>,
    /// Execute the examples of comments, and fail if one gives another value than it says
    #[arg(long)]
    test: bool,
    /// Without a program, document only the prelude; with --test, execute its examples, too
    #[arg(long)]
    prelude: bool,
    /// What to execute examples on: auto, cpu, ptx, ptx-emu or interp
    #[arg(long, default_value_t = Target::Interp)]
    target: Target,
}

pub(super) fn run(arguments: &DocArguments) -> Outcome {
    if arguments.files.is_empty() && !arguments.prelude {
        let hint = "`arrc doc . -o html` documents all programs here, `arrc doc --prelude -o html` the prelude";
        return Err(Exit::user(format!(
            "there is nothing to document\nhint: {hint}"
        )));
    }
    let documentation = read(&arguments.files)?;
    if let Some(directory) = &arguments.output {
        write(&documentation.site(), directory)?;
    }
    if !arguments.test {
        return Ok(());
    }
    let mut groups = documentation.cases();
    if arguments.prelude {
        groups.extend(doc::prelude_cases());
    }
    test(&groups, arguments.target)
}

fn read(files: &[PathBuf]) -> Result<Documentation, Exit> {
    let mut loader = FileLoader::new();
    let mut roots = Vec::new();
    for path in discover(files).map_err(Exit::user)? {
        roots.push(loader.read(&path).map_err(Exit::user)?);
    }
    if roots.is_empty() && !files.is_empty() {
        return Err(Exit::user(
            "there is no program in these directories\nhint: the names of programs end in .fut",
        ));
    }
    on_big_stack(|| doc::read(&mut loader, &roots)).map_err(|diagnostics| {
        Exit::compile(&CompileError::new(loader.into_sources(), diagnostics))
    })
}

fn write(site: &Site, directory: &Path) -> Outcome {
    for output in &site.outputs {
        let path = directory.join(&output.path);
        let folder = path.parent().unwrap_or(directory);
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&path, &output.text))
            .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))?;
    }
    for warning in &site.warnings {
        to_stderr(&format!("{warning}\n"));
    }
    let index = directory.join("index.html");
    to_stdout(|out| {
        let Site {
            files,
            items,
            silent,
            ..
        } = site;
        writeln!(
            out,
            "made {}: {files} files, {items} definitions, {silent} of them without a comment",
            index.display()
        )
    })
}

/// Executes examples, and tells which give something else than they say.
fn test(groups: &[Vec<doc::Case>], target: Target) -> Outcome {
    let stop = Arc::new(Mutex::new(Arc::new(Stop::new())));
    let current = Arc::clone(&stop);
    on_interrupt_of_work(move || {
        Arc::clone(&current.lock().unwrap_or_else(PoisonError::into_inner))
    });
    let (mut count, mut failed) = (0, 0);
    for group in groups {
        let mut examples = examples::Examples::new(target, group).map_err(Exit::user)?;
        *stop.lock().unwrap_or_else(PoisonError::into_inner) = examples.stop();
        for case in group {
            count += 1;
            if let Err(why) = while_running(|| examples.execute(case)) {
                failed += 1;
                to_stderr(&format!("{}:{}: {why}\n", case.file, case.line));
            }
        }
    }
    to_stdout(|out| writeln!(out, "{count} examples, {failed} of them failed"))?;
    if failed > 0 {
        return Err(Exit::silent(1));
    }
    Ok(())
}
