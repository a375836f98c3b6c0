//! Another program beside ours: a command line that is given the same input.

use crate::data::{Source, read_all};
use midend::value::Value;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Another program, run by the shell. Its standard input is the input in the binary format. `{program}` in the command stands
/// for the name of our program without its ending, `{entry}` for that of the entry point, `{times}` for a file into which it writes the times of its runs in
/// microseconds, one a line; without that, what is measured is the time from its start to its end.
#[derive(Clone, Debug)]
pub struct Other {
    /// The command as the user gave it.
    pub command: String,
}

/// A command made ready for one input.
pub(super) struct Prepared {
    command: String,
    input: PathBuf,
    directory: PathBuf,
    timed_by_itself: bool,
}

/// What one start gave.
pub(super) struct Started {
    /// Times in microseconds.
    pub(super) times: Vec<f64>,
    /// The values that it printed, if it printed values.
    pub(super) results: Option<Vec<Value>>,
}

impl Other {
    /// Makes it ready for an input, which is a file; the directory must be this command's own. Says whether that went well.
    pub(super) fn prepare(
        &self,
        (program, entry): (&Path, &str),
        input: PathBuf,
        directory: PathBuf,
    ) -> (Prepared, Result<(), String>) {
        let stem = program.file_stem().unwrap_or_default().to_string_lossy();
        let prepared = Prepared {
            command: self
                .command
                .replace("{program}", &stem)
                .replace("{entry}", entry)
                .replace("{times}", &quoted(&directory.join("times"))),
            timed_by_itself: self.command.contains("{times}"),
            input,
            directory,
        };
        let made = fs::create_dir_all(&prepared.directory);
        let made = made.map_err(|why| format!("it has no place to write to: {why}"));
        (prepared, made)
    }
}

/// A path as one word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

impl Prepared {
    /// Starts the command and waits for its end, not longer than `patience`.
    pub(super) fn run(&self, patience: Option<Duration>) -> Result<Started, String> {
        let path = |name: &str| self.directory.join(name);
        let cannot = |why: std::io::Error| format!("it does not start: {why}");
        let input = File::open(&self.input).map_err(cannot)?;
        let output = File::create(path("output")).map_err(cannot)?;
        let errors = File::create(path("errors")).map_err(cannot)?;
        let mut command = Command::new("sh");
        command.arg("-c").arg(&self.command);
        command.stdin(input).stdout(output).stderr(errors);
        let start = Instant::now();
        let mut child = command.spawn().map_err(cannot)?;
        let status = match patience {
            None => child.wait(),
            Some(patience) => loop {
                match child.try_wait() {
                    Ok(Some(status)) => break Ok(status),
                    Err(why) => break Err(why),
                    Ok(None) if start.elapsed() > patience => {
                        // It may have ended just now.
                        let _ = child.kill();
                        let _ = child.wait();
                        return Err(String::from("out of time"));
                    }
                    Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                }
            },
        };
        let took = start.elapsed();
        let status = status.map_err(cannot)?;
        if !status.success() {
            let errors = fs::read_to_string(path("errors")).unwrap_or_default();
            let last = errors.lines().last().unwrap_or("no message");
            return Err(format!("{status}: {last}"));
        }
        Ok(Started {
            times: if self.timed_by_itself {
                read_times(&path("times"))?
            } else {
                vec![took.as_secs_f64() * 1e6]
            },
            results: read_results(&path("output")),
        })
    }
}

fn read_times(path: &Path) -> Result<Vec<f64>, String> {
    let text = fs::read_to_string(path).map_err(|why| format!("it wrote no times: {why}"))?;
    let times: Result<Vec<f64>, _> = text.split_whitespace().map(str::parse).collect();
    match times {
        Ok(times) if !times.is_empty() => Ok(times),
        Ok(_) | Err(_) => Err(String::from("it wrote no times in microseconds")),
    }
}

/// The values in a file, if there are some.
pub(super) fn read_results(path: &Path) -> Option<Vec<Value>> {
    let source = Source::open(path).ok()?;
    let values = read_all(&source).ok()?;
    (!values.is_empty()).then_some(values)
}
