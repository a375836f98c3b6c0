//! The benchmark driver of arrc.
fn main() {}
