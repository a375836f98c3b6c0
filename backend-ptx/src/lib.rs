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
//! - [`device`]: the interface of the plan ([`PtxDevice`]) on top of a machine: the emulator ([`EmuDevice`]) or a GPU
//!   ([`CudaDevice`]).
//!
//! **Invariants**: only [`ptx::print`](mod@ptx::print) writes PTX text; nothing needs the CUDA toolkit; an absent driver
//! or device is an ordinary error, never a panic; unsafe code is in the calls of the driver alone ([`cuda`]).
#![deny(unsafe_code)]

mod compile;
mod copy;
mod cuda;
mod device;
pub mod emu;
mod launch;
mod lower;
pub mod ptx;
mod report;

pub use copy::standing_texts;
pub use cuda::{Cuda, CudaDevice, GpuOptions, KernelStore, Stored, count_gpus, is_driver_present};
pub use device::{About, Buffer, EmuDevice, Emulator, Machine, Module, Options, PtxDevice};
pub use launch::Limits;
