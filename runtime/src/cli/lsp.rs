//! `arrc lsp`: the language server, on standard input and output.

use super::Outcome;
use super::exit::Exit;
use crate::harness::discover;
use crate::loader::FileLoader;
use crate::session::on_big_stack;
use frontend::source::FileId;
use lsp::{Host, Job, Report, Text};
use lsp_server::Connection;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Reads files as the other commands do.
struct Files;

impl Host for Files {
    fn loader(&self, texts: &[Text]) -> (Box<dyn frontend::Loader>, Vec<FileId>) {
        let mut loader = FileLoader::new();
        let files = texts.iter().map(|(path, text)| loader.add_text(path, text));
        let files = files.collect();
        (Box::new(loader), files)
    }
    fn read(&self, path: &Path) -> Option<String> {
        let mut loader = FileLoader::new();
        let file = loader.read(path).ok()?;
        let source = loader.sources().get(file)?;
        Some(source.text().to_owned())
    }
    fn programs(&self, folder: &Path) -> Vec<PathBuf> {
        discover(&[folder.to_owned()]).unwrap_or_default()
    }
    fn start(&self, job: Job, done: Box<dyn FnOnce(Report) + Send>) {
        std::thread::spawn(move || done(report(&job)));
    }
}

/// How long a job may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// What comes of a job, which another process does: it may take any time, and memory.
fn report(job: &Job) -> Report {
    let failed = |text: String| Report { good: false, text };
    let mut command = match std::env::current_exe() {
        Ok(arrc) => Command::new(arrc),
        Err(why) => return failed(why.to_string()),
    };
    match job {
        Job::Test { file, entry } => command.args(["test", "-e", entry]).arg(file),
        Job::Evaluate { file, expression } => command.args(["repl", "-e", expression]).arg(file),
    };
    match output(command) {
        Ok((good, text)) => Report { good, text },
        Err(why) => failed(why.to_string()),
    }
}

/// Whether a command succeeds, and what it prints: on success to standard output, else to both.
fn output(mut command: Command) -> io::Result<(bool, String)> {
    let pipes = command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn()?;
    let [out, err] = [
        child
            .stdout
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child
            .stderr
            .take()
            .map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ]
    .map(|pipe| {
        std::thread::spawn(move || {
            let mut text = String::new();
            // What cannot be read is missing.
            let _ = pipe.map(|mut pipe| pipe.read_to_string(&mut text));
            text
        })
    });
    let until = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            let seconds = PATIENCE.as_secs();
            return Err(io::Error::other(format!("stopped after {seconds} seconds")));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let [out, err] = [out, err].map(|text| text.join().unwrap_or_default());
    if status.success() {
        return Ok((true, out));
    }
    Ok((false, err + &out))
}

pub(super) fn run() -> Outcome {
    let (connection, threads) = Connection::stdio();
    on_big_stack(|| lsp::serve(&connection, &Files)).map_err(Exit::user)?;
    // The thread that writes ends when nobody can send to it any more.
    drop(connection);
    threads
        .join()
        .map_err(|why| Exit::user(format!("the connection to the editor: {why}")))
}
