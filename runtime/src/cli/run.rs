//! `arrc run`: runs an entry point.

use super::exit::Exit;
use super::output::{to_stderr, to_stdout};
use super::purge::purge_at_once;
use super::size::{parse_bytes, parse_seconds, parse_threads, parse_vector_bits};
use super::stop::{Deadline, on_interrupt, while_running};
use super::{Outcome, device, opt, png, profile, streams, threshold, trace};
use crate::data::{
    Source, leaves, parameter_leaves, read_arguments, structured_text, write_npz, write_results,
    write_text,
};
use crate::session::{Options, Program, Reading, Resident, Session};
use crate::target::Target;
use clap::{Args, value_parser};
use frontend::diagnostic::Severity;
use frontend::render::{Look, render_all};
use midend::driver::Settings;
use midend::ir::syntax::{Entry, EntryType};
use midend::plan::Profile;
use midend::trap::RunError;
use midend::value::Value;
use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write};
use std::path::PathBuf;
use std::time::Instant;

/// What `arrc run` takes.
#[derive(Args)]
pub(super) struct RunArguments {
    /// The program
    program: PathBuf,
    /// Files with the arguments, in text, binary or NumPy format, possibly compressed; `-` is standard input, which is
    /// read if no files are given
    pub(super) inputs: Vec<PathBuf>,
    /// The entry point
    #[arg(short, long, value_name = "NAME", default_value = "main")]
    entry_point: String,
    /// What to run on: auto, cpu, ptx, ptx-emu or interp
    #[arg(long, default_value_t)]
    target: Target,
    /// The number of the GPU to run on, see `arrc devices` [default: 0]
    #[arg(long, value_name = "K")]
    device: Option<usize>,
    /// Write results in the binary format
    #[arg(short, long, help_heading = "Results")]
    pub(super) binary_output: bool,
    /// Write results to this NumPy archive, irregular arrays as `offsets` and `data`
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    npz: Option<PathBuf>,
    /// Write the run time of each run to this file, one line each, in microseconds
    #[arg(short = 't', long, value_name = "FILE", help_heading = "Measuring")]
    write_runtime_to: Option<PathBuf>,
    /// Run so many times (with one more run before, which is not timed)
    #[arg(short, long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..), help_heading = "Measuring")]
    runs: u32,
    /// Fail instead of using more memory for arrays
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, help_heading = "Limits")]
    mem_limit: Option<u64>,
    /// Fail after so many lane-instructions on ptx-emu
    #[arg(long, value_name = "N", help_heading = "Limits")]
    cap: Option<u64>,
    /// Stop after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds, help_heading = "Limits")]
    timeout: Option<f64>,
    /// Threads for parallel work [default: one per core]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Bits of the widest vector registers of the CPU to use: 128, 256 or 512 [default: as many as there are]
    #[arg(long, value_name = "N", value_parser = parse_vector_bits)]
    vector_bits: Option<u32>,
    /// Elements of sequences to work on at once [default: what is found to be fast]
    #[arg(long, value_name = "N", value_parser = value_parser!(i64).range(1..))]
    chunk: Option<i64>,
    /// Let guards compare with N: 0 makes them true, inf false. `*` stands for all thresholds, `arrc opt --thresholds` names them
    #[arg(long, value_name = "NAME=N", help_heading = "The compiler")]
    threshold: Vec<String>,
    /// Write the result as a picture instead of printing it
    #[arg(long, value_name = "FILE", help_heading = "Results")]
    png: Option<PathBuf>,
    /// Print the program after these passes, to standard error (`all`, or names as `arrc opt --list` lists them)
    #[arg(
        long,
        value_name = "PASS",
        value_delimiter = ',',
        help_heading = "The compiler"
    )]
    dump_after: Vec<String>,
    /// Run only so many of the passes that can be left out
    #[arg(long, value_name = "N", help_heading = "The compiler")]
    pass_limit: Option<usize>,
    /// Leave out these passes, to see what they are worth
    #[arg(
        long,
        value_name = "PASS",
        value_delimiter = ',',
        help_heading = "The compiler"
    )]
    without: Vec<String>,
    #[command(flatten)]
    liberties: opt::Liberties,
    /// Tell the time of each pass, to standard error
    #[arg(long, help_heading = "The compiler")]
    pass_times: bool,
    /// Tell what compiling and the last run spent time and memory on, to standard error
    #[arg(long, help_heading = "Measuring")]
    profile: bool,
    /// Write when compiling and the last run did what to this file, for Perfetto (ui.perfetto.dev)
    #[arg(long, value_name = "FILE", help_heading = "Measuring")]
    trace: Option<PathBuf>,
    /// Say on what the program runs, and why, and which arrays stay irregular, to standard error
    #[arg(short, long)]
    verbose: bool,
    /// Do not print results
    #[arg(short, long, help_heading = "Results")]
    pub(super) no_print_result: bool,
}

