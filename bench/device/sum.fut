-- Sums of n numbers, k times over; nobody waits for one before the next.
entry main (n: i64) (k: i64) : [k]f32 =
  let xs = map (\i -> f32.i64 (i % 1000)) (iota n)
  in loop sums = replicate k 0 for i < k do sums with [i] = f32.sum (map (+ f32.i64 i) xs)
