//! What came of the tests, as data.

use serde::{Deserialize, Serialize};

/// What a program is there to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// That it runs as it should.
    Run,
    /// That it is rejected.
    Reject,
    /// That it compiles.
    Compile,
}

/// What came of a program or a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// What should happen happened.
    Pass,
    /// It did not.
    Fail {
        /// The cause, without what differs between programs that fail for one cause.
        cause: String,
        /// The whole message.
        detail: String,
    },
    /// It was left out.
    Skip {
        /// Why.
        why: String,
    },
}

impl Verdict {
    pub(super) fn fail(cause: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::Fail {
            cause: cause.into(),
            detail: detail.into(),
        }
    }
    /// Whether this is a failure.
    pub fn is_fail(&self) -> bool {
        matches!(self, Self::Fail { .. })
    }
}

/// What a case is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseKind {
    /// Values that the test gives.
    Values,
    /// A failure that the test describes.
    Failure,
    /// Nothing: it must not fail.
    Success,
    /// The results of the interpreter.
    Auto,
    /// What would be the results of a reference, where there is none or it takes too long: it must not fail.
    AutoUnchecked,
    /// Nothing: it must be true of all arguments.
    Property,
}

/// What came of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseReport {
    /// Entry point, line and name.
    pub title: String,
    /// What it was compared with.
    pub kind: CaseKind,
    /// What came of it.
    pub verdict: Verdict,
    /// The largest relative error of a float in the result, where there is one and it is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// How long it took, in microseconds.
    pub micros: u64,
}

/// What came of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramReport {
    /// The path as it was found.
    pub path: String,
    /// What the program is there to show.
    pub kind: Kind,
    /// The verdict over all: the first failure, if there is one.
    pub verdict: Verdict,
    /// The runs.
    pub cases: Vec<CaseReport>,
    /// How long all of it took, in microseconds.
    pub micros: u64,
    /// How long compilation took, in microseconds.
    pub compile_micros: u64,
}

impl ProgramReport {
    pub(super) fn new(path: &str, kind: Kind, verdict: Verdict) -> Self {
        Self {
            path: path.to_owned(),
            kind,
            verdict,
            cases: Vec::new(),
            micros: 0,
            compile_micros: 0,
        }
    }
}
