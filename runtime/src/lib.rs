//! The runtime of arrc: compiles programs, calls their entry points, reads and writes values, and runs tests.
#![forbid(unsafe_code)]

pub mod cli;
pub mod compare;
pub mod data;
pub mod harness;
pub mod loader;
pub mod script;
pub mod session;
pub mod spec;
pub mod target;
