-- Sizes that a later parameter tells, and stars inside of arrays, which mean nothing.
-- ==
-- entry: doubled
-- input { [1, 2, 3, 4] [5, 6] }
-- output { [1, 2, 3, 4] }
-- input { [1, 2, 3] [5, 6] }
-- error: parameter `xs` has shape

entry doubled [n] (xs: [n * 2]i32) (_ys: [n]i32) = xs

-- ==
-- entry: stars
-- input { [[1i64, 2i64]] [[3i64, 4i64], [5i64, 6i64]] }
-- output { [[3i64, 4i64], [5i64, 6i64], [1i64, 2i64]] }

entry stars [n] [m] (xss: [n]*[]i64) (yss: [m][2]i64) = concat yss (xss :> [n][2]i64)
