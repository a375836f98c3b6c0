//! One of our targets at work on a program, in a child process: when it crashes or uses up the memory of the machine, that is its
//! failure with one input, and it begins anew with the next.

use super::worker::{Answer, Ask};
use crate::child::Child;
use crate::target::Target;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// One of our targets. A worker is what the command starts; it calls [`serve`](super::serve).
pub struct Ours {
    /// What programs run on.
    pub target: Target,
    /// Starts a worker for it.
    pub command: Box<dyn Fn() -> Command>,
}

impl Ours {
    /// What people call its device, or why it cannot be used here.
    pub fn device(&self) -> Result<String, String> {
        Ok(start(self)?.1)
    }
}

/// A worker, and the name of its device.
fn start(ours: &Ours) -> Result<(Child<Answer>, String), String> {
    let child = Child::start((ours.command)());
    let child = child.map_err(|why| format!("cannot start a worker: {why}"))?;
    match child.answer(None) {
        Ok(Answer::Ready(device)) => Ok((child, device)),
        Ok(Answer::NoDevice(why)) => Err(why),
        Ok(
            Answer::Done
            | Answer::Input(_)
            | Answer::Ran(_)
            | Answer::Spent(_)
            | Answer::Failed(_)
            | Answer::Lost(_),
        ) => Err(out_of_turn()),
        Err(_) => Err(crashed(child)),
    }
}

/// The failure of a worker of another version, of which there is none.
pub(super) fn out_of_turn() -> String {
    String::from("a worker did not answer what it was asked")
}

/// What is told of a worker that ended.
fn crashed(child: Child<Answer>) -> String {
    let death = child.death();
    if let Some(mistake) = death.mistake {
        return mistake;
    }
    if death.overflowed {
        return String::from("crash: stack overflow");
    }
    format!("crash: {}: {}", death.status, death.last)
}

/// One of our targets, and a program.
pub(super) struct Racer<'a> {
    pub(super) ours: &'a Ours,
    program: &'a Path,
    /// Nothing before the start, and after a crash.
    child: Option<Child<Answer>>,
    pub(super) device: String,
    /// Why the program cannot be compiled.
    broken: Option<String>,
}

impl<'a> Racer<'a> {
    pub(super) fn new(ours: &'a Ours, program: &'a Path) -> Self {
        Self {
            ours,
            program,
            child: None,
            device: String::new(),
            broken: None,
        }
    }

    /// Has a worker that has compiled the program.
    pub(super) fn ready(&mut self) -> Result<(), String> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        if self.child.is_some() {
            return Ok(());
        }
        let (child, device) = start(self.ours)?;
        (self.child, self.device) = (Some(child), device);
        let compiled = self.ask(&Ask::Compile(self.program.to_owned()), None);
        self.broken = compiled.as_ref().err().cloned();
        compiled.map(|_| ())
    }

    /// What the worker says to this, if it says it soon enough.
    pub(super) fn ask(&mut self, ask: &Ask, patience: Option<Duration>) -> Result<Answer, String> {
        let mut child = self.child.take().ok_or("it has crashed")?;
        if child.ask(ask).is_err() {
            return Err(crashed(child));
        }
        match child.answer(patience) {
            Ok(Answer::Lost(why)) => Err(why),
            Ok(answer) => {
                self.child = Some(child);
                match answer {
                    Answer::Failed(why) | Answer::Lost(why) => Err(why),
                    Answer::Ready(_)
                    | Answer::NoDevice(_)
                    | Answer::Done
                    | Answer::Input(_)
                    | Answer::Ran(_)
                    | Answer::Spent(_) => Ok(answer),
                }
            }
            Err(RecvTimeoutError::Timeout) => Err(String::from("out of time (killed)")),
            Err(RecvTimeoutError::Disconnected) => Err(crashed(child)),
        }
    }
}
