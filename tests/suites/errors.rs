//! Messages: what the compiler says about wrong programs, to the column.
//!
//! Each file below `tests/errors` is a program whose messages are written after the lines that they are about:
//!
//! ```text
//! def f (x: i64) : i64 = x +
//! --                       ^ error[E0102]: a part of the message
//! --                   ~~~ what another label says
//! -- = what a note or a hint says
//! ```
//!
//! A place that begins too far left for that is written `-- @1-5 error[..]: ..`. These lines are taken out before the program
//! is compiled. Every code has a program here or is in [`ELSEWHERE`]; `docs/errors.md` is made of them.
//! `ARRC_BLESS=1` writes what the compiler says into the files, and that page, instead of comparing.

#[path = "errors/index.rs"]
mod index;
#[path = "errors/mark.rs"]
mod mark;

use arrc::loader::FileLoader;
use frontend::diagnostic::{Code, Diagnostic};
use frontend::render::{Look, render_all};
use libtest_mimic::{Arguments, Failed, Trial};
use mark::{Mark, Marked};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Codes that no small file provokes, and where they are tested.
const ELSEWHERE: &[(Code, &str)] = &[
    (Code::BadText, "frontend/src/syntax/tests/errors.rs"),
    (Code::TooDeep, "frontend/src/syntax/tests/errors.rs"),
];

#[expect(
    clippy::print_stderr,
    reason = "a test program without the harness tells why it cannot start"
)]
fn main() -> ExitCode {
    let args = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    if std::env::var_os("ARRC_BLESS").is_some()
        && let Err(why) = bless(&root)
    {
        eprintln!("{why}");
        return ExitCode::FAILURE;
    }
    let mut trials = Vec::new();
    for path in programs(&root.join("tests/errors")) {
        let title = title(&path, &root.join("tests/errors"));
        let name = format!("{title}.fut");
        trials.push(Trial::test(title, move || test(&path, &name)));
    }
    trials.push(Trial::test("every code has a program", {
        let root = root.clone();
        move || every_code(&root)
    }));
    trials.push(Trial::test("the index of codes", move || {
        index::test(&root)
    }));
    libtest_mimic::run(&args, trials).exit_code()
}

/// Writes what the compiler says.
fn bless(root: &Path) -> std::io::Result<()> {
    let folder = root.join("tests/errors");
    for path in programs(&folder) {
        let marked = Marked::parse(&fs::read_to_string(&path)?);
        let name = format!("{}.fut", title(&path, &folder));
        let outcome = compile(&name, &marked.program);
        let said = mark::said(outcome.loader.sources(), &outcome.diagnostics);
        fs::write(&path, marked.with(&said))?;
    }
    fs::write(root.join(index::PATH), index::page(root)?)
}

/// All programs, sorted.
fn programs(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(programs(&path));
        } else if path.extension().is_some_and(|ext| ext == "fut") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn title(path: &Path, root: &Path) -> String {
    let relative = path.strip_prefix(root).unwrap_or(path).with_extension("");
    relative.to_string_lossy().replace('\\', "/")
}

/// What the compiler says about a program.
struct Outcome {
    loader: FileLoader,
    diagnostics: Vec<Diagnostic>,
}

/// Compiles a program under a name, which does not depend on where the repository lies.
fn compile(name: &str, text: &str) -> Outcome {
    let mut loader = FileLoader::new();
    let file = loader.add_text(name, text);
    let diagnostics = match frontend::compile(file, &mut loader) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    };
    Outcome {
        loader,
        diagnostics,
    }
}

impl Outcome {
    fn rendered(&self) -> String {
        render_all(self.loader.sources(), &self.diagnostics, Look::Plain)
    }
}

fn test(path: &Path, name: &str) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let marked = Marked::parse(&text);
    let outcome = compile(name, &marked.program);
    let said = mark::said(outcome.loader.sources(), &outcome.diagnostics);
    if said.is_empty() {
        return Err("the compiler says nothing about this program".into());
    }
    let (missing, extra) = mark::difference(&marked.marks, &said);
    if missing.is_empty() && extra.is_empty() {
        return Ok(());
    }
    let show = |marks: &[&Mark]| -> String { marks.iter().map(|m| format!("  {m}\n")).collect() };
    let (missing, extra) = (show(&missing), show(&extra));
    Err(format!(
        "expected, but not said:\n{missing}said, but not expected:\n{extra}\n{}",
        outcome.rendered()
    )
    .into())
}

/// The codes that a program's marks name.
fn codes_of(marked: &Marked) -> Vec<Code> {
    let named = |code: &Code| {
        let tag = format!("[{code}]");
        marked.marks.iter().any(|mark| mark.text.contains(&tag))
    };
    Code::ALL.iter().copied().filter(named).collect()
}

fn every_code(root: &Path) -> Result<(), Failed> {
    let mut seen: Vec<Code> = ELSEWHERE.iter().map(|(code, _)| *code).collect();
    for path in programs(&root.join("tests/errors")) {
        seen.extend(codes_of(&Marked::parse(&fs::read_to_string(path)?)));
    }
    let missing: Vec<String> = Code::ALL
        .iter()
        .filter(|code| !seen.contains(code))
        .map(|code| format!("{code} ({code:?})"))
        .collect();
    if missing.is_empty() {
        Ok(())
    } else {
        Err(format!("no program in tests/errors shows {}", missing.join(", ")).into())
    }
}
