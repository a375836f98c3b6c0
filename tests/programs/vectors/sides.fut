-- Choices that come out alike for all points of a row, whose sides read neighbours and check indices: branches of whole groups of points.
-- ==
-- entry: mirrored
-- input { 1i64 70i64 } auto output
-- input { 5i64 70i64 } auto output
-- input { 3i64 3i64 } auto output
entry mirrored (n: i64) (m: i64) : [n][m]f32 =
  let a = tabulate_2d n m (\i j -> f32.i64 (i * 7 + j * j % 13))
  let step (a: [n][m]f32) =
    tabulate_2d n m (\i j ->
      let north = if i == 0 then -0.5 * a[i, j] else a[i - 1, j]
      let south = if i == n - 1 then 2 * a[i, j] else a[i + 1, j]
      let west = if j == 0 then 3 * a[i, j] else a[i, j - 1]
      in north + south - west)
  in loop a for _k < 3i32 do step a

-- A surface stays, and rows have results of two types.
-- ==
-- entry: surface
-- input { 6i64 5i64 40i64 } auto output
entry surface (l: i64) (n: i64) (m: i64) : ([l][n][m]f32, [l][n][m]i32) =
  let a = tabulate_3d l n m (\z y x -> f32.i64 (z * 31 + y * 17 + x * x % 11))
  let b = tabulate_3d l n m (\z y x ->
    if z == 0 || z == l - 1 || y == 0 || y == n - 1 || x == 0 || x == m - 1 then (a[z, y, x], -1i32)
    else (a[z - 1, y, x] + a[z, y + 1, x] - a[z, y, x - 1], i32.f32 (a[z + 1, y, x] / 3)))
  in (map (map (map (.0))) b, map (map (map (.1))) b)

-- A row that must fail does.
-- ==
-- entry: outside
-- input { 2i64 40i64 } error: Index
entry outside (n: i64) (m: i64) : [n][m]f32 =
  let a = tabulate_2d n m (\i j -> f32.i64 (i + j))
  in tabulate_2d n m (\i j -> if i == n - 1 then a[i + 1, j] else a[i, j])
