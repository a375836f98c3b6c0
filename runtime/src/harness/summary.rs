//! Counting reports, and telling the counts.

use super::{CaseKind, Kind, ProgramReport, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// How many passed, failed and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Passed.
    pub passed: usize,
    /// Failed.
    pub failed: usize,
    /// Left out.
    pub skipped: usize,
}

impl Counts {
    fn add(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Pass => self.passed += 1,
            Verdict::Fail { .. } => self.failed += 1,
            Verdict::Skip { .. } => self.skipped += 1,
        }
    }
    /// Passed and failed.
    pub fn tried(&self) -> usize {
        self.passed + self.failed
    }
}

/// What came of all the tests.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Programs.
    pub programs: Counts,
    /// Programs that must run.
    pub run: Counts,
    /// Programs that must be rejected.
    pub reject: Counts,
    /// Programs that must compile.
    pub compile: Counts,
    /// Runs, those with nothing to compare with not among them.
    pub cases: Counts,
    /// Runs that are compared with the interpreter.
    pub auto: Counts,
    /// Runs whose results have nothing to be compared with.
    pub auto_unchecked: Counts,
    /// Properties.
    pub properties: Counts,
    /// The largest relative error that was let pass.
    pub worst_relative_error: f64,
    /// The programs that failed, by cause.
    pub causes: BTreeMap<String, Vec<String>>,
}

impl Summary {
    /// Counts reports.
    pub fn of(reports: &[ProgramReport]) -> Self {
        let mut summary = Self::default();
        for report in reports {
            summary.programs.add(&report.verdict);
            match report.kind {
                Kind::Run => summary.run.add(&report.verdict),
                Kind::Reject => summary.reject.add(&report.verdict),
                Kind::Compile => summary.compile.add(&report.verdict),
            }
            if let Verdict::Fail { cause, .. } = &report.verdict {
                let programs = summary.causes.entry(cause.clone()).or_default();
                programs.push(report.path.clone());
            }
            for case in &report.cases {
                match case.kind {
                    CaseKind::Values | CaseKind::Failure | CaseKind::Success => {
                        summary.cases.add(&case.verdict);
                    }
                    CaseKind::Auto => summary.auto.add(&case.verdict),
                    CaseKind::AutoUnchecked => summary.auto_unchecked.add(&case.verdict),
                    CaseKind::Property => summary.properties.add(&case.verdict),
                }
                if let (Verdict::Pass, Some(error)) = (&case.verdict, case.relative_error) {
                    summary.worst_relative_error = summary.worst_relative_error.max(error);
                }
            }
        }
        summary
    }

    /// The causes, those with most programs first.
    pub fn by_frequency(&self) -> Vec<(&str, &[String])> {
        let mut causes: Vec<_> = self
            .causes
            .iter()
            .map(|(cause, programs)| (cause.as_str(), programs.as_slice()))
            .collect();
        causes.sort_by_key(|(_, programs)| std::cmp::Reverse(programs.len()));
        causes
    }

    /// The counts in a few lines.
    pub fn counts_text(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, counts: Counts| {
            if counts == Counts::default() {
                return;
            }
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "{name}: {} of {} passed",
                counts.passed,
                counts.tried()
            );
            if counts.skipped > 0 {
                let _ = write!(text, ", {} left out", counts.skipped);
            }
            text.push('\n');
        };
        line("programs", self.programs);
        line("  that must run", self.run);
        line("  that must be rejected", self.reject);
        line("  that must compile", self.compile);
        line("runs", self.cases);
        line("  compared with the interpreter", self.auto);
        line("  with nothing to compare with", self.auto_unchecked);
        line("properties", self.properties);
        if self.worst_relative_error > 0.0 {
            let _ = writeln!(
                text,
                "largest relative error that passed: {:.2e}",
                self.worst_relative_error
            );
        }
        text
    }

    /// The causes of failures with some programs each.
    pub fn causes_text(&self, programs_each: usize) -> String {
        let mut text = String::new();
        for (cause, programs) in self.by_frequency() {
            let some: Vec<_> = programs
                .iter()
                .take(programs_each)
                .map(String::as_str)
                .collect();
            let dots = if programs.len() > some.len() {
                " ..."
            } else {
                ""
            };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{:5}  {cause}", programs.len());
            if !some.is_empty() {
                let _ = writeln!(text, "         {}{dots}", some.join(" "));
            }
        }
        text
    }
}
