-- All forms of loops.
-- ==
-- entry: counted
-- input { 5 } output { 120 }
-- input { 0 } output { 1 }
-- input { -3 } output { 1 }
entry counted (n: i32) = loop acc = 1 for i < n do acc * (i + 1)

-- ==
-- entry: over
-- input { [3, 1, 2] } output { 312 }
entry over (xs: []i32) = loop acc = 0 for x in xs do acc * 10 + x

-- ==
-- entry: euclid
-- input { 48 36 } output { 12 }
-- input { 7 0 } output { 7 }
entry euclid (a: i32) (b: i32) = (loop (a, b) while b != 0 do (b, a % b)).0

-- ==
-- entry: growing
-- input { 4 } output { [0, 1, 2, 3] }
-- input { 0 } output { empty([0]i32) }
entry growing (n: i32) = loop (xs: []i32) = [] for i < n do xs ++ [i]

-- ==
-- entry: halving
-- input { [1, 2, 3, 4, 5, 6, 7, 8] } output { 36 }
entry halving (xs: []i32) =
  (loop (xs: []i32) = xs while length xs > 1 do
     let half = length xs / 2
     in map2 (+) (xs[:half] :> [half]i32) (xs[half:2 * half] :> [half]i32))[0]

-- ==
-- entry: nested
-- input { 3 } output { [[0, 1, 2], [1, 2, 3], [2, 3, 4]] }
entry nested (n: i32) =
  let m = i64.i32 n
  in loop xss = replicate m (replicate m 0) for i < m do
       loop xss for j < m do xss with [i, j] = i32.i64 (i + j)

-- ==
-- entry: inside
-- input { [0, 1, 5] } output { [0, 1, 8] }
entry inside (ns: []i32) =
  map (\n -> (loop (a, b) = (0, 1) for _i < n do (b, a + b)).0
             + (if n == 5 then 3 else 0)) ns
