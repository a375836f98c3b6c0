//! Whether `arrc benchcmp` tells a slower program from a busy machine: a program is measured, the same program again, and with a
//! fifth more to do, many times over.

use anyhow::{Context as _, Error, Result};
use arrc::bench::{CHANGE, Change, Contest, Times, add_round, bench_file, compare, read, write};
use std::path::Path;

/// Steps of a loop at each of many points.
const PROGRAM: &str = "-- ==
-- \"steps\" input { 100000i64 STEPSi64 }
def main (n: i64) (k: i64) = i64.sum (map (\\i -> loop x = i for _j < k do x * 3 + 1) (iota n))
";

/// Of `arrc bench --json`.
const ROUNDS: usize = 5;

/// Repeats the experiment so many times, and prints what was found.
#[expect(clippy::print_stdout, reason = "the table is what the program is for")]
pub(super) fn judge(contest: &mut Contest, times: usize, work: &Path) -> Result<()> {
    contest.patience = contest.patience.of_round(ROUNDS, 1);
    let (mut found, mut invented) = (0, 0);
    for round in 1..=times {
        let old = measure(contest, 100, work)?;
        let same = change(&old, &measure(contest, 100, work)?)?;
        let slower = change(&old, &measure(contest, 120, work)?)?;
        found += usize::from(slower.is_slower());
        invented += usize::from(same.significant);
        println!(
            "{round:>3}: the same {:.2}x{}, a fifth more {:.2}x{}",
            same.speedup(),
            verdict(&same),
            slower.speedup(),
            verdict(&slower)
        );
    }
    println!(
        "slower programs found: {found} of {times}; changes where there were none: {invented}"
    );
    Ok(())
}

fn verdict(change: &Change) -> &'static str {
    match (change.significant, change.is_slower()) {
        (false, _) => "",
        (true, true) => " slower",
        (true, false) => " faster",
    }
}

/// The times of the program with so many steps.
fn measure(contest: &Contest, steps: u32, work: &Path) -> Result<Times> {
    let path = work.join("judged.fut");
    std::fs::write(&path, PROGRAM.replace("STEPS", &steps.to_string()))?;
    let mut groups = Vec::new();
    for _ in 0..ROUNDS {
        let round = bench_file(contest, &path, &mut |_, _| {}, &mut |_, _| {});
        add_round(&mut groups, round.map_err(Error::msg)?);
    }
    read(&write(&groups)).map_err(Error::msg)
}

fn change(old: &Times, new: &Times) -> Result<Change> {
    let comparison = compare(old, new, CHANGE);
    let change = comparison.changes.into_iter().next();
    change.context("it could not be measured")
}
