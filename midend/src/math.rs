//! The functions that scalar operations on floats stand for, typed: `f32_exp`, `f64_pow`, `f16_gamma`.
//!
//! The interpreter evaluates with these, and compiled code calls the very same functions, so that a program gives
//! the same bits everywhere. All are pure, none depends on the machine. The functions of f16 compute in f32 or f64
//! and round once at the end.

pub mod arith;
pub mod circular;
pub mod elementary;
pub mod half;

pub use arith::*;
pub use circular::*;
pub use elementary::*;
pub use half::*;

#[cfg(test)]
mod tests;
