//! `arrc devices`: what programs can be run on.

use super::Outcome;
use super::output::to_stdout;
use crate::target::Target;

pub(super) fn run() -> Outcome {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    to_stdout(|out| {
        for target in Target::ALL {
            let default = if target == Target::default() {
                " (default)"
            } else {
                ""
            };
            writeln!(out, "{target}{default}: {}", target.summary())?;
            match target {
                Target::Cpu => writeln!(out, "  {} cores, {}", cores, std::env::consts::ARCH)?,
                Target::PtxEmu | Target::Interp => {}
            }
        }
        Ok(())
    })
}
