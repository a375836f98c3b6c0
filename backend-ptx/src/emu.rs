//! An emulator of the model of PTX: kernels run on this machine, and every access to memory is looked at.
//!
//! ```text
//! Module ──► Program (decoded)         Memory (arrays with a shadow)
//!                └──────────── run ───────────┘ ──► Stats, or a Fault: what, which instruction, which source line
//! ```
//!
//! A grid runs block by block, some at a time where blocks talk to each other; the warps of a block take turns at
//! accesses to memory, in an order that a seed decides. Lanes part and meet again as on devices with independent
//! scheduling of threads. Memory itself is sequentially consistent; what the order of accesses does not say is reported as
//! a race ([`shadow`]).

mod code;
mod exec;
mod fault;
mod grid;
mod memory;
mod run;
mod shadow;
mod warp;

pub use code::Program;
pub use fault::{Fault, FaultKind};
pub use grid::{Launch, Options, Stats, run};
pub use memory::{Memory, Snapshot};
