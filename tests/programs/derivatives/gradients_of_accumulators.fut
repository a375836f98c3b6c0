-- Gradients through accumulators that add.
import "../accumulators/acc"

-- Two updates for each element, one of which may be outside; what was there before counts, too.
-- ==
-- entry: sums
-- input { [0i64, 1, 5] [1.0, 2.0, 3.0] [2.0, 3.0, 4.0] [1.0, 10.0, 100.0] }
-- output { [1.0, 10.0, 100.0] [14.0, 160.0, 0.0] }
-- input { [-1i64] [1.0] [3.0] [5.0] } output { [5.0] [5.0] }
def summed [n] [k] (is: [n]i64) (ds: [k]f64, xs: [n]f64) : [k]f64 =
  combine_with (copy ds) (+) 0 (\(a: *acc ([k]f64)) (i, x) -> let a = write a i (x * x) in write a (i + 1) x) (zip is xs)
entry sums [n] [k] (is: [n]i64) (ds: [k]f64) (xs: [n]f64) (ws: [k]f64) = vjp (summed is) (ds, xs) ws

-- Updates in loops and branches, and of what is read from outside.
-- ==
-- entry: control
-- input { [2.0, -1.0, 3.0] 1.0 } output { [14.0, 0.0, 16.0] 22.0 }
entry control [n] (xs: [n]f64) (c: f64) =
  let put (c: f64) (a: *acc ([2]f64)) (x: f64) : *acc ([2]f64) =
    loop a for j < 3i64 do if x < 0 then a else write a (j % 2) (if j == 0 then c * c else x ** f64.i64 j)
  in vjp (\(xs, c) -> combine_with [0, c] (+) 0 (put c) xs) (xs, c) [1, 10] |> \(xs, c) -> (xs, c + 8)

-- The tangent of an accumulator goes through loops and branches as the accumulator does.
-- ==
-- entry: along
-- input { [2.0, -1.0, 3.0] 1.0 } auto output
entry along [n] (xs: [n]f64) (c: f64) =
  let put (c: f64) (a: *acc ([2]f64)) (x: f64) : *acc ([2]f64) =
    loop a for j < 3i64 do if x < 0 then a else write a (j % 2) (if j == 0 then c * c else x ** f64.i64 j)
  in jvp (\(xs, c) -> combine_with [0, c] (+) 0 (put c) xs) (xs, c) (map (\x -> x + 1) xs, 2)

-- Rows.
-- ==
-- entry: rows
-- input { [0i64, 1, 1] [1.0, 2.0, 3.0] } output { [5.0, 11.0, 11.0] }
entry rows [n] (is: [n]i64) (xs: [n]f64) =
  let f xs = combine_with (replicate 2 [0, 0]) (map2 (+)) [0, 0] (\(a: *acc ([2][2]f64)) (i, x) -> write a i [x, 2 * x]) (zip is xs)
  in vjp f xs [[1, 2], [3, 4]]

-- Integers.
-- ==
-- entry: integers
-- input { [0i32, 0, 1, 5] } output { [[3, 3, 3, 1], [0, 0, 2, 0]] }
entry integers [n] (xs: [n]i32) =
  let f (xs: [n]i32) = combine_with (copy xs) (+) 0 (\(a: *acc ([n]i32)) x -> write a (i64.i32 x) (2 * x)) xs
  in [vjp f xs (replicate n 1), vjp f xs (tabulate n (\i -> if i == 2 then 2 else 0))]

-- Inside of maps, and along a direction.
-- ==
-- entry: inside
-- input { [[1.0, 2.0], [3.0, 4.0]] } output { [[2.0, 4.0], [6.0, 8.0]] [[2.0, 2.0], [2.0, 2.0]] }
entry inside [n] [m] (xss: [n][m]f64) =
  let f (xss: [n][m]f64) =
    f64.sum (map (\(xs: [m]f64) -> f64.sum (combine_with (replicate 1 0) (+) 0 (\(a: *acc ([1]f64)) x -> write a 0 (x * x)) xs)) xss)
  let g xss = vjp f xss 1
  in (g xss, jvp g xss (replicate n (replicate m 1)))
