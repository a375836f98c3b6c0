//! The runtime of arrc.
#![forbid(unsafe_code)]
