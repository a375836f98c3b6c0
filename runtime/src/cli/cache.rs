//! `arrc cache`: what is kept of measurements of this computer, and of compiled kernels.

use super::Outcome;
use super::exit::Exit;
use super::output::to_stdout;
use crate::session::{Kept, Store, kernel_store, measure_costs};
use crate::target::Target;
use backend_ptx::Stored;
use clap::{Args, Subcommand};
use std::io::ErrorKind;

/// What `arrc cache` takes.
#[derive(Args)]
pub(super) struct CacheArguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Subcommand)]
enum Action {
    /// Say what is kept, and where
    List,
    /// Measure the devices of this computer again, and keep the best that was found
    Measure,
    /// Forget everything; it is measured again when it is needed
    Clear,
}

pub(super) fn run(arguments: &CacheArguments) -> Outcome {
    match &arguments.action {
        None | Some(Action::List) => list(),
        Some(Action::Measure) => {
            for target in [Target::Cpu, Target::Ptx] {
                match (target, measure_costs(target)) {
                    (_, Ok(())) => {}
                    // Most computers have no GPU.
                    (Target::Ptx, Err(why)) => to_stdout(|out| writeln!(out, "{target}: {why}"))?,
                    (_, Err(why)) => return Err(Exit::user(format!("{target}: {why}"))),
                }
            }
            list()
        }
        Some(Action::Clear) => clear(),
    }
}

fn list() -> Outcome {
    let Some(file) = Store::file() else {
        return to_stdout(|out| {
            writeln!(
                out,
                "nothing is kept: neither HOME nor XDG_CACHE_HOME names a directory"
            )
        });
    };
    let store = Store::read();
    to_stdout(|out| {
        if store.devices.is_empty() {
            writeln!(out, "{}: nothing", file.display())?;
        } else {
            writeln!(out, "{}:", file.display())?;
        }
        for (name, kept) in &store.devices {
            writeln!(out, "{name}\n{}", text(kept))?;
        }
        let Some(kernels) = kernel_store() else {
            return Ok(());
        };
        let place = kernels.directory().display();
        match kernels.stored() {
            Stored { kernels: 0, .. } => writeln!(out, "{place}: nothing"),
            Stored { kernels, bytes } => {
                let kilobytes = bytes.div_ceil(1000);
                writeln!(out, "{place}: {kernels} compiled kernels, {kilobytes} kB")
            }
        }
    })
}

/// What was measured of a device, a line for each.
fn text(Kept { costs, peak, .. }: &Kept) -> String {
    let rate = |seconds: f64| {
        if seconds > 0.0 {
            format!("{:.1} GB/s", 1e-9 / seconds)
        } else {
            String::from("nothing")
        }
    };
    [
        format!("  a kernel             {:.1} us", costs.launch * 1e6),
        format!("  waiting for a number {:.1} us", costs.wait * 1e6),
        format!("  arrays there or back {}", rate(costs.transfer)),
        format!("  its own memory       {}", rate(costs.byte)),
        format!("  an operation         {:.2} ns", costs.step * 1e9),
        format!("  points at once       {:.0}", costs.width),
        format!("  operations           {:.1} G/s", peak / 1e9),
    ]
    .join("\n")
}

fn clear() -> Outcome {
    if let Some(kernels) = kernel_store() {
        let place = kernels.directory().display();
        let cannot = |why| Exit::user(format!("cannot remove {place}: {why}"));
        kernels.clear().map_err(cannot)?;
    }
    let Some(file) = Store::file() else {
        return Ok(());
    };
    match std::fs::remove_file(&file) {
        Err(why) if why.kind() != ErrorKind::NotFound => Err(Exit::user(format!(
            "cannot remove {}: {why}",
            file.display()
        ))),
        Ok(()) | Err(_) => Ok(()),
    }
}
