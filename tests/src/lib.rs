//! The test harness of arrc.
#![forbid(unsafe_code)]

pub mod accuracy;
pub mod differential;
pub mod extents;
pub mod fuzz;
pub mod generate;
pub mod oracle;