impl RunArguments {
    /// Whether the entry point is run more than once, or something of the run is to be told: what it is given is there before then.
    pub(super) fn is_measured(&self) -> bool {
        let told = self.profile || self.trace.is_some() || self.write_runtime_to.is_some();
        self.runs > 1 || told
    }

    /// Whether results go to a file in a form of its own.
    pub(super) fn writes_files(&self) -> bool {
        self.png.is_some() || self.npz.is_some()
    }
}

/// `arrc profile`: the same as `run --profile -n`.
pub(super) fn profiled(mut arguments: RunArguments) -> Outcome {
    (arguments.profile, arguments.no_print_result) = (true, true);
    run(&arguments)
}

pub(super) fn run(arguments: &RunArguments) -> Outcome {
    if arguments.mem_limit.is_some() {
        purge_at_once();
    }
    let file = Reading::start(&arguments.program, arguments.target);
    let session = open(arguments)?;
    on_interrupt(session.stop());
    let deadline = arguments
        .timeout
        .map(|seconds| Deadline::after(seconds, session.stop()));
    let program = session.compile_read(file).map_err(|e| Exit::compile(&e))?;
    warn(&program, arguments.verbose);
    program
        .know_thresholds(&session.options().thresholds)
        .map_err(Exit::user)?;
    let entry = find_entry(&program, arguments)?;
    let stopped = |why| {
        let passed = deadline.as_ref().is_some_and(Deadline::passed);
        if matches!(why, RunError::Interrupted) && passed {
            return Exit::timeout(arguments.timeout.unwrap_or_default());
        }
        Exit::run(&why)
    };
    let tell_target = || {
        if arguments.verbose || arguments.profile && program.last_choice().is_some() {
            to_stderr(&why_there(&program, session.options().target));
        }
    };
    if let Some(streaming) = streams::Streaming::new(entry, arguments)? {
        let results = streaming.run(&program, entry)?.map_err(stopped)?;
        tell_target();
        return match entry.streamed {
            true => Ok(()),
            false => write(entry, arguments, &results),
        };
    }
    let args = read(entry, &arguments.inputs)?;
    let results = while_running(|| call(&session, &program, (entry, arguments), args));
    let results = results.map_err(stopped)?;
    drop(deadline);
    let (results, times, found) = results;
    if let (Some(path), Some(found)) = (&arguments.trace, &found) {
        let text = trace::text(&arguments.entry_point, program.compile_times(), found);
        std::fs::write(path, text)
            .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))?;
    }
    tell_target();
    if let (true, Some(found)) = (arguments.profile, found) {
        to_stderr(&profile::text(
            &arguments.entry_point,
            program.compile_times(),
            &found,
            program.ceilings(&found).as_ref(),
            program.vector_shares(&found),
            &|kernel| program.scalar_because(kernel),
        ));
    }
    if let Some(path) = &arguments.write_runtime_to {
        std::fs::write(path, times)
            .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())))?;
    }
    write(entry, arguments, &results)?;
    // The process ends: the system takes everything back at once.
    std::mem::forget((program, session));
    Ok(())
}

/// Prints the warnings of the compiler, and its remarks if they are wanted.
pub(super) fn warn(program: &Program, remarks: bool) {
    let told = program.warnings().iter();
    let told = told.filter(|d| remarks || d.severity != Severity::Remark);
    let told: Vec<_> = told.cloned().collect();
    to_stderr(&render_all(program.sources(), &told, Look::for_stderr()));
}

/// Gives results to whoever is to have them.
fn write(entry: &Entry, arguments: &RunArguments, results: &[Value]) -> Outcome {
    if let Some(path) = &arguments.png {
        return png::write(results, path).map_err(Exit::user);
    }
    if let Some(path) = &arguments.npz {
        return std::fs::File::create(path)
            .and_then(|file| write_npz(&entry.results, results, file))
            .map_err(|why| Exit::user(format!("cannot write {}: {why}", path.display())));
    }
    if arguments.no_print_result {
        return Ok(());
    }
    to_stdout(|mut out| print(&entry.results, results, arguments.binary_output, &mut out))
}

fn open(arguments: &RunArguments) -> Result<Session, Exit> {
    let times = arguments.pass_times;
    device::check(arguments.device, arguments.target)?;
    let thresholds = threshold::parse(&arguments.threshold)?;
    // A threshold may be one of another entry point.
    let only = thresholds.named.is_empty();
    let options = Options {
        target: arguments.target,
        device: arguments.device.unwrap_or(0),
        threads: arguments.threads,
        vector_bits: arguments.vector_bits,
        chunk: arguments.chunk,
        memory_limit: arguments.mem_limit,
        // On a GPU, arrays are not in the memory of the process.
        limits_process: arguments.target != Target::Ptx,
        cap: arguments.cap,
        thresholds,
        entry: only.then(|| arguments.entry_point.clone()),
        passes: Settings {
            dump_after: opt::dump_after(&arguments.dump_after)?,
            pass_limit: arguments.pass_limit,
            options: opt::pass_options(&arguments.without, arguments.liberties)?,
        },
        ..Options::default()
    };
    Session::observed(options, move |event| opt::tell(&event, times)).map_err(Exit::user)
}

