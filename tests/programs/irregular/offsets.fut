-- Rows that begin where an array of offsets says, which need not begin at zero, and lengths that are differences of neighbours
-- otherwise.
-- ==
-- entry: between
-- input { [2i64, 4i64, 4i64, 7i64] [9, 9, 1, 2, 3, 4, 5, 9] } output { [3, 0, 12] }
-- input { [5i64] [1] } output { empty([0]i32) }
-- input { [0i64, 2i64, 1i64, 3i64] [1, 2, 3] } error: Range 2..<1 is invalid
-- input { [0i64, 2i64, 4i64] [1, 2, 3] } error: Index \[3\] out of bounds
-- input { [-1i64, 2i64] [1, 2, 3] } error: Index \[-1\] out of bounds

-- ==
-- entry: counts
-- input { [3i64, 1i64, 4i64, 4i64, 9i64] } output { [0i64, 3i64, 0i64, 10i64] }
-- input { [-9223372036854775808i64, 9223372036854775807i64, 9223372036854775807i64] } output { [0i64, 0i64] }

entry between [n] (os: [n]i64) (xs: []i32) : []i32 =
  map (\i -> i32.sum (map (\e -> xs[e]) (os[i]..<os[i + 1]))) (iota (n - 1))

entry counts [n] (os: [n]i64) : []i64 =
  map (\i -> i64.sum (iota (i64.max 0 (os[i + 1] - os[i])))) (iota (n - 1))
