-- Indexing and slicing, with checks.
-- ==
-- entry: element
-- input { [1, 2, 3] 0i64 } output { 1 }
-- input { [1, 2, 3] 3i64 } error: Index \[3\] out of bounds for array of shape \[3\]
-- input { [1, 2, 3] -1i64 } error: Index \[-1\] out of bounds
entry element (xs: []i32) (i: i64) = xs[i]

-- ==
-- entry: row
-- input { [[1, 2], [3, 4]] 1i64 } output { [3, 4] 3 }
entry row (xs: [][2]i32) (i: i64) = (xs[i], xs[i, 0])

-- ==
-- entry: slice
-- input { [0, 1, 2, 3, 4] 1i64 4i64 } output { [1, 2, 3] [0] [4] }
-- input { [0, 1, 2, 3, 4] 0i64 5i64 } output { [0, 1, 2, 3, 4] empty([0]i32) empty([0]i32) }
-- input { [0, 1, 2, 3, 4] 4i64 6i64 } error: out of bounds
entry slice (xs: []i32) (a: i64) (b: i64) = (xs[a:b], xs[:a], xs[b:])

-- ==
-- entry: strided
-- input { [0, 1, 2, 3, 4] } output { [0, 2, 4] [4, 3, 2, 1, 0] [3, 1] }
entry strided (xs: [5]i32) = (xs[::2], xs[::-1], xs[3:0:-2])

-- ==
-- entry: column
-- input { [[1, 2], [3, 4], [5, 6]] } output { [2, 4, 6] [[4], [6]] }
entry column (xs: [3][2]i32) = (xs[:, 1], xs[1:, 1:])

-- Branches that yield more or less of one array, inside of others: as much is copied as the branch taken yields.
-- ==
-- entry: more_or_less
-- input { 2 [1i64, 2, 3, 4, 5, 6, 7, 8] } output { [6i64, 8, 10] }
-- input { 5 [1i64, 2, 3, 4, 5, 6, 7, 8] } output { [6i64, 8, 10, 12, 14, 16, 18] }
-- input { 9 [1i64, 2] } output { [12i64, 18] }
entry more_or_less (k: i32) (xs: []i64) : []i64 =
  let ys = map (+ 1) xs
  let zs = if k < 9
           then (if k < 3 then ys[1:length ys / 2] else ys[1:])
           else map (* 3) ys
  in map (* 2) zs

-- ==
-- entry: rows_more_or_less
-- input { 2 [[1i64], [], [2, 3], [4], [5, 6]] [7i64, 8] } output { [[1i64], []] }
-- input { 5 [[1i64], [], [2, 3], [4], [5, 6]] [7i64, 8] } output { [[1i64], [], [2, 3], [4], [5, 6]] }
-- input { 9 [[1i64], [], [2, 3], [4], [5, 6]] [7i64, 8] } output { [[7i64, 7], [8, 8]] }
entry rows_more_or_less (k: i32) (xss: [][..]i64) (ns: []i64) : [][..]i64 =
  let m = i64.min 2 (length xss)
  in if k < 9
     then (if k < 3 then take m xss else xss)
     else (map (\n -> let c = i64.min n 2 in replicate c n) ns :> [][..]i64)
