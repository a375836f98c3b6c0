-- Choices that come out the same for all points of a row, and rows that are cut at their own number: both in lanes.

-- A loop on one side, none on the other; results that differ from point to point beside one that does not.
-- ==
-- entry: rows
-- random input { [5][67]f32 [5]bool } auto output
-- random input { [1][3]f32 [1]bool } auto output
-- random input { [3][0]f32 [3]bool } auto output
entry rows [n] [m] (xss: [n][m]f32) (which: [n]bool) : ([n][m]f32, [n][m]i64) =
  let of xs w x =
    if w then (loop s = 0 for i < m do s + f32.exp (-(x - xs[i]) * (x - xs[i])), 1i64) else (-x, 2)
  in unzip (map unzip (map2 (\xs w -> map (of xs w) xs) xss which))

-- Around these there is a loop that carries as much, and further choices.
-- ==
-- entry: around
-- random input { 7i64 [4][40]f32 } auto output
-- random input { 0i64 [4][40]f32 } auto output
entry around [n] [m] (k: i64) (xss: [n][m]f32) : [n][m](f32, f32, f32) =
  let of r x =
    loop (a, b, c) = (x, 0, 1) for j < k do
      let other = r + j - 2
      in if other >= 0 && other < n
         then let (p, q, s) =
                loop (p, q, s) = (0, 0, 0) for i < m do
                  let d = x - xss[other, i]
                  in (p + d, q + d * d, s + f32.sqrt (f32.abs d))
              in if j % 2 == 0 then (a + p, b + q, c + s) else (a + q, b, c - p)
         else (a, b + 1, c)
  in tabulate_2d n m (\r i -> of r xss[r, i])

-- Truth values and integers of one side or the other.
-- ==
-- entry: truths
-- random input { [6][35]f32 [6]i32 } auto output
entry truths [n] [m] (xss: [n][m]f32) (ks: [n]i32) : ([n][m]bool, [n][m]i32) =
  let of k x =
    if k % 3 != 0
    then let (s, t) = loop (s, t) = (x, 0) for i < k & 15 do (s * 0.5 + f32.i32 i, t + i32.bool (s < 3))
         in (s > 2, t)
    else (x > 0.5, i32.f32 (x * 100))
  in unzip (map unzip (map2 (\xs k -> map (of k) xs) xss ks))

-- What fails on a side fails for the points that take it.
-- ==
-- entry: fails
-- random input { [2][20]f32 [2]i64 } error: out of bounds
-- input { [[1f32, 2f32, 3f32, 4f32]] [-1i64] } output { [[0f32, 0f32, 0f32, 0f32]] }
entry fails [n] [m] (xss: [n][m]f32) (at: [n]i64) : [n][m]f32 =
  map2 (\xs k -> map (\x -> if k != -1 then loop s = x for i < 3i64 do s + xs[k + i] * x else 0) xs) xss at

-- Above the diagonal there is more to do than below, below it, and at it.
-- ==
-- entry: above
-- random input { [50]f64 } auto output
-- random input { [1]f64 } auto output
-- input { empty([0]f64) } output { empty([0][0]i64) }
entry above [n] (xs: [n]f64) : [n][n]i64 =
  tabulate_2d n n (\i j -> if i < j then loop k = 0 for s < 9i64 do k + i64.bool (xs[i] * xs[j] < f64.i64 s / 9) else -1)

-- ==
-- entry: below
-- random input { [50]f64 } auto output
entry below [n] (xs: [n]f64) : [n][n]i64 =
  tabulate_2d n n (\i j -> if i > j + 1 then loop k = 0 for s < 9i64 do k + i64.bool (xs[i] * xs[j] < f64.i64 s / 9) else -1)

-- ==
-- entry: diagonal
-- random input { [50]f32 } auto output
entry diagonal [n] (xs: [n]f32) : [n][n]f32 =
  tabulate_2d n n (\i j -> if i <= j then (if i == j then 1 else f32.sqrt (xs[i] + xs[j])) else xs[j] * xs[i])
