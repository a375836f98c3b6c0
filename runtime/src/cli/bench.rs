//! `arrc bench`: measures the test blocks of programs.

use super::exit::{Exit, INTERRUPTED};
use super::output::{to_stderr, to_stdout};
use super::size::{parse_bytes, parse_seconds, parse_threads, parse_vector_bits};
use super::{Outcome, bar, device, opt, threshold};
use crate::bench::{
    Contest, Dataset, Group, Other, Ours, Patience, add_round, bench_file, clear_away,
    dataset_text, round_lasts, serve, svg, write,
};
use crate::harness;
use crate::session::Options;
use crate::target::Target;
use clap::Args;
use midend::driver::Settings;
use regex::Regex;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What `arrc bench` takes.
#[derive(Args, Clone)]
pub(super) struct BenchArguments {
    /// Programs, and directories of programs
    #[arg(value_name = "PATH", required_unless_present = "worker")]
    paths: Vec<PathBuf>,
    /// What to run on, side by side: cpu, ptx, ptx-emu, interp, auto
    #[arg(
        long,
        value_name = "TARGET",
        value_delimiter = ',',
        alias = "target",
        default_value = "cpu"
    )]
    targets: Vec<Target>,
    /// The number of the GPU for the targets ptx and auto, see `arrc devices` [default: 0]
    #[arg(long, value_name = "K")]
    device: Option<usize>,
    /// Run another program on the same input in turn; `{program}` stands for the name of the program, `{entry}` for the entry
    /// point, `{times}` for a file into which it writes its times (else the time from its start to its end counts)
    #[arg(long, value_name = "COMMAND")]
    vs: Vec<String>,
    /// Run only this entry point
    #[arg(short, long, value_name = "NAME", help_heading = "What")]
    entry_point: Option<String>,
    /// Leave out programs and inputs with this tag
    #[arg(
        long,
        value_name = "TAG",
        alias = "exclude-case",
        help_heading = "What"
    )]
    exclude: Vec<String>,
    /// Only inputs with this tag
    #[arg(long, value_name = "TAG", help_heading = "What")]
    include: Vec<String>,
    /// Leave out files whose path matches this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "What")]
    ignore_files: Vec<Regex>,
    /// Run at least so many times
    #[arg(short, long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..), help_heading = "How often")]
    runs: u32,
    /// Run so many times, and no more
    #[arg(long, help_heading = "How often")]
    no_convergence_phase: bool,
    /// Measure everything in so many rounds, in new processes and at other times, which is what makes times of one day comparable
    /// with those of another [default: 5 with --json, unless there is no convergence phase; else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "How often")]
    rounds: Option<u32>,
    /// Measure no longer than this until the interval is narrow
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, default_value = "10", help_heading = "How often")]
    convergence_max_seconds: f64,
    /// Time for all runs of one input on one target, in each round
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "How often")]
    timeout: Option<f64>,
    /// Fail instead of using more memory for arrays
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    mem_limit: Option<u64>,
    /// Threads for parallel work [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Bits of the widest vector registers of the CPU to use: 128, 256 or 512 [default: as many as there are]
    #[arg(long, value_name = "N", value_parser = parse_vector_bits)]
    vector_bits: Option<u32>,
    #[command(flatten)]
    liberties: opt::Liberties,
    /// Let guards compare with N, see `arrc run`
    #[arg(long, value_name = "NAME=N")]
    threshold: Vec<String>,
    /// Write all times to this file, as `futhark bench --json` does; `arrc benchcmp` compares two of them
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    json: Option<PathBuf>,
    /// Draw medians with their intervals, and time against size, as a picture (SVG)
    #[arg(long, value_name = "FILE", help_heading = "Reports")]
    plot: Option<PathBuf>,
    /// Serve as a worker of another `arrc bench`
    #[arg(long, hide = true)]
    worker: bool,
}

