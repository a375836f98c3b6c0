//! Measures how long it takes from source text to a program that can be run, on the CPU.
//!
//! ```text
//! cargo build --release && cargo run --release -p arrc-bench --bin compiling -- --programs FOLDER
//! cargo run --release -p arrc-bench --bin compiling -- --growth
//! ```
//!
//! With `--programs`, each program of a folder is compiled by processes of their own; the least time of several counts, from
//! the start of the process to its end. With `--growth`, generated programs of 1,000 to 64,000 statements are compiled in
//! processes of their own, and an exponent is fitted to their processor time, of which a busy machine takes less note than
//! of wall time.

mod compiling {
    pub(super) mod generated;
}

use anyhow::{Context, Result, ensure};
use arrc::harness::discover;
use arrc::session::{CompileTimes, Options as SessionOptions, Session, nested_ir, on_big_stack};
use clap::Parser;
use compiling::generated::{KINDS, generated};
use midend::ir::walk::all_stms;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// That of the command.
#[global_allocator]
static ALLOCATOR: arrc::LargePages<mimalloc::MiMalloc> = arrc::LargePages(mimalloc::MiMalloc);

/// Measures compiling.
#[derive(Parser)]
struct Options {
    /// Compile the programs of this folder.
    #[arg(long, value_name = "FOLDER")]
    programs: Option<PathBuf>,
    /// Compile generated programs.
    #[arg(long)]
    growth: bool,
    /// How often each program is compiled.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Compile one program in this process, and print how long its parts took.
    #[arg(long, value_name = "FILE")]
    one: Option<PathBuf>,
}

/// Statements of the shortest and of the longest generated program.
const SHORTEST: usize = 1_000;
const LONGEST: usize = 64_000;

fn main() -> Result<()> {
    let options = Options::parse();
    if let Some(file) = &options.one {
        return one(file);
    }
    ensure!(
        options.growth || options.programs.is_some(),
        "nothing to do: --programs FOLDER or --growth"
    );
    if let Some(folder) = &options.programs {
        programs(folder, options.runs)?;
    }
    if options.growth {
        growth(options.runs)?;
    }
    Ok(())
}

/// What one process says of a program: times in milliseconds.
struct Report {
    wall: f64,
    processor: f64,
    front: f64,
    passes: f64,
    verify: f64,
    kernels: f64,
}

/// Compiles a program in this process.
fn one(file: &Path) -> Result<()> {
    // On a thread of our own, so that it can still be asked for its time afterwards.
    on_big_stack(|| {
        let session = Session::new(SessionOptions::default())?;
        let program = session.compile_file(file)?;
        report(program.compile_times())
    })
}

/// Prints what the parent reads.
#[allow(clippy::print_stdout, reason = "the parent reads it")]
fn report(times: &CompileTimes) -> Result<()> {
    let passes: Duration = times.passes.iter().map(|pass| pass.time).sum();
    let verify: Duration = times.passes.iter().map(|pass| pass.verify).sum();
    println!(
        "{} {} {} {} {}",
        processor_time()?,
        ms(times.front),
        ms(passes),
        ms(verify),
        ms(times.kernels)
    );
    Ok(())
}

/// The processor time of the threads of this process so far, in milliseconds.
fn processor_time() -> Result<f64> {
    let mut nanoseconds = 0.0;
    for task in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        let first = text.split_whitespace().next().context("no fields")?;
        nanoseconds += first.parse::<f64>()?;
    }
    Ok(nanoseconds / 1e6)
}

/// Compiles a program in a process of its own; nothing if it is rejected.
fn cold(file: &Path) -> Result<Option<Report>> {
    let start = Instant::now();
    let output = Command::new(std::env::current_exe()?)
        .arg("--one")
        .arg(file)
        .output()?;
    let wall = ms(start.elapsed());
    if !output.status.success() {
        return Ok(None);
    }
    let text = String::from_utf8(output.stdout)?;
    let numbers: Vec<f64> = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let [processor, front, passes, verify, kernels] = numbers[..] else {
        anyhow::bail!("unexpected output of {}: {text}", file.display());
    };
    Ok(Some(Report {
        wall,
        processor,
        front,
        passes,
        verify,
        kernels,
    }))
}

