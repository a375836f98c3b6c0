//! One program: compiled, and what its test blocks ask for done.

use super::case::run_case;
use super::cause::{generalise, is_syntax, of_diagnostic};
use super::derivatives::test_derivatives;
use super::laws::test_laws;
use super::property::test_properties;
use super::{CaseReport, Kind, ProgramReport, TestOptions, Verdict};
use crate::session::{CompileError, Program, Session};
use crate::spec::{Action, Case, Pattern, Spec};
use frontend::diagnostic::{Code, Severity};
use frontend::render::Look;
use midend::ir::threshold::{Forced, INFINITE};
use std::path::Path;
use std::time::Instant;

/// Tests the program at a path. `begin` is told of every case before it runs.
pub fn run_program(
    session: &Session,
    path: &Path,
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> ProgramReport {
    let start = Instant::now();
    let name = path.display().to_string();
    let mut report = match read_spec(path) {
        Ok(spec) => with_spec(session, path, &name, spec, options, begin),
        Err(why) => {
            let cause = format!("test block: {}", generalise(&why));
            ProgramReport::new(&name, Kind::Compile, Verdict::fail(cause, why))
        }
    };
    report.micros = micros(start);
    report
}

fn micros(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX)
}

fn read_spec(path: &Path) -> Result<Spec, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    Spec::parse(&String::from_utf8_lossy(&bytes)).map_err(|e| e.to_string())
}

