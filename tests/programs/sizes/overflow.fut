-- Counts of elements that overflow: the error is that of an array that memory does not hold, nothing is empty or small instead.
-- ==
-- entry: table
-- input { 2i64 3i64 } output { [[0i64, 0i64, 0i64], [0i64, 1i64, 2i64]] }
-- input { 35184372088832i64 35184372088832i64 } error: out of memory
-- input { 3i64 6148914691236517206i64 } error: out of memory
-- input { 0i64 9223372036854775807i64 } output { empty([0][9223372036854775807]i64) }
entry table (n: i64) (m: i64) = map (\i -> map (\j -> i * j) (iota m)) (iota n)

-- ==
-- entry: cube
-- input { 1i64 2i64 1i64 } output { [[[9u8], [9u8]]] }
-- input { 2097152i64 2097152i64 2097152i64 } error: out of memory
-- input { 35184372088832i64 35184372088832i64 2i64 } error: out of memory
-- input { 0i64 35184372088832i64 35184372088832i64 } output { empty([0][35184372088832][35184372088832]u8) }
-- input { 35184372088832i64 35184372088832i64 0i64 } error: out of memory
entry cube (n: i64) (m: i64) (k: i64) : [n][m][k]u8 =
  tabulate_3d n m k (\_ _ _ -> 9u8)

-- 2^61 elements of 8 bytes are 2^64 bytes.
-- ==
-- entry: bytes
-- input { 2i64 1i64 } output { [0i64, 3i64] }
-- input { 2305843009213693952i64 1i64 } error: out of memory
-- input { 2305843009213693953i64 0i64 } error: out of memory
entry bytes (n: i64) (k: i64) = let sums = scan (+) 0 (map (* 3) (iota n)) in sums[0:k + 1]

-- What a program says of sizes is arithmetic that wraps; the shape is not.
-- ==
-- entry: pairs
-- input { [1u8, 2, 3, 4] 2i64 2i64 } output { [[1u8, 2], [3, 4]] }
-- input { [1u8, 2] 6148914691236517206i64 3i64 } error: out of memory
-- input { [1u8, 2] 3i64 6148914691236517206i64 } error: out of memory
-- input { empty([0]u8) 35184372088832i64 35184372088832i64 } error: out of memory
-- input { empty([0]u8) 0i64 -3i64 } error: Cannot unflatten
-- input { empty([0]u8) 0i64 9223372036854775807i64 } output { empty([0][9223372036854775807]u8) }
entry pairs (xs: []u8) (n: i64) (m: i64) : [n][m]u8 = unflatten (xs :> [n * m]u8)

-- The same inside of a map, where each point has sizes of its own.
-- ==
-- entry: pairs_inside
-- input { [1u8, 2] [1i64, 2] [2i64, 1] } output { [2u8, 1u8] }
-- input { [1u8, 2] [1i64, 6148914691236517206] [2i64, 3] } error: out of memory
entry pairs_inside (xs: []u8) (ns: []i64) (ms: []i64) =
  map2 (\n m -> let a : [n][m]u8 = unflatten (xs :> [n * m]u8) in a[n - 1, m - 1] - u8.i64 (n - 1)) ns ms

-- Arrays whose elements are computed where they are read take no memory: their lengths are not counted wrongly for that.
-- ==
-- entry: long
-- input { 3i64 2i64 } output { 6i64 }
-- input { 35184372088832i64 35184372088832i64 } error: out of memory
-- input { 6148914691236517206i64 3i64 } error: out of memory
entry long (n: i64) (m: i64) = length (flatten (replicate n (replicate m 0u8)))

-- ==
-- entry: joined
-- input { 1i64 2i64 } output { 3i64 }
-- input { 4611686018427387904i64 4611686018427387904i64 } error: out of memory
-- input { 9223372036854775807i64 9223372036854775807i64 } error: out of memory
entry joined (n: i64) (m: i64) = length (replicate n 0u8 ++ replicate m 1u8)

-- Sums of the lengths of rows.
-- ==
-- entry: rows
-- input { [1i64, 0, 2] } output { [0i64, 0, 1] }
-- input { [9223372036854775807i64, 9223372036854775807, 2] } error: out of memory
-- input { [4611686018427387904i64, 4611686018427387904] } error: out of memory
entry rows (ns: []i64) = flatten (map iota ns)

-- ==
-- entry: sums
-- input { [1i64, 0, 3] } output { [0i64, 0, 4] }
-- input { [9223372036854775807i64, 9223372036854775807, 2] } error: out of memory
entry sums (ns: []i64) = map (\n -> i64.sum (scan (+) 0 (iota n))) ns

-- ==
-- entry: counts
-- input { 3i64 } output { [0i32, 2, 0] }
-- input { 9223372036854775807i64 } error: out of memory
-- input { 4611686018427387904i64 } error: out of memory
entry counts (n: i64) = hist (+) 0i32 n [1i64, 1, -1] [1i32, 1, 1]

-- ==
-- entry: counts_2d
-- input { 1i64 2i64 } output { [[1i32, 0]] }
-- input { 35184372088832i64 35184372088832i64 } error: out of memory
-- input { 6148914691236517206i64 3i64 } error: out of memory
entry counts_2d (n: i64) (m: i64) =
  reduce_by_index_2d (replicate n (replicate m 0i32)) (+) 0 [(0, 0)] [1]

-- ==
-- entry: written
-- input { 2i64 1i64 } output { [[0i8], [5]] }
-- input { 35184372088832i64 35184372088832i64 } error: out of memory
entry written (n: i64) (m: i64) = scatter (replicate n (replicate m 0i8)) [1i64] [replicate m 5i8]

-- A stride that is so large that the way to the end and it overflow together.
-- ==
-- entry: every
-- input { [4i32, 5, 6] 0i64 3i64 2i64 } output { [4i32, 6] }
-- input { [4i32, 5, 6] 0i64 3i64 9223372036854775807i64 } output { [4i32] }
-- input { [4i32, 5, 6] 2i64 -1i64 -9223372036854775807i64 } output { [6i32] }
entry every (xs: []i32) (a: i64) (b: i64) (s: i64) = xs[a:b:s]
