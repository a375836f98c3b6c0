//! Measures the example programs beside plain C, in turn, and prints the ratios.
//!
//! ```text
//! cargo run --release -p arrc-bench -- [--runs N] [--threads N] [NAME..]
//! cargo run --release -p arrc-bench -- --checks [--threads N] [NAME..]
//! cargo run --release -p arrc-bench -- --table [--irregular] [--threads N] [--futhark FILE] [--json FILE] [--svg FILE] [NAME..]
//! cargo run --release -p arrc-bench -- --sparse [--threads N] [--entries MILLIONS] [NAME..]
//! cargo run --release -p arrc-bench -- --judge N
//! ```
//!
//! Where there is no cargo, a folder with `arrc` and `arrc-bench` and the folders `examples`, `bench` and `tests/programs` of the sources are
//! enough, and a compiler of C: `arrc-bench --root FOLDER`.
//!
//! It is `arrc bench --vs` over the inputs with the tag `compiled` in `examples/`. The C programs are built by the system's
//! compiler, as scalar code (`-O2 -fno-tree-vectorize`), and with `--fast` also at `-O3 -march=native -fopenmp`. They read the
//! same binary input and time themselves; where results differ by more than rounding, that is told.

#![expect(clippy::print_stdout, reason = "the table is what the program is for")]

mod judge;
mod sparse;
mod table;

use anyhow::{Context, Result, bail};
use arrc::bench::{
    Contest, Dataset, Measured, Other, Ours, Patience, bench_file, geometric_mean, serve,
};
use arrc::session::Options as SessionOptions;
use arrc::target::Target;
use clap::Parser;
use midend::driver::Settings;
use midend::pass::Options as PassOptions;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// That of the command `arrc`: programs are measured as they run there. Large blocks are of large pages, which other allocators do not ask for.
#[global_allocator]
static ALLOCATOR: arrc::LargePages<mimalloc::MiMalloc> = arrc::LargePages(mimalloc::MiMalloc);

/// Compares the example programs with plain C.
#[derive(Parser)]
struct Options {
    /// How often each program is run at least.
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
    /// Try so many times whether `arrc benchcmp` finds that a program became slower by a fifth, and finds nothing where nothing
    /// changed.
    #[arg(long, value_name = "N")]
    judge: Option<usize>,
    /// Measure all programs of `examples/` and `bench/programs/` beside C at its best, with and without -ffast-math.
    #[arg(long, conflicts_with_all = ["scaling", "fast", "judge", "widths"])]
    table: bool,
    /// Measure the programs on rows of any lengths and on sequences instead.
    #[arg(long, requires = "table")]
    irregular: bool,
    /// The command `futhark`, whose multicore back end takes part in the table.
    #[arg(long, value_name = "FILE", requires = "table")]
    futhark: Option<PathBuf>,
    /// Write the times of the table to this file.
    #[arg(long, value_name = "FILE", requires = "table")]
    json: Option<PathBuf>,
    /// Draw the table.
    #[arg(long, value_name = "FILE", requires = "table")]
    svg: Option<PathBuf>,
    /// Measure the product of sparse matrices and a vector: rows of any lengths, explicit offsets, and the best of several loops in C.
    #[arg(long, conflicts_with_all = ["table", "scaling", "fast", "judge", "widths"])]
    sparse: bool,
    /// Millions of entries that a sparse matrix has at most.
    #[arg(
        long,
        value_name = "MILLIONS",
        default_value_t = 8.0,
        requires = "sparse"
    )]
    entries: f64,
    /// Serve as a worker of another one.
    #[arg(long, hide = true)]
    worker: bool,
    /// Compare arrc with the widest vector registers to arrc with those of 128 bits, instead of with C.
    #[arg(long, conflicts_with = "scaling")]
    widths: bool,
    /// Compare arrc to arrc without checks of indices and slices (`--unsafe`), for all programs of the table, instead of with C.
    #[arg(long, conflicts_with_all = ["scaling", "fast", "widths"])]
    checks: bool,
    /// The widest vector registers of a worker.
    #[arg(long, hide = true)]
    vector_bits: Option<u32>,
    /// A worker without checks of indices.
    #[arg(long, hide = true)]
    unchecked: bool,
    /// The folder with `examples`, `bench` and `tests/programs`, in which `target/bench` is written to [default: that of the sources that this was built of, or
    /// else the current one].
    #[arg(long, value_name = "FOLDER")]
    root: Option<PathBuf>,
    /// The examples (or sparse matrices) to measure; all if there are none.
    names: Vec<String>,
}

