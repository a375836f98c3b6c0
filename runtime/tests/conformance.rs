//! `docs/conformance.md` says what a run over Futhark's own test-suite says now.
//!
//! The suite is not part of this repository: `FUTHARK_TESTS` names its folder `tests`, and without it there is nothing to
//! compare (the test is shown as ignored). With optimisation this takes minutes:
//!
//! ```sh
//! FUTHARK_TESTS=CHECKOUT/tests cargo test --release -p arrc --test conformance
//! ```
//!
//! `ARRC_BLESS=1` writes the page instead.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let suite = std::env::var_os("FUTHARK_TESTS").filter(|folders| !folders.is_empty());
    let suite = suite.and_then(|folders| std::env::split_paths(&folders).next());
    let absent = suite.is_none();
    let compare = move || compare(&suite.unwrap_or_default());
    let trials = vec![
        Trial::test("the_page_is_up_to_date", compare).with_ignored_flag(absent),
        Trial::test("differences_are_named", differences_are_named),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn compare(suite: &Path) -> Result<(), Failed> {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance.md");
    let output = Command::new(env!("CARGO_BIN_EXE_arrc"))
        .args(["test", "--target=cpu", "--timeout=90"])
        .arg(format!("--conformance={}", fresh.display()))
        .arg(suite)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let now = std::fs::read_to_string(&fresh).map_err(|why| format!("no page: {why}\n{said}"))?;
    if std::env::var_os("ARRC_BLESS").is_some() {
        return Ok(std::fs::write(page, now)?);
    }
    let recorded = std::fs::read_to_string(page)?;
    match difference(&recorded, &now) {
        None => Ok(()),
        Some(difference) => {
            Err(format!("docs/conformance.md is out of date:\n{difference}").into())
        }
    }
}

/// What stands in one page and not in the other: rows, headings, and each program below its heading.
fn difference(recorded: &str, now: &str) -> Option<String> {
    let (old, new) = (items(recorded), items(now));
    let gone = old.difference(&new).map(|item| format!("- {item}\n"));
    let come = new.difference(&old).map(|item| format!("+ {item}\n"));
    let text: String = gone.chain(come).collect();
    (recorded != now).then_some(text)
}

fn items(page: &str) -> BTreeSet<String> {
    let mut heading = "";
    let mut all = BTreeSet::new();
    for line in page.lines() {
        if line.starts_with("**") {
            heading = line;
            all.insert(line.to_owned());
        } else if line.starts_with('`') {
            let names = line.split(", ");
            all.extend(names.map(|name| format!("{heading}: {name}")));
        } else {
            all.insert(line.to_owned());
        }
    }
    all
}

fn differences_are_named() -> Result<(), Failed> {
    let page = |count, names: &str| format!("| programs | {count} |\n\n**wrong** (2)\n\n{names}\n");
    let (old, new) = (page(1, "`a.fut`, `b.fut`"), page(2, "`b.fut`, `c.fut`"));
    let expected = "- **wrong** (2): `a.fut`\n- | programs | 1 |\n+ **wrong** (2): `c.fut`\n+ | programs | 2 |\n";
    if difference(&old, &new).as_deref() != Some(expected) || difference(&old, &old).is_some() {
        return Err(format!("{:?}", difference(&old, &new)).into());
    }
    Ok(())
}
