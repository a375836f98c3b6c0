-- Assertions report the text of their condition.
-- ==
-- entry: positive
-- input { 3 } output { 3 }
-- input { 0 } error: x > 0
entry positive (x: i32) = assert (x > 0) x

-- One of many.
-- ==
-- entry: many
-- input { [1, 2, 3] } output { [1, 2, 3] }
-- input { [1, 0, -3] } error: x > 0
entry many (xs: []i32) = map (\x -> assert (x > 0) x) xs

-- ==
-- entry: inner
-- input { [[1, 2], [3, 4]] [0i64, 1i64] } output { [1, 4] }
-- input { [[1, 2], [3, 4]] [0i64, 2i64] } error: Index \[2\] out of bounds
entry inner [n] (xss: [n][2]i32) (is: [n]i64) = map2 (\xs i -> xs[i]) xss is
