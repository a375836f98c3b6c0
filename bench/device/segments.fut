-- The sums of the rows of a square matrix of n numbers, k times over; of each nothing is kept but the last.
entry main (n: i64) (k: i64) : f32 =
  let m = i64.f64 (f64.sqrt (f64.i64 n))
  let xss = tabulate_2d m m (\i j -> f32.i64 ((i + j) % 1000))
  let sums = loop _sums = replicate m 0 for i < k do
    map (\xs -> f32.sum (map (+ f32.i64 i) xs)) xss
  in sums[m / 2]
