//! The text of a profile: where a run spent time and memory, by lines of the source, and how near that is to what the device can do.

use crate::session::{Ceilings, CompileTimes};
use crate::text::bytes;
use frontend::PRELUDE;
use midend::ir::span::Place;
use midend::ir::threshold::{ELEMENTS, LITTLE_WORK, ThresholdKind};
use midend::plan::{Asker, BuffersMade, GuardPassed, Profile, Work, WorkDone};
use std::fmt::Write as _;
use std::time::Duration;

/// Kernels, copies, guards and memory of a run of `entry`, and the times of passes. The ceilings are those of the device, if they
/// are known; and on CPUs the shares of the time of kernels in registers of so many bits, and why a kernel stays scalar.
pub(super) fn text(
    entry: &str,
    times: &CompileTimes,
    profile: &Profile,
    ceilings: Option<&Ceilings>,
    shares: Option<[(u32, f64); 3]>,
    scalar_because: &dyn Fn(&str) -> Option<String>,
) -> String {
    let mut text = format!("; {entry}: {} ms\n", ms(profile.time));
    if !profile.work.is_empty() {
        table(&mut text, &work(profile, ceilings));
        if let Some(Ceilings { bytes, operations }) = ceilings {
            let (bytes, operations) = (bytes / 1e9, operations / 1e9);
            let peak = format!("peak: {bytes:.1} GB/s of memory, {operations:.1} G operations/s");
            line(&mut text, &peak);
        }
        if let Some(shares) = shares {
            line(&mut text, &vectors(shares));
        }
        for done in &profile.work {
            let Some(kernel) = &done.kernel else { continue };
            let matters = SCALAR * done.time.as_secs_f64() >= profile.time.as_secs_f64();
            if let Some(why) = matters.then(|| scalar_because(kernel)).flatten() {
                let (_, origin) = name_and_origin(done);
                line(&mut text, &format!("scalar: {origin} {kernel}: {why}"));
            }
        }
    }
    if !profile.guards.is_empty() {
        table(&mut text, &guards(&profile.guards));
    }
    line(
        &mut text,
        &format!("memory: {} at the peak", bytes(profile.peak)),
    );
    if !profile.buffers.is_empty() {
        table(&mut text, &buffers(&profile.buffers));
    }
    line(&mut text, &format!("compiling: {} ms", ms(times.total())));
    table(&mut text, &passes(times));
    text
}

/// Kernels that take one part of so many of the time are told of if they stay scalar.
const SCALAR: f64 = 20.0;

/// Cells of a table, the first line its heading.
type Table = Vec<Vec<String>>;

fn cells<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn line(text: &mut String, what: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "; {what}");
}

/// Writes a table.
fn table(text: &mut String, rows: &Table) {
    for row in crate::text::table(rows) {
        line(text, &format!("  {row}"));
    }
}

fn work(profile: &Profile, ceilings: Option<&Ceilings>) -> Table {
    let mut rows = vec![cells([
        "where", "what", "times", "ms", "share", "bytes", "GB/s",
    ])];
    if ceilings.is_some() {
        rows[0].push(String::from("of peak"));
    }
    let share = |time: Duration| {
        let whole = profile.time.as_secs_f64();
        format!(
            "{:.0} %",
            100.0 * time.as_secs_f64() / whole.max(f64::MIN_POSITIVE)
        )
    };
    for done in &profile.work {
        let seconds = done.time.as_secs_f64().max(1e-9);
        let speed = done.effort.bytes as f64 / seconds;
        let (name, origin) = name_and_origin(done);
        let mut row = vec![
            origin,
            name,
            done.times.to_string(),
            ms(done.time),
            share(done.time),
            bytes(done.effort.bytes),
            format!("{:.1}", speed / 1e9),
        ];
        if let Some(ceilings) = ceilings {
            let operations = done.effort.operations as f64 / seconds;
            row.push(of_peak(speed, operations, ceilings));
        }
        rows.push(row);
    }
    let rest = profile.work.iter().map(|done| done.time).sum();
    let rest = profile.time.saturating_sub(rest);
    rows.push(vec![
        String::from("elsewhere"),
        String::from("host"),
        String::new(),
        ms(rest),
        share(rest),
    ]);
    rows
}

