//! The mathematics of scalar operations.
//!
//! A library function (`exp`, `pow`, `atan2`, `gamma`, ...) is one scalar operation of the IR, and is written down once,
//! as IR ([`library`]): range reduction, polynomial, explicit `fma`. The interpreter evaluates this IR and back ends
//! put it into their code, so that a program gives the same bits everywhere. The error is 1 unit in the last place for
//! elementary functions, 2 for `pow`, `erf` and `erfc`, 4 for `gamma` and `lgamma` and what stands for `sin` and `cos` with
//! `--fast-math`; `docs/scalar-functions.md` has what was measured. Functions of f32 compute in f64 where f32 has no room for
//! that; functions of f16 are those of f32, rounded.
//!
//! What is exact or rounded once by its nature (remainders, minima, conversions to f16) stands here as Rust
//! ([`arith`], [`half`]), typed: `f32_min`, `f64_mod`, `f16_fma`. None depends on the machine.

pub mod arith;
pub mod atan;
pub mod code;
pub mod data;
pub mod derivative;
pub mod exp;
pub mod format;
pub mod half;
pub mod library;
pub mod log;
pub mod pair;
pub mod power;
pub mod special;
pub mod trig;

pub use arith::*;
pub use half::*;
pub use library::{computed_by, definition};

#[cfg(test)]
mod tests;
