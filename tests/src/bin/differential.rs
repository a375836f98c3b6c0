//! Tries very many random programs on all cores: passes, interpreters and targets must agree on what they compute.
//!
//! ```text
//! cargo run --profile work -p arrc-tests --bin differential -- [--first=SEED] [--programs=N] [--jobs=N] [--seconds=N]
//!     [--no-targets] [--rows] [--sequences] [--modules] [--derivatives] [--extents=CASES] [--widths] [--reports=DIRECTORY] [--planted[=PASS]]
//! ```
//!
//! Prints how many programs were tried, how many of them are nested and ragged, and how often each rule of the compiler was
//! used; while it runs, `summary.txt` in the directory tells so every minute. What fails is made smaller and written to the
//! directory, a file for each seed. Ends with 1 if anything failed.
//! With `--rows`, programs are made in the source language, and have arrays with rows of any lengths; with `--sequences`, sequences
//! as well; with `--modules`, modules, size expressions, records and sums; with `--derivatives`, derivatives in both modes, which must agree. With `--extents`, programs are those whose sizes overflow, each of
//! them tried with so many lists of arguments. With `--widths`, every program is compiled for vector registers of 256 bits, not one of four.
//! With `--planted`, tells instead after how many programs each mistake is noticed that is made on purpose; with the name of a pass, in how
//! many programs those of this pass are.

#![expect(clippy::print_stdout, reason = "a command prints")]

use arrc::session::on_big_stack;
use arrc_tests::differential::campaign::{Campaign, work};
use arrc_tests::differential::planted::PLANTS;
use arrc_tests::differential::{BUDGET, Trials, check, check_source};
use arrc_tests::generate::program;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

struct Flags {
    campaign: Campaign,
    trials: Trials,
    /// The seeds that this process is to try itself.
    range: Vec<u64>,
    /// Whether to look for mistakes made on purpose, and for those of one pass only.
    planted: bool,
    only: Option<String>,
}

fn flags() -> Result<Flags, Failure> {
    let mut flags = Flags {
        campaign: Campaign {
            first: 0,
            programs: 1000,
            jobs: std::thread::available_parallelism().map_or(1, usize::from),
            limit: Duration::MAX,
            worker: Vec::new(),
            reports: "target/differential".into(),
        },
        trials: Trials::ALL,
        range: Vec::new(),
        planted: false,
        only: None,
    };
    for arg in std::env::args().skip(1) {
        let campaign = &mut flags.campaign;
        match arg.split_once('=') {
            Some(("--first", n)) => campaign.first = n.parse()?,
            Some(("--programs", n)) => campaign.programs = n.parse()?,
            Some(("--jobs", n)) => campaign.jobs = n.parse()?,
            Some(("--seconds", n)) => campaign.limit = Duration::from_secs(n.parse()?),
            Some(("--extents", n)) => flags.trials.extents = Some(n.parse()?),
            Some(("--reports", path)) => campaign.reports = PathBuf::from(path),
            Some(("--planted", pass)) => {
                flags.planted = true;
                flags.only = Some(pass.to_owned());
            }
            None if arg == "--planted" => flags.planted = true,
            None if arg == "--no-targets" => flags.trials.targets = false,
            None if arg == "--widths" => flags.trials.widths = true,
            None if arg == "--rows" => flags.trials.rows = true,
            None if arg == "--modules" => flags.trials.modules = true,
            None if arg == "--derivatives" => flags.trials.derivatives = true,
            None if arg == "--sequences" => {
                flags.trials.rows = true;
                flags.trials.sequences = true;
            }
            None if arg.bytes().all(|b| b.is_ascii_digit()) => flags.range.push(arg.parse()?),
            Some(_) | None => return Err(format!("what is {arg}?").into()),
        }
    }
    let mut worker = vec![format!("--reports={}", flags.campaign.reports.display())];
    worker.extend((!flags.trials.targets).then(|| "--no-targets".to_owned()));
    worker.extend(
        flags
            .trials
            .extents
            .map(|cases| format!("--extents={cases}")),
    );
    worker.extend(flags.trials.widths.then(|| "--widths".to_owned()));
    worker.extend(flags.trials.rows.then(|| "--rows".to_owned()));
    worker.extend(flags.trials.modules.then(|| "--modules".to_owned()));
    worker.extend(flags.trials.derivatives.then(|| "--derivatives".to_owned()));
    worker.extend(flags.trials.sequences.then(|| "--sequences".to_owned()));
    flags.campaign.worker = worker;
    Ok(flags)
}

fn main() -> Result<ExitCode, Failure> {
    let flags = flags()?;
    if let &[first, end] = &flags.range[..] {
        let reports = &flags.campaign.reports;
        on_big_stack(|| work(first, end, flags.trials, reports))?;
        return Ok(ExitCode::SUCCESS);
    }
    if flags.planted {
        match &flags.only {
            None => on_big_stack(|| planted(&flags.campaign)),
            Some(pass) => on_big_stack(|| noticed(&flags, pass)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let start = Instant::now();
    let tally = flags.campaign.run()?;
    print!("{}", tally.text(start.elapsed()));
    Ok(ExitCode::from(u8::from(!tally.findings.is_empty())))
}

/// Tells in how many programs mistakes of one pass are noticed.
fn noticed(flags: &Flags, pass: &str) {
    let Campaign {
        first, programs, ..
    } = flags.campaign;
    for plant in PLANTS.iter().filter(|plant| plant.pass == pass) {
        let trials = Trials {
            plant: Some(plant),
            targets: false,
            ..flags.trials
        };
        let fails = |seed: &u64| match trials.of_source() {
            true => check_source(*seed, BUDGET, trials).is_err(),
            false => check(&program(*seed, BUDGET), *seed, trials).is_err(),
        };
        let count = (first..first + programs).filter(fails).count();
        println!("{}: noticed in {count} of {programs}", plant.what);
    }
}

/// Tells after how many programs mistakes are noticed.
fn planted(campaign: &Campaign) {
    println!("| pass | mistake | programs |\n|---|---|---|");
    let seeds = campaign.first..campaign.first + campaign.programs;
    for plant in PLANTS {
        let trials = Trials {
            plant: Some(plant),
            ..Trials::default()
        };
        let fails = |seed: &u64| check(&program(*seed, BUDGET), *seed, trials).is_err();
        let programs = match seeds.clone().find(fails) {
            Some(seed) => (seed - campaign.first + 1).to_string(),
            None => "not found".into(),
        };
        println!("| `{}` | {} | {programs} |", plant.pass, plant.what);
    }
}
