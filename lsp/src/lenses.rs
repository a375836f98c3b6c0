//! Code lenses: an entry point is run on the inputs of its test blocks, and an example of a documentation comment is evaluated. The
//! host does that while the server goes on to answer; what came of it stands in the lens until something is typed.

use crate::position::Lines;
use crate::{Job, Report};
use lsp_types::{CodeLens, Command, Position, Range};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The command of a lens.
pub(crate) const COMMAND: &str = "arrc.start";

/// More letters of a value or a message than these are left out of a lens.
const WIDTH: usize = 80;

/// What came of jobs, nothing for those that are not done.
pub(crate) type Reports = BTreeMap<Job, Option<Report>>;

/// The lenses of a text.
pub(crate) fn of(path: &str, text: &str, lines: &Lines, reports: &Reports) -> Vec<CodeLens> {
    let mut lenses = Vec::new();
    for (at, job) in jobs(path, text) {
        let start = lines.position(text, at);
        let command = Command {
            title: title(&job, reports.get(&job)),
            command: COMMAND.to_owned(),
            arguments: Some(vec![argument(&job)]),
        };
        lenses.push(CodeLens {
            range: Range::new(start, Position::new(start.line, start.character + 2)),
            command: Some(command),
            data: None,
        });
    }
    lenses
}

fn title(job: &Job, report: Option<&Option<Report>>) -> String {
    let what = match job {
        Job::Test { entry, .. } => format!("test {entry}"),
        Job::Evaluate { .. } => String::from("evaluate"),
    };
    match report {
        None => what,
        Some(None) => format!("{what} ..."),
        Some(Some(report)) => {
            let line = match job {
                // How many runs passed.
                Job::Test { .. } => report.text.lines().find(|line| line.starts_with("runs: ")),
                Job::Evaluate { .. } => None,
            };
            let line = line.or_else(|| report.text.lines().find(|line| !line.trim().is_empty()));
            let mut line = line.unwrap_or("done").trim().to_owned();
            if let Some((end, _)) = line.char_indices().nth(WIDTH) {
                line.truncate(end);
                line.push_str("...");
            }
            format!("{what}: {line}")
        }
    }
}

fn argument(job: &Job) -> Value {
    match job {
        Job::Test { file, entry } => json!({"file": file, "entry": entry}),
        Job::Evaluate { file, expression } => json!({"file": file, "expression": expression}),
    }
}

/// The job of a command, from its arguments.
pub(crate) fn job(arguments: &[Value]) -> Option<Job> {
    let argument = arguments.first()?;
    let text = |name: &str| Some(argument.get(name)?.as_str()?.to_owned());
    let file = PathBuf::from(text("file")?);
    match (text("entry"), text("expression")) {
        (Some(entry), _) => Some(Job::Test { file, entry }),
        (None, Some(expression)) => Some(Job::Evaluate { file, expression }),
        (None, None) => None,
    }
}

/// What can be done in a text, and at which bytes: the beginnings of test blocks and of examples.
fn jobs(path: &str, text: &str) -> Vec<(usize, Job)> {
    let mut lines = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start().len();
        lines.push((at + indent, line.trim().strip_prefix("--").map(str::trim)));
        at += line.len();
    }
    let mut jobs = Vec::new();
    for (i, (at, comment)) in lines.iter().enumerate() {
        let rest = || lines[i + 1..].iter().map_while(|(_, comment)| *comment);
        let file = PathBuf::from(path);
        match comment {
            Some("==") => {
                let block = rest().take_while(|line| *line != "==");
                let mut entries: Vec<&str> = block
                    .filter_map(|line| line.strip_prefix("entry:"))
                    .flat_map(str::split_whitespace)
                    .collect();
                if entries.is_empty() {
                    entries.push("main");
                }
                jobs.extend(entries.into_iter().map(|entry| {
                    let entry = entry.to_owned();
                    let file = file.clone();
                    (*at, Job::Test { file, entry })
                }));
            }
            Some(line) => {
                let Some(first) = line.strip_prefix(">>>") else {
                    continue;
                };
                let mut expression = first.trim().to_owned();
                for more in rest().map_while(|line| line.strip_prefix("...")) {
                    expression.push('\n');
                    expression.push_str(more);
                }
                jobs.push((*at, Job::Evaluate { file, expression }));
            }
            None => {}
        }
    }
    jobs
}

#[cfg(test)]
mod tests {
    use super::{Reports, job, jobs, of, title};
    use crate::position::Lines;
    use crate::{Job, Report};
    use std::path::PathBuf;

    const TEXT: &str = "\
-- | Twice.
-- >>> twice
-- ... 3
-- 6
def twice (x: i64) = 2 * x
-- ==
-- entry: one two
-- input { 1i64 } output { 2i64 }
-- ==
-- input { 2i64 }
entry main = twice
";

    #[test]
    fn blocks_and_examples_have_lenses() {
        let file = PathBuf::from("a.fut");
        let test = |entry: &str| Job::Test {
            file: file.clone(),
            entry: entry.to_owned(),
        };
        let example = Job::Evaluate {
            file: file.clone(),
            expression: "twice\n 3".to_owned(),
        };
        let found = jobs("a.fut", TEXT);
        let lines: Vec<usize> = found
            .iter()
            .map(|(at, _)| TEXT[..*at].matches('\n').count())
            .collect();
        assert_eq!(lines, [1, 5, 5, 8]);
        let found: Vec<Job> = found.into_iter().map(|(_, job)| job).collect();
        assert_eq!(found, [example, test("one"), test("two"), test("main")]);
        let lenses = of("a.fut", TEXT, &Lines::new(TEXT), &Reports::new());
        for (lens, found) in lenses.iter().zip(&found) {
            let arguments = lens.command.as_ref().and_then(|c| c.arguments.as_ref());
            assert_eq!(job(arguments.expect("arguments")), Some(found.clone()));
        }
    }

    #[test]
    fn titles_tell_what_came_of_a_job() {
        let test = Job::Test {
            file: PathBuf::new(),
            entry: "main".to_owned(),
        };
        let report = |text: &str| {
            Some(Report {
                good: true,
                text: text.to_owned(),
            })
        };
        assert_eq!(title(&test, None), "test main");
        assert_eq!(title(&test, Some(&None)), "test main ...");
        let passed = report("programs: 1 of 1 passed\nruns: 2 of 2 passed\n");
        assert_eq!(
            title(&test, Some(&passed)),
            "test main: runs: 2 of 2 passed"
        );
        let long = title(&test, Some(&report(&"é".repeat(200))));
        assert!(long.ends_with("é..."), "{long}");
    }
}
