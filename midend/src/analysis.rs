//! Analyses: each reads code and yields facts, and edits nothing.

pub mod access;
pub mod aliases;
pub mod apart;
pub mod bounded;
pub mod calls;
pub mod congruence;
pub mod derived;
pub mod dominators;
pub mod filters;
pub mod kernels;
pub mod layout;
pub mod operators;
pub mod ranges;
pub mod regularity;
pub mod rows;
pub mod shapes;
pub mod stencil;
pub mod sums;
pub mod tiles;
pub mod totality;
