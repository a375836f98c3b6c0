//! A sparse matrix times a vector, for matrices like the fourteen of Streaming Irregular Arrays, table 2: as rows of any
//! lengths, with explicit offsets, and as loops in C (`bench/c/spmv.c`): the plain one, whose rows are shared out evenly and summed in
//! order, and the fastest of four: rows are shared out evenly or as threads become free, and a row is summed in order or in lanes.
//!
//! The matrices are made here: as many entries in a row as those have in the mean, spread as their kind has it, but no more entries
//! in all than `--entries`.

use crate::{Options, arrc, between, cc, ours};
use anyhow::{Context as _, Error, Result};
use arrc::bench::{Contest, Dataset, Other, bench_file, geometric_mean};
use arrc::data::write_binary;
use midend::value::{ArrayValue, Data, Value};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

/// A kind of matrix.
struct Shape {
    name: &'static str,
    /// Millions of entries.
    entries: f64,
    /// Entries in a row, in the mean.
    mean: f64,
    lengths: Lengths,
    columns: Columns,
}

/// How many entries rows have.
#[derive(Clone, Copy)]
enum Lengths {
    /// The mean, and up to this share of it more or less.
    Near(f64),
    /// Half of the rows have a tenth of the mean, the others the rest; in blocks of so many rows.
    Two(usize),
    /// Few rows, of which one in the place `k` has as many as `k` to the power of minus this.
    Power(usize, f64),
    /// Short rows, but one that has this share of all entries.
    One(f64),
}

/// Where entries are.
#[derive(Clone, Copy)]
enum Columns {
    /// Near the diagonal, in blocks of three, a row being so many times as wide as it has entries.
    Band(i64),
    /// Near the diagonal and at a third and two thirds of the matrix from it.
    Bands,
    /// Next to each other.
    Dense,
    /// Anywhere, among so many times as many columns as rows.
    Anywhere(i64),
}

const fn shape(
    name: &'static str,
    (entries, mean): (f64, f64),
    lengths: Lengths,
    columns: Columns,
) -> Shape {
    Shape {
        name,
        entries,
        mean,
        lengths,
        columns,
    }
}

const SHAPES: [Shape; 14] = [
    shape(
        "pdb1HYS",
        (4.3, 119.0),
        Lengths::Near(0.6),
        Columns::Band(8),
    ),
    shape("consph", (6.0, 72.0), Lengths::Near(0.3), Columns::Band(16)),
    shape("cant", (4.0, 64.0), Lengths::Near(0.2), Columns::Band(4)),
    shape("pwtk", (11.6, 53.0), Lengths::Near(0.2), Columns::Band(4)),
    shape("rma10", (2.4, 50.0), Lengths::Near(0.9), Columns::Band(8)),
    shape(
        "shipsec1",
        (7.8, 55.0),
        Lengths::Near(0.4),
        Columns::Band(16),
    ),
    shape(
        "rail4284",
        (11.3, 2633.0),
        Lengths::Power(4284, 0.6),
        Columns::Anywhere(256),
    ),
    shape(
        "TSOPF_FS_b300_c2",
        (8.8, 154.0),
        Lengths::Two(128),
        Columns::Dense,
    ),
    shape(
        "FullChip",
        (26.6, 9.0),
        Lengths::One(0.8),
        Columns::Anywhere(1),
    ),
    shape(
        "dielFilterV2real",
        (48.5, 42.0),
        Lengths::Near(0.6),
        Columns::Band(64),
    ),
    shape(
        "Flan_1565",
        (117.4, 75.0),
        Lengths::Near(0.1),
        Columns::Band(8),
    ),
    shape(
        "Queen_4147",
        (329.5, 80.0),
        Lengths::Near(0.1),
        Columns::Band(8),
    ),
    shape(
        "nlpkkt240",
        (774.5, 28.0),
        Lengths::Near(0.1),
        Columns::Bands,
    ),
    shape(
        "HV15R",
        (283.0, 140.0),
        Lengths::Near(0.5),
        Columns::Band(8),
    ),
];

/// Numbers that look random.
struct Noise(u64);

impl Noise {
    /// Below a bound.
    fn below(&mut self, bound: i64) -> i64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x >> 33) as i64) % bound.max(1)
    }
    /// From zero to one.
    fn part(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1 << 30) as f64
    }
}

