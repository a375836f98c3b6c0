//! The CPU back end of arrc.
