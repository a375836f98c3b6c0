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
