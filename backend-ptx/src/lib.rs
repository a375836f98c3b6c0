//! The PTX back end of arrc: plans compiled to kernels for NVIDIA GPUs.
//!
//! ```text
//! Program<Mem> ──► lower ──► ptx::Module ──┬──► verify ──► print ──► text for the driver
//!                                          └──► emu: the same instructions run on this machine, and watched
//! ```
//!
//! - [`ptx`]: the typed model of PTX, with a builder, a verifier and the one printer.
//! - [`emu`]: an emulator of the model, so that every kernel runs in tests without a GPU. It reports data races, reads of
//!   what was never written, accesses out of bounds, and barriers that not all threads come to.
//!
//! **Invariants**: only [`ptx::print`](mod@ptx::print) writes PTX text; nothing needs the CUDA toolkit; an absent driver
//! or device is an ordinary error, never a panic; there is no unsafe code.
#![forbid(unsafe_code)]

pub mod emu;
pub mod ptx;
