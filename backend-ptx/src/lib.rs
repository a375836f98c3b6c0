//! The PTX back end of arrc: plans compiled to kernels for NVIDIA GPUs.
//!
//! ```text
//! Program<Mem> ──► lower ──► ptx::Module ──┬──► verify ──► print ──► text for the driver
//!                                          └──► emu: the same instructions run on this machine, and watched
//! ```
//!
//! - [`ptx`]: the typed model of PTX, with a builder, a verifier and the one printer.
//! - [`lower`]: kernels of a plan as PTX.
//! - [`emu`]: an emulator of the model, so that every kernel runs in tests without a GPU. It reports data races, reads of
//!   what was never written, accesses out of bounds, and barriers that not all threads come to.
//! - [`compile`]: all kernels of a program; [`launch`]: what a launch of one is, as data (entries, blocks, parameters,
//!   scratch memory); [`failure`]: what its failure record says. They are the same for every device.
//! - [`device`]: the interface of the plan on top of the emulator ([`EmuDevice`]).
//!
//! **Invariants**: only [`ptx::print`](mod@ptx::print) writes PTX text; nothing needs the CUDA toolkit; an absent driver
//! or device is an ordinary error, never a panic; there is no unsafe code.
#![forbid(unsafe_code)]

mod bits;
mod compile;
mod device;
pub mod emu;
mod failure;
mod launch;
mod lower;
pub mod ptx;

pub use device::{Buffer, EmuDevice, Module, Options};
