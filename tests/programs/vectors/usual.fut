-- Points whose choices depend on which row they are in: most rows choose the same, and have a loop of their own without the choices.

-- Neighbours above and below, those of the first and the last row with another sign; the element itself only counts at edges.
-- ==
-- entry: walls
-- input { empty([0][0]f32) } output { empty([0][0]f32) }
-- input { [[2f32]] } auto output
-- random input { [1][40]f32 } auto output
-- random input { [2][40]f32 } auto output
-- random input { [3][64]f32 } auto output
-- random input { [40][1]f32 } auto output
-- random input { [5][17]f32 } auto output
-- random input { [70][133]f32 } auto output
entry walls [n][m] (xss: [n][m]f32) : [n][m]f32 =
  tabulate_2d n m (\i j ->
    let north = if i == 0 then -xss[i, j] else xss[i - 1, j]
    let south = if i == n - 1 then 0.5 * xss[i, j] else xss[i + 1, j]
    let west = if j == 0 then xss[i, j] else xss[i, j - 1]
    let east = if j == m - 1 then xss[i, j] else xss[i, j + 1]
    in 2 * north + south - west + 3 * east)

-- By other comparisons, of which some hold for many rows, and several at once.
-- ==
-- entry: compared
-- random input { [7][50]i32 3i64 } auto output
-- random input { [7][50]i32 0i64 } auto output
-- random input { [7][50]i32 -1i64 } auto output
-- random input { [7][50]i32 9223372036854775807i64 } auto output
-- random input { [1][33]i32 0i64 } auto output
-- random input { [20][18]i32 19i64 } auto output
entry compared [n][m] (xss: [n][m]i32) (k: i64) : [n][m]i32 =
  tabulate_2d n m (\i j ->
    let before = if i < 1 then 1 else xss[i - 1, j]
    let behind = if i + 1 < n then xss[i + 1, j] else 2
    let far = if i == k || i == k - 2 then xss[i, j] * 3 else xss[i, j] + 1
    let upper = if i < k then 7 else xss[i, j]
    let corner = if !(i > 0 && i <= n - 2) then 5 else xss[i, i64.max 0 (j - 1)]
    let inner = if j == 0 || i == 0 then 11 else xss[i, j - 1] - xss[i - 1, j]
    let after = if j < m - 1 then xss[i, j + 1] else 0
    in before + 2 * behind + 3 * far + 5 * upper + 7 * corner + 11 * inner + after)

-- In three dimensions, where planes choose, too.
-- ==
-- entry: planes
-- random input { [1][1][20]f64 } auto output
-- random input { [3][4][35]f64 } auto output
-- random input { [4][2][64]f64 } auto output
entry planes [l][n][m] (xsss: [l][n][m]f64) : [l][n][m]f64 =
  tabulate_3d l n m (\h i j ->
    let below = if h == 0 then 1 else xsss[h - 1, i, j]
    let above = if h == l - 1 then xsss[0, i, j] else xsss[h + 1, i, j]
    let north = if i == 0 then xsss[h, n - 1, j] else xsss[h, i - 1, j]
    let west = if j == 0 then 0 else xsss[h, i, j - 1]
    let east = if j == m - 1 then 0 else xsss[h, i, j + 1]
    in below + 2 * above + 3 * north - west + east)

-- What the usual rows do may fail in some of them, and what they compare may be no index.
-- ==
-- entry: failing
-- input { 0i64 40i64 [[1i32, 2i32]] } output { [3i32] }
-- input { 3i64 40i64 [[1i32, 2i32]] } error: out of bounds
entry failing (n: i64) (m: i64) (_: [][]i32) : [1]i32 =
  let xss = tabulate_2d n m (\i j -> i32.i64 (i * j))
  let yss = tabulate_2d n m (\i j ->
    let north = if i == 0 then 0 else xss[i - 2, j]
    let west = if j == 0 then 0 else xss[i, j - 1]
    in north + west)
  in [3 + reduce (+) 0 (flatten yss)]

-- Rows that choose by what they read.
-- ==
-- entry: marked
-- input { [true, false, true] [1f32, 2f32, 3f32, 4f32, 5f32, 6f32, 7f32, 8f32, 9f32, 10f32, 11f32, 12f32, 13f32, 14f32, 15f32, 16f32, 17f32, 18f32, 19f32] } auto output
entry marked [n][m] (marks: [n]bool) (xs: [m]f32) : [n][m]f32 =
  tabulate_2d n m (\i j ->
    let here = if marks[i] || i == 0 then xs[j] else 2 * xs[i64.max 0 (j - 1)]
    in here + (if j == m - 1 then 0 else xs[j + 1]))
