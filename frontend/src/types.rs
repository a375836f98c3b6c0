//! Types, sizes and the type checker: from the syntax tree to the typed program.

pub mod size;
pub mod ty;
