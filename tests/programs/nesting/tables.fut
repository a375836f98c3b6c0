-- What all points of an operator would compute alike, for few values of counters and indices: it is computed once, before.

-- ==
-- entry: counters
-- input { [[1f32, 2f32, 3f32, 4f32], [0f32, 0f32, 0f32, 1f32]] 3i32 } output { [[3f32, 4f32, 5f32, 6f32], [2f32, 2f32, 2f32, 3f32]] }
-- input { empty([0][4]f32) 0i32 } output { empty([0][4]f32) }
entry counters [n] (xss: [n][4]f32) (two: i32) : [n][4]f32 =
  map (\xs -> loop ys = xs for s < 2i32 do
                map2 (\i y -> y + f32.cos (f32.i64 (i / 4) * f32.i32 s) * f32.i32 (i32.min two 1))
                     (iota 4) ys
              |> map (\y -> if two == 0 then y else y + 0 * f32.i32 two))
      xss

-- A divisor is zero for some counters, and what checks it decides.
-- ==
-- entry: divisors
-- input { [10i64, 20i64] 7i64 } output { [31i64, 28i64] }
-- input { [10i64, 20i64] 2i64 } error: division by zero
-- input { empty([0]i64) 2i64 } output { empty([0]i64) }
entry divisors [n] (xs: [n]i64) (d: i64) : [n]i64 =
  map (\x -> i64.sum (map (\i -> let q = loop q = 0 for s < 4i64 do q + i % (d - s)
                                 in q + x % (i + 3)) (iota 4))) xs

-- A sum over the waves of a transform, in a loop at each point; in branches that some points take only.
-- ==
-- entry: waves
-- input { [[1f64, 0f64, 0f64, 0f64], [1f64, 1f64, 1f64, 1f64]] } output { [[1f64, 1f64, 1f64, 1f64], [4f64, 0f64, 0f64, 0f64]] }
entry waves [n] (xss: [n][4]f64) : [n][4]f64 =
  map (\xs -> map (\k -> let sum = loop sum = 0 for j < 4 do
                           sum + xs[j] * f64.cos (f64.pi * f64.i64 (j * k) / 2)
                         in f64.round (sum * 1e6) / 1e6 + 0)
                  (iota 4)) xss

-- ==
-- entry: branches
-- input { [-1f32, 1f32] } output { [[1f32, 1f32, 1f32], [3f32, 3f32, 3f32]] }
entry branches [n] (xs: [n]f32) : [n][3]f32 =
  map (\x -> map (\i -> if x < 0 then f32.exp (f32.u8 (u8.i64 i)) / f32.exp (f32.i64 i)
                        else f32.round (3 * f32.sqrt (f32.sin (f32.i64 i) ** 2 + f32.cos (f32.i64 i) ** 2)))
                 (iota 3)) xs

-- Extents that are not known: the host takes the table where it is small and many points share it.
-- ==
-- entry: asked
-- input { 40i64 5i64 } auto output
-- input { 3i64 5i64 } auto output
-- input { 40i64 0i64 } output { empty([40][0]f64) }
-- input { 0i64 5i64 } output { empty([0][5]f64) }
entry asked (n: i64) (m: i64) : [n][m]f64 =
  tabulate n (\i -> tabulate m (\j -> let s = loop s = 0 for k < m do s + f64.cos (f64.i64 (j * k))
                                      in f64.i64 i * s))
