//! Properties: entry points that must be true of all arguments, tested on many.
//!
//! A property is tried on candidates that come from a size and a seed: random ones, or what its generator makes of the two.
//! The first candidate of which it is false is a counterexample, which is made smaller as long as it stays one.

mod candidate;
mod shrink;
mod subject;

use super::case::with_deadline;
use super::cause::of_run_error;
use super::{CaseKind, CaseReport, PropertyOptions, TestOptions, Verdict};
use crate::data::source_text;
use crate::session::{Program, Session};
use crate::spec::SplitMix;
use midend::trap::RunError;
use midend::value::Value;
use std::collections::BTreeSet;
use std::time::Instant;
use subject::{Subject, subject};

/// A counterexample is shown up to this many characters.
pub(super) const SHOWN: usize = 4000;

/// Tests the properties that the test blocks of a program declare. A property that no block declares is a mistake, too.
pub(super) fn test_properties(
    program: &Program,
    session: &Session,
    declared: &[String],
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> Vec<CaseReport> {
    let wanted = |name: &&str| options.entry.as_deref().is_none_or(|entry| entry == *name);
    let mut reports = Vec::new();
    for name in declared.iter().map(String::as_str).filter(wanted) {
        let title = format!("property {name}");
        begin(&title);
        let start = Instant::now();
        let mut verdict = Verdict::Pass;
        with_deadline(session, options.timeout, || {
            verdict = match subject(program, name) {
                Ok(subject) => tested(&subject, &options.properties),
                Err(why) => wrong(why),
            };
        });
        let micros = u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX);
        reports.push(report(title, verdict, micros));
    }
    let attributed = program.properties().iter().map(|p| p.entry.as_str());
    for name in attributed.collect::<BTreeSet<_>>() {
        if !declared.iter().any(|d| d == name) && wanted(&name) {
            let why = format!(
                "`{name}` has the attribute `#[prop]`, but no test block says `property: {name}`"
            );
            reports.push(report(format!("property {name}"), wrong(why), 0));
        }
    }
    reports
}

fn report(title: String, verdict: Verdict, micros: u64) -> CaseReport {
    CaseReport {
        title,
        kind: CaseKind::Property,
        verdict,
        relative_error: None,
        micros,
    }
}

/// The verdict on what cannot be tested as it is declared.
fn wrong(why: String) -> Verdict {
    Verdict::fail("a property that cannot be tested", why)
}

/// Why there is no answer.
enum Trouble {
    /// A call failed; with what was called.
    Run(String, RunError),
    /// There is no way to make a candidate.
    Candidate(String),
}

impl Trouble {
    fn verdict(self) -> Verdict {
        match self {
            Self::Run(what, error) => {
                Verdict::fail(of_run_error(&error), format!("{what}: {error}"))
            }
            Self::Candidate(why) => wrong(why),
        }
    }
    fn text(&self) -> String {
        match self {
            Self::Run(what, error) => format!("{what}: {error}"),
            Self::Candidate(why) => why.clone(),
        }
    }
}

/// Looks for a counterexample.
fn tested(subject: &Subject<'_>, options: &PropertyOptions) -> Verdict {
    let size = subject.property.size.unwrap_or(options.size);
    let mut seeds = SplitMix(options.seed);
    for test in 1..=options.tests {
        let seed = seeds.next();
        let candidate = match subject.candidate(size, seed) {
            Ok(candidate) => candidate,
            Err(trouble) => return trouble.verdict(),
        };
        match subject.holds(&candidate) {
            Ok(true) => {}
            Ok(false) => {
                let found = shrink::Found {
                    candidate,
                    size,
                    seed,
                };
                let (smallest, note) = shrink::shrunk(subject, found, &mut seeds, options.tries);
                let text = shown(subject, &smallest);
                let detail = format!(
                    "`{}` is false (test {test}, size {size}, --seed={})\ncounterexample: {text}{note}",
                    subject.property.entry, options.seed
                );
                return Verdict::fail("a property does not hold", detail);
            }
            Err(error) => {
                let detail = format!(
                    "`{}` failed (test {test}, size {size}, --seed={}): {error}\nthe argument was: {}",
                    subject.property.entry,
                    options.seed,
                    shown(subject, &candidate)
                );
                return Verdict::fail(of_run_error(&error), detail);
            }
        }
    }
    Verdict::Pass
}

fn shown(subject: &Subject<'_>, candidate: &[Value]) -> String {
    let text = source_text(subject.ty, candidate);
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}... ({} characters)", &text[..end], text.chars().count()),
        None => text,
    }
}
