-- Lambdas know the sizes of what they are applied to, wherever they stand among the arguments.
-- ==
-- entry: rotations
-- input { [[1, 2, 3], [4, 5, 6]] } output { [[6, 7, 5], [9, 10, 8]] }

entry rotations [n] [m] (xss: [n][m]i32) : [n][m]i32 =
  map (\row -> loop row for i < 4 do map (\j -> row[(j + i) % m] + 1) (iota m)) xss
  |> map (rotate 1)

-- ==
-- entry: piped
-- input { [[1, 2, 3], [4, 5, 6]] false } output { [[4, 4, 4], [4, 4, 4]] }
-- input { [[1, 2, 3], [4, 5, 6]] true } output { [[2, 3, 4], [5, 6, 7]] }

entry piped [n] [m] (xss: [n][m]i32) (keep: bool) : [n][m]i32 =
  xss
  |> map (\row -> loop row for _i < 2 do map (\j -> if keep then row[j] else i32.i64 j * 0 + 3) (iota m))
  |> map (\row -> if keep then row else copy row)
  |> map (map (+ 1))

-- ==
-- entry: largest
-- input { [[1, 2], [5, 0], [3, 9]] } output { [5, 0] }

entry largest [n] [m] (xss: [n][m]i32) : [m]i32 =
  reduce (\a b -> if a[0] > b[0] then a else b) (replicate m 0) xss

-- ==
-- entry: swaps
-- input { [[1, 2], [5, 0], [3, 9]] [4, 4] } output { [[4, 4], [5, 0], [4, 4]] }

entry swaps [n] [m] (xss: [n][m]i32) (ys: [m]i32) : [n][m]i32 =
  map (\xs -> if xs[0] > ys[0] then xs else ys) xss

-- ==
-- entry: folded
-- input { [[1, 2], [5, 0], [3, 9]] } output { [9, 11] }

entry folded [n] [m] (xss: [n][m]i32) : [m]i32 =
  foldl (\acc xs -> if xs[0] < 0 then acc else map2 (+) acc xs) (replicate m 0) xss
