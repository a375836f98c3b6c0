//! Child processes that do what might end a process: a crash or too little memory is then a failure of the child alone. Parent and
//! child talk in lines of JSON, through the child's standard input and output.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader};
use std::process::{ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A child process that answers with values of this type. It is killed when this is dropped.
pub(crate) struct Child<Answer> {
    process: std::process::Child,
    input: ChildStdin,
    answers: Receiver<Answer>,
    /// Reads standard error, so that the child never waits for it; ends with the last of what was there.
    errors: Option<JoinHandle<String>>,
}

/// What is told of a mistake in arrc begins with this.
pub(crate) const MISTAKE: &str = "internal error";

/// How a child ended.
pub(crate) struct Death {
    /// Its exit status, in words.
    pub(crate) status: String,
    /// The mistake of arrc that it told of, if it ended with one.
    pub(crate) mistake: Option<String>,
    /// Whether it ran out of stack.
    pub(crate) overflowed: bool,
    /// The last line on its standard error.
    pub(crate) last: String,
}

impl<Answer: DeserializeOwned + Send + 'static> Child<Answer> {
    /// Starts a command.
    pub(crate) fn start(mut command: Command) -> io::Result<Self> {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("a child without pipes");
        let input = process.stdin.take().ok_or_else(missing)?;
        let output = process.stdout.take().ok_or_else(missing)?;
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                // A program may print, too; what is no answer is passed over.
                if let Ok(answer) = serde_json::from_str(&line)
                    && sender.send(answer).is_err()
                {
                    break;
                }
            }
        });
        let stderr = process.stderr.take().ok_or_else(missing)?;
        let errors = std::thread::spawn(move || last_words(stderr));
        Ok(Self {
            process,
            input,
            answers,
            errors: Some(errors),
        })
    }

    /// Asks for something; fails if the child has ended.
    pub(crate) fn ask(&mut self, ask: &impl Serialize) -> io::Result<()> {
        write_line(&mut self.input, ask)
    }

    /// The next answer; without a patience it is waited for as long as the child lives.
    pub(crate) fn answer(&self, patience: Option<Duration>) -> Result<Answer, RecvTimeoutError> {
        match patience {
            Some(patience) => self.answers.recv_timeout(patience),
            None => {
                let answer = self.answers.recv();
                answer.map_err(|_| RecvTimeoutError::Disconnected)
            }
        }
    }

    /// How it ended, when it has ended by itself.
    pub(crate) fn death(mut self) -> Death {
        let status = self.process.wait();
        // Without its last words, there is less to say.
        let errors = self.errors.take().map(JoinHandle::join);
        let errors = errors.and_then(Result::ok).unwrap_or_default();
        let last = errors.lines().rev().find(|l| !l.trim().is_empty());
        Death {
            status: status.map_or_else(|why| why.to_string(), |status| status.to_string()),
            mistake: errors
                .lines()
                .find(|l| l.starts_with(MISTAKE))
                .map(str::to_owned),
            overflowed: errors.contains("overflowed its stack"),
            last: last.unwrap_or("no message").to_owned(),
        }
    }
}

impl<Answer> Drop for Child<Answer> {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The last lines of what can be read.
fn last_words(stderr: ChildStderr) -> String {
    let mut lines = VecDeque::new();
    for line in BufReader::new(stderr).lines().map_while(Result::ok) {
        if lines.len() == 50 {
            lines.pop_front();
        }
        lines.push_back(line);
    }
    Vec::from(lines).join("\n")
}

/// The child's side: says something to the parent.
pub(crate) fn say(what: &impl Serialize) -> io::Result<()> {
    write_line(&mut io::stdout().lock(), what)
}

fn write_line(out: &mut impl io::Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(what)?;
    line.push('\n');
    out.write_all(line.as_bytes())?;
    out.flush()
}