/// The folder of the programs that are measured without `--table`.
const EXAMPLES: &str = "examples";

/// How often a C program runs when it is started: the first time its memory is new, which ours is not.
const C_RUNS: usize = 3;

fn main() -> Result<()> {
    let mut options = Options::parse();
    if options.worker {
        let options = SessionOptions {
            target: Target::Cpu,
            threads: Some(options.threads),
            vector_bits: options.vector_bits,
            passes: Settings {
                options: PassOptions {
                    unchecked: options.unchecked,
                    ..PassOptions::default()
                },
                ..Settings::default()
            },
            ..SessionOptions::default()
        };
        return Ok(serve(options)?);
    }
    let root = &root(options.root.take())?;
    let unknown = |name: &&String| {
        let known = |(folder, program): &(&str, &str)| {
            program == *name && (options.table || options.checks || *folder == EXAMPLES)
        };
        match options.sparse {
            true => sparse::names().all(|known| known != *name),
            false if options.irregular => !table::IRREGULAR.iter().any(known),
            false => !table::PROGRAMS.iter().any(known),
        }
    };
    if let Some(name) = options.names.iter().find(unknown) {
        bail!("there is no example {name}");
    }
    let work = root.join("target/bench");
    std::fs::create_dir_all(&work)?;
    if options.sparse {
        return sparse::sparse(&options, root, &work);
    }
    if options.table {
        if options.futhark.is_none() && Command::new("futhark").arg("-V").output().is_ok() {
            options.futhark = Some(PathBuf::from("futhark"));
        }
        return table::table(&options, root, &work);
    }
    let mut contest = contest(&options, &work)?;
    if let Some(times) = options.judge {
        contest.others.clear();
        contest.include.clear();
        contest.patience = Patience {
            runs: 10,
            converge: true,
            at_least: Patience::AT_LEAST,
            at_most: Duration::from_secs(10),
        };
        return judge::judge(&mut contest, times, &work);
    }
    let reference = match (options.scaling, options.widths, options.checks) {
        (true, _, _) => "1 thread",
        (_, true, _) => "128 bits",
        (_, _, true) => "--unsafe",
        (false, false, false) => "C",
    };
    println!(
        "{:<14}{:>14}{:>14}{:>10}",
        "example",
        "arrc (ms)",
        format!("{reference} (ms)"),
        "ratio"
    );
    let mut ratios = Vec::new();
    for &(folder, name) in table::PROGRAMS {
        if folder != EXAMPLES && !options.checks
            || !options.names.is_empty() && options.names.iter().all(|n| n != name)
        {
            continue;
        }
        if !(options.scaling || options.widths || options.checks) {
            build(&options, root, &work, name)?;
        }
        let path = root.join(folder).join(name).with_extension("fut");
        let mut done = |_: &str, dataset: &Dataset| ratios.extend(line(name, dataset));
        bench_file(&contest, &path, &mut |_, _| {}, &mut done)
            .map_err(anyhow::Error::msg)
            .context(name)?;
    }
    println!(
        "geometric mean of the ratios: {:.3}",
        geometric_mean(&ratios)
    );
    Ok(())
}

/// The absolute folder of the sources.
fn root(given: Option<PathBuf>) -> Result<PathBuf> {
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let has_sources = |root: &Path| root.join("bench/c").is_dir();
    let built = built.filter(|root| has_sources(root)).map(Path::to_owned);
    let root = given.or(built).unwrap_or_else(|| PathBuf::from("."));
    if !has_sources(&root) {
        bail!(
            "{} has no folder bench/c: --root names that of the sources",
            root.display()
        );
    }
    Ok(root.canonicalize()?)
}

/// The command `arrc` that lies beside this one.
fn arrc() -> Result<PathBuf> {
    let arrc = std::env::current_exe()?.with_file_name("arrc");
    if !arrc.exists() {
        bail!("{} is missing: cargo build --release", arrc.display());
    }
    Ok(arrc)
}

