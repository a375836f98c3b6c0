-- Reductions and scans whose operators work on small arrays of constant shape.
def mul [n][m][p] (a: [n][m]i32) (b: [m][p]i32): [n][p]i32 =
  map (\r -> map (\c -> i32.sum (map2 (*) r c)) (transpose b)) a

def mix (i: i64): i64 = let x = i * 6364136223846793005 + 1442695040888963407 in (x >> 33) ^ (x >> 17)

def one (n: i64): [n][n]i32 = tabulate_2d n n (\i j -> i32.bool (i == j))
def matrices (n: i64) (k: i64): [n][k][k]i32 =
  tabulate_3d n k k (\l i j -> i32.i64 (mix (l * k * k + i * k + j) % 5 - 2))

-- ==
-- entry: twos
-- input { 0i64 } auto output
-- input { 1i64 } auto output
-- input { 2i64 } auto output
-- input { 33i64 } auto output
-- input { 1025i64 } auto output
-- input { 20000i64 } auto output
entry twos (n: i64) = let xs = matrices n 2 in (reduce mul (one 2) xs, scan mul (one 2) xs)

-- ==
-- entry: threes
-- input { 0i64 } auto output
-- input { 31i64 } auto output
-- input { 1024i64 } auto output
-- input { 5000i64 } auto output
entry threes (n: i64) = let xs = matrices n 3 in (reduce mul (one 3) xs, scan mul (one 3) xs)

-- Of many rows, in parallel and one after another.
-- ==
-- entry: rows
-- input { 0i64 7i64 } auto output
-- input { 3i64 0i64 } auto output
-- input { 5i64 300i64 } auto output
-- input { 700i64 20i64 } auto output
entry rows (m: i64) (n: i64) =
  let xss = tabulate m (\_ -> matrices n 2)
  in (map (reduce mul (one 2)) xss, map (scan mul (one 2)) xss)

-- Arrays and numbers side by side; what is folded is computed on the way.
-- ==
-- entry: fibonacci
-- input { 0i64 } output { [[1u32, 0u32], [0u32, 1u32]] 0i64 }
-- input { 1i64 } output { [[1u32, 1u32], [1u32, 0u32]] 0i64 }
-- input { 10i64 } output { [[89u32, 55u32], [55u32, 34u32]] 9i64 }
-- input { 3000i64 } auto output
entry fibonacci (n: i64): ([2][2]u32, i64) =
  let times (a: [2][2]u32, i: i64) (b: [2][2]u32, j: i64) =
    ([[a[0, 0] * b[0, 0] + a[0, 1] * b[1, 0], a[0, 0] * b[0, 1] + a[0, 1] * b[1, 1]],
      [a[1, 0] * b[0, 0] + a[1, 1] * b[1, 0], a[1, 0] * b[0, 1] + a[1, 1] * b[1, 1]]],
     i64.max i j)
  in reduce times ([[1, 0], [0, 1]], 0) (map (\i -> ([[1, 1], [1, 0]], i)) (iota n))

-- Operators with loops, branches and updates.
-- ==
-- entry: largest
-- input { 0i64 } auto output
-- input { 5i64 } auto output
-- input { 4000i64 } auto output
entry largest (n: i64) =
  let merge (a: [3]i32) (b: [3]i32): [3]i32 =
    (loop (c, i, j) = (replicate 3 0, 0i64, 0i64) for k < 3 do
       if a[i] >= b[j] then (c with [k] = a[i], i + 1, j) else (c with [k] = b[j], i, j + 1)).0
  let least = replicate 3 i32.lowest
  let xs = map (\i -> [i32.i64 (mix i % 100_000), i32.lowest, i32.lowest]) (iota n)
  in (reduce merge least xs, scan merge least xs)

-- Maps of operators are not concerned.
-- ==
-- entry: sums
-- input { 0i64 } auto output
-- input { 4000i64 } auto output
entry sums (n: i64) =
  let xs = map (\i -> [i32.i64 (mix i), i32.i64 i, 1i32]) (iota n)
  in (reduce (map2 (+)) [0, 0, 0] xs, scan (map2 (+)) [0, 0, 0] xs)

-- Indices that are out of range are found.
-- ==
-- entry: beyond
-- input { 3i64 1i64 } output { [1i32, 1i32] }
-- input { 3i64 2i64 } error: out of bounds
entry beyond (n: i64) (k: i64): [2]i32 =
  reduce (\(a: [2]i32) (b: [2]i32) -> [a[0] * b[0], a[1] * b[k]]) [1, 1] (replicate n [1, 1])
