//! `arrc devices`: what programs can be run on.

use super::Outcome;
use super::output::to_stdout;
use crate::target::Target;
use backend_ptx::{CudaDevice, GpuOptions, count_gpus};
use midend::device::Device as _;

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
                Target::Ptx => match count_gpus() {
                    Ok(0) => writeln!(out, "  not here: there is no NVIDIA GPU")?,
                    Ok(count) => {
                        for number in 0..count {
                            match gpu(number) {
                                Ok(about) => writeln!(out, "  --device={number}: {about}")?,
                                Err(why) => {
                                    writeln!(out, "  --device={number}: not usable: {why}")?
                                }
                            }
                        }
                    }
                    Err(why) => writeln!(out, "  not here: {}", why.reason())?,
                },
                Target::Auto | Target::PtxEmu | Target::Interp => {}
            }
        }
        Ok(())
    })
}

/// The name of a GPU, its capability and its memory, or why it cannot be used.
pub(super) fn gpu(number: usize) -> Result<String, String> {
    let options = GpuOptions {
        number,
        ..GpuOptions::default()
    };
    let gpu = CudaDevice::open(options).map_err(|why| why.reason())?;
    let about = gpu.properties();
    let memory = about.memory.map_or(String::new(), |bytes| {
        format!(", {:.0} GiB", bytes as f64 / f64::from(1 << 30))
    });
    Ok(format!("{}{memory}", about.name))
}
