-- The array that an inner loop goes along is another one for each point: a tile must not share its elements.
-- ==
-- input { [-2f64, 1f64, 3f64] [10f64, 20f64, 40f64] }
-- output { [80f64, 22f64, 42f64] [70f64, 60f64, 120f64] }
-- input { empty([0]f64) empty([0]f64) }
-- output { empty([0]f64) empty([0]f64) }
def sum_of [n] (xs: [n]f64) (ys: [n]f64) (x: f64) : f64 =
  f64.sum (if x < -1 then ys else xs)

entry main [n] (xs: [n]f64) (ys: [n]f64) : ([n]f64, [n]f64) =
  ( map2 (\x y -> y + sum_of xs ys x) xs ys
  , map2 (\x y -> loop s = 0 for i < n do s + (if x < -1 then ys[i] else y)) xs ys
  )
