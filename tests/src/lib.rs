//! The test harness of arrc.
#![forbid(unsafe_code)]

pub mod generate;