/// The report with the least wall time of some.
fn least(file: &Path, runs: usize, key: fn(&Report) -> f64) -> Result<Option<Report>> {
    let mut best: Option<Report> = None;
    for _ in 0..runs {
        let Some(report) = cold(file)? else {
            return Ok(None);
        };
        if best.as_ref().is_none_or(|b| key(&report) < key(b)) {
            best = Some(report);
        }
    }
    Ok(best)
}

#[allow(
    clippy::print_stdout,
    reason = "printing the figures is what this program is for"
)]
fn programs(folder: &Path, runs: usize) -> Result<()> {
    let mut all = Vec::new();
    let mut rejected = 0;
    for path in discover(&[folder.to_path_buf()]).map_err(anyhow::Error::msg)? {
        match least(&path, runs, |report| report.wall)? {
            Some(report) => all.push((report, path)),
            None => rejected += 1,
        }
    }
    all.sort_by(|(a, _), (b, _)| b.wall.total_cmp(&a.wall));
    println!(
        "{} programs, {rejected} more are rejected; ms: all, processor, front end, passes, verification, kernels",
        all.len()
    );
    for (r, path) in &all {
        println!(
            "{:8.1} {:8.1} {:8.1} {:8.1} {:8.1} {:8.1}  {}",
            r.wall,
            r.processor,
            r.front,
            r.passes,
            r.verify,
            r.kernels,
            path.strip_prefix(folder).unwrap_or(path).display()
        );
    }
    Ok(())
}

#[allow(
    clippy::print_stdout,
    reason = "printing the figures is what this program is for"
)]
fn growth(runs: usize) -> Result<()> {
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    std::fs::create_dir_all(&work)?;
    for kind in KINDS {
        let mut points = Vec::new();
        let mut wanted = SHORTEST;
        while wanted <= LONGEST {
            let file = work.join(format!("{}-{wanted}.fut", kind.name()));
            let statements = write_generated(&file, *kind, wanted)?;
            let report = least(&file, runs, |report| report.processor)?
                .with_context(|| format!("{} is rejected", file.display()))?;
            println!(
                "{:10} {statements:6} statements: processor {:6.0} ms, wall {:6.0} ms; front end {:6.0}, passes {:6.0}, verification {:6.0}, kernels {:6.0}",
                kind.name(),
                report.processor,
                report.wall,
                report.front,
                report.passes,
                report.verify,
                report.kernels
            );
            points.push((statements as f64, report.processor.max(1.0)));
            wanted *= 2;
        }
        println!(
            "{:10} fitted exponent {:.3}",
            kind.name(),
            exponent(&points)
        );
    }
    Ok(())
}

/// Writes a program of about so many statements; how many it has.
fn write_generated(file: &Path, kind: compiling::generated::Kind, wanted: usize) -> Result<usize> {
    let count = |parts: usize| -> Result<usize> {
        std::fs::write(file, generated(kind, parts))?;
        let program = nested_ir(file)?;
        let mut statements = 0;
        for fun in program.funs.iter() {
            all_stms(&fun.body, &mut |_| statements += 1);
        }
        Ok(statements)
    };
    // Parts are alike, so that two lengths tell what a part adds.
    let (one, two) = (count(10)?, count(20)?);
    let each = (two - one) as f64 / 10.0;
    count((wanted as f64 / each).round() as usize)
}

/// The slope of the straight line through the logarithms.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let (mx, my) = (
        logs.iter().map(|p| p.0).sum::<f64>() / n,
        logs.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let above: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let below: f64 = logs.iter().map(|(x, _)| (x - mx).powi(2)).sum();
    above / below
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
