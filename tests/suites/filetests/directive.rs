//! What stands in a file besides the program.

use crate::run::{Case, Outcome, Values};
use libtest_mimic::Failed;

const EXPECTED: &str = "; ---- expected";

/// A test file.
pub(crate) struct File {
    /// Everything before the expectation; comments do not disturb the reader.
    pub(crate) program: String,
    /// What to run.
    pub(crate) cases: Vec<Case>,
    /// Whether it is about a device that the host waits for: `; device: synchronous`.
    pub(crate) is_synchronous: bool,
    /// What the pass should make, or nothing if that was not written down yet.
    expected: Option<String>,
}

impl File {
    /// Takes a file apart.
    pub(crate) fn parse(text: &str) -> Result<Self, Failed> {
        let (program, expected) = match text.split_once(EXPECTED) {
            Some((program, expected)) => (program, Some(uncomment(expected))),
            None => (text, None),
        };
        if !program.contains("; why: ") {
            return Err("the file does not say why it is here: `; why: ..`".into());
        }
        let mut cases = Vec::new();
        for line in program.lines() {
            if let Some(case) = line.strip_prefix("; run: ") {
                let (call, results) = case.split_once("==").ok_or("`run:` needs `==`")?;
                let results = Values::new(results).all()?;
                cases.push(case_of(call, Outcome::Gives(results))?);
            } else if let Some(case) = line.strip_prefix("; fails: ") {
                let (call, message) = case.split_once(" with ").ok_or("`fails:` needs `with`")?;
                let message = message.trim().trim_matches('"').to_owned();
                cases.push(case_of(call, Outcome::Fails(message))?);
            }
        }
        Ok(Self {
            program: program.to_owned(),
            cases,
            is_synchronous: program.lines().any(|line| line == "; device: synchronous"),
            expected,
        })
    }

    /// The file with another expectation.
    pub(crate) fn blessed(&self, printed: &str) -> String {
        let mut text = format!("{}\n\n{EXPECTED}\n", self.program.trim_end());
        for line in printed.lines() {
            text.push_str(format!("; {line}").trim_end());
            text.push('\n');
        }
        text
    }

    /// Compares what the pass made with what it should make.
    pub(crate) fn compare(&self, printed: &str) -> Result<(), Failed> {
        match &self.expected {
            None => Err(format!("no expectation yet; ARRC_BLESS=1 writes one:\n{printed}").into()),
            Some(expected) if expected.trim() == printed.trim() => Ok(()),
            Some(expected) => Err(format!("expected\n{expected}\nfound\n{printed}").into()),
        }
    }
}

fn case_of(call: &str, outcome: Outcome) -> Result<Case, Failed> {
    let call = call.trim();
    let (entry, args) = call.split_once(' ').unwrap_or((call, ""));
    Ok(Case {
        entry: entry.to_owned(),
        args: Values::new(args).all()?,
        outcome,
    })
}

fn uncomment(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.strip_prefix(';').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line)
    });
    lines.collect::<Vec<_>>().join("\n")
}
