-- What is written in place may be a part of what it is written to, although the source takes it for a fresh array.

-- ==
-- entry: itself
-- input { [[1i64, 2i64], [3i64, 4i64]] } output { [[1i64, 2i64], [3i64, 4i64]] }
entry itself [n] [m] (xss: *[n][m]i64) : [n][m]i64 = xss with [0] = map (\x -> x) xss[0]

-- ==
-- entry: moved
-- input { [1i64, 2i64, 3i64, 4i64] } output { [1i64, 1i64, 2i64, 3i64] }
entry moved [n] (xs: *[n]i64) : [n]i64 = xs with [1:n] = map (\x -> x) xs[0:n - 1]

-- ==
-- entry: row
-- input { [[1i64, 2i64], [3i64]] } output { [[1i64, 2i64], [3i64]] }
entry row [n] (xss: *[n][..]i64) : [n][..]i64 = xss with [0] = map (\x -> x) xss[0]
