-- The numbers above a bound, about half of n, k times over; all are kept until the next ones are there.
entry main (n: i64) (k: i64) : i64 =
  let xs = map (\i -> f32.i64 (i * 7919 % 1000)) (iota n)
  let (c, ys) =
    loop (c, _ys: []f32) = (0, []) for i < k do
      let zs = filter (> 500 + f32.i64 (i % 2)) xs
      in (c + length zs, zs)
  in c + i64.f32 ys[c % 10]
