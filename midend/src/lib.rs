//! The mid-end of arrc.
#![forbid(unsafe_code)]
