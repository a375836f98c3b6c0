-- Tangents of array operations and parallel operators.

-- ==
-- entry: maps
-- input { [1.0, 2.0, 3.0] [1.0, 0.0, -1.0] }
-- output { [2.0, 0.0, -6.0] [9.0, 0.0, -9.0] }
entry maps [n] (xs: [n]f64) (ds: [n]f64) =
  (jvp (map (\x -> x * x)) xs ds, jvp (\ys -> map2 (*) (map (const xs[2]) xs) (map (*3) ys)) xs ds)

-- ==
-- entry: folds
-- input { [1.0, 2.0, 3.0] [1.0, 10.0, 100.0] }
-- output { 111.0 236.0 100.0 1.0 222.0 }
entry folds [n] (xs: [n]f64) (ds: [n]f64) =
  let along (f: [n]f64 -> f64) = jvp f xs ds
  in ( along f64.sum, along f64.product, along f64.maximum, along f64.minimum
     , along (\xs -> let (_, s) = reduce (\(i, a) (j, b) -> (i + j, a + b)) (0i64, 0) (map (\x -> (1, 2 * x)) xs) in s))

-- The derivative of a captured factor reaches the operator's elements, and the operator itself.
-- ==
-- entry: captured
-- input { [1.0, 2.0, 3.0] 2.0 } output { 6.0 [0.0, 1.0, 6.0] [0.0, 1.0, 6.0] }
entry captured (xs: []f64) (k: f64) =
  ( jvp (\k -> reduce (\a b -> a + b) 0 (map (* k) xs)) k 1
  , jvp (\k -> map (.1) (scan (\(a, b) (c, d) -> (a * c, b * c + d)) (1, 0) (map (\x -> (k, x)) xs))) k 1
  , jvp (\k -> scan (\a b -> a * k + b) 0 xs) k 1 )

-- ==
-- entry: scans
-- input { [1.0, 2.0, 3.0] [1.0, 1.0, 1.0] }
-- output { [1.0, 2.0, 3.0] [1.0, 3.0, 11.0] }
entry scans [n] (xs: [n]f64) (ds: [n]f64) =
  (jvp (scan (+) 0) xs ds, jvp (scan (*) 1) xs ds)

-- ==
-- entry: updates
-- input { [1.0, 2.0, 3.0, 4.0] 2.0 } output { [0.0, 4.0, 0.0, 0.0] [0.0, 1.0, 1.0, 0.0] [1.0, 0.0] }
entry updates [n] (xs: [n]f64) (k: f64) =
  ( jvp (\k -> copy xs with [1] = k * k) k 1
  , jvp (\k -> copy xs with [1:3] = [k, k]) k 1
  , jvp (\xs -> [(copy xs with [1] = 7)[0], (copy xs with [1] = 7)[1]]) xs (replicate n 1))

-- ==
-- entry: moves
-- input { [1.0, 2.0, 3.0, 4.0] }
-- output { [1.0, 3.0, 2.0, 4.0] [4.0, 3.0, 2.0, 1.0] [1.0, 2.0, 3.0, 4.0, 0.0] [2.0, 3.0, 4.0, 1.0] [3.0, 3.0] }
entry moves (xs: [4]f64) =
  ( jvp (\xs -> flatten (transpose (unflatten (xs :> [2 * 2]f64))) :> [4]f64) xs xs
  , jvp reverse xs xs, jvp (\xs -> xs ++ [5]) xs xs, jvp (rotate 1) xs xs
  , jvp (\xs -> replicate 2 xs[2]) xs xs )

-- ==
-- entry: scattered
-- input { [1.0, 2.0, 3.0] [2i64, -1, 0] } output { [3.0, 0.0, 1.0, 0.0] [6.0, 0.0, 2.0] [4.0, 2.0] }
entry scattered [n] (xs: [n]f64) (is: [n]i64) =
  ( jvp (\xs -> scatter (replicate 4 9) is xs) xs xs
  , jvp (\xs -> reduce_by_index (replicate 3 0) (+) 0 is (map (* 2) xs)) xs xs
  , jvp (\xs -> hist f64.max f64.lowest 2 [0, 1, 0] [2 * xs[1], 2 * xs[0], xs[0]]) xs xs)

-- ==
-- entry: filtered
-- input { [1.0, -2.0, 3.0] } output { 4.0 }
entry filtered (xs: []f64) =
  jvp (\xs -> f64.sum (map (\x -> x * x / 5) (filter (> 0) xs))) xs xs

-- ==
-- entry: accumulated
-- input { [1.0, 2.0, 3.0] } output { [3.0, 6.0, 3.0] }
entry accumulated [n] (xs: [n]f64) =
  jvp (\xs ->
         intrinsics.hist_stream (replicate n 0) (+) 0
           (\(a: *intrinsics.acc ([n]f64)) (i, x) ->
              let a = intrinsics.acc_write a i x
              in intrinsics.acc_write a ((i + 1) % 2) x)
           (zip (iota n) xs))
      xs xs

-- ==
-- entry: rows
-- input { [1.0, 2.0, 3.0] } output { 14.0 }
entry rows (xs: []f64) =
  jvp (\xs -> f64.sum (map f64.sum (map (\i -> map (* xs[i]) (replicate (i + 1) 1)) (indices xs)))) xs xs