impl Shape {
    /// The lengths of rows that have about so many entries in all.
    fn lengths(&self, entries: f64, noise: &mut Noise) -> Vec<i64> {
        let rows = (entries / self.mean) as usize;
        match self.lengths {
            Lengths::Near(spread) => {
                let length = |_| self.mean * (1.0 + spread * (2.0 * noise.part() - 1.0));
                (0..rows).map(length).map(|n| n as i64).collect()
            }
            Lengths::Two(block) => {
                let share = |i| if i / block % 2 == 0 { 0.1 } else { 1.9 };
                (0..rows).map(|i| (self.mean * share(i)) as i64).collect()
            }
            Lengths::Power(rows, power) => {
                let mut places: Vec<usize> = (1..=rows).collect();
                for i in (1..rows).rev() {
                    places.swap(i, noise.below(i as i64 + 1) as usize);
                }
                let weight = |k: usize| (k as f64).powf(-power);
                let all: f64 = (1..=rows).map(weight).sum();
                let places = places.into_iter();
                places.map(|k| (entries * weight(k) / all) as i64).collect()
            }
            Lengths::One(share) => {
                let rows = (rows as f64 * (1.0 - share)) as usize;
                let length = |_| (2.0 * self.mean * noise.part()) as i64;
                let mut lengths: Vec<i64> = (0..=rows).map(length).collect();
                lengths[rows / 3] = (entries * share) as i64;
                lengths
            }
        }
    }

    /// The column of an entry of a row.
    fn column(&self, (row, rows): (i64, i64), (at, length): (i64, i64), noise: &mut Noise) -> i64 {
        let column = match self.columns {
            Columns::Band(wide) => {
                // A block of three begins near where it would be if all were spread evenly.
                let block = (at / 3 * 3 - length / 2) * wide;
                row + block + at % 3
            }
            Columns::Bands => row + (at % 3 - 1) * (rows / 3) + at / 3 - length / 6,
            Columns::Dense => row + at - length / 2,
            Columns::Anywhere(wide) => return noise.below(rows * wide),
        };
        column.rem_euclid(rows)
    }

    /// How many columns there are.
    fn width(&self, rows: i64) -> i64 {
        match self.columns {
            Columns::Anywhere(wide) => rows * wide,
            Columns::Band(_) | Columns::Bands | Columns::Dense => rows,
        }
    }

    /// Writes lengths, columns, entries, offsets and a vector; yields how many rows and entries there are.
    fn write(&self, file: &Path, most: f64) -> Result<(usize, usize)> {
        let mut noise = Noise(0);
        let lengths = self.lengths((self.entries * 1e6).min(most), &mut noise);
        let rows = i64::try_from(lengths.len())?;
        let (mut offsets, mut columns) = (vec![0], Vec::new());
        for (row, &length) in (0..).zip(&lengths) {
            columns.extend(
                (0..length).map(|at| self.column((row, rows), (at, length), &mut noise) as i32),
            );
            offsets.push(i64::try_from(columns.len())?);
        }
        let counts = (lengths.len(), columns.len());
        let mut numbers = |n: usize| Data::F64((0..n).map(|_| noise.part() - 0.5).collect());
        let entries = numbers(columns.len());
        let vector = numbers(usize::try_from(self.width(rows))?);
        let mut out = BufWriter::new(File::create(file)?);
        for data in [
            Data::I64(lengths),
            Data::I32(columns),
            entries,
            Data::I64(offsets),
            vector,
        ] {
            let shape = vec![i64::try_from(data.len())?];
            write_binary(&Value::Array(ArrayValue { shape, data }), &mut out)?;
        }
        out.flush()?;
        Ok(counts)
    }
}

/// The loops in C, the plain one first: options of the compiler, and how rows are shared out.
const LOOPS: [(&str, &[&str], &str); 4] = [
    ("order", &[], "static"),
    ("order", &[], "dynamic,256"),
    ("lanes", &["-DLANES"], "static"),
    ("lanes", &["-DLANES"], "dynamic,256"),
];
/// How often other programs run when they are started. The first times are longer, and vary.
const RUNS: usize = 15;

/// Measures, and prints a line for each matrix.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(super) fn sparse(options: &Options, root: &Path, work: &Path) -> Result<()> {
    let (threads, source) = (options.threads, root.join("bench/c/spmv.c"));
    let program = |name: &str| work.join(format!("spmv-{name}"));
    let arrc = arrc()?;
    // Both of ours are run in the same way.
    let entry = |name: &str| {
        let (arrc, path) = (arrc.display(), work.join("spmv.fut"));
        format!(
            "'{arrc}' run --target=cpu --threads={threads} -b -e {name} -t {{times}} -r {RUNS} '{}'",
            path.display()
        )
    };
    let mut commands = vec![entry("rows"), entry("offsets")];
    for (name, flags, schedule) in LOOPS {
        let flags = [&["-O3", "-march=native", "-fopenmp"], flags].concat();
        cc(&source, &program(name), &flags)?;
        commands.push(format!(
            "OMP_NUM_THREADS={threads} OMP_SCHEDULE={schedule} '{}' -t {{times}} -r {RUNS}",
            program(name).display()
        ));
    }
    let others = commands.into_iter().map(|command| Other { command });
    let contest = between(
        (options.runs, RUNS),
        vec![ours(threads, None)?],
        others.collect(),
    );
    println!(
        "{:<18}{:>9}{:>9}{:>10}{:>12}{:>9}{:>9}{:>16}{:>9}{:>11}{:>14}  these three of the fastest tenths",
        "matrix",
        "rows",
        "entries",
        "rows ms",
        "offsets ms",
        "C ms",
        "best ms",
        "schedule",
        "C/rows",
        "best/rows",
        "offsets/rows"
    );
    let mut ratios: Vec<[f64; 6]> = Vec::new();
    for shape in &SHAPES {
        if !options.names.is_empty() && options.names.iter().all(|n| n != shape.name) {
            continue;
        }
        ratios.extend(
            shape
                .measure(&contest, options, (root, work))
                .context(shape.name)?,
        );
    }
    let kinds = ["C / rows", "best C / rows", "offsets / rows"];
    let tenths = kinds.map(|kind| format!("{kind}, fastest tenths"));
    let names = kinds.into_iter().chain(tenths.iter().map(String::as_str));
    for (of, name) in names.enumerate() {
        let of: Vec<f64> = ratios.iter().map(|all| all[of]).collect();
        let mean = geometric_mean(&of);
        let (least, most) = of
            .iter()
            .fold((f64::MAX, 0f64), |(a, b), r| (a.min(*r), b.max(*r)));
        println!("{name}: geometric mean {mean:.2}, from {least:.2} to {most:.2}");
    }
    Ok(())
}

