-- A map whose rows would have a negative length fails where a row is made, on every target.
-- ==
-- entry: rest
-- input { [[1i32, 2], [3, 4]] } output { [[2i32], [4]] }
-- input { empty([2][0]i32) } error: Index
entry rest [n] [m] (xss: [n][m]i32) = map (\xs -> xs[1:]) xss

-- ==
-- entry: without
-- input { [[1i32, 2], [3, 4]] 1i64 } output { [[1i32], [3]] }
-- input { [[1i32, 2], [3, 4]] 3i64 } error: Index
entry without [n] [m] (xss: [n][m]i32) (k: i64) = map (\xs -> xs[:m - k]) xss

-- ==
-- entry: copies
-- input { [1i32, 2] 1i64 } output { [[1i32], [2]] }
-- input { [1i32, 2] -1i64 } error: negative
entry copies (xs: []i32) (n: i64) = map (\x -> replicate n x) xs

-- ==
-- entry: squares
-- input { 2i64 3i64 } output { [[0i64, 0, 0], [0, 1, 2]] }
-- input { 2i64 -3i64 } error: invalid
entry squares (n: i64) (m: i64) = map (\i -> map (\j -> i * j) (iota m)) (iota n)
