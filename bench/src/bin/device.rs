//! Measures programs on a GPU beside CUB, cuBLAS, cuSPARSE and plain CUDA C++.
//!
//! ```text
//! cargo build --release && cargo run --release -p arrc-bench --bin device [-- --arrc FILE] [NAME..]
//! ```
//!
//! The programs are those of `bench/device`, each with an entry point that does its work `k` times over. What one time costs is
//! the difference between many times and few: neither compilation nor the way to the device and back is in it. The peers are
//! `bench/device/peers.cu`, built by `nvcc`; they time themselves by events.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

use anyhow::{Context, Result, bail};
use arrc::bench::geometric_mean;
use clap::Parser;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Compares programs on a GPU with CUB, cuBLAS, cuSPARSE and CUDA C++.
#[derive(Parser)]
struct Options {
    /// The arrc to measure.
    #[arg(long, default_value = "target/release/arrc")]
    arrc: PathBuf,
    /// Where the programs are [default: `bench/device` of this repository]
    #[arg(long)]
    programs: Option<PathBuf>,
    /// What it runs on.
    #[arg(long, default_value = "ptx")]
    target: String,
    /// Where the peers are built.
    #[arg(long, default_value = "target/bench")]
    work: PathBuf,
    /// Let arrc round products and sums once, as `nvcc` does.
    #[arg(long)]
    fast_math: bool,
    /// Compare with arrc without checks of indices and slices (`--unsafe`), instead of with the peers.
    #[arg(long)]
    checks: bool,
    /// The base-2 logarithm of the numbers in large arrays, even; also smaller sizes follow it.
    #[arg(long, default_value_t = 28, value_parser = clap::value_parser!(u32).range(8..=34))]
    log: u32,
    /// The programs to measure; all if there are none.
    names: Vec<String>,
}

/// A program: its size by that of large arrays, and how many times over.
struct Measured {
    name: &'static str,
    size: fn(u32) -> i64,
    few: i64,
    many: i64,
}

const ALL: fn(u32) -> i64 = |log| 1 << log;
const PRODUCT: fn(u32) -> i64 = |log| 1 << (log / 2 - 2);
const BODIES: fn(u32) -> i64 = |log| 1 << (log / 2 + 2);

#[rustfmt::skip]
const PROGRAMS: [Measured; 13] = [
    Measured { name: "map", size: ALL, few: 10, many: 60 },
    Measured { name: "sum", size: ALL, few: 10, many: 110 },
    Measured { name: "scan", size: ALL, few: 10, many: 60 },
    Measured { name: "select", size: ALL, few: 10, many: 60 },
    Measured { name: "histogram", size: ALL, few: 10, many: 60 },
    Measured { name: "segments", size: ALL, few: 10, many: 110 },
    Measured { name: "sort", size: ALL, few: 1, many: 6 },
    Measured { name: "sparse", size: ALL, few: 5, many: 55 },
    Measured { name: "transpose", size: ALL, few: 10, many: 60 },
    Measured { name: "product", size: PRODUCT, few: 2, many: 12 },
    Measured { name: "mandelbrot", size: PRODUCT, few: 5, many: 45 },
    Measured { name: "nbody", size: BODIES, few: 2, many: 22 },
    Measured { name: "blackscholes", size: ALL, few: 5, many: 25 },
];