/// The names of the matrices.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    SHAPES.iter().map(|shape| shape.name)
}

impl Shape {
    /// Prints what it takes, and yields the times of the plain and the best loop in C and with offsets as multiples of those of rows:
    /// those of medians, then those of what ends the fastest tenth of all runs, which tells less of what else the machine did.
    #[expect(clippy::print_stdout, reason = "the table is what the program is for")]
    fn measure(
        &self,
        contest: &Contest,
        options: &Options,
        (root, work): (&Path, &Path),
    ) -> Result<Option<[f64; 6]>> {
        let input = work.join("spmv.in");
        let (rows, entries) = self.write(&input, options.entries * 1e6)?;
        // The program with the input at hand.
        let source = std::fs::read_to_string(root.join("bench/programs/spmv.fut"))?;
        let path = work.join("spmv.fut");
        std::fs::write(
            &path,
            format!("{source}\n-- ==\n-- entry: rows\n-- compiled input @ spmv.in\n"),
        )?;
        let measured = bench_file(contest, &path, &mut |_, _| {}, &mut |_, _| {});
        if options.names.len() != 1 {
            std::fs::remove_file(&input)?;
        }
        let groups = measured.map_err(Error::msg)?;
        let dataset = groups.iter().flat_map(|group| &group.datasets).next();
        let dataset = dataset.context("the input is not measured")?;
        // Side 0 has made the results that the others are compared with.
        let median = |side: usize| crate::table::median(dataset, side);
        let loops = (0..LOOPS.len()).filter_map(|k| Some((median(3 + k)?, LOOPS[k])));
        let best = loops.min_by(|a, b| a.0.total_cmp(&b.0));
        let (Some(ours), Some(offsets), Some(plain), Some((c, (name, _, schedule)))) =
            (median(1), median(2), median(3), best)
        else {
            println!("{:<18}{}", self.name, why(dataset));
            return Ok(None);
        };
        let tenth = |side: usize| tenth(dataset, side).unwrap_or(f64::NAN);
        let least = (0..LOOPS.len())
            .map(|k| tenth(3 + k))
            .fold(f64::NAN, f64::min);
        let tenths = [tenth(3), least, tenth(2)].map(|theirs| theirs / tenth(1));
        println!(
            "{:<18}{rows:>9}{entries:>9}{:>10.2}{:>12.2}{:>9.2}{:>9.2}{:>16}{:>9.2}{:>11.2}{:>14.2}  {:.2} {:.2} {:.2}  {}",
            self.name,
            ours * 1e3,
            offsets * 1e3,
            plain * 1e3,
            c * 1e3,
            format!("{name}, {}", schedule.split(',').next().unwrap_or_default()),
            plain / ours,
            c / ours,
            offsets / ours,
            tenths[0],
            tenths[1],
            tenths[2],
            why(dataset)
        );
        let [first, second, third] = tenths;
        Ok(Some([
            plain / ours,
            c / ours,
            offsets / ours,
            first,
            second,
            third,
        ]))
    }
}

/// The time that ends the fastest tenth of the runs of a side.
fn tenth(dataset: &Dataset, side: usize) -> Option<f64> {
    let mut times = dataset
        .sides
        .get(side)?
        .outcome
        .as_ref()
        .ok()?
        .times
        .clone();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 10).copied()
}

/// What went wrong.
fn why(dataset: &Dataset) -> String {
    let notes = dataset.sides.iter().filter_map(|side| match &side.outcome {
        Ok(measured) => measured.note.as_ref(),
        Err(why) => Some(why),
    });
    notes.cloned().collect::<Vec<_>>().join("; ")
}
