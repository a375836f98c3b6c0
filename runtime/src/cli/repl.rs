//! `arrc repl`: lines from a terminal, with editing, history and completion, or from a pipe.

use super::exit::Exit;
use super::output::{to_stderr, to_stdout};
use super::size::{parse_bytes, parse_threads};
use super::stop::{on_interrupt_of_work, while_running};
use super::{Outcome, device};
use crate::repl::{COMMANDS, Repl, Settings, Told, is_complete};
use crate::session::Options;
use crate::target::Target;
use clap::Args;
use frontend::render::Look;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use std::io::{BufRead as _, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What `arrc repl` takes.
#[derive(Args)]
pub(super) struct ReplArguments {
    /// A program whose definitions to begin with
    program: Option<PathBuf>,
    /// Evaluate this, print its value, and end
    #[arg(short, long, value_name = "EXPRESSION")]
    evaluate: Option<String>,
    /// What to run on: auto, cpu, ptx, ptx-emu or interp
    #[arg(long, default_value_t)]
    target: Target,
    /// The number of the GPU to run on, see `arrc devices` [default: 0]
    #[arg(long, value_name = "K")]
    device: Option<usize>,
    /// Fail instead of using more memory for arrays
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes)]
    mem_limit: Option<u64>,
    /// Threads for parallel work [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
}

pub(super) fn run(arguments: &ReplArguments) -> Outcome {
    device::check(arguments.device, arguments.target)?;
    let options = Options {
        target: arguments.target,
        device: arguments.device.unwrap_or(0),
        memory_limit: arguments.mem_limit,
        threads: arguments.threads,
        ..Options::default()
    };
    let settings = Settings {
        look: Look::for_stderr(),
        layout: std::io::stdout().is_terminal(),
        ..Settings::default()
    };
    let mut repl = Repl::new(options, settings).map_err(Exit::user)?;
    // The target can change, and the flag with it.
    let stop = Arc::new(Mutex::new(repl.stop()));
    let current = Arc::clone(&stop);
    on_interrupt_of_work(move || {
        Arc::clone(&current.lock().unwrap_or_else(PoisonError::into_inner))
    });
    if let Some(expression) = &arguments.evaluate {
        return evaluate(&mut repl, arguments.program.as_deref(), expression);
    }
    if let Some(program) = &arguments.program {
        answer(&mut repl, &format!(":load {}", program.display()))?;
    }
    let mut take = |repl: &mut Repl, text: &str| {
        let outcome = answer(repl, text);
        *stop.lock().unwrap_or_else(PoisonError::into_inner) = repl.stop();
        outcome
    };
    if std::io::stdin().is_terminal() {
        edited(&mut repl, &mut take)
    } else {
        piped(&mut repl, &mut take)
    }
}

/// Prints the value of one expression; an error is the user's.
fn evaluate(repl: &mut Repl, program: Option<&Path>, expression: &str) -> Outcome {
    let load = program.map(|program| format!(":load {}", program.display()));
    let loaded = load.map(|load| while_running(|| repl.input(&load)));
    let told = match loaded {
        Some(Err(why)) => Err(why),
        Some(Ok(_)) | None => while_running(|| repl.input(expression)),
    };
    let Told { text, warnings } = told.map_err(Exit::user)?;
    to_stderr(&warnings);
    to_stdout(|out| out.write_all(text.as_bytes()))
}

/// Evaluates an input, and prints what came of it.
fn answer(repl: &mut Repl, text: &str) -> Outcome {
    match while_running(|| repl.input(text)) {
        Ok(Told { text, warnings }) => {
            to_stderr(&warnings);
            to_stdout(|out| out.write_all(text.as_bytes()))
        }
        Err(why) => {
            to_stderr(&why);
            Ok(())
        }
    }
}

/// Whether an input ends the session.
fn quits(text: &str) -> bool {
    let word = text.trim();
    word.len() > 1 && ":quit".starts_with(word)
}

