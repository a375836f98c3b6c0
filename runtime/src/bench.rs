//! Benchmarks: the test blocks of programs run again and again, on several targets and beside other programs.
//!
//! All that run on one input take turns, so that what else the machine does meets them alike. Each runs once before
//! it is timed, and its result is compared with the expected one, or with that of the first. Programs run in child processes, one
//! for each program and target.

mod adaptive;
mod compare;
mod json;
mod measure;
mod other;
mod plot;
mod racer;
mod report;
mod rounds;
mod statistics;
mod worker;

pub use adaptive::Patience;
pub use compare::{CHANGE, Change, Comparison, compare};
pub use json::{Times, read, write};
pub use measure::{Contest, bench_file, clear_away};
pub use other::Other;
pub(crate) use plot::colour;
pub use plot::{PlotError, svg};
pub use racer::Ours;
pub use report::dataset_text;
pub use rounds::{add_round, round_lasts};
pub use statistics::{Summary, fastest, geometric_mean, rank_shift};
pub use worker::serve;

use crate::session::Program;
use midend::plan::Profile;
use serde::{Deserialize, Serialize};

/// What was measured of an entry point of a program.
#[derive(Clone, Debug)]
pub struct Group {
    /// The program's path, and after a colon the entry point, if it is not `main`.
    pub name: String,
    /// The inputs.
    pub datasets: Vec<Dataset>,
}

/// What was measured with one input.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The name of the input.
    pub name: String,
    /// How large it is: the elements of its arrays or, without arrays, the product of its integers.
    pub size: Option<u64>,
    /// All that ran.
    pub sides: Vec<Side>,
}

/// What was measured of one target or other program.
#[derive(Clone, Debug)]
pub struct Side {
    /// The target's name, or the command of the other program.
    pub name: String,
    /// What people call the device of a target.
    pub device: Option<String>,
    /// Times, or why there are none.
    pub outcome: Result<Measured, String>,
}

/// The times of one side.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The time of each run, in microseconds.
    pub times: Vec<f64>,
    /// What one more run spent memory on and how its guards chose; nothing of the interpreter and of other programs.
    pub spent: Option<Spent>,
    /// Something to know about the times.
    pub note: Option<String>,
}

/// What a run spent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spent {
    /// The most bytes of buffers at once.
    pub peak: u64,
    /// The bytes of the buffers that kernels were given and of what was copied.
    pub moved: u64,
    /// The thresholds of guards, how often they were passed, and how often come to.
    pub guards: Vec<(String, u64, u64)>,
    /// The shares of the time of kernels in vector registers of so many bits, on CPUs.
    pub vectors: Option<[(u32, f64); 3]>,
}

impl Spent {
    fn of(program: &Program, profile: &Profile) -> Self {
        let guards = profile.guards.iter();
        Self {
            vectors: program.vector_shares(profile),
            peak: profile.peak,
            moved: profile.work.iter().map(|done| done.bytes).sum(),
            guards: guards
                .map(|guard| {
                    let all = guard.taken + guard.refused;
                    (guard.threshold.to_string(), guard.taken, all)
                })
                .collect(),
        }
    }
}

impl Measured {
    /// Median and interval of the times.
    pub fn summary(&self) -> Option<Summary> {
        Summary::of(&self.times)
    }
}
