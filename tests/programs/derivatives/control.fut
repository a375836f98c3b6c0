-- Tangents of conditionals, loops, calls and recursion.

-- ==
-- entry: branches
-- input { 2.0 } output { 4.0 } input { -2.0 } output { 3.0 } input { 20.0 } output { 0.0 }
entry branches (x: f64) =
  jvp (\x -> if x > 10 then 1 else if x > 0 then x * x else 3 * x) x 1

type choice = #cube f64 | #none

-- ==
-- entry: matches
-- input { 2.0 } output { 12.0 }
entry matches (x: f64) =
  jvp (\x -> match ((if x > 1 then #cube x else #none) : choice) case #cube y -> y * y * y case #none -> 0) x 1

-- ==
-- entry: loops
-- input { 2.0 3i64 } output { 32.0 1.0 }
-- input { 2.0 0i64 } output { 1.0 0.0 }
entry loops (x: f64) (n: i64) =
  ( jvp (\x -> loop a = x for _i < n do a * x) x 1
  , jvp (\x -> loop a = 0 for i < n do if i == 1 then x else a) x 1 )

-- ==
-- entry: whiles
-- input { 3.0 } output { 32.0 }
entry whiles (x: f64) = jvp (\x -> loop y = x while y < 50 do 2 * y) x 1

-- Rows that grow.
-- ==
-- entry: growing
-- input { 3.0 4i64 } output { 15.0 }
entry growing (x: f64) (n: i64) =
  jvp (\x -> f64.sum (loop xs: []f64 = [x] for _i < n - 1 do xs ++ [2 * last xs])) x 1

def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)

-- ==
-- entry: recursive
-- input { 2.0 5i64 } output { 80.0 160.0 }
entry recursive (x: f64) (n: i64) =
  (jvp (\x -> power x n) x 1, jvp (\x -> jvp (\x -> power x n) x 1) x 1)

#[noinline]
def step (xs: *[]f64) (k: f64) : *[]f64 = xs with [0] = xs[0] * k

-- ==
-- entry: consuming
-- input { [2.0, 1.0] 3.0 } output { [12.0, 0.0] }
entry consuming (xs: []f64) (k: f64) = jvp (\k -> step (step (copy xs) k) k) k 1

-- ==
-- entry: nested
-- input { 2.0 } output { 48.0 24.0 }
entry nested (x: f64) =
  let f x = x * x * x * x
  in (jvp (\x -> jvp f x 1) x 1, jvp (\x -> jvp (\x -> jvp f x 1) x 1) x 0.5)

-- The inner derivative does not see the variable of the outer one.
-- ==
-- entry: apart
-- input { 3.0 } output { 1.0 }
entry apart (x: f64) = jvp (\x -> x * jvp (\y -> x + y) 1 1) x 1

-- ==
-- entry: structures
-- input { 2.0 3.0 } output { 5.0 7i64 12.0 9i64 }
entry structures (x: f64) (y: f64) =
  let f (r: {a: f64, b: (f64, i64)}) = {c = r.a * r.b.0 - 1, k = r.b.1}
  let (v, d) = jvp2 f {a = x, b = (y, 7)} {a = 2, b = (3, 9)}
  in (v.c, v.k, d.c, d.k)

-- ==
-- entry: many
-- input { [1.0, 2.0] } output { [[2.0, 0.0], [0.0, 4.0]] [1.0, 4.0] }
entry many (xs: [2]f64) =
  let f = map (\x -> x * x)
  let (v, m) = jmp2 f xs [[1, 0], [0, 1]]
  in (m, v)

-- ==
-- entry: traps
-- input { [1.0, 2.0] 1i64 } output { 1.0 }
-- input { [1.0, 2.0] 2i64 } error: Index \[2\] out of bounds
entry traps (xs: []f64) (i: i64) = jvp (\xs -> xs[i]) xs (map (const 1) xs)
