//! The reference interpreters: what they compute is what programs mean, on every target.

pub mod scalar;
