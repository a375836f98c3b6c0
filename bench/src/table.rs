//! The whole table: every program beside C as a good programmer writes it, with and without `-ffast-math`, and beside Debian's
//! `futhark multicore` and libraries and compilers of Python (`bench/python/peers.py`) where those are installed, with what the machine does at most.

use crate::{Options, arrc, between, cc, ours};
use anyhow::{Context as _, Error, Result, bail};
use arrc::bench::{
    Contest, Dataset, Group, Measured, Other, Side, bench_file, geometric_mean, svg, write,
};
use std::path::Path;
use std::process::Command;

/// Folders and names of programs; references are in `bench/c`.
pub(super) const PROGRAMS: &[(&str, &str)] = &[
    ("examples", "mandelbrot"),
    ("examples", "nbody"),
    ("examples", "matmul"),
    ("examples", "kmeans"),
    ("examples", "blackscholes"),
    ("examples", "equalise"),
    ("examples", "life"),
    ("examples", "sobol"),
    ("bench/programs", "hotspot"),
    ("bench/programs", "pathfinder"),
    ("bench/programs", "mriq"),
    ("bench/programs", "crystal"),
    ("bench/programs", "backprop"),
    ("bench/programs", "lavamd"),
    ("bench/programs", "lud"),
    ("bench/programs", "nn"),
    ("bench/programs", "tpacf"),
    ("bench/programs", "myocyte"),
    ("bench/programs", "clustermeans"),
    ("bench/programs", "map"),
    ("bench/programs", "sum"),
    ("bench/programs", "prefix"),
    ("bench/programs", "select"),
    ("bench/programs", "srad"),
    ("bench/programs", "stencil"),
    ("bench/programs", "optionpricing"),
    ("bench/programs", "locvolcalib"),
    ("bench/programs", "fluid"),
    ("bench/programs", "tunnel"),
    ("bench/programs", "cfd"),
    ("bench/programs", "avoidance"),
];

/// Programs on rows of any lengths and on sequences, after the papers: a table of their own.
pub(super) const IRREGULAR: &[(&str, &str)] = &[
    ("bench/programs", "quicksort"),
    ("bench/programs", "fft"),
    ("bench/programs", "md5"),
    ("bench/programs", "pagerank"),
    ("bench/programs", "audio"),
    ("bench/programs", "bfs"),
    ("bench/programs", "barneshut"),
];

/// What C is compiled with. Results are the same without `errno`, which `sqrtf` would set, so that loops with it were not done in lanes.
const FLAGS: [&str; 4] = ["-O3", "-march=native", "-fopenmp", "-fno-math-errno"];
/// The sides of the table; the last three may be missing. Programs in Python do without the last digits.
const SIDES: [&str; 7] = ["arrc", "arrc fast", "C", "C fast", AVX2, FUTHARK, PYTHON];
/// C by hand for registers of 256 bits, `bench/c/NAME-avx2.c`, where such a file is there and the machine has them.
const AVX2: &str = "AVX2";
const FUTHARK: &str = "futhark";
const PYTHON: &str = "Python";
/// Ratios of the table: what stands above them, and the sides that are compared.
const RATIOS: [(&str, &str, &str); 5] = [
    ("C/arrc", "C", "arrc"),
    ("fast", "C fast", "arrc fast"),
    ("avx2/arrc", AVX2, "arrc"),
    ("fut/arrc", FUTHARK, "arrc"),
    ("py/fast", PYTHON, "arrc fast"),
];
/// How often other programs run when they are started.
const RUNS: usize = 3;