fn with_spec(
    session: &Session,
    path: &Path,
    name: &str,
    spec: Spec,
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> ProgramReport {
    let kind = match &spec.action {
        Action::Reject(_) => Kind::Reject,
        Action::Accept {
            cases, properties, ..
        } if cases.is_empty() && properties.is_empty() => Kind::Compile,
        Action::Accept { .. } => Kind::Run,
    };
    if options.excludes(&spec.tags) {
        let why = format!("tags {}", spec.tags.join(" "));
        return ProgramReport::new(name, kind, Verdict::Skip { why });
    }
    begin("compile");
    let start = Instant::now();
    let compiled = session.compile_file(path);
    let compile_micros = micros(start);
    let mut report = ProgramReport::new(name, kind, Verdict::Pass);
    report.compile_micros = compile_micros;
    match (&spec.action, compiled) {
        (Action::Reject(pattern), Err(error)) => {
            report.verdict = rejected(pattern, &error, options);
        }
        (Action::Reject(pattern), Ok(_)) => {
            let detail = format!("it was accepted, but this was expected: {pattern}");
            report.verdict = Verdict::fail("accepted what must be rejected", detail);
        }
        (Action::Accept { .. }, Err(error)) => report.verdict = not_compiled(&error),
        (
            Action::Accept {
                cases,
                warnings,
                properties,
            },
            Ok(mut program),
        ) => {
            report.verdict = warned(warnings, &program, options);
            if let Err(why) = program.know_thresholds(&options.thresholds) {
                report.verdict = Verdict::fail("an unknown threshold", why);
            }
            report.cases = run_cases(&mut program, session, path, cases, options, begin);
            let tested = test_properties(&program, session, properties, options, begin);
            report.cases.extend(tested);
            if options.laws {
                let tested = test_laws(&program, session, options, begin);
                report.cases.extend(tested);
            }
            if options.derivatives {
                let at = (session, path);
                let tested = test_derivatives(&program, at, cases, options, begin);
                report.cases.extend(tested);
            }
            if let Verdict::Pass = report.verdict {
                report.verdict = over_all(&report.cases);
            }
        }
    }
    report
}

/// Failures beyond these are only counted.
const SHOWN: usize = 10;

/// The verdict on a program from those on its cases: the cause is that of the first failure, the text tells them all.
fn over_all(cases: &[CaseReport]) -> Verdict {
    let mut first = None;
    let mut texts = Vec::new();
    for case in cases {
        if let Verdict::Fail { cause, detail } = &case.verdict {
            first.get_or_insert(cause);
            texts.push(format!("{}: {detail}", case.title));
        }
    }
    let Some(cause) = first else {
        return Verdict::Pass;
    };
    let more = texts.len().saturating_sub(SHOWN);
    texts.truncate(SHOWN);
    if more > 0 {
        texts.push(format!("{more} more"));
    }
    Verdict::fail(cause.clone(), texts.join("\n"))
}

fn run_cases(
    program: &mut Program,
    session: &Session,
    path: &Path,
    cases: &[Case],
    options: &TestOptions,
    begin: &mut dyn FnMut(&str),
) -> Vec<CaseReport> {
    let wanted = |case: &&Case| {
        options
            .entry
            .as_ref()
            .is_none_or(|name| *name == case.entry)
    };
    let cases: Vec<&Case> = cases.iter().filter(wanted).collect();
    let mut reports = Vec::new();
    for case in &cases {
        begin(&case.title());
        reports.push(run_case(program, session, path, case, options));
    }
    if options.each_threshold {
        for name in program
            .thresholds()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
        {
            let mut forced = Forced::all(INFINITE);
            forced.named.insert(name.clone(), 0);
            program.force(forced);
            for case in &cases {
                let title = format!("{}, {name} alone", case.title());
                begin(&title);
                let report = run_case(program, session, path, case, options);
                reports.push(CaseReport { title, ..report });
            }
        }
    }
    reports
}

fn not_compiled(error: &CompileError) -> Verdict {
    let text = error.render(Look::Plain);
    match error.first_error() {
        Some(first) => Verdict::fail(of_diagnostic(first), text),
        // The name of the pass to blame is in quotes, and to be kept; the first fault says what is wrong.
        None if error.is_internal() => {
            let mut lines = text.lines().map(|line| line.replace('`', "'"));
            let first = generalise(&lines.next().unwrap_or_default());
            let fault = lines.next().unwrap_or_default();
            let fault = fault.rsplit(": ").next().unwrap_or_default();
            Verdict::fail(format!("{first}: {}", generalise(fault)), text)
        }
        None => Verdict::fail(format!("not compiled: {}", generalise(&text)), text),
    }
}

/// Whether a rejection is the one that was expected.
fn rejected(pattern: &Pattern, error: &CompileError, options: &TestOptions) -> Verdict {
    let text = error.render(Look::Plain);
    let Some(first) = error.first_error() else {
        let cause = if error.is_internal() {
            String::from("accepted what must be rejected, and then failed to compile it")
        } else {
            format!("not compiled: {}", generalise(&text))
        };
        return Verdict::fail(cause, text);
    };
    if first.code == Code::NotYetSupported {
        return Verdict::fail(of_diagnostic(first), text);
    }
    if is_syntax(first.code) && !about_syntax(pattern) {
        return Verdict::fail("rejected for its syntax, not for its meaning", text);
    }
    if options.match_messages && !pattern.matches(&text) {
        let detail = format!("the message was expected to match {pattern}; it is\n{text}");
        return Verdict::fail("rejected with another message", detail);
    }
    Verdict::Pass
}

/// Whether the expected message may be one about syntax; it may be if it may be any.
fn about_syntax(pattern: &Pattern) -> bool {
    let text = pattern.to_string().to_ascii_lowercase();
    let words = [
        "syntax",
        "pars",
        "lexical",
        "token",
        "unexpected",
        "expected",
        "literal",
        "infix",
        "e01",
    ];
    pattern.is_any() || words.iter().any(|word| text.contains(word))
}

fn warned(patterns: &[Pattern], program: &Program, options: &TestOptions) -> Verdict {
    let warnings: Vec<String> = program
        .warnings()
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| frontend::render::render(program.sources(), d, Look::Plain))
        .collect();
    for pattern in patterns {
        // A pattern that matches nothing at all asks for no warning.
        if !pattern.is_any() && pattern.matches("") {
            if let Some(first) = warnings.first() {
                return Verdict::fail("a warning where none is expected", first.clone());
            }
            continue;
        }
        let found = if options.match_messages {
            warnings.iter().any(|w| pattern.matches(w))
        } else {
            !warnings.is_empty()
        };
        if !found {
            let detail = format!("no warning matches {pattern}");
            return Verdict::fail("an expected warning was not given", detail);
        }
    }
    Verdict::Pass
}
