//! The CPU back end of arrc: kernels of a plan compiled to machine code with Cranelift and run on all cores with
//! rayon.
//!
//! ```text
//! Program<Mem> ──► collect kernels, called functions ──► Cranelift (in parallel) ──► Module ──► launch ──► team ──► rayon
//! ```
//!
//! What holds here:
//!
//! - A kernel is a *chunk function* over a piece of its space; nothing in it knows of threads.
//! - Boundaries of chunks that could show in a result (reductions, scans, histograms) depend on the size and the
//!   kernel alone, never on the number of threads or on timing.
//! - Compiled code never faults: divisors are made harmless, deep recursion is checked, checks of the program store a
//!   record and return. No signal handler is installed.
//! - Vector registers of 256 and 512 bits are used where there are any: code for 128 bits that Cranelift compiled is widened
//!   (`wide`), or compiled again for 128 bits if something in it is not understood. Results are the same to the bit.
//! - Maps that this leaves scalar are vectorised for 512 bits under an execution mask, from an IR of their own (`vector`), where a cost model
//!   says that it pays.
//! - `unsafe` stands only where compiled code is entered or memory is touched.

mod apart;
mod arena;
mod assembly;
pub mod buffer;
mod cache;
mod calls;
mod compile;
mod copy;
mod cost;
mod device;
mod emit;
mod foreign;
mod large_pages;
mod launch;
mod machine;
mod module;
mod target;
mod team;
mod vector;
mod wide;
mod worker;

pub use buffer::Buffer;
pub use device::{CpuDevice, Options};
pub use foreign::{Adopted, Foreign, Layout, adopt};
pub use large_pages::LargePages;
pub use module::Module;