fn find_entry<'a>(program: &'a Program, arguments: &RunArguments) -> Result<&'a Entry, Exit> {
    let name = &arguments.entry_point;
    program.entry(name).ok_or_else(|| {
        let names: Vec<_> = program.entries().iter().map(|e| e.name.as_str()).collect();
        let file = arguments.program.display();
        let near = frontend::near(name, names.iter().copied());
        let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
        Exit::user(match names.as_slice() {
            [] => format!("{file} has no entry point {name}, nor any other"),
            names => format!(
                "{file} has no entry point {name}, it has {}{hint}",
                names.join(", ")
            ),
        })
    })
}

fn read(entry: &Entry, inputs: &[PathBuf]) -> Result<Vec<Value>, Exit> {
    let sources = if !inputs.is_empty() {
        let opened = inputs.iter().map(|path| Source::open(path));
        opened.collect::<Result<Vec<_>, _>>().map_err(Exit::user)?
    } else if parameter_leaves(entry).is_empty() {
        Vec::new()
    } else {
        if std::io::stdin().is_terminal() {
            to_stderr(&format!("{}Ctrl-D ends the input.\n", wanted(entry)));
        }
        vec![Source::stdin().map_err(Exit::user)?]
    };
    read_arguments(entry, &sources).map_err(Exit::user)
}

/// On what the last call ran, and why.
fn why_there(program: &Program, target: Target) -> String {
    match program.last_choice() {
        Some(choice) => format!("arrc: ran on {choice}\n"),
        None if target == Target::Auto => {
            String::from("arrc: ran on cpu: there is no driver of an NVIDIA GPU\n")
        }
        None => format!("arrc: ran on {target}, as was asked for\n"),
    }
}

/// What somebody at a terminal is expected to type.
fn wanted(entry: &Entry) -> String {
    let mut text = format!("Values for {}:", entry.name);
    for (_, param, leaf) in parameter_leaves(entry) {
        // Writing to a string cannot fail.
        let _ = write!(text, " {}: {leaf}", param.name);
    }
    text.push_str(". ");
    text
}

/// Runs as often as is asked for; the results of the last run, the times, and the profile of the last run if it is
/// wanted. Arguments are where the program runs before it is timed, and results stay there until it is over.
fn call(
    session: &Session,
    program: &Program,
    (entry, arguments): (&Entry, &RunArguments),
    args: Vec<Value>,
) -> Result<(Vec<Value>, String, Option<Profile>), RunError> {
    let put = args.into_iter().map(|arg| session.put(arg));
    let args = put.collect::<Result<Vec<_>, _>>()?;
    let again = || -> Result<Vec<Resident>, RunError> {
        let params = parameter_leaves(entry).into_iter();
        let args = params.zip(&args);
        args.map(|((_, param, _), arg)| arg.to_argument(param.unique))
            .collect()
    };
    if arguments.runs > 1 {
        program.call_resident(&entry.name, again()?)?;
    }
    let mut times = String::new();
    for _ in 1..arguments.runs {
        let args = again()?;
        timed(&mut times, || program.call_resident(&entry.name, args))?;
    }
    if arguments.profile || arguments.trace.is_some() {
        let args = values(args)?;
        let profiled = timed(&mut times, || program.profile(&entry.name, args));
        return profiled.map(|(results, profile)| (results, times, Some(profile)));
    }
    let results = timed(&mut times, || program.call_resident(&entry.name, args))?;
    Ok((values(results)?, times, None))
}

fn values(resident: Vec<Resident>) -> Result<Vec<Value>, RunError> {
    resident.into_iter().map(Resident::get).collect()
}

/// Notes the time that a call takes.
fn timed<T>(times: &mut String, call: impl FnOnce() -> Result<T, RunError>) -> Result<T, RunError> {
    let start = Instant::now();
    let results = call()?;
    // Writing to a string cannot fail.
    let _ = writeln!(times, "{}", start.elapsed().as_micros());
    Ok(results)
}

/// Prints results, one line for each component of the entry point's result.
fn print(
    types: &[EntryType],
    results: &[Value],
    binary: bool,
    mut out: &mut impl Write,
) -> std::io::Result<()> {
    if binary {
        return write_results(types, results, &mut out);
    }
    let mut rest = results;
    for ty in types {
        let (mine, others) = rest.split_at(leaves(ty).len().min(rest.len()));
        rest = others;
        match (ty, mine) {
            // Large arrays are not made into one string first.
            (EntryType::Array { .. } | EntryType::Scalar(_), [value]) => {
                write_text(value, &mut out)?;
            }
            _ => out.write_all(structured_text(ty, mine).as_bytes())?,
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}
