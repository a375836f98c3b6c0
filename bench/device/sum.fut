-- The sum of n numbers, k times over.
entry main (n: i64) (k: i64) : f32 =
  let xs = map (\i -> f32.i64 (i % 1000)) (iota n)
  in loop s = 0 for _i < k do f32.sum (map (+ s) xs) * 0.00000001f32
