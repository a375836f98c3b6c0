//! The text of a profile: where a run spent time and memory, by lines of the source.

use crate::session::CompileTimes;
use crate::text::bytes;
use frontend::PRELUDE;
use midend::ir::span::Place;
use midend::plan::{Asker, BuffersMade, GuardPassed, Profile, Work, WorkDone};
use std::fmt::Write as _;
use std::time::Duration;

/// Kernels, copies, guards and memory of a run of `entry`, and the times of passes.
pub(super) fn text(entry: &str, times: &CompileTimes, profile: &Profile) -> String {
    let mut text = format!("; {entry}: {} ms\n", ms(profile.time));
    if !profile.work.is_empty() {
        table(&mut text, &work(profile));
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

fn work(profile: &Profile) -> Table {
    let mut rows = vec![cells([
        "where", "what", "times", "ms", "share", "bytes", "GB/s",
    ])];
    let share = |time: Duration| {
        let whole = profile.time.as_secs_f64();
        format!(
            "{:.0} %",
            100.0 * time.as_secs_f64() / whole.max(f64::MIN_POSITIVE)
        )
    };
    for done in &profile.work {
        let speed = done.bytes as f64 / done.time.as_secs_f64().max(1e-9) / 1e9;
        rows.push(vec![
            place(&done.places),
            what(done),
            done.times.to_string(),
            ms(done.time),
            share(done.time),
            bytes(done.bytes),
            format!("{speed:.1}"),
        ]);
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

pub(super) fn what(done: &WorkDone) -> String {
    let work = done.work.map_or("sequential", Work::name);
    match &done.kernel {
        Some(kernel) => format!("{work} {kernel}"),
        None => work.to_owned(),
    }
}

fn guards(guards: &[GuardPassed]) -> Table {
    let mut rows = vec![cells(["guard", "needs", "reached", "not", "points"])];
    for guard in guards {
        rows.push(vec![
            guard.threshold.to_string(),
            match guard.number {
                i64::MAX => String::from("inf"),
                number => number.to_string(),
            },
            guard.taken.to_string(),
            guard.refused.to_string(),
            if guard.least == guard.greatest {
                guard.least.to_string()
            } else {
                format!("{} to {}", guard.least, guard.greatest)
            },
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
