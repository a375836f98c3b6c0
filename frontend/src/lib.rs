//! The front end of arrc.
#![forbid(unsafe_code)]

pub mod compile;
mod consume;
pub mod diagnostic;
pub mod document;
pub mod exhaustive;
pub mod lower;
mod near;
mod prelude;
pub mod property;
pub mod render;
pub mod source;
mod stack;
pub mod syntax;
pub mod typed;
pub mod types;

pub use compile::{Compiled, Heading, check, compile};
pub use near::near;
pub use prelude::{
    FILE as PRELUDE, Piece, library as prelude_library, names as prelude_names,
    operator_pieces as prelude_operators, sources as prelude_sources,
};
pub use stack::deep;
pub use types::Loader;
