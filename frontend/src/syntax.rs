//! The surface language: its syntax tree, and the way from text to tree and back.

pub mod ast;
pub mod bare;
pub mod literal;
pub mod name;
pub mod parse;
mod precedence;
pub mod print;
pub mod ptr;

#[cfg(test)]
mod tests;

pub use parse::{
    format_program, parse_expression, parse_program, parse_program_bytes, parse_type_scheme,
};
