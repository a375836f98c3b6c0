//! Measures whether guards choose well on the CPU: the time that a program takes as it comes, beside the best of all ways to
//! force its versions.
//!
//! ```text
//! cargo build --release && cargo run --release -p arrc-bench --bin versions
//! cargo run --release -p arrc-bench --bin versions -- --program FILE INPUT..
//! ```
//!
//! Without a program, it is sums of the rows of matrices of 2^24 elements, of every shape. Ways are run in turn; the least of
//! several times counts.

use anyhow::{Context, Result};
use arrc::data::{Source, read_arguments};
use arrc::session::{Options as SessionOptions, Program, Session};
use arrc::target::Target;
use clap::Parser;
use midend::ir::threshold::{Forced, INFINITE};
use midend::value::{ArrayValue, Data, Value};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Measures how well guards choose.
#[derive(Parser)]
struct Options {
    /// Run this program instead of sums of rows.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The entry point.
    #[arg(long, default_value = "main")]
    entry: String,
    /// The inputs of the program, each a file.
    inputs: Vec<PathBuf>,
    /// How often each way is run.
    #[arg(long, default_value_t = 7)]
    runs: usize,
    /// Print the time of each way.
    #[arg(long)]
    all: bool,
    /// Run on a GPU instead of the CPU.
    #[arg(long)]
    gpu: bool,
    /// Threads for parallel work; one per core by default.
    #[arg(long)]
    threads: Option<usize>,
}

/// The elements of each matrix, as a power of two.
const ELEMENTS: u32 = 24;

const ROWS: &str = "def main [n] [m] (xss: [n][m]f32) : [n]f32 = map f32.sum xss";

fn main() -> Result<()> {
    let options = Options::parse();
    let session = Session::new(SessionOptions {
        threads: options.threads,
        target: if options.gpu {
            Target::Ptx
        } else {
            Target::Cpu
        },
        ..SessionOptions::default()
    })?;
    if let Some(path) = &options.program {
        let mut program = session.compile_file(path)?;
        let entry = program
            .entry(&options.entry)
            .with_context(|| format!("no entry point {}", options.entry))?
            .clone();
        for input in &options.inputs {
            let source = Source::open(input).map_err(anyhow::Error::msg)?;
            let args = read_arguments(&entry, &[source]).map_err(anyhow::Error::msg)?;
            let name = input.display().to_string();
            row(&mut program, &options, &name, &args)?;
        }
        return Ok(());
    }
    let mut program = session.compile("rows.fut", ROWS)?;
    for power in 0..=ELEMENTS {
        let (n, m) = (1_i64 << power, 1_i64 << (ELEMENTS - power));
        let numbers = (0..1_u32 << ELEMENTS).map(|i| (i % 1000) as f32);
        let matrix = ArrayValue {
            shape: vec![n, m],
            data: Data::F32(numbers.collect()),
        };
        let name = format!("{n} x {m}");
        row(&mut program, &options, &name, &[Value::Array(matrix)])?;
    }
    Ok(())
}

/// The ways to force the versions of a program: none, all, each alone, and all but one.
fn ways(program: &Program) -> Vec<(String, Forced)> {
    let mut ways = vec![
        (String::from("*=0"), Forced::all(0)),
        (String::from("*=inf"), Forced::all(INFINITE)),
    ];
    if program.thresholds().len() > 1 {
        for threshold in program.thresholds() {
            for (number, others) in [(0, INFINITE), (INFINITE, 0)] {
                let mut forced = Forced::all(others);
                forced.named.insert(threshold.to_string(), number);
                let number = if number == 0 { "0" } else { "inf" };
                ways.push((format!("{threshold}={number} alone"), forced));
            }
        }
    }
    ways
}

/// Measures one input, and prints its line.
#[allow(
    clippy::print_stdout,
    reason = "printing the figures is what this program is for"
)]
fn row(program: &mut Program, options: &Options, name: &str, args: &[Value]) -> Result<()> {
    let mut ways = ways(program);
    ways.push((String::from("chosen"), Forced::new()));
    let mut least = vec![Duration::MAX; ways.len()];
    // The first round compiles what is chosen, and is not timed.
    for round in 0..=options.runs {
        for ((_, forced), least) in ways.iter().zip(&mut least) {
            program.force(forced.clone());
            let args = args.to_vec();
            let start = Instant::now();
            program.call(&options.entry, args)?;
            if round > 0 {
                *least = (*least).min(start.elapsed());
            }
        }
    }
    let chosen = least.pop().context("at least the choice is measured")?;
    let (best, (way, _)) = least
        .iter()
        .zip(&ways)
        .min_by_key(|(time, _)| **time)
        .context("there are ways")?;
    println!(
        "{name:24} chosen {:9.3} ms, best {:9.3} ms ({way}), ratio {:.2}",
        ms(chosen),
        ms(*best),
        chosen.as_secs_f64() / best.as_secs_f64()
    );
    if options.all {
        for (time, (way, _)) in least.iter().zip(&ways) {
            println!("{:24} {way}: {:.3} ms", "", ms(*time));
        }
    }
    Ok(())
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
