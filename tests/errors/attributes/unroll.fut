-- Only a loop with a known number of iterations can be unrolled.
def sum (n: i64) (xs: []i64) : i64 =
  #[unroll] loop s = 0 for i < n do s + xs[i]
--                   ^ warning[W0502]: `#[unroll]` has no effect: the number of iterations is not known here

entry main (n: i64) (xs: []i64) : i64 = sum n xs