/// arrc on the CPU, in a process of its own, with a further flag of a worker.
fn ours(threads: usize, flag: Option<&'static str>) -> Result<Ours> {
    let this = std::env::current_exe()?;
    let command = move || {
        let mut command = Command::new(&this);
        command.args(["--worker", &format!("--threads={threads}")]);
        command.args(flag);
        command
    };
    Ok(Ours {
        target: Target::Cpu,
        command: Box::new(command),
    })
}

/// arrc, and what it is compared with.
fn contest(options: &Options, work: &Path) -> Result<Contest> {
    let mut targets = vec![ours(options.threads, None)?];
    let mut others = Vec::new();
    if options.scaling {
        targets.push(ours(1, None)?);
    } else if options.widths {
        targets.push(ours(options.threads, Some("--vector-bits=128"))?);
    } else if options.checks {
        targets.push(ours(options.threads, Some("--unchecked"))?);
    } else {
        let command = format!(
            "OMP_NUM_THREADS={} '{}/{{program}}{}' -t {{times}} -r {C_RUNS}",
            options.threads,
            work.display(),
            suffix(options)
        );
        others.push(Other { command });
    }
    Ok(between((options.runs, C_RUNS), targets, others))
}

/// A contest over the inputs with the tag `compiled`, of so many runs, in turns of so many.
fn between((runs, turn): (usize, usize), ours: Vec<Ours>, others: Vec<Other>) -> Contest {
    Contest {
        ours,
        others,
        patience: Patience {
            runs,
            converge: false,
            at_least: Duration::ZERO,
            at_most: Duration::ZERO,
        },
        timeout: None,
        entry: None,
        turn,
        exclude: Vec::new(),
        include: vec![String::from("compiled")],
    }
}

fn suffix(options: &Options) -> &'static str {
    if options.fast { "-fast" } else { "" }
}

/// Builds the reference of an example.
fn build(options: &Options, root: &Path, work: &Path, name: &str) -> Result<()> {
    let flags: &[&str] = if options.fast {
        &["-O3", "-march=native", "-fopenmp", "-fno-math-errno"]
    } else {
        &["-O2", "-fno-tree-vectorize"]
    };
    let source = root.join(format!("bench/c/{name}.c"));
    cc(
        &source,
        &work.join(format!("{name}{}", suffix(options))),
        flags,
    )
}

/// Builds a program from C, with the compiler that the environment names, the system's, or gcc.
fn cc(source: &Path, program: &Path, flags: &[&str]) -> Result<()> {
    let is_there = |cc: &&str| Command::new(cc).arg("--version").output().is_ok();
    let named = std::env::var("CC").ok().filter(|name| !name.is_empty());
    let compiler = match &named {
        Some(name) => name,
        None => ["cc", "gcc"].into_iter().find(is_there).unwrap_or("cc"),
    };
    let built = Command::new(compiler)
        .args(["-std=gnu11", "-Wall", "-Wno-unknown-pragmas"])
        .args(flags)
        .arg("-o")
        .args([program, source])
        .arg("-lm")
        .status()
        .with_context(|| format!("no C compiler `{compiler}`: the references cannot be built"))?;
    if !built.success() {
        bail!("{compiler} failed");
    }
    Ok(())
}

/// Prints the medians of both sides, and their ratio, which it gives back.
fn line(name: &str, dataset: &Dataset) -> Option<f64> {
    let sides = dataset.sides.iter().map(|side| side.outcome.as_ref());
    match sides.collect::<Result<Vec<_>, _>>().as_deref() {
        Ok([ours, theirs]) => {
            let (a, b) = (median(ours), median(theirs));
            let note = theirs.note.as_deref().unwrap_or_default();
            println!(
                "{name:<14}{:>14.1}{:>14.1}{:>10.2}  {note}",
                a / 1e3,
                b / 1e3,
                a / b
            );
            Some(a / b)
        }
        Ok(_) => {
            println!("{name:<14}not measured");
            None
        }
        Err(why) => {
            println!("{name:<14}{why}");
            None
        }
    }
}

fn median(measured: &Measured) -> f64 {
    measured
        .summary()
        .map_or(f64::NAN, |summary| summary.median)
}
