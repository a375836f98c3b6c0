-- A square matrix of n numbers transposed, k times over.
entry main (n: i64) (k: i64) : f32 =
  let m = i64.f64 (f64.sqrt (f64.i64 n))
  let xss = tabulate_2d m m (\i j -> f32.i64 ((i * 7 + j) % 1000))
  let yss = loop xss for _i < k do copy (transpose xss)
  in yss[m / 2, m / 3]
