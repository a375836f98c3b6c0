-- `scatter` and `reduce_by_index` in one, two and three dimensions; places outside of the array are ignored.
-- ==
-- entry: one
-- input { [0, 0, 0] [2i64, -1i64, 0i64, 3i64] [5, 6, 7, 8] } output { [7, 0, 5] }
entry one [k] [n] (dest: *[k]i32) (is: [n]i64) (vs: [n]i32) : [k]i32 = scatter dest is vs

-- ==
-- entry: two
-- input { [[0, 0], [0, 0]] [1i64, 0i64, 2i64] [0i64, 1i64, 0i64] [5, 6, 7] } output { [[0, 6], [5, 0]] }
entry two [k] [l] [n] (dest: *[k][l]i32) (is: [n]i64) (js: [n]i64) (vs: [n]i32) : [k][l]i32 =
  scatter_2d dest (zip is js) vs

-- ==
-- entry: three
-- input { [0i64, 1i64, 1i64] [1, 2, 3] } output { [[[1, 0], [0, 0]], [[0, 0], [0, 3]]] }
entry three [n] (is: [n]i64) (vs: [n]i32) : [2][2][2]i32 =
  scatter_3d (replicate 2 (replicate 2 (replicate 2 0)))
             (map2 (\i v -> if v == 2 then (i, 2, 0) else (i, i, i)) is vs)
             vs

-- ==
-- entry: hist_one
-- input { [0i64, 2i64, 0i64, 5i64, -1i64] [1, 2, 3, 4, 5] } output { [14, 10, 12] [4, 0, 2] }
entry hist_one [n] (is: [n]i64) (vs: [n]i32) =
  ( reduce_by_index (replicate 3 10) (+) 0 is vs
  , hist (+) 0 3 is vs
  )

-- ==
-- entry: hist_two
-- input { [0i64, 1i64, 0i64, 2i64] [1, 2, 3, 4] } output { [[0, 3], [2, 0]] }
entry hist_two [n] (is: [n]i64) (vs: [n]i32) : [2][2]i32 =
  reduce_by_index_2d (replicate 2 (replicate 2 0)) i32.max i32.lowest (map (\i -> (i, 1 - i)) is) vs
  |> map (map (i32.max 0))

-- ==
-- entry: hist_three
-- input { [0i64, 1i64, 0i64] [1, 2, 3] } output { [[[4, 0], [0, 0]], [[0, 0], [0, 2]]] }
entry hist_three [n] (is: [n]i64) (vs: [n]i32) : [2][2][2]i32 =
  reduce_by_index_3d (replicate 2 (replicate 2 (replicate 2 0))) (+) 0 (map (\i -> (i, i, i)) is) vs

-- ==
-- entry: spread_out
-- input { [1i64, 1i64, 9i64] [4, 4, 6] } output { [0, 4, 0] }
entry spread_out [n] (is: [n]i64) (vs: [n]i32) : []i32 = spread 3 0 is vs

-- The parts of an array by predicates.
-- ==
-- entry: parts
-- input { [1, 2, 3, 4, 5, 6] } output { [2, 4, 6] [1, 3, 5] [3, 6] [2, 4] [1, 5] }
entry parts (xs: []i32) =
  let (even, odd) = partition (\x -> x % 2 == 0) xs
  let (a, b, c) = partition2 (\x -> x % 3 == 0) (\x -> x % 2 == 0) xs
  in (even, odd, a, b, c)

-- Arrays of different lengths, one after the other.
-- ==
-- entry: flat
-- input { [2i64, 0i64, 3i64] } output { [2i64, 0i64, 3i64] [0i64, 1i64, 0i64, 1i64, 2i64] }
entry flat (ns: []i64) =
  let (shape, _, _, elements) = flatmap' iota ns
  in (shape, elements)

-- The length of what a function makes is its parameter.
-- ==
-- entry: flat_of_parameter
-- input { [2i64, 0i64, 3i64] } output { [0i64, 1i64, 0i64, 1i64, 2i64] [0i64, 1i64, 0i64, 1i64, 2i64] }
entry flat_of_parameter (ns: []i64) =
  let upto (n: i64) = iota n
  in ((flatmap' (\n -> iota n) ns).3, (flatmap' upto ns).3)

-- What is written was computed from the destination before.
-- ==
-- entry: reversed
-- input { true [1, 2, 3, 4, 5] }
-- output { [7, 6, 5, 4, 3] }
-- input { false [1, 2, 3, 4, 5] }
-- output { [3, 4, 5, 6, 7] }

entry reversed [n] (b: bool) (xs: *[n]i32) : [n]i32 =
  let vals = map (+ 2) (if b then reverse xs else xs)
  in scatter xs (iota n) vals
