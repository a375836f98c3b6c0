//! Measures the example programs beside plain C, one run of each after the other, and prints the ratios.
//!
//! ```text
//! cargo build --release && cargo run --release -p arrc-bench -- [--runs N] [--threads N] [NAME..]
//! ```
//!
//! The C programs are built by the system's compiler, as scalar code (`-O2 -fno-tree-vectorize`), and with `--fast` also at
//! `-O3 -march=native -fopenmp`. Both sides read the same binary input, time themselves, and must give the same result.

mod input;
mod measure;

use anyhow::{Context, Result, bail};
use clap::Parser;
use std::path::{Path, PathBuf};

/// Compares the example programs with plain C.
#[derive(Parser)]
struct Options {
    /// How often each program is started.
    #[arg(long, default_value_t = 5)]
    runs: usize,
    /// Threads of arrc (and of C with --fast).
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Compare with C at -O3 -march=native -fopenmp instead of plain scalar code.
    #[arg(long)]
    fast: bool,
    /// Compare arrc with `threads` threads to arrc with one, instead of with C.
    #[arg(long)]
    scaling: bool,
    /// The arrc to measure.
    #[arg(long, default_value = "target/release/arrc")]
    arrc: PathBuf,
    /// The examples to measure; all if there are none.
    names: Vec<String>,
}

/// An example: its file, the entry point, and the input that makes C work for a second or more.
pub(crate) struct Example {
    /// Of the program in `examples/` and of its reference in `bench/c/`.
    pub(crate) name: &'static str,
    /// The entry point.
    pub(crate) entry: &'static str,
    /// The input values.
    pub(crate) input: &'static [input::Item],
    /// Largest relative error of a float in the result.
    pub(crate) tolerance: f64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .context("bench is a member of a workspace")?;
    let work = root.join("target/bench");
    std::fs::create_dir_all(&work)?;
    let unknown = options
        .names
        .iter()
        .find(|n| !input::EXAMPLES.iter().any(|e| e.name == n.as_str()));
    if let Some(name) = unknown {
        bail!("there is no example {name}");
    }
    measure::heading(options.scaling);
    for example in input::EXAMPLES {
        if options.names.is_empty() || options.names.iter().any(|n| n == example.name) {
            measure::example(example, &options, root, &work).with_context(|| example.name)?;
        }
    }
    Ok(())
}
