//! `--device=K`: which of several GPUs to run on.

use super::exit::Exit;
use crate::target::Target;
use backend_ptx::count_gpus;

/// Looks whether there is the GPU that the command line names, for a program that runs on this target.
pub(super) fn check(device: Option<usize>, target: Target) -> Result<(), Exit> {
    let Some(device) = device else { return Ok(()) };
    match target {
        Target::Ptx | Target::Auto => {}
        Target::Cpu | Target::PtxEmu | Target::Interp => {
            let why =
                format!("--device chooses a GPU, for the targets ptx and auto, not for {target}");
            return Err(Exit::user(why));
        }
    }
    let count =
        count_gpus().map_err(|why| Exit::user(format!("--device={device}: {}", why.reason())))?;
    if device < count {
        return Ok(());
    }
    Err(Exit::user(match count {
        0 => format!("--device={device}: there is no GPU"),
        1 => format!("--device={device}: the only GPU has the number 0"),
        _ => format!(
            "--device={device}: the GPUs have the numbers 0 to {}",
            count - 1
        ),
    }))
}
