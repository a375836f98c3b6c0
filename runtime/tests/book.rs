//! The chapters of the book do what they say: every block of theirs is executed.
//!
//! | block | what is done with it |
//! |---|---|
//! | `futhark` | compiled; with `futhark,file=NAME` it is a file for the blocks that follow |
//! | `futhark,fails` | does not compile |
//! | `repl` | lines after `> ` (going on after `. `) are typed into one session for each chapter, the others are what it answers |
//! | `console` | lines after `$ ` are run by a shell beside the files of the chapter, the others are what they print |
//! | `rust` | compiled and run by the documentation tests of the crate `arrc` |
//! | `text` | no code |
//!
//! In what is printed, `[..]` stands for anything within a line, and a line `...` for any number of lines.
//! `ARRC_BLESS=1` writes what was printed instead of what differs from it into the chapters.

use arrc::repl::{Repl, Settings};
use arrc::session::{Options, Session};
use arrc::target::Target;
use libtest_mimic::{Arguments, Failed, Trial};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let mut trials = vec![{
        let (summary, docs) = (summary.clone(), docs.clone());
        Trial::test("every_page_is_in_the_summary", move || {
            listed(&summary, &docs)
        })
    }];
    for chapter in chapters(&summary) {
        let path = docs.join(&chapter);
        trials.push(Trial::test(chapter, move || execute(&path)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The links of the summary.
fn links(summary: &str) -> impl Iterator<Item = &str> {
    summary
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
}

/// The chapters, which are in a directory of their own; the other pages are for reference.
fn chapters(summary: &str) -> Vec<String> {
    let chapters = links(summary).filter(|link| link.starts_with("book/"));
    chapters.map(str::to_owned).collect()
}

fn listed(summary: &str, docs: &Path) -> Result<(), Failed> {
    for (directory, prefix) in [(docs.to_owned(), ""), (docs.join("book"), "book/")] {
        for entry in std::fs::read_dir(directory)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            let link = format!("{prefix}{name}");
            if name.ends_with(".md") && name != "SUMMARY.md" && !links(summary).any(|l| l == link) {
                return Err(format!("docs/SUMMARY.md does not link to {link}").into());
            }
        }
    }
    Ok(())
}

/// What stands between two lines of backquotes.
struct Block<'a> {
    info: &'a str,
    /// Number of its first line in the chapter, from 0.
    line: usize,
    lines: Vec<&'a str>,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<Block<'_>> = None;
    for (number, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block {
                    info,
                    line: number + 1,
                    lines: Vec::new(),
                });
            }
            (None, Some(block)) => block.lines.push(line),
            (None, None) => {}
        }
    }
    blocks
}

