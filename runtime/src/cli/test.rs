//! `arrc test`: runs test blocks.

use super::exit::{Exit, INTERRUPTED};
use super::output::{to_stderr, to_stdout};
use super::size::{parse_bytes, parse_seconds, parse_vector_bits};
use super::{Outcome, bar, device, opt, threshold};
use crate::harness::{
    self, ProgramReport, Progress, PropertyOptions, Summary, TestOptions, Verdict, WorkerArguments,
};
use crate::target::Target;
use clap::{Args, value_parser};
use indicatif::ProgressBar;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What `arrc test` takes.
#[derive(Args)]
pub(super) struct TestArguments {
    /// Programs, and directories of programs
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// What to run on: cpu, ptx, ptx-emu, interp or auto
    #[arg(long, default_value_t = Target::Cpu)]
    target: Target,
    /// The number of the GPU to run on, see `arrc devices` [default: 0]
    #[arg(long, value_name = "K")]
    device: Option<usize>,
    /// Leave out programs and runs with this tag
    #[arg(long, value_name = "TAG")]
    exclude: Vec<String>,
    /// Run only this entry point
    #[arg(short, long, value_name = "NAME")]
    entry_point: Option<String>,
    /// Time for each run
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "10", help_heading = "Limits")]
    timeout: f64,
    /// Memory for the arrays of each run
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "4G", help_heading = "Limits")]
    mem_limit: u64,
    /// Lane-instructions for each run on ptx-emu
    #[arg(long, value_name = "N", default_value_t = harness::CAP, help_heading = "Limits")]
    cap: u64,
    /// Programs to test at once [default: one per core]
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Bits of the widest vector registers of the CPU to use: 128, 256 or 512 [default: as many as there are]
    #[arg(long, value_name = "N", value_parser = parse_vector_bits)]
    vector_bits: Option<u32>,
    /// Elements of sequences to work on at once [default: what is found to be fast]
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    chunk: Option<i64>,
    /// Let guards compare with N, see `arrc run`
    #[arg(long, value_name = "NAME=N", help_heading = "The compiler")]
    threshold: Vec<String>,
    /// Run each case also once for each threshold: this one at 0, the others at infinity
    #[arg(long, help_heading = "The compiler")]
    each_threshold: bool,
    /// Leave out these passes, see `arrc run`
    #[arg(
        long,
        value_name = "PASS",
        value_delimiter = ',',
        help_heading = "The compiler"
    )]
    without: Vec<String>,
    #[command(flatten)]
    liberties: opt::Liberties,
    /// Write everything that came of the tests to this file
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    json: Option<PathBuf>,
    /// Write a page about it to this file
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    conformance: Option<PathBuf>,
    /// Name every program that failed, with its message
    #[arg(long, help_heading = "Reports")]
    list_failures: bool,
    /// Compare the messages of rejected programs and warnings, too
    #[arg(long)]
    match_messages: bool,
    /// Check sizes and regularity that analyses claim, on the target interp
    #[arg(long, help_heading = "The compiler")]
    claims: bool,
    /// Test that the operators of reductions, scans and histograms are associative, have their neutral element, and commute
    /// where they must
    #[arg(long, help_heading = "Properties")]
    laws: bool,
    /// Test that forward mode, reverse mode and differences agree on the derivatives of entry points with floats, at the arguments
    /// of test blocks
    #[arg(long, help_heading = "Properties")]
    derivatives: bool,
    /// Fail where a scatter writes different values to one place
    #[arg(long, help_heading = "Properties")]
    check: bool,
    /// Candidates to try for each property and operator
    #[arg(short, long, value_name = "N", default_value_t = PropertyOptions::default().tests, help_heading = "Properties")]
    num_tests: u32,
    /// Size of candidates, where the property does not say it
    #[arg(short, long, value_name = "N", default_value_t = PropertyOptions::default().size, value_parser = clap::value_parser!(i64).range(0..), help_heading = "Properties")]
    max_size: i64,
    /// Seed of candidates [default: another one each time]
    #[arg(long, value_name = "N", help_heading = "Properties")]
    seed: Option<u64>,
    /// How often in a row a shrinker may give no smaller counterexample
    #[arg(long, value_name = "N", default_value_t = PropertyOptions::default().tries, help_heading = "Properties")]
    num_tries: u32,
    /// Serve as a worker of another `arrc test`
    #[arg(long, hide = true)]
    worker: bool,
}

impl TestArguments {
    fn options(&self) -> Result<TestOptions, Exit> {
        Ok(TestOptions {
            target: self.target,
            timeout: Duration::from_secs_f64(self.timeout),
            memory_limit: self.mem_limit,
            cap: self.cap,
            exclude: self.exclude.clone(),
            entry: self.entry_point.clone(),
            match_messages: self.match_messages,
            thresholds: threshold::parse(&self.threshold)?,
            each_threshold: self.each_threshold,
            claims: self.claims,
            laws: self.laws,
            derivatives: self.derivatives,
            collisions: self.check,
            passes: opt::pass_options(&self.without, self.liberties)?,
            properties: PropertyOptions {
                tests: self.num_tests,
                size: self.max_size,
                seed: self.seed.unwrap_or_else(any_seed),
                tries: self.num_tries,
            },
        })
    }
}

