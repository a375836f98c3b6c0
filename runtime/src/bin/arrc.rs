//! The `arrc` command.
fn main() {}
