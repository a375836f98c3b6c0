-- The loop in a function that is mapped has no attribute of its own: of that loop nothing is said.
def sums (n: i64) (xss: [][]i64) : []i64 =
  #[unroll] map (\xs -> loop s = 0 for i < n do s + xs[i]) xss
--  ^^^^^^ warning[W0502]: `#[unroll]` has no effect: this is no loop

entry main (n: i64) (xss: [][]i64) : []i64 = sums n xss
