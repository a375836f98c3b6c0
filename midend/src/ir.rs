//! The intermediate languages: identifiers, types, scalar operations, the shared syntax and the three dialects.
//!
//! This module imports nothing else of the crate. Reading order: [`id`], [`types`], [`scalar`], [`syntax`], then
//! the dialects [`mod@array`], [`soac`], [`seg`], [`mem`]; then what is done with them: [`dialect`], [`walk`],
//! [`rename`], [`build`], and the text form: [`text`], [`print`](mod@print), [`read`].

pub mod array;
pub mod atom;
pub mod build;
pub mod constant;
pub mod dialect;
pub mod id;
pub mod mem;
pub mod print;
pub mod read;
pub mod rename;
pub mod scalar;
pub mod seg;
pub mod soac;
pub mod span;
pub mod syntax;
pub mod text;
pub mod threshold;
pub mod types;
pub mod typing;
pub mod uses;
pub mod walk;
