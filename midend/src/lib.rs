//! The mid-end of arrc: three intermediate languages (IRs), their text forms, verifiers and interpreters, and the
//! passes between them.
//!
//! ```text
//! Program<Soac> ── nested passes ──► flatten ──► Program<Seg> ── flat passes ──► plan ──► Program<Mem>
//!   parallel operators with lambdas     parallel operators over spaces             buffers and kernels
//! ```
//!
//! All three are the same owned tree in A-normal form ([`ir::syntax`]), and differ only in the operations of their
//! *dialect*. What holds in every one of them:
//!
//! - A value is computed where it is bound, exactly once; every variable is bound once in the whole program.
//! - The type of a variable stands in one table, [`ir::syntax::Vars`], and nowhere else.
//! - A size is an ordinary `i64` variable or a constant. An array of unknown length binds its length before itself.
//! - A run-time check is an `assert` that binds a certificate; the statement that it protects names the certificate.
//! - An array that is consumed (updated in place) is not used afterwards, nor is any alias of it.
//!
//! **Invariants of the crate**: it knows no source syntax and no device, does no I/O, and reads neither the
//! environment nor the clock. Passes cannot fail; the verifier runs after each of them that changed the program, always.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod device;
pub mod driver;
pub mod fired;
pub mod hash;
pub mod interp;
pub mod ir;
pub mod math;
pub mod pass;
pub mod passes;
pub mod pipeline;
pub mod plan;
pub mod stream;
pub mod trace;
pub mod trap;
pub mod value;
pub mod verify;
