//! `arrc server`: calls of entry points for other programs, which write a command a line to standard input and read answers
//! from standard output, as Futhark's servers have it.
//!
//! After an answer, and at the start, stands a line `%%% OK`; a failure is `%%% FAILURE` and a message before it.

mod elements;
mod state;
mod types;
mod variables;
mod words;

use super::exit::Exit;
use super::purge::purge_at_once;
use super::run::warn;
use super::size::{parse_bytes, parse_threads, parse_vector_bits};
use super::stop::{on_interrupt, while_running};
use super::{Outcome, device, opt, threshold};
use crate::session::{Options, Reading, Session};
use crate::target::Target;
use clap::{Args, value_parser};
use midend::driver::Settings;
use state::Server;
use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

/// What `arrc server` takes.
#[derive(Args)]
pub(super) struct ServerArguments {
    /// The program
    program: PathBuf,
    /// What to run on: auto, cpu, ptx, ptx-emu or interp
    #[arg(long, default_value_t)]
    target: Target,
    /// The number of the GPU to run on, see `arrc devices` [default: 0]
    #[arg(long, value_name = "K")]
    device: Option<usize>,
    /// Fail instead of using more memory for arrays
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    mem_limit: Option<u64>,
    /// Fail after so many lane-instructions of a call on ptx-emu
    #[arg(long, value_name = "N", help_heading = "Limits")]
    cap: Option<u64>,
    /// Threads for parallel work [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Bits of the widest vector registers of the CPU to use: 128, 256 or 512 [default: as many as there are]
    #[arg(long, value_name = "N", value_parser = parse_vector_bits)]
    vector_bits: Option<u32>,
    /// Elements of sequences to work on at once [default: what is found to be fast]
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    chunk: Option<i64>,
    /// Let guards compare with N until `set_tuning_param` says otherwise: 0 makes them true, inf false
    #[arg(long, value_name = "NAME=N", help_heading = "The compiler")]
    threshold: Vec<String>,
    #[command(flatten)]
    liberties: opt::Liberties,
    /// Gather what `report` tells
    #[arg(short = 'P', long)]
    profile: bool,
}

pub(super) fn run(arguments: &ServerArguments) -> Outcome {
    if arguments.mem_limit.is_some() {
        purge_at_once();
    }
    let file = Reading::start(&arguments.program, arguments.target);
    device::check(arguments.device, arguments.target)?;
    let thresholds = threshold::parse(&arguments.threshold)?;
    let session = Session::new(Options {
        target: arguments.target,
        device: arguments.device.unwrap_or(0),
        threads: arguments.threads,
        vector_bits: arguments.vector_bits,
        chunk: arguments.chunk,
        memory_limit: arguments.mem_limit,
        cap: arguments.cap,
        thresholds: thresholds.clone(),
        passes: Settings {
            options: opt::pass_options(&[], arguments.liberties)?,
            ..Settings::default()
        },
        ..Options::default()
    });
    let session = session.map_err(Exit::user)?;
    on_interrupt(session.stop());
    let program = session.compile_read(file).map_err(|e| Exit::compile(&e))?;
    warn(&program, false);
    program.know_thresholds(&thresholds).map_err(Exit::user)?;
    serve(Server::new(session, program, arguments.profile))
}

/// Answers commands until there are no more.
fn serve(mut server: Server) -> Outcome {
    let mut input = std::io::stdin().lock();
    let mut output = std::io::stdout().lock();
    let mut answer = String::new();
    let mut line = Vec::new();
    loop {
        answer.push_str("%%% OK\n");
        let written = output.write_all(answer.as_bytes());
        written
            .and_then(|()| output.flush())
            .map_err(|why| Exit::write(&why))?;
        line.clear();
        let read = input.read_until(b'\n', &mut line);
        if read.map_err(|why| Exit::user(format!("cannot read commands: {why}")))? == 0 {
            return Ok(());
        }
        answer.clear();
        let reply = match str::from_utf8(&line) {
            Ok(line) => while_running(|| server.answer(line, &mut answer)),
            Err(_) => Err(String::from("the line is not UTF-8")),
        };
        if let Err(why) = reply {
            answer.push_str("%%% FAILURE\n");
            answer.push_str(why.trim_end());
            answer.push('\n');
        }
    }
}
