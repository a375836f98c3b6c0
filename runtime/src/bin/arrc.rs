//! The `arrc` command.
use std::process::ExitCode;

/// Compiling is many small allocations on a thread of its own, for which this allocator needs less time than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    arrc::cli::main()
}