pub(super) fn run(arguments: &BenchArguments) -> Outcome {
    if arguments.worker {
        let target = arguments.targets.first().copied().unwrap_or_default();
        return serve(options(arguments, target)?).map_err(|why| Exit::write(&why));
    }
    // The workers are in the same process group, and end by themselves when their input does.
    let _ = ctrlc::set_handler(|| {
        clear_away();
        std::process::exit(i32::from(INTERRUPTED));
    });
    let mut contest = contest(arguments)?;
    name_devices(&mut contest)?;
    let mut programs = harness::discover(&arguments.paths).map_err(Exit::user)?;
    programs.retain(|path| {
        let path = path.display().to_string();
        !arguments.ignore_files.iter().any(|no| no.is_match(&path))
    });
    let rounds = arguments.rounds();
    contest.patience = contest.patience.of_round(rounds, programs.len());
    let (groups, failed) = measure(&contest, programs, rounds);
    if let Some(path) = &arguments.json {
        save(path, &write(&groups))?;
    }
    if let Some(path) = &arguments.plot {
        save(path, &svg(&groups).map_err(Exit::user)?)?;
    }
    let sides = groups.iter().flat_map(|group: &Group| &group.datasets);
    let mut sides = sides.flat_map(|dataset| &dataset.sides);
    if failed || sides.any(|side| side.outcome.is_err()) {
        return Err(Exit::silent(1));
    }
    Ok(())
}

/// How many rounds there are by default where times are kept: so many moments are hardly all disturbed.
const ROUNDS: u32 = 5;

impl BenchArguments {
    fn rounds(&self) -> usize {
        let kept = self.json.is_some() && !self.no_convergence_phase;
        let default = if kept { ROUNDS } else { 1 };
        usize::try_from(self.rounds.unwrap_or(default)).unwrap_or(1)
    }
}

/// Measures programs in so many rounds, and tells what has been measured in all of them. Whether a program could not be measured at
/// all.
fn measure(contest: &Contest, mut programs: Vec<PathBuf>, rounds: usize) -> (Vec<Group>, bool) {
    let bar = bar::counting(programs.len() * rounds);
    let (mut groups, mut failed) = (Vec::new(), false);
    let mut teller = Teller::default();
    for round in 1..=rounds {
        let start = Instant::now();
        programs.retain(|path| {
            let mut watch =
                |name: &str, runs: usize| bar.set_message(format!("{name}: {runs} runs"));
            // Of a single round each input is told at once.
            let mut done = |name: &str, dataset: &Dataset| {
                if rounds == 1 {
                    bar.suspend(|| teller.tell(name, dataset));
                }
            };
            let found = bench_file(contest, path, &mut watch, &mut done);
            bar.inc(1);
            match found {
                Ok(found) => {
                    let names: Vec<String> = found.iter().map(|g| g.name.clone()).collect();
                    add_round(&mut groups, found);
                    if rounds > 1 && round == rounds {
                        let of_this = groups.iter().filter(|g| names.contains(&g.name));
                        bar.suspend(|| of_this.for_each(|group| teller.tell_all(group)));
                    }
                    true
                }
                Err(why) => {
                    failed = true;
                    let message = format!("{}: {}\n", path.display(), why.trim_end());
                    bar.suspend(|| to_stderr(&message));
                    false
                }
            }
        });
        if round < rounds && contest.patience.converge && !programs.is_empty() {
            std::thread::sleep(round_lasts(rounds).saturating_sub(start.elapsed()));
        }
    }
    bar.finish_and_clear();
    (groups, failed)
}

/// Prints what was measured, below the names of groups.
#[derive(Default)]
struct Teller {
    heading: String,
}

impl Teller {
    fn tell(&mut self, group: &str, dataset: &Dataset) {
        if self.heading != group {
            group.clone_into(&mut self.heading);
            tell(&format!("{group}\n"));
        }
        tell(&dataset_text(dataset));
    }
    fn tell_all(&mut self, group: &Group) {
        let datasets = group.datasets.iter();
        datasets.for_each(|dataset| self.tell(&group.name, dataset));
    }
}

