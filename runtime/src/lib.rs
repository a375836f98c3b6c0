//! The runtime of arrc: compiles programs, calls their entry points, reads and writes values, and runs tests.
#![forbid(unsafe_code)]

pub mod compare;
pub mod data;
pub mod script;
pub mod spec;
