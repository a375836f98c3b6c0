//! `arrc devices`: what programs can be run on.

use super::Outcome;
use super::output::to_stdout;
use crate::target::Target;
use backend_ptx::CudaDevice;
use midend::device::Device as _;
use midend::trap::RunError;

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
                Target::Ptx => match CudaDevice::open(0, None) {
                    Ok(gpu) => {
                        let about = gpu.properties();
                        let memory = about.memory.map_or(String::new(), |bytes| {
                            format!(", {:.0} GiB", bytes as f64 / f64::from(1 << 30))
                        });
                        writeln!(out, "  {}{memory}", about.name)?;
                    }
                    Err(RunError::Device(why)) => writeln!(out, "  not here: {why}")?,
                    Err(why) => writeln!(out, "  not here: {why}")?,
                },
                Target::Auto | Target::PtxEmu | Target::Interp => {}
            }
        }
        Ok(())
    })
}
