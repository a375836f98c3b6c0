//! Runs one example and its reference in turn, compares results, prints medians and the ratio.

use crate::{Example, Options, input};
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Prints the first line of the table.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(crate) fn heading(scaling: bool) {
    let reference = if scaling { "1 thread (ms)" } else { "C (ms)" };
    println!(
        "{:<14}{:>14}{:>14}{:>10}{:>16}",
        "example", "arrc (ms)", reference, "ratio", "worst of pairs"
    );
}

/// Measures one example and prints its line.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(crate) fn example(
    example: &Example,
    options: &Options,
    root: &Path,
    work: &Path,
) -> Result<()> {
    let input = work.join(format!("{}.in", example.name));
    if !input.exists() {
        let mut out = BufWriter::new(File::create(&input)?);
        input::write(example.input, &mut out)?;
        out.flush()?;
    }
    let ours = Side {
        threads: options.threads,
        ..Side::arrc(example, options, root, work)
    };
    let theirs = if options.scaling {
        Side {
            threads: 1,
            times: work.join("one.times"),
            ..Side::arrc(example, options, root, work)
        }
    } else {
        Side::c(example, options, root, work)?
    };
    let (mut pairs, mut results) = (Vec::new(), None);
    for _ in 0..options.runs.max(1) {
        let (a, ours) = ours.run(&input)?;
        let (b, theirs) = theirs.run(&input)?;
        pairs.push((a, b));
        results = Some((ours, theirs));
    }
    let (ours, theirs) = results.context("at least one run")?;
    agree(&ours, &theirs, example.tolerance)?;
    let a = median(pairs.iter().map(|p| p.0).collect());
    let b = median(pairs.iter().map(|p| p.1).collect());
    let worst = pairs.iter().map(|(a, b)| a / b).fold(f64::MIN, f64::max);
    println!(
        "{:<14}{:>14.1}{:>14.1}{:>10.2}{:>16.2}",
        example.name,
        a / 1e3,
        b / 1e3,
        a / b,
        worst
    );
    Ok(())
}

/// A program that reads an input, times itself and writes a result.
struct Side {
    program: PathBuf,
    arguments: Vec<String>,
    threads: usize,
    times: PathBuf,
    /// Whether the program is arrc, which is told its threads by a flag; C is told by OpenMP's variable.
    is_ours: bool,
}

impl Side {
    fn arrc(example: &Example, options: &Options, root: &Path, work: &Path) -> Self {
        let source = root.join(format!("examples/{}.fut", example.name));
        let arguments = ["run", "-b", "-e", example.entry].map(str::to_owned);
        Self {
            program: root.join(&options.arrc),
            arguments: arguments
                .into_iter()
                .chain([source.to_string_lossy().into_owned()])
                .collect(),
            threads: 1,
            times: work.join("arrc.times"),
            is_ours: true,
        }
    }

    fn c(example: &Example, options: &Options, root: &Path, work: &Path) -> Result<Self> {
        let flags: &[&str] = if options.fast {
            &["-O3", "-march=native", "-fopenmp"]
        } else {
            &["-O2", "-fno-tree-vectorize"]
        };
        let program = work.join(format!(
            "{}{}",
            example.name,
            if options.fast { "-fast" } else { "" }
        ));
        let built = Command::new("cc")
            .args(["-std=gnu11", "-Wall", "-Wno-unknown-pragmas"])
            .args(flags)
            .arg("-o")
            .arg(&program)
            .arg(root.join(format!("bench/c/{}.c", example.name)))
            .arg("-lm")
            .status()
            .context("no C compiler `cc`: the references cannot be built")?;
        if !built.success() {
            bail!("cc failed");
        }
        Ok(Self {
            program,
            arguments: vec![],
            threads: options.threads,
            times: work.join("c.times"),
            is_ours: false,
        })
    }

    /// The median time of a start in microseconds, and what was written.
    fn run(&self, input: &Path) -> Result<(f64, Vec<u8>)> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        if self.is_ours {
            command.args(["--threads", &self.threads.to_string()]);
        }
        let output = command
            .arg("-t")
            .arg(&self.times)
            .args(["-r", "1"])
            .env("OMP_NUM_THREADS", self.threads.to_string())
            .stdin(File::open(input)?)
            .stderr(Stdio::inherit())
            .output()
            .with_context(|| format!("{} does not start", self.program.display()))?;
        if !output.status.success() {
            bail!("{} failed: {}", self.program.display(), output.status);
        }
        let times = fs::read_to_string(&self.times)?;
        let times = times
            .lines()
            .map(str::parse::<f64>)
            .collect::<Result<Vec<_>, _>>()?;
        Ok((median(times), output.stdout))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Checks that two results in the binary format agree: floats within a relative error, and all but that share of what
/// is not a float (a point between two clusters joins the one or the other by a rounding error).
fn agree(ours: &[u8], theirs: &[u8], tolerance: f64) -> Result<()> {
    let (mut a, mut b) = (ours, theirs);
    loop {
        a = a.trim_ascii_start();
        b = b.trim_ascii_start();
        if a.is_empty() && b.is_empty() {
            return Ok(());
        }
        let x = value(&mut a).context("our result is not in the binary format")?;
        let y = value(&mut b).context("the reference's result is not in the binary format")?;
        if x.0 != y.0 || x.1.len() != y.1.len() {
            bail!("the results have different types or shapes");
        }
        let differ = match x.0.get(3..7) {
            Some(b" f32") => far(x.1, y.1, tolerance, |c: [u8; 4]| {
                f64::from(f32::from_le_bytes(c))
            }),
            Some(b" f64") => far(x.1, y.1, tolerance, f64::from_le_bytes),
            _ => many_differ(x.1, y.1, tolerance),
        };
        if differ {
            bail!("the results differ");
        }
    }
}

/// Takes the first value off the bytes: its header and its elements.
fn value<'a>(bytes: &mut &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
    let rank = usize::from(*bytes.get(2)?);
    let (header, rest) = bytes.split_at_checked(7 + 8 * rank)?;
    let size = match header.get(3..7)? {
        b" i32" | b" f32" => 4,
        b" i64" | b" f64" => 8,
        _ => 1,
    };
    let extents = header[7..]
        .chunks_exact(8)
        .map(|c| c.try_into().map_or(0, u64::from_le_bytes));
    let count = usize::try_from(extents.product::<u64>()).ok()?;
    let (elements, rest) = rest.split_at_checked(count * size)?;
    *bytes = rest;
    Some((header, elements))
}

/// Whether a larger share of the bytes than the tolerance differs.
fn many_differ(a: &[u8], b: &[u8], tolerance: f64) -> bool {
    let wrong = a.iter().zip(b).filter(|(x, y)| x != y).count();
    wrong as f64 > tolerance * a.len() as f64
}

/// Whether any two numbers are further apart than the tolerance allows.
fn far<const N: usize>(a: &[u8], b: &[u8], tolerance: f64, read: fn([u8; N]) -> f64) -> bool {
    let numbers = |bytes: &[u8]| {
        bytes
            .chunks_exact(N)
            .map(|c| c.try_into().map_or(f64::NAN, read))
            .collect::<Vec<_>>()
    };
    let scale = |x: f64, y: f64| x.abs().max(y.abs()).max(1e-3);
    numbers(a)
        .iter()
        .zip(numbers(b))
        .any(|(x, y)| (x - y).abs() > tolerance * scale(*x, y))
}
