-- How many of n numbers lie in each of 1000 intervals, k times over.
entry main (n: i64) (k: i64) : i32 =
  let xs = map (\i -> f32.i64 (i * 7919 % 1000) + 0.5) (iota n)
  let counts = loop counts = replicate 1000 0 for i < k do
    let shift = f32.i64 (i % 2)
    in reduce_by_index counts (+) 0 (map (\x -> i64.f32 (x - shift)) xs) (replicate n 1)
  in counts[17]
