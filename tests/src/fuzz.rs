//! Fuzzing: what reads untrusted input is fed with mutations of valid input, and must give an answer in good time.
//!
//! Mutations know a little structure ([`text`]): they swap, repeat, delete and nest tokens, bracketed groups, phrases
//! and declarations, and splice pieces of one sample into another ([`mutate`]). What the samples are and which words a
//! language has is in [`samples`] and [`vocabulary`]; [`campaign`] runs, watches, and shrinks what it finds.

pub mod campaign;
pub mod mutate;
pub mod samples;
mod shrink;
pub mod text;
pub mod vocabulary;