pub(super) fn run(arguments: &TestArguments) -> Outcome {
    let options = arguments.options()?;
    if arguments.worker {
        let worker = WorkerArguments {
            options,
            device: arguments.device.unwrap_or(0),
            threads: None,
            vector_bits: arguments.vector_bits,
            chunk: arguments.chunk,
        };
        return harness::serve(&worker).map_err(|why| Exit::write(&why));
    }
    device::check(arguments.device, arguments.target)?;
    if arguments.paths.is_empty() {
        return Err(Exit::user("no programs are given"));
    }
    // The workers are in the same process group, and end by themselves when their input does.
    let _ = ctrlc::set_handler(|| std::process::exit(i32::from(INTERRUPTED)));
    let programs = harness::discover(&arguments.paths).map_err(Exit::user)?;
    if programs.is_empty() {
        return Err(Exit::user(
            "there are no programs (*.fut) in these directories",
        ));
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.unwrap_or(cores).clamp(1, programs.len());
    let bar = bar::counting(programs.len());
    let program = std::env::current_exe()
        .map_err(|why| Exit::user(format!("cannot find this command itself: {why}")))?;
    let reports = harness::run_all(
        &programs,
        &options,
        jobs,
        &|| worker(&program, arguments, options.properties.seed),
        &|progress| advance(&bar, progress),
    )
    .map_err(|why| Exit::user(format!("cannot start a worker: {why}")))?;
    bar.finish_and_clear();
    finish(arguments, &reports)
}

/// The command that starts a worker.
fn worker(program: &Path, arguments: &TestArguments, seed: u64) -> Command {
    let mut command = Command::new(program);
    command
        .args(["test", "--worker"])
        .arg(format!("--target={}", arguments.target))
        .arg(format!("--timeout={}", arguments.timeout))
        .arg(format!("--mem-limit={}", arguments.mem_limit))
        .arg(format!("--cap={}", arguments.cap))
        .arg(format!("--num-tests={}", arguments.num_tests))
        .arg(format!("--max-size={}", arguments.max_size))
        .arg(format!("--num-tries={}", arguments.num_tries))
        .arg(format!("--seed={seed}"));
    if let Some(device) = arguments.device {
        command.arg(format!("--device={device}"));
    }
    if let Some(bits) = arguments.vector_bits {
        command.arg(format!("--vector-bits={bits}"));
    }
    if let Some(chunk) = arguments.chunk {
        command.arg(format!("--chunk={chunk}"));
    }
    for tag in &arguments.exclude {
        command.arg(format!("--exclude={tag}"));
    }
    if let Some(name) = &arguments.entry_point {
        command.arg(format!("--entry-point={name}"));
    }
    for threshold in &arguments.threshold {
        command.arg(format!("--threshold={threshold}"));
    }
    for name in &arguments.without {
        command.arg(format!("--without={name}"));
    }
    command.args(arguments.liberties.flags());
    if arguments.each_threshold {
        command.arg("--each-threshold");
    }
    if arguments.match_messages {
        command.arg("--match-messages");
    }
    if arguments.laws {
        command.arg("--laws");
    }
    if arguments.derivatives {
        command.arg("--derivatives");
    }
    if arguments.check {
        command.arg("--check");
    }
    if arguments.claims {
        command.arg("--claims");
    }
    command
}

/// A seed that differs from run to run, short enough to be typed again.
fn any_seed() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |time| u64::from(time.subsec_nanos()))
}

fn advance(bar: &ProgressBar, progress: Progress) {
    bar.set_position(progress.done as u64);
    if progress.failed > 0 {
        bar.set_message(format!("{} failed", progress.failed));
    }
}

fn finish(arguments: &TestArguments, reports: &[ProgramReport]) -> Outcome {
    let summary = Summary::of(reports);
    let write = |path: &Path, text: String| {
        std::fs::write(path, text)
            .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))
    };
    if let Some(path) = &arguments.json {
        let all =
            json!({ "target": arguments.target.name(), "summary": summary, "programs": reports });
        write(path, format!("{all:#}\n"))?;
    }
    if let Some(path) = &arguments.conformance {
        let root = arguments
            .paths
            .first()
            .map_or(Path::new(""), PathBuf::as_path);
        let page = harness::conformance(reports, arguments.target, root);
        write(path, page)?;
    }
    if arguments.list_failures || (reports.len() == 1 && summary.programs.failed > 0) {
        for report in reports {
            if let Verdict::Fail { cause, detail } = &report.verdict {
                to_stderr(&format!("{}: {cause}\n{}\n", report.path, indent(detail)));
            }
        }
    }
    to_stdout(|out| {
        out.write_all(summary.counts_text().as_bytes())?;
        if !summary.causes.is_empty() {
            writeln!(out, "causes of failure, with the number of programs:")?;
            out.write_all(summary.causes_text(3).as_bytes())?;
        }
        Ok(())
    })?;
    if summary.programs.failed > 0 {
        return Err(Exit::silent(1));
    }
    Ok(())
}

fn indent(text: &str) -> String {
    let lines = text.lines().map(|line| format!("  {line}\n"));
    lines.collect()
}