/// Tells on what the targets run, and leaves out those that cannot run here.
fn name_devices(contest: &mut Contest) -> Outcome {
    let mut last = None;
    contest.ours.retain(|ours| match ours.device() {
        Ok(device) => {
            tell(&format!("{}: {device}\n", ours.target));
            true
        }
        Err(why) => {
            to_stderr(&format!("{}: left out: {why}\n", ours.target));
            last = Some(ours.target);
            false
        }
    });
    match last {
        Some(target) if contest.ours.is_empty() => {
            Err(Exit::user(format!("there is no target but {target}")))
        }
        Some(_) | None => Ok(()),
    }
}

fn options(arguments: &BenchArguments, target: Target) -> Result<Options, Exit> {
    Ok(Options {
        target,
        device: arguments.device.unwrap_or(0),
        threads: arguments.threads,
        vector_bits: arguments.vector_bits,
        memory_limit: arguments.mem_limit,
        thresholds: threshold::parse(&arguments.threshold)?,
        passes: Settings {
            options: opt::pass_options(&[], arguments.liberties)?,
            ..Settings::default()
        },
        ..Options::default()
    })
}

/// The command that starts a worker.
fn worker(program: &Path, arguments: &BenchArguments, target: Target) -> Command {
    let mut command = Command::new(program);
    command
        .args(["bench", "--worker"])
        .arg(format!("--targets={target}"));
    if let Some(bytes) = arguments.mem_limit {
        command.arg(format!("--mem-limit={bytes}"));
    }
    if let Some(device) = arguments.device {
        command.arg(format!("--device={device}"));
    }
    if let Some(threads) = arguments.threads {
        command.arg(format!("--threads={threads}"));
    }
    if let Some(bits) = arguments.vector_bits {
        command.arg(format!("--vector-bits={bits}"));
    }
    command.args(arguments.liberties.flags());
    for threshold in &arguments.threshold {
        command.arg(format!("--threshold={threshold}"));
    }
    command
}

fn contest(arguments: &BenchArguments) -> Result<Contest, Exit> {
    threshold::parse(&arguments.threshold)?;
    let on_gpu = |target: &&Target| matches!(target, Target::Ptx | Target::Auto);
    let target = arguments.targets.iter().find(on_gpu);
    let target = target.or(arguments.targets.first()).copied();
    device::check(arguments.device, target.unwrap_or_default())?;
    let program = std::env::current_exe()
        .map_err(|why| Exit::user(format!("cannot find this command itself: {why}")))?;
    let ours = arguments.targets.iter().map(|&target| {
        let (program, arguments) = (program.clone(), arguments.clone());
        Ours {
            target,
            command: Box::new(move || worker(&program, &arguments, target)),
        }
    });
    let others = arguments.vs.iter().map(|command| Other {
        command: command.clone(),
    });
    Ok(Contest {
        ours: ours.collect(),
        others: others.collect(),
        patience: Patience {
            runs: usize::try_from(arguments.runs).unwrap_or(usize::MAX),
            converge: !arguments.no_convergence_phase,
            at_least: Patience::AT_LEAST,
            at_most: Duration::from_secs_f64(arguments.convergence_max_seconds),
        },
        timeout: arguments.timeout.map(Duration::from_secs_f64),
        entry: arguments.entry_point.clone(),
        turn: 1,
        exclude: arguments.exclude.clone(),
        include: arguments.include.clone(),
    })
}

/// Prints at once. Whoever closed the pipe does not want to know more, and need not be told.
fn tell(text: &str) {
    let _ = to_stdout(|out| out.write_all(text.as_bytes()));
}

fn save(path: &Path, text: &str) -> Result<(), Exit> {
    std::fs::write(path, text)
        .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))
}
