-- What is found out about rows when a program runs tells the line that asked for it, on every target.

-- ==
-- entry: coercion
-- input { [[1, 2], [3, 4]] } output { [[1, 2], [3, 4]] }
-- input { [[1, 2], [3]] } error: Rows have lengths from 1 to 2, but an array with rows of length 2 is needed\.\n  at .*located\.fut:7:52$
entry coercion [n] (xss: [n][..]i32) : [n][2]i32 = xss :> [n][2]i32

-- ==
-- entry: zipped
-- input { [[1, 2], [3]] [[4, 5], [6]] } output { [12, 9] }
-- input { [[1, 2], [3]] [[4, 5], [6, 7]] } error: Rows differ in shape: \[[12]\] and \[[12]\]\.\n  at .*located\.fut:14:27
entry zipped [n] (xss: [n][..]i32) (yss: [n][..]i32) : [n]i32 =
  map2 (\xs ys -> i32.sum (map2 (+) xs (reverse ys))) xss yss

-- ==
-- entry: segments
-- input { [1i64, 2i64] [1, 2, 3] } output { [1, 5] }
-- input { [1i64, 1i64] [1, 2, 3] } error: The lengths of rows, the least of them 1, add up to 2, but there are 3 elements\.\n  at .*located\.fut:21:73
-- input { [4i64, -1i64] [1, 2, 3] } error: the least of them -1, add up to 3.*located\.fut:21:73
entry segments [n] [m] (ls: [n]i64) (xs: [m]i32) : [n]i32 = map i32.sum (segment ls xs)

-- Inside of parallel code, and of functions of the library.
-- ==
-- entry: inside
-- input { [[1i64, 1i64], [2i64, 0i64]] } output { [2i64, 2i64] }
-- input { [[1i64, 1i64], [1i64, 2i64]] } error: add up to 3, but there are 2 elements.*located\.fut:29:36
entry inside [n] (lss: [n][2]i64) : [n]i64 =
  map (\ls -> i64.maximum (lengths (segment ls [1, 2])) * 0 + i64.sum ls) lss

-- ==
-- entry: update
-- input { [[1, 2], [3]] 0i64 } output { [[7, 7], [3]] }
-- input { [[1, 2], [3]] 1i64 } error: located\.fut:36:3
entry update [n] (xss: *[n][..]i32) (i: i64) : [n][..]i32 =
  xss with [i] = [7, 7]

-- The place in the library is none that says anything.
-- ==
-- entry: sections
-- input { [[1, 2], [3]] [[4, 5], [6]] } output { [[5, 7], [9]] }
-- input { [[1, 2], [3]] [[4, 5], [6, 7]] } error: Rows differ in shape: \[[12]\] and \[[12]\]\.\n  at [^\n]*located\.fut:44:3$
entry sections [n] (xss: [n][..]i32) (yss: [n][..]i32) : [n][..]i32 =
  map2 (map2 (+)) xss yss
