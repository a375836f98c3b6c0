-- Reductions and scans with any operator, over any element.
-- ==
-- entry: sums
-- input { [1, 2, 3, 4] } output { 10 24 4 1 }
-- input { empty([0]i32) } output { 0 1 -2147483648 2147483647 }
entry sums (xs: []i32) = (reduce (+) 0 xs, i32.product xs, i32.maximum xs, i32.minimum xs)

-- ==
-- entry: order
-- input { [1, 2, 3] } output { 321 [1, 21, 321] }
entry order (xs: []i32) =
  let digits (a, p) (b, q) = (a + p * b, p * q)
  let pairs = map (\x -> (x, 10)) xs
  in ((reduce digits (0, 1) pairs).0, map (.0) (scan digits (0, 1) pairs))

-- ==
-- entry: argmax
-- input { [3, 9, 2, 9] } output { 1i64 9 }
entry argmax [n] (xs: [n]i32) =
  let better (i, x) (j, y) = if x > y || (x == y && i < j) then (i, x) else (j, y)
  in reduce_comm better (-1, i32.lowest) (zip (iota n) xs)

-- ==
-- entry: prefix
-- input { [1, 2, 3, 4] } output { [1, 3, 6, 10] [1, 2, 6, 24] [0, 1, 3, 6] }
-- input { empty([0]i32) } output { empty([0]i32) empty([0]i32) empty([0]i32) }
entry prefix (xs: []i32) = (scan (+) 0 xs, scan (*) 1 xs, exscan (+) 0 xs)

-- ==
-- entry: vectors
-- input { [[1, 2], [3, 4], [5, 6]] } output { [9, 12] [[1, 2], [4, 6], [9, 12]] }
entry vectors [n][m] (xss: [n][m]i32) =
  (reduce (map2 (+)) (replicate m 0) xss, scan (map2 (+)) (replicate m 0) xss)

-- ==
-- entry: matrices
-- input { 5i64 } output { [[8, 5], [5, 3]] }
entry matrices (n: i64) =
  let mul (a: [2][2]i32) (b: [2][2]i32) : [2][2]i32 =
    map (\row -> map (\col -> i32.sum (map2 (*) row col)) (transpose b)) a
  in reduce mul [[1, 0], [0, 1]] (replicate n [[1, 1], [1, 0]])

-- ==
-- entry: segments
-- input { [[1, 2, 3], [4, 5, 6]] } output { [6, 15] [[1, 3, 6], [4, 9, 15]] }
entry segments (xss: [][]i32) = (map (reduce (+) 0) xss, map (scan (+) 0) xss)

-- ==
-- entry: quantifiers
-- input { [true, true] } output { true true }
-- input { [true, false] } output { false true }
-- input { empty([0]bool) } output { true false }
entry quantifiers (xs: []bool) = (and xs, or xs)

-- A length around which chunks and vectors end.
-- ==
-- entry: long
-- input { 1023i64 } output { 523776i64 178956970i64 }
-- input { 1024i64 } output { 524800i64 178956970i64 }
-- input { 100000i64 } output { 5000050000i64 166671666700000i64 }
entry long (n: i64) =
  let xs = scan (+) 0 (map (+ 1) (iota n))
  in (last xs, if n > 2000 then i64.sum xs else 178956970)

-- A component that the operator only passes on and that is the same for all elements.
-- ==
-- entry: passed_on
-- input { [1i32, 2i32, 3i32, 4i32] 7u8 } output { 10i32 7u8 7u8 }
entry passed_on [n] (xs: [n]i32) (c: u8) : (i32, u8, u8) =
  reduce_comm (\(a, t, u) (b, _, _) -> (a + b, u, t)) (0i32, 7u8, 7u8) (map (\x -> (x, c, c)) xs)