type Take<'t> = &'t mut dyn FnMut(&mut Repl, &str) -> Outcome;

/// Inputs from a pipe: lines are put together until they are complete.
fn piped(repl: &mut Repl, take: Take<'_>) -> Outcome {
    let mut text = String::new();
    for line in std::io::stdin().lock().lines() {
        text.push_str(&line.map_err(|why| Exit::user(format!("cannot read: {why}")))?);
        text.push('\n');
        if quits(&text) {
            return Ok(());
        }
        if is_complete(&text) {
            take(repl, &std::mem::take(&mut text))?;
        }
    }
    take(repl, &text)
}

/// Inputs from a terminal.
fn edited(repl: &mut Repl, take: Take<'_>) -> Outcome {
    let cannot = |why: ReadlineError| Exit::user(format!("cannot read from the terminal: {why}"));
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Typing, FileHistory> = Editor::with_config(config).map_err(cannot)?;
    let history = history_file();
    if let Some(path) = &history {
        // There is none at first.
        let _ = editor.load_history(path);
    }
    let target = repl.target();
    to_stdout(|out| {
        let version = env!("CARGO_PKG_VERSION");
        writeln!(
            out,
            "arrc {version}, target {target}; :help tells what can be typed, Ctrl-D ends"
        )
    })?;
    loop {
        editor.set_helper(Some(Typing {
            names: repl.names(),
        }));
        if let Some((columns, rows)) = editor.dimensions() {
            repl.settings.width = usize::from(columns);
            repl.settings.height = usize::from(rows);
        }
        match editor.readline("> ") {
            Ok(text) if quits(&text) => break,
            Ok(text) => take(repl, &text)?,
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(why) => return Err(cannot(why)),
        }
    }
    if let Some(path) = &history {
        if let Some(directory) = path.parent() {
            // Without a history the next session begins with none.
            let _ = std::fs::create_dir_all(directory);
        }
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Where the history lies: in the directory for the user's data.
pub(super) fn history_file() -> Option<PathBuf> {
    Some(crate::directories::data()?.join("history"))
}

/// Helps whoever types.
struct Typing {
    names: Vec<String>,
}

impl Helper for Typing {}
impl Highlighter for Typing {}
impl Hinter for Typing {
    type Hint = String;
}

impl Validator for Typing {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let text = context.input();
        // The line that is being typed ends here.
        Ok(if is_complete(&format!("{text}\n")) {
            ValidationResult::Valid(None)
        } else {
            ValidationResult::Incomplete
        })
    }
}

impl Completer for Typing {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let before = &line[..at];
        if let Some(command) = before.strip_prefix(':')
            && !command.contains(' ')
        {
            let names = COMMANDS.iter().map(|command| command.name.to_owned());
            return Ok((1, beginning(names, command)));
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
        let start = before.rfind(|c| !is_word(c)).map_or(0, |i| i + 1);
        // The last character that is not of a word may have several bytes.
        let start = (start..=at)
            .find(|i| before.is_char_boundary(*i))
            .unwrap_or(at);
        let word = &before[start..];
        let names = || self.names.iter().cloned();
        // After a point, fields of what stands before it, if that has a name.
        let path = before.rfind(|c| !is_word(c) && c != '.');
        let path = path.map_or(before, |i| before[i..].trim_start_matches(|c| !is_word(c)));
        if path.contains('.') {
            let found = beginning(names(), path);
            if !found.is_empty() {
                return Ok((at - path.len(), found));
            }
        }
        if word.is_empty() {
            return Ok((start, Vec::new()));
        }
        let plain = names().filter(|name| !name.contains('.'));
        Ok((start, beginning(plain, word)))
    }
}

/// Names that begin so, each once, in order.
fn beginning(names: impl Iterator<Item = String>, word: &str) -> Vec<String> {
    let mut found: Vec<String> = names.filter(|name| name.starts_with(word)).collect();
    found.sort();
    found.dedup();
    found
}