/// Measures, and prints a line for each program.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(super) fn table(options: &Options, root: &Path, work: &Path) -> Result<()> {
    let mut groups = vec![ceilings(options, root, work)?];
    for dataset in &groups[0].datasets {
        if let Some(seconds) = median(dataset, 0) {
            println!("{:<28}{:>8.1}", dataset.name, ceiling(dataset, seconds));
        }
    }
    let head: String = SIDES
        .map(|side| format!("{:>13}", format!("{side} ms")))
        .concat();
    let heads = RATIOS.map(|(head, ..)| format!("{head:>10}")).concat();
    println!("{:<14}{head}{heads}{:>9}", "program", "widened");
    let mut ratios = [const { Vec::new() }; RATIOS.len()];
    let mut shares = Vec::new();
    let python = python(root);
    let programs = match options.irregular {
        true => IRREGULAR,
        false => PROGRAMS,
    };
    for &(folder, name) in programs {
        if !options.names.is_empty() && options.names.iter().all(|n| n != name) {
            continue;
        }
        let path = root.join(folder).join(name).with_extension("fut");
        let (contest, sides) = contest(options, root, work, (&path, name, &python))?;
        let measured = bench_file(&contest, &path, &mut |_, _| {}, &mut |_, _| {});
        let groups_of_program = measured.map_err(Error::msg)?;
        let is_only = groups_of_program.len() == 1;
        for mut group in groups_of_program {
            // Of entry points of other names, these tell them apart.
            let entry = group.name.rsplit(':').next().filter(|_| !is_only);
            let name = entry.map_or_else(|| name.to_owned(), |entry| format!("{name} {entry}"));
            group.name.clone_from(&name);
            for dataset in &mut group.datasets {
                let sides = dataset.sides.iter_mut().zip(&sides);
                sides.for_each(|(side, &name)| name.clone_into(&mut side.name));
                println!("{}", line(&name, dataset, (&mut ratios, &mut shares)));
            }
            groups.push(group);
        }
    }
    if !shares.is_empty() {
        let mean = 100.0 * shares.iter().sum::<f64>() / shares.len() as f64;
        println!(
            "widened: in the mean {mean:.0} % of the time of kernels is spent in code for registers of more than 128 bits"
        );
    }
    for (ratios, (head, theirs, ours)) in ratios.iter().zip(RATIOS) {
        if !ratios.is_empty() {
            let (mean, least) = (
                geometric_mean(ratios),
                ratios.iter().copied().fold(f64::MAX, f64::min),
            );
            println!("{head} ({theirs} / {ours}): geometric mean {mean:.2}, least {least:.2}");
        }
    }
    if let Some(file) = &options.json {
        std::fs::write(file, write(&groups))?;
    }
    if let Some(file) = &options.svg {
        let picture = svg(&groups).map_err(|why| Error::msg(why.to_string()))?;
        std::fs::write(file, picture)?;
    }
    Ok(())
}

/// The times of a program's sides, those of C and Futhark as multiples of ours, and the share of the time of our kernels that is spent in code
/// that was widened.
fn line(
    name: &str,
    dataset: &Dataset,
    (ratios, shares): (&mut [Vec<f64>; RATIOS.len()], &mut Vec<f64>),
) -> String {
    let mut text = format!("{name:<14}");
    let median = |name: &str| {
        let place = dataset.sides.iter().position(|side| side.name == name);
        place.and_then(|place| median(dataset, place))
    };
    for side in SIDES {
        let cell = median(side).map_or_else(|| String::from("-"), |s| format!("{:.1}", s * 1e3));
        text += &format!("{cell:>13}");
    }
    for (ratios, (_, theirs, ours)) in ratios.iter_mut().zip(RATIOS) {
        let ratio = median(ours).zip(median(theirs));
        let cell = ratio.map_or_else(
            || String::from("-"),
            |(ours, theirs)| {
                ratios.push(theirs / ours);
                format!("{:.2}", theirs / ours)
            },
        );
        text += &format!("{cell:>10}");
    }
    let share = widened(dataset);
    shares.extend(share);
    let cell = share.map_or_else(
        || String::from("-"),
        |share| format!("{:.0} %", 100.0 * share),
    );
    text += &format!("{cell:>9}");
    for side in &dataset.sides {
        match &side.outcome {
            Ok(Measured {
                note: Some(note), ..
            })
            | Err(note) => {
                text += &format!("  {}: {note}", side.name);
            }
            Ok(Measured { note: None, .. }) => {}
        }
    }
    text
}

/// The share of the time of our kernels in registers of more than 128 bits.
fn widened(dataset: &Dataset) -> Option<f64> {
    let ours = dataset.sides.first()?.outcome.as_ref().ok()?;
    let shares = ours.spent.as_ref()?.vectors?;
    let wide = shares.iter().filter(|(bits, _)| *bits > 128);
    Some(wide.map(|(_, share)| share).sum())
}

/// In seconds.
pub(super) fn median(dataset: &Dataset, side: usize) -> Option<f64> {
    let measured = dataset.sides.get(side)?.outcome.as_ref().ok()?;
    Some(measured.summary()?.median * 1e-6)
}

/// The names of programs that are there in Python, with its libraries.
fn python(root: &Path) -> Vec<String> {
    let listed = Command::new("python3")
        .arg(root.join(PEERS))
        .arg("--list")
        .output();
    let Ok(listed) = listed else {
        return Vec::new();
    };
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let names = names.lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).collect()
}

/// Programs in Python.
const PEERS: &str = "bench/python/peers.py";

