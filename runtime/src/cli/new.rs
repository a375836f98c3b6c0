//! `arrc new`: a folder with a first program.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use clap::Args;
use std::path::{Path, PathBuf};

/// What `arrc new` takes.
#[derive(Args)]
pub(super) struct NewArguments {
    /// The folder, which must not exist; its last part names the program
    #[arg(value_name = "NAME")]
    path: PathBuf,
}

const PROGRAM: &str = "\
-- | The mean of some numbers.
--
-- `arrc test NAME.fut` runs the test block below.

-- ==
-- entry: mean
-- input { [1f64, 2f64, 3f64, 6f64] } output { 3f64 }

-- | The sum of all elements divided by how many there are.
entry mean [n] (xs: [n]f64) : f64 = f64.sum xs / f64.i64 n
";

const PACKAGE: &str = "\
require {
}
";

const SETTINGS: &str = "\
{
  \"[futhark]\": { \"editor.formatOnSave\": true }
}
";

const WORKFLOW: &str = "\
name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: cargo install --locked --git REPOSITORY arrc
      - run: arrc fmt --check .
      - run: arrc test .
";

pub(super) fn run(arguments: &NewArguments) -> Outcome {
    let path = &arguments.path;
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or("");
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(plain) {
        let message = "a name begins with a letter and has letters, digits, `_` and `-`";
        return Err(Exit::user(format!("{}: {message}", path.display())));
    }
    if path.exists() {
        let message = format!(
            "{} exists already\nhint: choose another name",
            path.display()
        );
        return Err(Exit::user(message));
    }
    let workflow = WORKFLOW.replace("REPOSITORY", env!("CARGO_PKG_REPOSITORY"));
    let files = [
        (format!("{name}.fut"), PROGRAM.replace("NAME", name)),
        (String::from("futhark.pkg"), PACKAGE.to_owned()),
        (String::from(".vscode/settings.json"), SETTINGS.to_owned()),
        (String::from(".github/workflows/test.yml"), workflow),
    ];
    for (file, text) in files {
        write(&path.join(file), &text)?;
    }
    let program = path.join(format!("{name}.fut"));
    let program = program.display();
    to_stdout(|out| {
        writeln!(out, "made {program}")?;
        writeln!(
            out,
            "  arrc test {program}                     # run its test block"
        )?;
        writeln!(out, "  echo '[1, 2, 3]' | arrc run -e mean {program}")
    })
}

fn write(path: &Path, text: &str) -> Outcome {
    let written = match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    };
    written
        .and_then(|()| std::fs::write(path, text))
        .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))
}
