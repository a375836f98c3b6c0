//! Prints the PTX of a plan's kernels, or writes each into a file of its own.
//!
//! ```sh
//! arrc opt --to plan prog.fut | cargo run --release -p arrc-backend-ptx --example texts [CAPABILITY [FOLDER]]
//! ```
//!
//! The capability is 90 unless told (`75` for sm_75). What the assembler makes of a file shows `ptxas -v -arch=sm_90`.

#![allow(clippy::print_stdout, reason = "the texts are what it is for")]

use backend_ptx::{EmuDevice, Options};
use midend::device::Device as _;
use midend::ir::mem::Mem;
use midend::ir::read;
use midend::ir::syntax::Program;
use std::error::Error;
use std::io::Read as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let capability: u32 = args.next().map_or(Ok(90), |arg| arg.parse())?;
    let folder = args.next();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let plan: Program<Mem> = read::program(&text).map_err(|why| format!("{why:?}"))?;
    let device = EmuDevice::new(Options::default()).map_err(|why| format!("{why:?}"))?;
    let module = device.compile(&plan).map_err(|why| format!("{why:?}"))?;
    for (name, text) in module.texts(capability) {
        match &folder {
            Some(folder) => std::fs::write(Path::new(folder).join(name + ".ptx"), text)?,
            None => println!("{text}"),
        }
    }
    Ok(())
}
