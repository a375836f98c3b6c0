-- Programs with which vectorisation avoidance was measured (Keller et al., Vectorisation Avoidance, section 5): sums over numbers that
-- nothing but a range gives, conditions of even and of very uneven cost, and a recursion that each point leaves at another step.

-- ==
-- entry: pythagoras
-- input { 5i64 } auto output
-- compiled input { 100000000i64 }
entry pythagoras (n: i64) : f64 =
  let side x y = f64.sqrt (x * x + y * y + 2 * x * y)
  in f64.sum (map2 side (map f64.i64 (iota n)) (map (\i -> f64.i64 (i + 1)) (iota n)))

-- The cross product of three points in the plane: on which side of a line a point is, and how far.
-- ==
-- entry: distance
-- input { 5i64 } auto output
-- compiled input { 30000000i64 }
entry distance (n: i64) : f64 =
  let cross (ax, ay) (bx, by) (cx, cy) = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax) : f64
  let scaled s d i = f64.i64 (i + d) * s : f64
  let from = zip (map (scaled 0.5 0) (iota n)) (map (scaled 0.25 0) (iota n))
  let to = zip (map (scaled 0.75 1) (iota n)) (map (scaled 2 1) (iota n))
  let points = zip (map f64.i64 (iota n)) (map (\i -> f64.i64 (i + 1)) (iota n))
  in f64.sum (map3 cross from to points)

-- ==
-- entry: simple_cond
-- input { [3i64, 4i64, -1i64, 0i64] } output { 16i64 }
-- compiled random input { [20000000]i64 }
entry simple_cond [n] (xs: [n]i64) : i64 =
  i64.sum (map (\x -> if x % 2 == 0 then 3 * x else 2 * x) xs)

-- The second half of the points has all of the work.
-- ==
-- entry: sin_cond
-- input { 5i64 } auto output
-- compiled input { 4000000i64 }
entry sin_cond (n: i64) : [n]f64 =
  let half = f64.i64 n / 2
  in map (\i -> let x = f64.i64 i
                in if x < half then x else f64.sin (f64.sin (f64.sin x))) (iota n)

entry sorted (n: i64) : [n]f64 = map f64.i64 (iota n)
entry shuffled (n: i64) : [n]f64 = map (\i -> f64.i64 (i * 999983 % n)) (iota n)

-- What is left of each number when fives are taken away one by one.
-- ==
-- entry: simple_rec
-- input { [3f64, 17.5f64, 5f64, 24f64] } output { [3f64, 2.5f64, 0f64, 4f64] }
-- compiled script input { sorted 40000i64 }
-- compiled script input { shuffled 40000i64 }
entry simple_rec [n] (xs: [n]f64) : [n]f64 =
  map (\x -> loop x while x >= 5 do x - 5) xs
