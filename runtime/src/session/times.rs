//! How long compiling a program took.

use std::time::Duration;

/// How long compiling a program took, by what was done.
#[derive(Clone, Debug, Default)]
pub struct CompileTimes {
    /// From source text to nested IR.
    pub front: Duration,
    /// The passes, in the order in which they ran.
    pub passes: Vec<PassTime>,
    /// From the plan to what the device runs. Code that is made when it is first needed is not among it.
    pub kernels: Duration,
}

/// How long a pass took.
#[derive(Clone, Copy, Debug)]
pub struct PassTime {
    /// Its name.
    pub pass: &'static str,
    /// The pass itself.
    pub time: Duration,
    /// Verifying what it made.
    pub verify: Duration,
}

impl CompileTimes {
    /// All of it.
    pub fn total(&self) -> Duration {
        let passes = self.passes.iter().map(|pass| pass.time + pass.verify);
        self.front + passes.sum::<Duration>() + self.kernels
    }
}
