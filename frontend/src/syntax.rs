//! The surface language: its syntax tree, and the way from text to tree and back.

pub mod ast;
pub mod literal;
pub mod name;
pub mod ptr;
