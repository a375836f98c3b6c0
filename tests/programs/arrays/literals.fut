-- Array literals, ranges, and the functions that make arrays.
-- ==
-- entry: literal
-- input { 3 } output { [1, 2, 3] [[3, 0], [0, 3]] }
entry literal (x: i32) = ([1, 2, x], [[x, 0], [0, x]])

-- ==
-- entry: ranges
-- input { 1 5 } output { [1, 2, 3, 4] [1, 2, 3, 4, 5] [5, 4, 3, 2] }
-- input { 3 3 } output { empty([0]i32) [3] empty([0]i32) }
entry ranges (a: i32) (b: i32) = (a..<b, a...b, b..>a)

-- ==
-- entry: stepped
-- input { 0 3 10 } output { [0, 3, 6, 9] }
-- input { 10 7 0 } output { [10, 7, 4, 1] }
-- input { 0 0 10 } error: Range
entry stepped (a: i32) (b: i32) (c: i32) = a..b...c

-- ==
-- entry: make
-- input { 3i64 } output { [0i64, 1i64, 2i64] [7i32, 7i32, 7i32] [0i64, 1i64, 4i64] }
-- input { 0i64 } output { empty([0]i64) empty([0]i32) empty([0]i64) }
-- input { -1i64 } error: .
entry make (n: i64) = (iota n, replicate n 7i32, tabulate n (\i -> i * i))

-- ==
-- entry: text
-- input { } output { [104u8, 105u8] }
entry text = "hi"
