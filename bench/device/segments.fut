-- The sums of the rows of a square matrix of n numbers, k times over.
entry main (n: i64) (k: i64) : f32 =
  let m = i64.f64 (f64.sqrt (f64.i64 n))
  let xss = tabulate_2d m m (\i j -> f32.i64 ((i + j) % 1000))
  let sums = loop sums = replicate m 0 for _i < k do
    map2 (\xs s -> f32.sum xs + s * 0.5) xss sums
  in sums[m / 2]
