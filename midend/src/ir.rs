//! The intermediate languages: identifiers, types, scalar operations, the shared syntax and the three dialects.
//!
//! This module imports nothing else of the crate. Reading order: [`id`], [`types`], [`scalar`], [`syntax`], then
//! the dialects [`array`], [`soac`], [`seg`], [`mem`].

pub mod array;
pub mod dialect;
pub mod id;
pub mod mem;
pub mod scalar;
pub mod seg;
pub mod soac;
pub mod span;
pub mod syntax;
pub mod types;