/// Executes the blocks of a chapter in order.
fn execute(path: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(path)?;
    let missing = missing(&text);
    if !missing.is_empty() {
        return Err(format!("these are not in the repository: {}", missing.join(", ")).into());
    }
    let mut chapter = Chapter::new(path)?;
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let blocks = blocks(&text);
    if blocks.is_empty() {
        return Err("a chapter without a block".into());
    }
    let mut wrong = String::new();
    // From the last to the first, so that the numbers of lines stay right when blocks change.
    let mut changes = Vec::new();
    for block in &blocks {
        if let Some(now) = chapter.run(block)? {
            // Writing to a string cannot fail.
            let _ = writeln!(
                wrong,
                "line {}:\n{}\nis now\n{now}",
                block.line + 1,
                block.lines.join("\n")
            );
            changes.push((block, now));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    if std::env::var_os("ARRC_BLESS").is_none() {
        return Err(wrong.into());
    }
    for (block, now) in changes.into_iter().rev() {
        let place = block.line..block.line + block.lines.len();
        lines.splice(place, now.lines().map(str::to_owned));
    }
    Ok(std::fs::write(path, lines.join("\n") + "\n")?)
}

/// Paths of our packages, in backquotes, that are not there.
fn missing(text: &str) -> Vec<&str> {
    const PACKAGES: [&str; 7] = [
        "midend/",
        "frontend/",
        "runtime/",
        "backend-cpu/",
        "backend-ptx/",
        "tests/",
        "docs/",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let quoted = text.split('`').skip(1).step_by(2);
    let paths = quoted.filter(|code| PACKAGES.iter().any(|package| code.starts_with(package)));
    paths.filter(|path| !root.join(path).exists()).collect()
}

struct Chapter {
    /// Where its files are.
    directory: PathBuf,
    repl: Repl,
}

impl Chapter {
    fn new(path: &Path) -> Result<Self, Failed> {
        let name = path.file_stem().unwrap_or_default();
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join("book")
            .join(name);
        // What a run before has left must not help.
        if directory.exists() {
            std::fs::remove_dir_all(&directory)?;
        }
        std::fs::create_dir_all(&directory)?;
        let options = Options {
            target: Target::Cpu,
            ..Options::default()
        };
        Ok(Self {
            directory,
            repl: Repl::new(options, Settings::default())?,
        })
    }

    /// Executes a block. What it should be, if it is something else.
    fn run(&mut self, block: &Block<'_>) -> Result<Option<String>, Failed> {
        let at = |why: String| Failed::from(format!("line {}: {why}", block.line + 1));
        let code = block.lines.join("\n") + "\n";
        if let Some(file) = block.info.strip_prefix("futhark,file=") {
            std::fs::write(self.directory.join(file), &code)?;
            return check(&code).map(|()| None).map_err(at);
        }
        match block.info {
            "futhark" => check(&code).map(|()| None).map_err(at),
            "futhark,fails" => match check(&code) {
                Ok(()) => Err(at(String::from("it compiles"))),
                Err(_) => Ok(None),
            },
            "repl" => Ok(self.transcript(block, "> ", ". ")),
            "console" => Ok(self.transcript(block, "$ ", "  ")),
            // `arrc`'s documentation includes this chapter.
            "rust" if self.directory.ends_with("rust") => Ok(None),
            "text" => Ok(None),
            other => Err(at(format!("what is to be done with `{other}`?"))),
        }
    }

    /// Runs the inputs of a transcript. The transcript as it is now, if it was different.
    fn transcript(&mut self, block: &Block<'_>, prompt: &str, more: &str) -> Option<String> {
        let mut now = String::new();
        let mut is_right = true;
        let mut rest = block.lines.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            let Some(input) = first.strip_prefix(prompt) else {
                is_right = false;
                continue;
            };
            now.push_str(&format!("{first}\n"));
            let mut input = input.to_owned();
            while let Some((next, after)) = rest.split_first()
                && let Some(next) = next.strip_prefix(more)
            {
                now.push_str(&format!("{more}{next}\n"));
                input.push_str(&format!("\n{next}"));
                rest = after;
            }
            let until = rest.iter().position(|line| line.starts_with(prompt));
            let (wanted, after) = rest.split_at(until.unwrap_or(rest.len()));
            rest = after;
            let printed = self.answer(&input, prompt);
            let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
            let is_same = matches(wanted, &printed);
            is_right &= is_same;
            for line in if is_same { wanted } else { &printed } {
                now.push_str(&format!("{line}\n"));
            }
        }
        (!is_right).then_some(now)
    }

    fn answer(&mut self, input: &str, prompt: &str) -> String {
        if prompt == "> " {
            return match self.repl.input(input) {
                Ok(said) => said.text,
                Err(why) => why,
            };
        }
        let arrc = Path::new(env!("CARGO_BIN_EXE_arrc"));
        let mut path = std::ffi::OsString::from(arrc.parent().unwrap_or(Path::new(".")));
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let run = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {input}")])
            .current_dir(&self.directory)
            .env("PATH", path)
            .env("XDG_CACHE_HOME", self.directory.join("cache"))
            .env("COLUMNS", "100")
            .output();
        match run {
            Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
            Err(why) => why.to_string(),
        }
    }
}

fn check(code: &str) -> Result<(), String> {
    let options = Options {
        target: Target::Interp,
        ..Options::default()
    };
    let session = Session::new(options).map_err(|why| why.to_string())?;
    let compiled = session.compile("block.fut", code);
    compiled
        .map(|_| ())
        .map_err(|why| why.render(frontend::render::Look::Plain))
}

/// Whether the lines are what is wanted, where `...` stands for any lines.
fn matches(wanted: &[&str], printed: &[&str]) -> bool {
    match wanted.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|n| matches(rest, &printed[n..])),
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, others)| fits(line, first) && matches(rest, others)),
    }
}

/// Whether a line is what is wanted, where `[..]` stands for anything.
fn fits(wanted: &str, printed: &str) -> bool {
    let mut parts = wanted.split("[..]");
    let Some(mut rest) = parts.next().and_then(|first| printed.strip_prefix(first)) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}
