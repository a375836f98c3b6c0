//! Parses every program of a checkout of Futhark's tests, named by `FUTHARK_TESTS` (a list of directories
//! separated by colons). Without the variable there is nothing to do.
#![allow(
    clippy::print_stdout,
    reason = "the counts are what one runs this test for"
)]

mod support;

use frontend::render::{Look, render};
use frontend::source::SourceMap;
use frontend::syntax::parse_program_bytes;
use support::programs;

/// Whether the first test block says that the program must be refused.
fn must_be_refused(text: &str) -> bool {
    let mut lines = text.lines().skip_while(|line| !line.starts_with("-- =="));
    lines.next();
    let mut block = lines.take_while(|line| line.starts_with("--"));
    let first = block.find(|line| !line[2..].trim().is_empty() && !line.contains("tags"));
    first.is_some_and(|line| line[2..].trim_start().starts_with("error:"))
}

#[test]
fn outside_programs_parse() {
    let Some(directories) = std::env::var_os("FUTHARK_TESTS") else {
        return;
    };
    let mut found = Vec::new();
    for directory in std::env::split_paths(&directories) {
        programs(&directory, &mut found);
    }
    found.sort();
    let (mut parsed, mut refused, mut wrong) = (0, 0, 0);
    for path in &found {
        let bytes = std::fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let mut sources = SourceMap::new();
        let file = sources.add(path.display().to_string(), text.as_str());
        match parse_program_bytes(file, &bytes) {
            Ok(_) => parsed += 1,
            Err(errors) => {
                let expected = must_be_refused(&text);
                refused += usize::from(expected);
                wrong += usize::from(!expected);
                println!("{}:", if expected { "refused" } else { "WRONG" });
                for error in errors {
                    println!("{}", render(&sources, &error, Look::Plain));
                }
            }
        }
    }
    println!(
        "{} programs: {parsed} parse, {refused} of the error tests do not, {wrong} wrong",
        found.len()
    );
    assert_eq!(wrong, 0, "every program outside the error tests must parse");
}
