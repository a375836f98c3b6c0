-- The numbers above a bound, about half of n, k times over.
entry main (n: i64) (k: i64) : i64 =
  let xs = map (\i -> f32.i64 (i * 7919 % 1000)) (iota n)
  in loop c = 0 for i < k do
       let ys = filter (> 500 + f32.i64 (i % 2)) xs
       in c + length ys + i64.f32 ys[c % 10]
