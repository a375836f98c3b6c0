//! The PTX back end of arrc: plans compiled to PTX text and launched through the NVIDIA driver.
//!
//! Nothing is here yet. What will stand here:
//!
//! - a typed model of PTX (`ptx::Inst` with virtual registers), one verifier, one printer;
//! - an emulator over that model, so that every kernel runs in tests without a GPU;
//! - the lowering of [`midend`]'s plan to kernels, and an implementation of its device trait on top of the driver.
//!
//! **Invariants** that it will keep: only one file writes PTX text; nothing needs the CUDA toolkit;
//! an absent driver or device is an ordinary error, never a panic.