/// How much of the time of kernels is spent in vector registers of each width.
fn vectors(shares: [(u32, f64); 3]) -> String {
    let shares = shares.map(|(bits, share)| format!("{:.0} % of {bits}", 100.0 * share));
    let shares = shares.join(", ");
    format!("vectors: of the time of kernels in registers of so many bits, {shares}")
}

/// How much of what the device can do a kernel does: of the one that it does more of.
fn of_peak(bytes: f64, operations: f64, ceilings: &Ceilings) -> String {
    let (memory, work) = (bytes / ceilings.bytes, operations / ceilings.operations);
    if memory >= work {
        format!("{:.0} % memory", 100.0 * memory)
    } else {
        format!("{:.0} % operations", 100.0 * work)
    }
}

pub(super) fn what(done: &WorkDone) -> String {
    let work = done.work.map_or("sequential", Work::name);
    match &done.kernel {
        Some(kernel) => format!("{work} {kernel}"),
        None => work.to_owned(),
    }
}

/// What work is called, and the line of the source that it comes from.
pub(super) fn name_and_origin(done: &WorkDone) -> (String, String) {
    (what(done), place(&done.places))
}

fn guards(guards: &[GuardPassed]) -> Table {
    let mut rows = vec![cells([
        "guard",
        "what",
        "there are",
        "needed",
        "reached",
        "not",
    ])];
    for guard in guards {
        rows.push(vec![
            guard.threshold.to_string(),
            match guard.threshold.kind {
                ThresholdKind::Outer
                | ThresholdKind::Tiles
                | ThresholdKind::Columns
                | ThresholdKind::Ragged => String::from("points"),
                ThresholdKind::Rows => format!("rows of {ELEMENTS} elements"),
                ThresholdKind::Layout => String::from("elements out of order"),
                ThresholdKind::Block => String::from("points in a block's memory"),
                ThresholdKind::Arrays => String::from("points whose arrays fill 1 MiB"),
                ThresholdKind::Alone => String::from("times an operator's work in a launch"),
            },
            if guard.threshold.kind == ThresholdKind::Outer && guard.least >= LITTLE_WORK {
                String::from("little work")
            } else if guard.least == guard.greatest {
                guard.least.to_string()
            } else {
                format!("{} to {}", guard.least, guard.greatest)
            },
            match guard.number {
                i64::MAX => String::from("inf"),
                number => number.to_string(),
            },
            guard.taken.to_string(),
            guard.refused.to_string(),
        ]);
    }
    rows
}

fn buffers(made: &[BuffersMade]) -> Table {
    let mut rows = vec![cells(["where", "at the peak", "buffers"])];
    for buffers in made {
        rows.push(vec![
            match buffers.asker {
                Asker::Caller => String::from("arguments"),
                Asker::Statement(_) => place(&buffers.places),
            },
            bytes(buffers.at_peak),
            buffers.buffers.to_string(),
        ]);
    }
    rows
}

fn passes(times: &CompileTimes) -> Table {
    let mut rows = vec![cells(["what", "ms", "verified in ms"])];
    rows.push(vec![String::from("front end"), ms(times.front)]);
    for pass in &times.passes {
        rows.push(vec![pass.pass.to_owned(), ms(pass.time), ms(pass.verify)]);
    }
    rows.push(vec![String::from("kernels"), ms(times.kernels)]);
    rows
}

/// The innermost place that is the user's.
pub(super) fn place(places: &[Place]) -> String {
    let mine = places.iter().find(|place| &*place.file != PRELUDE);
    mine.or(places.first()).map_or_else(
        || String::from("-"),
        |place| format!("{}:{}:{}", place.file, place.start.0, place.start.1),
    )
}

fn ms(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_kernel_does_more_of_is_told() {
        let ceilings = Ceilings {
            bytes: 20e9,
            operations: 100e9,
        };
        assert_eq!(of_peak(10e9, 1e9, &ceilings), "50 % memory");
        assert_eq!(of_peak(1e9, 75e9, &ceilings), "75 % operations");
    }
}
