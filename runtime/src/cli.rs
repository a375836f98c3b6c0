//! The command line: one module per command. Exit codes: 0 all went well, 1 a mistake in program, input or usage,
//! 2 the program failed while running, 70 a mistake in arrc itself, 124 out of time, 130 interrupted.

mod bar;
mod bench;
mod benchcmp;
mod cache;
mod check;
mod dataset;
mod device;
mod devices;
mod doc;
mod doctor;
mod examples;
mod exit;
mod explain;
mod fmt;
mod literate;
mod lsp;
mod manual;
mod new;
mod opt;
mod output;
mod png;
mod profile;
mod purge;
mod repl;
mod run;
mod server;
mod size;
mod stop;
mod streams;
mod test;
mod threshold;
mod trace;

use clap::{Parser, Subcommand};
use exit::Exit;
use std::ffi::OsString;
use std::process::ExitCode;

/// Compiles and runs data-parallel array programs, in the language of Futhark.
#[derive(Parser)]
#[command(
    name = "arrc",
    version,
    propagate_version = true,
    infer_subcommands = true,
    after_help = EXAMPLES
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The end of `--help`.
const EXAMPLES: &str = "\
Examples:
  echo 10 | arrc prog.fut                     run the entry point `main`
  arrc repl                                   try things out
  arrc test tests/                            run the test blocks of programs
  arrc bench --targets=cpu,interp prog.fut    measure them
  arrc profile prog.fut data                  see where time and memory go
  arrc dataset -b -g '[1000]f32' > data       make an input

`arrc COMMAND --help` tells more, `arrc doctor` what works here. Exit codes: 0 all went well, 1 a mistake in the program, \
the input or the command line, 2 the program failed while running, 124 out of time, 130 interrupted.";

#[derive(Subcommand)]
enum Command {
    /// Run an entry point of a program (`arrc prog.fut` is short for `arrc run prog.fut`)
    Run(run::RunArguments),
    /// Run an entry point and tell what that spends time and memory on (the same as `run --profile -n`)
    Profile(run::RunArguments),
    /// Look programs over for mistakes, without running them
    Check(check::CheckArguments),
    /// Format programs
    Fmt(fmt::FmtArguments),
    /// Make HTML of programs from their documentation comments, and execute the examples in these
    Doc(doc::DocArguments),
    /// Execute the directives of a literate program, and write it as Markdown with their results
    Literate(literate::LiterateArguments),
    /// Run the test blocks of programs
    Test(test::TestArguments),
    /// Measure programs on the inputs of their test blocks, on several targets and beside other programs
    Bench(bench::BenchArguments),
    /// Compare two files of times that `bench --json` wrote
    Benchcmp(benchcmp::BenchcmpArguments),
    /// Run passes of the compiler on programs in the text form of its IR
    Opt(opt::OptArguments),
    /// Evaluate expressions and definitions as they are typed
    Repl(repl::ReplArguments),
    /// Make random values, and convert values between formats
    Dataset(dataset::DatasetArguments),
    /// Make a folder with a first program, its test block, and settings of an editor
    New(new::NewArguments),
    /// Answer an editor, by the language server protocol on standard input and output
    Lsp(LspArguments),
    /// Serve a program's entry points to other programs, which write commands to standard input (the server protocol of Futhark)
    Server(server::ServerArguments),
    /// List what programs can be run on
    Devices,
    /// List what was measured of this computer, for the target auto, and what compiled kernels are kept; measure again; forget it
    Cache(cache::CacheArguments),
    /// Look what works here and what is missing, and tell how to mend it
    Doctor,
    /// Explain an error code
    Explain(explain::ExplainArguments),
    /// Print a script that completes command lines in a shell
    Completions(manual::CompletionsArguments),
    /// Print a page for man(1)
    Man(manual::ManArguments),
}

/// What `arrc lsp` takes.
#[derive(clap::Args)]
struct LspArguments {
    /// Changes nothing: clients of the protocol pass it
    #[arg(long)]
    stdio: bool,
}

/// The names of the commands: a first argument that is none of them begins a program to run.
const COMMANDS: &[&str] = &[
    "run",
    "profile",
    "check",
    "fmt",
    "doc",
    "literate",
    "test",
    "bench",
    "benchcmp",
    "opt",
    "repl",
    "dataset",
    "server",
    "new",
    "lsp",
    "devices",
    "cache",
    "doctor",
    "explain",
    "completions",
    "man",
    "help",
];

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    exit::install_panic_hook();
    let arguments = match Arguments::try_parse_from(with_command(std::env::args_os().collect())) {
        Ok(arguments) => arguments,
        Err(why) => {
            let code = if why.use_stderr() { 1 } else { 0 };
            // There is nobody to tell if the message cannot be printed.
            let _ = why.print();
            return ExitCode::from(code);
        }
    };
    let work = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Profile(arguments) => run::profiled(arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Fmt(arguments) => fmt::run(&arguments),
        Command::Doc(arguments) => doc::run(&arguments),
        Command::Literate(arguments) => literate::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Benchcmp(arguments) => benchcmp::run(&arguments),
        Command::Opt(arguments) => opt::run(&arguments),
        Command::Repl(arguments) => repl::run(&arguments),
        Command::Dataset(arguments) => dataset::run(&arguments),
        Command::New(arguments) => new::run(&arguments),
        Command::Lsp(LspArguments { stdio: _ }) => lsp::run(),
        Command::Server(arguments) => server::run(&arguments),
        Command::Devices => devices::run(),
        Command::Cache(arguments) => cache::run(&arguments),
        Command::Doctor => doctor::run(),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::man(&arguments),
    };
    match work {
        Ok(()) => ExitCode::SUCCESS,
        Err(exit) => exit.report(),
    }
}

/// Inserts `run` where the first argument is no command but some argument is a program.
fn with_command(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let text = |argument: &OsString| argument.to_string_lossy().into_owned();
    let first = arguments.get(1).map(&text).unwrap_or_default();
    let program = |argument: &OsString| text(argument).ends_with(".fut");
    if !COMMANDS.contains(&first.as_str()) && arguments.iter().skip(1).any(program) {
        arguments.insert(1, OsString::from("run"));
    }
    arguments
}

/// What a command ends with.
type Outcome = Result<(), Exit>;

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_well_formed() {
        Arguments::command().debug_assert();
        let names: Vec<_> = Arguments::command()
            .get_subcommands()
            .map(|c| c.get_name().to_owned())
            .collect();
        assert!(names.iter().all(|name| COMMANDS.contains(&name.as_str())));
    }

    #[test]
    fn a_program_alone_is_run() {
        let with = |line: &str| {
            let arguments = line.split(' ').map(OsString::from).collect();
            with_command(arguments)
                .iter()
                .map(|a| a.to_string_lossy().into_owned())
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(with("arrc a.fut"), "arrc run a.fut");
        assert_eq!(
            with("arrc --target=cpu a.fut"),
            "arrc run --target=cpu a.fut"
        );
        assert_eq!(with("arrc check a.fut"), "arrc check a.fut");
        assert_eq!(with("arrc --help"), "arrc --help");
    }
}
