-- Rows that points build element by element, of which another order of dimensions is wanted: they are made there.

def row (m: i64) (s: i32) : *[m]i32 =
  loop x = replicate m s for i < m do
    let last = if i == 0 then s else x[i - 1]
    in x with [i] = last * 3 + i32.i64 i

-- ==
-- entry: columns
-- input { 3i64 [1, 2] } auto output
-- input { 2i64 empty([0]i32) } auto output
-- input { 0i64 [1, 2] } output { empty([0][2]i32) }
entry columns [n] (m: i64) (xs: [n]i32) : [m][n]i32 =
  let rows = map (row m) xs
  in transpose (map (\r -> loop r = copy r for i < m do r with [i] = if i == 0 then r[i] / 3 else r[i - 1] * 3 + i32.i64 i) rows)

-- Steps of a loop end with columns.
-- ==
-- entry: steps
-- input { 2i64 [[1, 2], [3, 4]] } auto output
-- input { 0i64 [[1, 2], [3, 4]] } output { [[1, 2], [3, 4]] }
-- input { 5i64 [[1, 2, 3], [3, 4, 5], [6, 7, 8]] } auto output
entry steps [n] (k: i64) (xss: [n][n]i32) : [n][n]i32 =
  loop xss for s < k do
    let rows = tabulate n (\i ->
      loop x = replicate n 0 for j < n do
        let last = if j == 0 then i32.i64 s else x[j - 1]
        in x with [j] = xss[j, i] + last)
    in transpose rows

-- The same for each of many grids; both orders leave the nest, and each is changed by whom it belongs to.
-- ==
-- entry: both
-- input { [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] } auto output
-- input { empty([0][2][2]i32) } auto output
entry both [k] [n] [m] (grids: [k][n][m]i32) : ([k][m][n]i32, [k][n][m]i32, [k]i32) =
  let (turned, grids', sums) = unzip3 (map (\g ->
    let rows = map (\r -> loop x = copy r for j < m - 1 do x with [j + 1] = x[j] * 2 + x[j + 1]) g
    in (transpose rows, rows, i32.sum (flatten rows))) grids)
  let changed = map (\t -> map (\c -> loop c = copy c for i < n do c with [i] = c[i] - 1) t) turned
  in (changed, grids', sums)

-- Two dimensions of points and one of rows, in any order.
-- ==
-- entry: orders
-- input { [[1, 2, 3], [4, 5, 6]] 2i64 } auto output
entry orders [n] [m] (xss: [n][m]i32) (l: i64) : ([l][n][m]i32, [m][l][n]i32, [n][l][m]i32) =
  let cube = map (map (row l)) xss
  let cube' = map (map (\x -> row l (x + 1))) xss
  let cube'' = map (map (\x -> row l (x + 2))) xss
  in (map transpose cube |> transpose, transpose cube' |> map transpose, map transpose cube'')
