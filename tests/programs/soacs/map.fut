-- Maps of every arity, nested, over tuples, and of nothing.
-- ==
-- entry: simple
-- input { [1, 2, 3] } output { [2, 3, 4] [2, 4, 6] [1, 4, 9] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry simple (xs: []i32) = (map (+ 1) xs, map (2 *) xs, map (\x -> x * x) xs)

-- ==
-- entry: several
-- input { [1, 2] [3, 4] [5, 6] } output { [4, 6] [9, 12] }
entry several [n] (a: [n]i32) (b: [n]i32) (c: [n]i32) = (map2 (+) a b, map3 (\x y z -> x + y + z) a b c)

-- ==
-- entry: nested
-- input { [[1, 2], [3, 4]] 10 } output { [[11, 12], [13, 14]] [3, 7] }
-- input { empty([0][2]i32) 10 } output { empty([0][2]i32) empty([0]i32) }
-- input { empty([2][0]i32) 10 } output { empty([2][0]i32) [0, 0] }
entry nested (xss: [][]i32) (k: i32) = (map (map (+ k)) xss, map i32.sum xss)

-- ==
-- entry: tuples
-- input { [1, 2] [true, false] } output { [2, 1] [false, true] }
entry tuples [n] (a: [n]i32) (b: [n]bool) = unzip (map (\(x, y) -> (if y then x + 1 else x - 1, !y)) (zip a b))

-- ==
-- entry: rows
-- input { 3i64 2i64 } output { [[0i64, 0i64], [0i64, 1i64], [0i64, 2i64]] }
entry rows (n: i64) (m: i64) = map (\i -> map (\j -> i * j) (iota m)) (iota n)