/// arrc, and what it is compared with, built for this program, and what the sides are called.
fn contest(
    options: &Options,
    root: &Path,
    work: &Path,
    (path, name, python): (&Path, &str, &[String]),
) -> Result<(Contest, Vec<&'static str>)> {
    let mut sides = SIDES[..4].to_vec();
    let source = root.join(format!("bench/c/{name}.c"));
    let threads = options.threads;
    let program = |ending: &str| work.join(format!("{name}-{ending}"));
    cc(&source, &program("c"), &FLAGS)?;
    cc(
        &source,
        &program("fast-math"),
        &[&FLAGS[..], &["-ffast-math"]].concat(),
    )?;
    // Results without regard to the last digits may differ, as those of other programs.
    let arrc = arrc()?;
    let fast = format!(
        "'{}' run --fast-math --target=cpu --threads={threads} -b -e {{entry}} -t {{times}} -r {RUNS} '{}'",
        arrc.display(),
        path.display()
    );
    let mut others = vec![Other { command: fast }];
    others.extend(["c", "fast-math"].map(|ending| Other {
        command: format!(
            "OMP_NUM_THREADS={threads} '{}' -e {{entry}} -t {{times}} -r {RUNS}",
            program(ending).display()
        ),
    }));
    let by_hand = root.join(format!("bench/c/{name}-avx2.c"));
    if has_avx2() && by_hand.exists() {
        cc(&by_hand, &program("avx2"), &FLAGS)?;
        sides.push(AVX2);
        others.push(Other {
            command: format!(
                "OMP_NUM_THREADS={threads} '{}' -t {{times}} -r {RUNS}",
                program("avx2").display()
            ),
        });
    }
    if let Some(futhark) = &options.futhark {
        // What it cannot compile, it does not take part in.
        let compiled = Command::new(futhark)
            .args(["multicore", "-o"])
            .args([&program("futhark"), path])
            .status()
            .with_context(|| format!("{} cannot be started", futhark.display()))?;
        if compiled.success() {
            sides.push(FUTHARK);
            others.push(Other {
                command: format!(
                    "'{}' -b -e {{entry}} --num-threads={threads} -t {{times}} -r {RUNS}",
                    program("futhark").display()
                ),
            });
        }
    }
    if python.iter().any(|known| known == name) {
        sides.push(PYTHON);
        others.push(Other {
            command: format!(
                "OMP_NUM_THREADS={threads} python3 '{}' {name} -t {{times}} -r {RUNS}",
                root.join(PEERS).display()
            ),
        });
    }
    let runs = (options.runs, RUNS);
    Ok((between(runs, vec![ours(threads, None)?], others), sides))
}

/// Whether the machine has registers of 256 bits for numbers of all kinds.
fn has_avx2() -> bool {
    #[cfg(target_arch = "x86_64")]
    let has = std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    let has = false;
    has
}

/// Names of ceilings, and what `bench/c/ceilings.c` moves or computes for each.
const CEILINGS: [(&str, f64); 3] = [
    ("copy, GB/s", 8e8),
    ("triad, GB/s", 12e8),
    ("fused operations, GFLOP/s", 17_179_869_184.0),
];

/// How much of it is done in a second, in thousands of millions.
fn ceiling(dataset: &Dataset, seconds: f64) -> f64 {
    let work = CEILINGS.iter().find(|(name, _)| *name == dataset.name);
    work.map_or(f64::NAN, |(_, work)| work / seconds / 1e9)
}

/// What the machine does at most.
fn ceilings(options: &Options, root: &Path, work: &Path) -> Result<Group> {
    let program = work.join("ceilings");
    cc(&root.join("bench/c/ceilings.c"), &program, &FLAGS)?;
    let run = Command::new(&program)
        .arg(options.runs.to_string())
        .env("OMP_NUM_THREADS", options.threads.to_string())
        .output()?;
    if !run.status.success() {
        bail!("the ceilings cannot be measured: {}", run.status);
    }
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let column = |column: usize| -> Vec<f64> {
        let cells = text.lines().filter_map(|line| line.split(' ').nth(column));
        cells.filter_map(|cell| cell.parse().ok()).collect()
    };
    let datasets = CEILINGS
        .iter()
        .enumerate()
        .map(|(number, (name, _))| Dataset {
            name: (*name).to_owned(),
            size: None,
            sides: vec![Side {
                name: String::from("C"),
                device: None,
                outcome: Ok(Measured {
                    times: column(number),
                    ..Measured::default()
                }),
            }],
        });
    Ok(Group {
        name: String::from("ceilings"),
        datasets: datasets.collect(),
    })
}