fn main() -> Result<()> {
    let options = Options::parse();
    std::fs::create_dir_all(&options.work)?;
    let own = || Path::new(env!("CARGO_MANIFEST_DIR")).join("device");
    let folder = options.programs.clone().unwrap_or_else(own);
    let (peers, peer) = match options.checks {
        true => (BTreeMap::new(), "--unsafe"),
        false => (peers(&options, &folder)?, "peer"),
    };
    println!(
        "{:<14}{:>12}{:>14}{:>16}",
        "program",
        "arrc (us)",
        format!("{peer} (us)"),
        format!("{peer} / arrc")
    );
    let mut ratios = Vec::new();
    for program in &PROGRAMS {
        if !options.names.is_empty() && options.names.iter().all(|n| n != program.name) {
            continue;
        }
        let ours = |checked| {
            ours(&options, &folder, program, checked).with_context(|| program.name.to_owned())
        };
        let time = ours(true)?;
        let theirs = match options.checks {
            true => Some(ours(false)?),
            false => peers.get(program.name).copied(),
        };
        match theirs {
            Some(theirs) => {
                ratios.push(theirs / time);
                println!(
                    "{:<14}{time:>12.1}{theirs:>14.1}{:>16.2}",
                    program.name,
                    theirs / time
                );
            }
            None => println!("{:<14}{time:>12.1}{:>14}{:>16}", program.name, "-", "-"),
        }
    }
    if !ratios.is_empty() {
        println!(
            "geometric mean of the ratios: {:.3}",
            geometric_mean(&ratios)
        );
    }
    if let Some(copy) = peers.get("copy") {
        let bytes = 8.0 * (ALL)(options.log) as f64;
        println!("a copy: {copy:.1} us, {:.0} GB/s", bytes / copy / 1e3);
    }
    Ok(())
}

/// The times of the peers by name; none where there is no `nvcc`.
fn peers(options: &Options, folder: &Path) -> Result<BTreeMap<String, f64>> {
    let program = options.work.join("peers");
    let built = Command::new("nvcc")
        .args([
            "-O3",
            "-std=c++17",
            "-arch=native",
            "-lcublas",
            "-lcusparse",
            "-o",
        ])
        .arg(&program)
        .arg(folder.join("peers.cu"))
        .status();
    match built {
        Ok(status) if status.success() => {}
        Ok(_) => bail!("nvcc failed"),
        Err(why) => {
            println!("no peers: nvcc does not start: {why}");
            return Ok(BTreeMap::new());
        }
    }
    let sizes = [ALL, |log| 1 << (log / 2), PRODUCT, PRODUCT, BODIES];
    let sizes = sizes.map(|size| size(options.log).to_string());
    let output = Command::new(std::path::absolute(&program)?)
        .args(sizes)
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        bail!("the peers failed: {}", output.status);
    }
    let text = String::from_utf8(output.stdout)?;
    let mut times = BTreeMap::new();
    for line in text.lines() {
        let (name, time) = line.split_once(' ').context("a line of the peers")?;
        times.insert(name.to_owned(), time.parse()?);
    }
    Ok(times)
}

/// Microseconds that a program takes for one time over.
fn ours(options: &Options, folder: &Path, program: &Measured, checked: bool) -> Result<f64> {
    let many = run(options, folder, (program, checked), program.many)?;
    let few = run(options, folder, (program, checked), program.few)?;
    Ok((many - few) / (program.many - program.few) as f64)
}

/// The median time of some runs with `k` times over.
fn run(
    options: &Options,
    folder: &Path,
    (program, checked): (&Measured, bool),
    k: i64,
) -> Result<f64> {
    let times = options.work.join("device.times");
    let mut child = Command::new(&options.arrc)
        .args(["run", "-n", "-r", "5", "--target", &options.target])
        .args(options.fast_math.then_some("--fast-math"))
        .args((!checked).then_some("--unsafe"))
        .arg("-t")
        .arg(&times)
        .arg(folder.join(format!("{}.fut", program.name)))
        .stdin(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", options.arrc.display()))?;
    let input = format!("{}i64 {k}i64\n", (program.size)(options.log));
    let mut stdin = child.stdin.take().context("the input is a pipe")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let status = child.wait()?;
    if !status.success() {
        bail!("arrc failed: {status}");
    }
    let text = std::fs::read_to_string(&times)?;
    let mut times = text
        .lines()
        .map(str::parse::<f64>)
        .collect::<Result<Vec<_>, _>>()?;
    times.sort_by(f64::total_cmp);
    times
        .get(times.len() / 2)
        .copied()
        .context("there is no time")
}
