//! `arrc doctor`: what is there, what is missing, and how to mend it.

use super::exit::Exit;
use super::output::to_stdout;
use super::{Outcome, devices};
use crate::session::{Options, Session};
use crate::target::Target;
use midend::ir::scalar::Const;
use midend::value::Value;
use std::path::Path;

/// A program that needs what all programs need: a kernel, a reduction, memory.
const PROGRAM: &str = "def main n = i64.sum (map (\\i -> i * i) (iota n))";
/// What it is called with, and what it gives.
const SQUARES: (i64, i64) = (1000, 332_833_500);

/// What came of looking at something.
enum Finding {
    /// It is well.
    Fine(String),
    /// It is not there, and need not be; how to have it.
    Absent(String, &'static str),
    /// It should work and does not; what to do.
    Broken(String, &'static str),
}

pub(super) fn run() -> Outcome {
    let mut broken = false;
    let mut text = format!("arrc {}\n", env!("CARGO_PKG_VERSION"));
    let mut tell = |what: &str, finding: Finding| {
        let (mark, found, mend) = match finding {
            Finding::Fine(found) => ("ok", found, None),
            Finding::Absent(found, mend) => ("--", found, Some(mend)),
            Finding::Broken(found, mend) => {
                broken = true;
                ("!!", found, Some(mend))
            }
        };
        text.push_str(&format!("{mark}  {what}: {found}\n"));
        if let Some(mend) = mend {
            text.push_str(&format!("    {mend}\n"));
        }
    };
    for target in Target::PLACES {
        tell(target.name(), target_works(target));
    }
    tell("threads", threads());
    tell("history of the REPL", history());
    to_stdout(|out| out.write_all(text.as_bytes()))?;
    if broken {
        return Err(Exit::silent(1));
    }
    Ok(())
}

/// Compiles and runs a program.
fn target_works(target: Target) -> Finding {
    let report = "This is a mistake in arrc: please report it, with this text.";
    let about = if target == Target::Ptx {
        match devices::gpu(0) {
            Ok(about) => about,
            Err(why) => {
                let mend = "For an NVIDIA GPU install NVIDIA's driver (525 or newer); nothing else is needed.";
                return Finding::Absent(why, mend);
            }
        }
    } else {
        target.summary().to_owned()
    };
    let (n, wanted) = SQUARES;
    match squares(target, n) {
        Ok(found) if found == [Value::Scalar(Const::I64(wanted))] => Finding::Fine(about),
        Ok(found) => Finding::Broken(format!("{about}: a wrong result, {found:?}"), report),
        Err(why) => Finding::Broken(format!("{about}: {why}"), report),
    }
}

fn squares(target: Target, n: i64) -> Result<Vec<Value>, String> {
    let options = Options {
        target,
        ..Options::default()
    };
    let session = Session::new(options).map_err(|why| why.to_string())?;
    let program = session.compile("doctor.fut", PROGRAM);
    let program = program.map_err(|why| why.render(frontend::render::Look::Plain))?;
    let args = vec![Value::Scalar(Const::I64(n))];
    program.call("main", args).map_err(|why| why.to_string())
}

fn threads() -> Finding {
    match std::thread::available_parallelism() {
        Ok(cores) => Finding::Fine(format!("{cores}, one for each core")),
        Err(why) => Finding::Broken(
            format!("one, since the number of cores is not known: {why}"),
            "`--threads N` says how many to use.",
        ),
    }
}

fn history() -> Finding {
    let Some(file) = super::repl::history_file() else {
        let found = String::from("there is no place for it");
        return Finding::Absent(
            found,
            "Set HOME or XDG_DATA_HOME to a directory that can be written.",
        );
    };
    let directory = file.parent().unwrap_or(Path::new("."));
    let created = std::fs::create_dir_all(directory);
    let probe = directory.join(format!(".probe-{}", std::process::id()));
    match created.and_then(|()| std::fs::write(&probe, "")) {
        Ok(()) => {
            // It is empty, should it stay.
            let _ = std::fs::remove_file(&probe);
            Finding::Fine(file.display().to_string())
        }
        Err(why) => {
            let found = format!("{} cannot be written: {why}", file.display());
            Finding::Absent(
                found,
                "Set XDG_DATA_HOME to a directory that can be written.",
            )
        }
    }
}
