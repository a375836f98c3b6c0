-- In-place updates of elements, rows and slices, at top level and inside parallel code.
-- ==
-- entry: element
-- input { [1, 2, 3] 1i64 9 } output { [1, 9, 3] }
-- input { [1, 2, 3] 3i64 9 } error: out of bounds
entry element (xs: *[]i32) (i: i64) (x: i32) = xs with [i] = x

-- ==
-- entry: bound
-- input { [1, 2, 3] } output { [5, 6, 3] }
entry bound (xs: *[3]i32) =
  let xs[0] = 5
  let xs[1] = xs[0] + 1
  in xs

-- ==
-- entry: row
-- input { [[1, 2], [3, 4]] } output { [[1, 2], [7, 7]] }
entry row (xss: *[2][2]i32) = xss with [1] = replicate 2 7

-- ==
-- entry: slice
-- input { [1, 2, 3, 4, 5] } output { [1, 0, 0, 0, 5] }
entry slice (xs: *[5]i32) = xs with [1:4] = replicate 3 0

-- ==
-- entry: kept
-- input { [1, 2, 3] } output { [1, 2, 3] [0, 2, 3] }
entry kept (xs: [3]i32) =
  let ys = copy xs with [0] = 0
  in (xs, ys)

-- ==
-- entry: inside
-- input { [3i64, 0i64, 2i64] } output { [[0, 0, 0, 9], [9, 0, 0, 0], [0, 0, 9, 0]] }
entry inside [n] (is: [n]i64) = map (\i -> replicate 4 0 with [i] = 9) is

-- ==
-- entry: sieve
-- input { 20i64 } output { [2i64, 3i64, 5i64, 7i64, 11i64, 13i64, 17i64, 19i64] }
entry sieve (n: i64) =
  let start = replicate n true with [0] = false with [1] = false
  let marks = loop marks = start for i in 2..<n do
                if !marks[i] then marks
                else loop marks for k < (n - 1) / i - 1 do marks with [i * (k + 2)] = false
  in filter (\i -> marks[i]) (iota n)

-- ==
-- entry: swap
-- input { [1, 2, 3] 0i64 2i64 } output { [3, 2, 1] }
entry swap (xs: *[]i32) (i: i64) (j: i64) =
  let x = xs[i]
  let y = xs[j]
  in xs with [i] = y with [j] = x
