-- n numbers halved and moved, k times over.
entry main (n: i64) (k: i64) : f32 =
  let xs = map (\i -> f32.i64 (i % 1000)) (iota n)
  let ys = loop xs for _i < k do map (\x -> 0.5 * x + 1) xs
  in ys[n / 3]
