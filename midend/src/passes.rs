//! The passes: each takes a whole program and gives a whole program, and cannot fail.

pub mod flatten;
