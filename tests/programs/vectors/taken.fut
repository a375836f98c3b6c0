-- Choices between lanes with much to do on a side, which is left out where no lane of a group takes it.
def long (x: f64) : f64 = f64.sin (f64.sin x + 1) * f64.exp (-x * x)
def other (x: f64) : f64 = f64.log (1 + f64.abs x) + f64.cos x

-- The first points, the last ones, every other one, none and all of them.
-- ==
-- entry: one
-- input { 0i64 0i64 0i64 } auto output
-- input { 100i64 50i64 0i64 } auto output
-- input { 100i64 200i64 0i64 } auto output
-- input { 100i64 0i64 1i64 } auto output
-- input { 100i64 33i64 99i64 } auto output
entry one (n: i64) (from: i64) (every: i64) : [n]f64 =
  map (\i -> let x = f64.i64 i * 0.25
             in if i < from && i64.f64 (f64.i64 (i & every)) == 0 then long x else x) (iota n)

-- ==
-- entry: two
-- input { [0f64, 1f64, -1f64, 2f64, 3f64] 0f64 } auto output
-- random input { [1003]f64 0.5f64 } auto output
-- random input { [1003]f64 -1f64 } auto output
-- random input { [1003]f64 2f64 } auto output
entry two [n] (xs: [n]f64) (limit: f64) : ([n]f64, [n]f64) =
  unzip (map (\x -> if x < limit then (long x, other x) else (other (2 * x), x)) xs)

-- Choices within a side, of numbers of other widths, in a loop.
-- ==
-- entry: within
-- random input { 5i32 [1003]f32 } auto output
-- random input { 0i32 [37]f32 } auto output
entry within [n] (steps: i32) (xs: [n]f32) : ([n]f32, [n]i32) =
  unzip (map (\x -> loop (y, k) = (x, 0) for i < steps do
                      if y < 0.5 then (if y < 0.25 then f32.exp y else f32.sin (f32.exp y) * f32.cos y, k + 1)
                      else (f32.log (y + 0.25) - f32.f64 (other (f64.f32 y)), k - i)) xs)

-- A truth value of a side, and a loop that points leave at different steps.
-- ==
-- entry: leaving
-- random input { [1003]f64 } auto output
entry leaving [n] (xs: [n]f64) : ([n]f64, [n]bool) =
  unzip (map (\x -> let (y, far) = loop (y, far) = (x * 4, false) while y > 0.125 do
                                     if y > 2 then (y - f64.abs (f64.sin (f64.cos y)) * 0.5 - 0.25, f64.sin (f64.exp y) > 0) else (y * 0.5, far)
                    in (if far then long y else y, far)) xs)
