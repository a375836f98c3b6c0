//! Measures how fast values are read from files, in megabytes of the file per second, for every element type.
//!
//! ```text
//! cargo run --release -p arrc-bench --bin values -- [--megabytes N]
//! ```
//!
//! The files are written to `target/bench` first, so they come from the page cache, not from the disk. The best of several
//! readings counts. Elements are random bits (for text, random values); a compressed file is measured by its
//! contents, and holds numbers that repeat.

use anyhow::{Context, Result};
use arrc::data::{Source, read_all, write_binary, write_text};
use arrc::spec::{Generator, generate};
use clap::Parser;
use flate2::Compression;
use flate2::write::GzEncoder;
use midend::ir::types::ScalarType;
use midend::value::Value;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Measures reading values.
#[derive(Parser)]
struct Options {
    /// The size of the arrays that are read in binary form; a tenth of it in text form.
    #[arg(long, default_value_t = 256)]
    megabytes: usize,
}

/// Readings, of which the best counts.
const READINGS: usize = 5;

#[allow(
    clippy::print_stdout,
    reason = "printing the table is what this program is for"
)]
fn main() -> Result<()> {
    let options = Options::parse();
    anyhow::ensure!(options.megabytes > 0, "nothing would be read");
    let work = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench");
    std::fs::create_dir_all(&work)?;
    println!("MB/s      binary      npy   binary.gz     text");
    for elem in ScalarType::ALL {
        let bytes = options.megabytes * 1_000_000;
        let large = array(elem, bytes / elem.bytes())?;
        let small = array(elem, bytes / 10 / elem.bytes())?;
        let mut rates = [
            ("values.bin", binary(&large)?),
            ("values.npy", npy(&large)?),
            ("values.bin.gz", compressed(&large)?),
            ("values.txt", text(&small)?),
        ]
        .into_iter()
        .map(|(name, (contents, size))| rate(work.join(name), &contents, size));
        print!("{:6}", elem.name());
        for width in [10, 9, 12, 9] {
            let rate = rates.next().context("one rate for each format")??;
            print!("{rate:width$.0}");
        }
        println!();
    }
    Ok(())
}

fn array(elem: ScalarType, count: usize) -> Result<Value> {
    let shape = vec![i64::try_from(count)?];
    let generator = Generator::Random { shape, elem };
    let mut values = generate(&[generator], 1).map_err(anyhow::Error::msg)?;
    Ok(values.remove(0))
}

/// The contents of a file, and the bytes that are counted.
type Contents = (Vec<u8>, usize);

fn sized(contents: Vec<u8>) -> Contents {
    let size = contents.len();
    (contents, size)
}

fn binary(value: &Value) -> Result<Contents> {
    let mut contents = Vec::new();
    write_binary(value, &mut contents)?;
    Ok(sized(contents))
}

fn text(value: &Value) -> Result<Contents> {
    let mut contents = Vec::new();
    write_text(value, &mut contents)?;
    Ok(sized(contents))
}

/// The same elements behind the header of a NumPy file.
fn npy(value: &Value) -> Result<Contents> {
    let (binary, _) = binary(value)?;
    let body = &binary[7 + 8 * value.shape().len()..];
    let elem = value.elem();
    // NumPy's letters are the first of our names.
    let letter = elem.name().chars().next().unwrap_or('i');
    let order = if elem == ScalarType::Bool { '|' } else { '<' };
    let kind = format!("{order}{letter}{}", elem.bytes());
    let shape = value.shape()[0];
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape},), }}\n");
    let mut contents = b"\x93NUMPY\x01\x00".to_vec();
    contents.extend_from_slice(&u16::try_from(header.len())?.to_le_bytes());
    contents.extend_from_slice(header.as_bytes());
    contents.extend_from_slice(body);
    Ok(sized(contents))
}

/// A tenth of the elements, compressed.
fn compressed(value: &Value) -> Result<Contents> {
    let count = value.shape()[0];
    let (repeating, size) = binary(&array(value.elem(), 1000)?)?;
    let times = usize::try_from(count)? / 10_000 + 1;
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..times {
        encoder.write_all(&repeating)?;
    }
    Ok((encoder.finish()?, times * size))
}

/// Reads the file several times; its megabytes per second.
fn rate(path: PathBuf, contents: &[u8], size: usize) -> Result<f64> {
    std::fs::write(&path, contents)?;
    let mut best = f64::INFINITY;
    for _ in 0..READINGS {
        let start = Instant::now();
        let values = read_all(&Source::open(&path)?)?;
        best = best.min(start.elapsed().as_secs_f64());
        anyhow::ensure!(!values.is_empty(), "nothing was read");
    }
    std::fs::remove_file(path)?;
    Ok(size as f64 / 1e6 / best)
}
