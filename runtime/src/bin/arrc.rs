//! The `arrc` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    arrc::cli::main()
}
