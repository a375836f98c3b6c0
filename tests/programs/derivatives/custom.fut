-- Functions that say themselves what their gradients are. Forward mode differentiates what they compute.

-- A gradient that nobody else would find: it doubles each time.
def own (c: f64) (x: f64) : f64 =
  with_vjp (\x -> c * x * x) (\y d -> y + 2 * d) x

-- ==
-- entry: scalars
-- input { 3.0 5.0 } output { 45.0 55.0 30.0 }
entry scalars (x: f64) (c: f64) =
  (own c x, vjp (own c) x 5, jvp (own c) x 1)

-- In maps and loops.
-- ==
-- entry: inside
-- input { [1.0, 2.0, 3.0] } output { [8.0, 32.0, 72.0] [20.0, 32.0, 52.0] 19.0 }
entry inside [n] (xs: [n]f64) =
  ( vjp (\xs -> map (own 1) (map (* 2) xs)) xs (replicate n 0)
  , vjp (\xs -> map (\x -> own 1 x + own 3 x) xs) xs (replicate n 4)
  , vjp (\x -> loop y = x for _i < 2i32 do own 1 y) 1 4 )

-- Arrays; what the derivative needs is a result.
def sorted [n] (xs: [n]f64) : [n]f64 =
  with_vjp_tape (\xs ->
                   let place x = i64.sum (map (\y -> i64.bool (y < x)) xs)
                   let to = map place xs
                   in (to, scatter (replicate n 0) to xs))
                (\(to, ds) -> map (\i -> ds[i]) to)
                xs

-- ==
-- entry: tape
-- input { [3.0, 1.0, 2.0] [10.0, 20.0, 30.0] } output { [1.0, 2.0, 3.0] [30.0, 10.0, 20.0] }
entry tape [n] (xs: [n]f64) (ds: [n]f64) = (sorted xs, vjp sorted xs ds)

-- Derivatives of gradients are those of the code that computes them.
-- ==
-- entry: nested
-- input { 3.0 } output { 6.0 11.0 }
entry nested (x: f64) =
  let f x = with_vjp (\x -> x * x) (\y d -> y * d + 2 * d) x
  in (jvp (\x -> vjp f x 1) x 1, vjp (\x -> vjp f x 1) x 1)
