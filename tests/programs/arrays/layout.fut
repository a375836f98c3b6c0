-- Transposition, reshaping, concatenation, rotation, reversal.
-- ==
-- entry: turn
-- input { [[1, 2, 3], [4, 5, 6]] } output { [[1, 4], [2, 5], [3, 6]] }
-- input { empty([0][3]i32) } output { empty([3][0]i32) }
entry turn (xs: [][]i32) = transpose xs

-- ==
-- entry: flat
-- input { [[1, 2, 3], [4, 5, 6]] } output { [1, 2, 3, 4, 5, 6] [1, 4, 2, 5, 3, 6] }
entry flat (xs: [][]i32) = (flatten xs, flatten (transpose xs))

-- ==
-- entry: fold
-- input { [1, 2, 3, 4, 5, 6] } output { [[1, 2, 3], [4, 5, 6]] }
entry fold (xs: [6]i32) : [2][3]i32 = unflatten (xs :> [2 * 3]i32)

-- ==
-- entry: join
-- input { [1, 2] [3] } output { [1, 2, 3] [3, 1, 2] }
-- input { empty([0]i32) [3] } output { [3] [3] }
entry join (xs: []i32) (ys: []i32) = (xs ++ ys, concat ys xs)

-- ==
-- entry: around
-- input { [1, 2, 3, 4] 1i64 } output { [2, 3, 4, 1] [4, 3, 2, 1] }
-- input { [1, 2, 3, 4] -1i64 } output { [4, 1, 2, 3] [4, 3, 2, 1] }
entry around (xs: []i32) (k: i64) = (rotate k xs, reverse xs)

-- ==
-- entry: parts
-- input { [1, 2, 3, 4] } output { 1 4 [2, 3, 4] [1, 2, 3] [1, 2] [3, 4] 4i64 }
entry parts (xs: [4]i32) = (head xs, last xs, tail xs, init xs, take 2 xs, drop 2 xs, length xs)

-- ==
-- entry: deep
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] } output { [[[1, 5], [2, 6]], [[3, 7], [4, 8]]] }
entry deep [n][m][k] (xs: [n][m][k]i32) : [m][k][n]i32 = map transpose (transpose xs)

-- Rows that begin anywhere: threads that take runs of neighbours cannot all load whole runs.
-- ==
-- entry: parts_of_rows
-- random input { [300][37]i32 } auto output
entry parts_of_rows [n] [m] (xss: [n][m]i32) : [n][16]i32 = map (map (+ 1)) (xss[:, 1:17] :> [n][16]i32)
