-- Products in tiles, with something to do after the sums, of sizes that leave rows, columns and steps over.

def matrix (seed: i64) (n: i64) (m: i64) : [n][m]f32 =
  tabulate_2d n m (\i j -> f32.i64 ((i * 31 + j * seed) % 17 - 8))

-- Few steps.
-- ==
-- entry: less
-- input { 130i64 70i64 32i64 } auto output
-- input { 64i64 64i64 1i64 } auto output
-- input { 72i64 96i64 0i64 } auto output
-- input { 135i64 257i64 31i64 } auto output
-- input { 300i64 290i64 33i64 } auto output
-- input { 70i64 65i64 300i64 } auto output
entry less (n: i64) (m: i64) (k: i64) : [n][m]f32 =
  let (a, l, u) = (matrix 7 n m, matrix 5 n k, matrix 3 k m)
  in map2 (\row ls -> map2 (\x us -> x - f32.sum (map2 (*) ls us)) row (transpose u)) a l

-- In its own place, of a part of a matrix.
-- ==
-- entry: within
-- input { 150i64 13i64 } auto output
-- input { 192i64 64i64 } auto output
entry within (n: i64) (e: i64) : [n][n]f32 =
  let (a, m) = (matrix 7 n n, n - e)
  let (l, u) = (matrix 5 m e, matrix 3 e m)
  let part = a[e:, e:] :> [m][m]f32
  let new = map2 (\row ls -> map2 (\x us -> x - f32.sum (map2 (*) ls us)) row (transpose u)) part l
  in a with [e:, e:] = new

-- Of doubles, with a choice after the sum.
-- ==
-- entry: positive
-- input { 90i64 77i64 40i64 } auto output
-- input { 128i64 128i64 128i64 } auto output
entry positive (n: i64) (m: i64) (k: i64) : [n][m]f64 =
  let (a, b) = (map (map f64.f32) (matrix 5 n k), map (map f64.f32) (matrix 3 k m))
  in map (\r -> map (\c -> f64.max 0 (f64.sum (map2 (*) r c)) + f64.i64 m) (transpose b)) a

-- Of rows and columns that points have solved, each in an array of its own; how far their elements are apart is known when it runs. They are
-- rounded, so that sums are exact in any order.
-- ==
-- entry: solved
-- input { 130i64 70i64 32i64 } auto output
-- input { 64i64 96i64 1i64 } auto output
-- input { 72i64 96i64 2i64 } auto output
-- input { 135i64 257i64 31i64 } auto output
-- input { 70i64 65i64 150i64 } auto output
entry solved (n: i64) (m: i64) (k: i64) : [n][m]f32 =
  let (a, d) = (matrix 7 n m, map (map (/ 100)) (matrix 5 k k))
  let along (row: [k]f32) =
    loop x = copy row for i < k do
      x with [i] = f32.round (loop s = x[i] for j < i do s - x[j] * d[j, i])
  let down (column: [k]f32) =
    loop x = copy column for i in 1..<k do
      x with [i] = f32.round (loop s = x[i] for j < i do s - d[i, j] * x[j])
  let l = map along (matrix 5 n k)
  let u = transpose (map down (transpose (matrix 3 k m)))
  in map2 (\row ls -> map2 (\x us -> x - f32.sum (map2 (*) ls us)) row (transpose u)) a l
