//! The front end of arrc.
#![forbid(unsafe_code)]
