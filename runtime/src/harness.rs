//! Runs the test blocks of programs: each program in a child process, so that none can disturb another.

mod case;
mod cause;
mod conformance;
mod derivatives;
mod discover;
mod laws;
mod one;
mod parent;
mod property;
mod report;
mod summary;
mod worker;

pub(crate) use case::{arguments, load, with_deadline};
pub use conformance::conformance;
pub use discover::{DiscoverError, discover};
pub use one::run_program;
pub use parent::{Progress, run_all};
pub use report::{CaseKind, CaseReport, Kind, ProgramReport, Verdict};
pub use summary::Summary;
pub use worker::{WorkerArguments, serve};

use crate::target::Target;
use midend::ir::threshold::Forced;
use std::time::Duration;

/// The lane-instructions of a run on the emulator that are enough for a test.
pub const CAP: u64 = 2_000_000_000;

/// How tests are run.
#[derive(Clone, Debug)]
pub struct TestOptions {
    /// What programs run on.
    pub target: Target,
    /// Time for each case.
    pub timeout: Duration,
    /// Bytes that the arrays of a run may occupy.
    pub memory_limit: u64,
    /// The most lane-instructions of a run on the emulator.
    pub cap: u64,
    /// Tags of programs and cases to leave out.
    pub exclude: Vec<String>,
    /// Run only this entry point.
    pub entry: Option<String>,
    /// Whether the messages of rejected programs must match, too.
    pub match_messages: bool,
    /// What thresholds are to be.
    pub thresholds: Forced,
    /// Whether to run each case again for each threshold: this one at 0, the others at infinity.
    pub each_threshold: bool,
    /// Whether the interpreter checks what analyses claim.
    pub claims: bool,
    /// Whether to test the laws of operators, too.
    pub laws: bool,
    /// Whether to test the derivatives of entry points, too.
    pub derivatives: bool,
    /// Whether to look for writes of different values to one place.
    pub collisions: bool,
    /// What passes read.
    pub passes: midend::pass::Options,
    /// How properties are tested.
    pub properties: PropertyOptions,
}

/// How properties are tested.
#[derive(Clone, Copy, Debug)]
pub struct PropertyOptions {
    /// How many candidates to try.
    pub tests: u32,
    /// The size of candidates, where the property does not say it.
    pub size: i64,
    /// What the seeds of candidates come from.
    pub seed: u64,
    /// How often in a row a shrinker may fail to make a smaller counterexample before it is given up.
    pub tries: u32,
}

impl Default for PropertyOptions {
    fn default() -> Self {
        Self {
            tests: 100,
            size: 50,
            seed: 0x5eed,
            tries: 5,
        }
    }
}

impl Default for TestOptions {
    fn default() -> Self {
        Self {
            // A test must not depend on what is expected to be fast.
            target: Target::Cpu,
            timeout: Duration::from_secs(10),
            memory_limit: 8 << 30,
            cap: CAP,
            exclude: Vec::new(),
            entry: None,
            match_messages: false,
            thresholds: Forced::new(),
            each_threshold: false,
            claims: false,
            laws: false,
            derivatives: false,
            collisions: false,
            passes: midend::pass::Options::default(),
            properties: PropertyOptions::default(),
        }
    }
}

impl TestOptions {
    /// Whether what has these tags is left out.
    fn excludes(&self, tags: &[String]) -> bool {
        let no_target = self.target.exclusion_tag();
        tags.iter().any(|tag| {
            matches!(tag.as_str(), "disable" | "notest")
                || *tag == no_target
                || self.exclude.contains(tag)
        })
    }
}
