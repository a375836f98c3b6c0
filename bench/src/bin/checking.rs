//! Measures how fast `arrc check` is.
//!
//! ```text
//! cargo build --release && cargo run --release -p arrc-bench --bin checking -- [--lines N] [--slowest FOLDER]
//! ```
//!
//! Without `--slowest` there are three figures: the start of a process that does nothing (`arrc --version`), a check of an
//! empty program (its start, the prelude and the rest of `check`), and a check of a dense program of 20,000 lines. With
//! it, the ten programs of a folder that take longest, each checked in this process, without its start. Times are wall
//! times: on a loaded machine the least of them says most.

mod checking {
    pub(super) mod dense;
}

use anyhow::{Context, Result, ensure};
use arrc::harness::discover;
use arrc::session::check_file;
use checking::dense::dense;
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Measures checking.
#[derive(Parser)]
struct Options {
    /// Lines of the dense program.
    #[arg(long, default_value_t = 20_000)]
    lines: usize,
    /// Check the programs of this folder, and name those that take longest.
    #[arg(long, value_name = "FOLDER")]
    slowest: Option<PathBuf>,
    /// The arrc to measure.
    #[arg(long, default_value = "target/release/arrc")]
    arrc: PathBuf,
}

/// Runs of something short, of which the median counts.
const SHORT_RUNS: usize = 51;
/// Runs of something long.
const LONG_RUNS: usize = 9;
/// Checks of each program of a folder, of which the shortest counts.
const CHECKS: usize = 3;
/// How many of the slowest are named.
const NAMED: usize = 10;

fn main() -> Result<()> {
    let options = Options::parse();
    match &options.slowest {
        Some(folder) => slowest(folder),
        None => command(&options),
    }
}

#[allow(
    clippy::print_stdout,
    reason = "printing the figures is what this program is for"
)]
fn command(options: &Options) -> Result<()> {
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    std::fs::create_dir_all(&work)?;
    let file = |name: &str, text: &str| -> Result<PathBuf> {
        let path = work.join(name);
        std::fs::write(&path, text)?;
        Ok(path)
    };
    let empty = file("empty.fut", "")?;
    let text = dense(options.lines);
    let lines = text.lines().count();
    let program = file("dense.fut", &text)?;
    let row = |what: &str, arguments: &[&Path], runs: usize| -> Result<()> {
        let (least, median) = times(&options.arrc, arguments, runs)?;
        println!(
            "{what:36} least {:8.2} ms, median {:8.2} ms of {runs}",
            ms(least),
            ms(median)
        );
        Ok(())
    };
    row("arrc --version", &[Path::new("--version")], SHORT_RUNS)?;
    row(
        "arrc check, an empty program",
        &[Path::new("check"), &empty],
        SHORT_RUNS,
    )?;
    let what = format!("arrc check, {lines} lines");
    row(&what, &[Path::new("check"), &program], LONG_RUNS)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The least and the median time of a command.
fn times(arrc: &Path, arguments: &[&Path], runs: usize) -> Result<(Duration, Duration)> {
    let mut times = Vec::with_capacity(runs);
    for _ in 0..runs {
        let mut command = Command::new(arrc);
        command.args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command
            .status()
            .with_context(|| format!("{}", arrc.display()))?;
        times.push(start.elapsed());
        ensure!(status.success(), "{command:?} failed");
    }
    times.sort();
    Ok((times[0], times[runs / 2]))
}

#[allow(
    clippy::print_stdout,
    reason = "printing the figures is what this program is for"
)]
fn slowest(folder: &Path) -> Result<()> {
    let programs = discover(&[folder.to_path_buf()]).map_err(anyhow::Error::msg)?;
    let mut all = Vec::with_capacity(programs.len());
    for path in programs {
        let mut least = Duration::MAX;
        for _ in 0..CHECKS {
            let start = Instant::now();
            // Those that must be rejected take their time, too.
            let _ = check_file(&path, false);
            least = least.min(start.elapsed());
        }
        all.push((least, path));
    }
    all.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    let total: Duration = all.iter().map(|(time, _)| *time).sum();
    println!(
        "{} programs, {:.1} ms in all; the slowest:",
        all.len(),
        ms(total)
    );
    for (time, path) in all.iter().take(NAMED) {
        println!("{:8.2} ms  {}", ms(*time), path.display());
    }
    Ok(())
}
