-- Only a loop can be unrolled.
def twice (x: i64) : i64 = #[unroll] (x + x)
--                           ^^^^^^ warning[W0502]: `#[unroll]` has no effect: this is no loop
