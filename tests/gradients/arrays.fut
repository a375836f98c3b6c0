-- Gradients that only the interpreter computes: the mid-end has no rules for these constructs.

-- Rows that grow.
-- ==
-- entry: growing
-- input { 3.0 4i64 } output { 15.0 }
entry growing (x: f64) (n: i64) =
  vjp (\x -> f64.sum (loop xs: []f64 = [x] for _i < n - 1 do xs ++ [2 * last xs])) x 1

-- ==
-- entry: accumulated
-- input { [1.0, 2.0, 3.0] } output { [110.0, 110.0, 1100.0] }
entry accumulated [n] (xs: [n]f64) =
  let f (xs: [n]f64) =
    intrinsics.hist_stream (replicate n 0) (+) 0
      (\(a: *intrinsics.acc ([n]f64)) (i, x) ->
         let a = intrinsics.acc_write a i x
         in intrinsics.acc_write a ((i + 1) % 2) x)
      (zip (iota n) xs)
  in vjp f xs (map (\i -> 10 ** f64.i64 (i + 1)) (iota n))
