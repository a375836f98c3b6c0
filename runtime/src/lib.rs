//! The runtime of arrc: compiles programs, calls their entry points, reads and writes values, and runs tests.
//!
//! ```
//! use arrc::session::{Options, Session};
//! use arrc::data::{Source, read_arguments, value_text};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::new(Options::default())?;
//! let program = session.compile("dot.fut", "def main xs ys : f32 = f32.sum (map2 (*) xs ys)")?;
//! let dot: f32 = program.run("main", (vec![1.0f32, 2.0, 3.0], vec![4.0f32, 5.0, 6.0]))?;
//! assert_eq!(dot, 32.0);
//!
//! // The same, from text to text, as the command does it:
//! let entry = program.entry("main").ok_or("no main")?;
//! let input = Source::from_bytes("input", b"[1, 2, 3] [4, 5, 6]".to_vec())?;
//! let results = program.call("main", read_arguments(entry, &[input])?)?;
//! assert_eq!(value_text(&results[0]), "32.0f32");
//! # Ok(())
//! # }
//! ```
//!
//! [`typed`] has calls with Rust's own types, `examples/threads.rs` calls from several threads.
//! A [`session::Session`] compiles for one [`target::Target`] and may be used from several threads at once. Everything
//! that is read, source text and values, is untrusted; mistakes are errors, never panics. Source files are read by
//! [`loader`] alone, and only [`cli`] prints.
#![forbid(unsafe_code)]

pub mod bench;
mod child;
pub mod cli;
pub mod compare;
pub mod data;
mod directories;
mod explain;
pub mod harness;
pub mod literate;
pub mod loader;
mod passes;
mod picture;
pub mod repl;
pub mod script;
pub mod session;
pub mod spec;
pub mod stream;
pub mod target;
mod text;
pub mod typed;

pub use backend_cpu::{Adopted, Foreign, LargePages, Layout, adopt};
pub use midend::trap::RunError;
pub use midend::value::{ArrayValue, Data, Value};

/// The blocks of the chapter on Rust are executed.
#[cfg(doctest)]
#[doc = include_str!("../../docs/book/rust.md")]
struct Book;
