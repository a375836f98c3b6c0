//! The front end of arrc.
#![forbid(unsafe_code)]

pub mod diagnostic;
pub mod lower;
pub mod render;
pub mod source;
pub mod syntax;
pub mod typed;
pub mod types;
