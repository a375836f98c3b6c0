-- Short rows of points that do much, from many arrays to many: rows are not cut, and the last group of each ends with it.

def step (a: f32) (b: f32) (steps: i32) : (f32, f32) =
  loop (a, b) = (a, b) for _i < steps do (a * 0.5 + b * 0.25, b * 0.5 - a * 0.125)

-- ==
-- entry: rows
-- input { 0i64 5i64 3i32 } auto output
-- input { 3i64 0i64 3i32 } auto output
-- input { 40i64 1i64 30i32 } auto output
-- input { 40i64 15i64 30i32 } auto output
-- input { 40i64 16i64 30i32 } auto output
-- input { 41i64 37i64 300i32 } auto output
-- input { 3i64 100i64 300i32 } auto output
entry rows (m: i64) (n: i64) (steps: i32) : ([m][n]f32, [m][n]f32, [m][n]i32, [m][n]f64, [m][n]f32) =
  let of (k: i64) = tabulate_2d m n (\i j -> f32.i64 ((i * 31 + j * 7 + k) % 13) / 13)
  let (as, bs, cs, ds, es) = (of 1, of 2, of 3, of 4, of 5)
  let point a b c d e =
    let (p, q) = step (a + c) (b - d) steps
    in (p, q, i32.f32 (p * 100 + e), f64.f32 q + f64.f32 e, c * d)
  let row as bs cs ds es = unzip5 (map5 point as bs cs ds es)
  in unzip5 (map5 row as bs cs ds es)

-- Reductions over short rows, of which each point of a short row has one.
-- ==
-- entry: sums
-- input { 9i64 17i64 } auto output
-- input { 64i64 21i64 } auto output
-- input { 5i64 3i64 } auto output
entry sums (m: i64) (n: i64) : [m][n]i64 =
  let xs = tabulate_2d m n (\i j -> (i * 31 + j * 7) % 97)
  in map (\row -> map (\x -> i64.sum (map (\y -> (x - y) * (x + 2 * y)) row)) row) xs
