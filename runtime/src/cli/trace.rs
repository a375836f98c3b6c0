//! A time line of compiling and of a run, in the JSON that Perfetto and `chrome://tracing` read (the "Trace Event Format").
//!
//! Two tracks: the compiler with its passes, and after it the run with its kernels and copies. Times are microseconds.

use super::profile::{place, what};
use crate::session::CompileTimes;
use midend::plan::{GuardPassed, Profile};
use serde_json::{Value, json};
use std::time::Duration;

/// The tracks, by number.
const COMPILER: u32 = 1;
const RUN: u32 = 2;

/// The text of the file.
pub(super) fn text(entry: &str, times: &CompileTimes, profile: &Profile) -> String {
    let mut events = vec![track(COMPILER, "compiler"), track(RUN, "run")];
    let mut at = Duration::ZERO;
    let mut step = |name: &str, time: Duration| {
        events.push(slice(COMPILER, name, (at, time), json!({})));
        at += time;
    };
    step("front end", times.front);
    for pass in &times.passes {
        step(pass.pass, pass.time);
        step(&format!("verify after {}", pass.pass), pass.verify);
    }
    step("kernels", times.kernels);
    let guards: Vec<String> = profile.guards.iter().map(guard).collect();
    let about = json!({ "guards": guards, "peak bytes": profile.peak });
    events.push(slice(RUN, entry, (at, profile.time), about));
    for event in &profile.events {
        let done = &profile.work[event.work];
        let about = json!({ "where": place(&done.places) });
        events.push(slice(
            RUN,
            &what(done),
            (at + event.start, event.time),
            about,
        ));
    }
    let all = json!({ "displayTimeUnit": "ms", "traceEvents": events });
    format!("{all}\n")
}

fn track(number: u32, name: &str) -> Value {
    json!({ "ph": "M", "pid": 1, "tid": number, "name": "thread_name", "args": { "name": name } })
}

fn slice(track: u32, name: &str, (start, time): (Duration, Duration), about: Value) -> Value {
    let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
    json!({
        "ph": "X", "pid": 1, "tid": track, "name": name,
        "ts": micros(start), "dur": micros(time), "args": about,
    })
}

fn guard(guard: &GuardPassed) -> String {
    let all = guard.taken + guard.refused;
    format!("{}: passed {} of {all} times", guard.threshold, guard.taken)
}
