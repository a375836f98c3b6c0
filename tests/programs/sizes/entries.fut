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

-- Sizes that functions compute from earlier parameters.
-- ==
-- entry: computed
-- input { 2 3 [1, 2, 3, 4, 5, 6] }
-- output { 21 }
-- input { 2 3 [1, 2, 3] }
-- error: parameter `xs` has shape \[3\], expected \[6\]

entry computed (n: i32) (m: i32) (xs: [i64.i32 n * i64.i32 m]i32) = i32.sum xs

-- ==
-- entry: of_literal
-- input { [4, 5] 1 }
-- error: Index \[0\] out of bounds

entry of_literal (a: *[]i32) (x: i32) : [[][0]]i32 = let a[0] = x in a
