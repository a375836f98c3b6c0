//! `arrc benchcmp`: compares two files of times.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use crate::bench::{CHANGE, Change, Times, compare, geometric_mean, read};
use clap::Args;
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

/// What `arrc benchcmp` takes.
#[derive(Args)]
pub(super) struct BenchcmpArguments {
    /// The times to compare with, as `arrc bench --json` or `futhark bench --json` wrote them
    old: PathBuf,
    /// The times to judge
    new: PathBuf,
    /// Smaller changes than this are none, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 100.0 * CHANGE)]
    threshold: f64,
    /// End with 1 if something became slower beyond doubt
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(arguments: &BenchcmpArguments) -> Outcome {
    let (old, new) = (load(&arguments.old)?, load(&arguments.new)?);
    let comparison = compare(&old, &new, arguments.threshold / 100.0);
    let coloured = std::io::stdout().is_terminal();
    let mut text = String::new();
    let mut program = "";
    let width = comparison.changes.iter().map(|c| c.dataset.chars().count());
    let width = width.max().unwrap_or(0).min(60);
    for change in &comparison.changes {
        if change.program != program {
            program = &change.program;
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{program}");
        }
        line(&mut text, change, width, coloured);
    }
    for missing in &comparison.missing {
        let _ = writeln!(text, "{missing}");
    }
    let speedups: Vec<f64> = comparison.changes.iter().map(Change::speedup).collect();
    let slower = comparison.changes.iter().filter(|c| c.is_slower()).count();
    let faster = comparison.changes.iter().filter(|c| c.significant).count() - slower;
    let _ = writeln!(
        text,
        "{} inputs: {slower} slower, {faster} faster, geometric mean {:.2}x",
        speedups.len(),
        geometric_mean(&speedups)
    );
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    if arguments.strict && slower > 0 {
        return Err(Exit::silent(1));
    }
    Ok(())
}

fn line(text: &mut String, change: &Change, width: usize, coloured: bool) {
    let verdict = match (change.significant, change.is_slower()) {
        (false, _) => "",
        (true, true) => "slower",
        (true, false) => "faster",
    };
    let (begin, end) = match (coloured, verdict) {
        (true, "slower") => ("\x1b[31m", "\x1b[0m"),
        (true, "faster") => ("\x1b[32m", "\x1b[0m"),
        (true | false, _) => ("", ""),
    };
    let line = format!(
        "  {:width$}  {:>12.1} us -> {:>12.1} us  {begin}{:>6.2}x {verdict}{end}",
        change.dataset,
        change.old,
        change.new,
        change.speedup(),
    );
    let _ = writeln!(text, "{}", line.trim_end());
}

fn load(path: &Path) -> Result<Times, Exit> {
    let wrong = |why: &dyn std::fmt::Display| Exit::user(format!("{}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|why| wrong(&why))?;
    read(&text).map_err(|why| wrong(&why))
}
