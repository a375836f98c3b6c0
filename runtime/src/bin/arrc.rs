//! The `arrc` command.
use std::process::ExitCode;

/// Compiling is many small allocations on a thread of its own, for which this allocator needs less time than the system's. It asks for no large
/// pages by itself, as it would for everything.
#[global_allocator]
static ALLOCATOR: arrc::LargePages<mimalloc::MiMalloc> = arrc::LargePages(mimalloc::MiMalloc);

fn main() -> ExitCode {
    arrc::cli::main()
}
