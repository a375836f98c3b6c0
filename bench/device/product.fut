-- The product of two n by n matrices, k times over.
entry main (n: i64) (k: i64) : f32 =
  let a = tabulate_2d n n (\i j -> f32.i64 ((i * 7 + j) % 100) * 0.01)
  let c = loop c = a for _i < k do
    map (\row -> map (\column -> f32.sum (map2 (*) row column) * 0.001) (transpose c)) a
  in c[n / 2, n / 3]
