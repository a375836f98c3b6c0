-- Both modes compute products with one matrix: for any direction x' and weights y', <y', J x'> = <J^T y', x'>. The constructs that
-- reverse mode has rules for, alone and in each other.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] [m] (f: [n]f64 -> [m]f64) (x: [n]f64) (x': [n]f64) (y': [m]f64) : bool =
  let a = dot y' (jvp f x x')
  let b = dot (vjp f x y') x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

-- Elements that points of a map read by index, in loops, in branches, and in maps inside.
-- ==
-- entry: elements
-- random input { [9]f64 [9]f64 [9]f64 } output { [true, true, true, true, true, true] }
entry elements [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let to i = (i * 5 + 2) % n
  in [ holds (\x -> map (\i -> f64.sin x[to i] * x[i]) (iota n)) x d w
     , holds (\x -> map (\i -> loop s = w[i] for j < i + 1 do s + x[to (i + j)] * x[j]) (iota n)) x d w
     , holds (\x -> map (\i -> if i % 2 == 0 then x[to i] ** 2 else w[i] * x[0]) (iota n)) x d w
     , holds (\x -> map (\i -> f64.sum (map (\j -> x[to (i + j)] * w[j]) (iota n)) * x[i]) (iota n)) x d w
     , holds (\x -> map (\i -> if i < 4 then f64.sum (map (\j -> x[to j] * w[i]) (iota i)) + x[i] else x[i]) (iota n)) x d w
     , holds (\x -> map (\i -> f64.sum x[i / 2 : i] * f64.product x[i / 2 : i + 1]) (iota n)) x d w ]

-- Arrays from outside as a whole, and rows.
-- ==
-- entry: nests
-- random input { [3]f64 [3]f64 [3]f64 } output { [true, true, true, true, true] }
entry nests [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let outer x = map (\a -> map (* a) x) x
  let mul a b = map (\r -> map (\c -> dot r c) (transpose b)) a
  in [ holds (\x -> flatten (outer x)) x d (flatten (outer w))
     , holds (\x -> map (\a -> f64.sum (map (\b -> f64.cos (a * b)) x)) x) x d w
     , holds (\x -> flatten (mul (outer x) (mul (outer w) (outer x)))) x d (flatten (outer w))
     , holds (\x -> let m = outer x in map (\i -> let r = m[i] in r[i] * r[0]) (iota n)) x d w
     , holds (\x -> map f64.sum (transpose (map (\i -> scan (*) 1 (rotate i x)) (iota n)))) x d w ]

-- ==
-- entry: operators
-- random input { [7]f64 [7]f64 [7]f64 } output { [true, true, true, true, true, true, true, true] }
entry operators [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let greater (a, i) (b, j) = if a > b || (a == b && i < j) then (a, i) else (b, j : i64)
  let linear (a, b) (c, e) = (a * c, b * c + e : f64)
  let segmented (p, a) (q, b) = (p || q, if q then b else a * b : f64)
  let product (a: (f64, f64, f64, f64)) (b: (f64, f64, f64, f64)) =
    (a.0 * b.0 + a.1 * b.2, a.0 * b.1 + a.1 * b.3, a.2 * b.0 + a.3 * b.2, a.2 * b.1 + a.3 * b.3)
  in [ holds (\x -> [f64.maximum x * f64.minimum x + f64.product x]) x d [w[0]]
     , holds (\x -> let (a, i) = reduce greater (f64.lowest, -1) (zip x (iota n)) in [a * w[i]]) x d [w[0]]
     , holds (\x -> map (.1) (scan linear (1, 0) (zip x (map f64.sin x)))) x d w
     , holds (\x -> map (.1) (scan segmented (false, 1) (zip (map (\i -> i % 3 == 0) (iota n)) x))) x d w
     , holds (\x -> map (\m -> m.0 - m.3) (scan product (1, 0, 0, 1) (map (\a -> (a, 1, w[0], a * a)) x))) x d w
     , holds (\x -> scan (\a b -> a + b - a * b) 0 x) x d w
     , holds (\x -> reduce (map2 (+)) (replicate n 0) (map (\a -> map (* a) x) x)) x d w
     , holds (\x -> reduce (map2 f64.max) (replicate n f64.lowest) (map (\a -> map (* a) x) w)) x d w ]

-- ==
-- entry: places
-- random input { [8]f64 [8]f64 [8]f64 } output { [true, true, true, true, true, true] }
entry places [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let is = map (\i -> (i * 3) % (n + 2) - 1) (iota n)
  in [ holds (\x -> scatter (map (* 2) x) is (map f64.sin x)) x d w
     , holds (\x -> reduce_by_index (map (* 2) x) (+) 0 (map (% 3) is) (map f64.exp x)) x d w
     , holds (\x -> [f64.sum (map (\a -> a * a) (filter (> w[0]) x)) + x[0]]) x d [w[0]]
     , holds (\x -> copy x with [2:5] = map (** 2) x[0:3]) x d w
     , holds (\x -> take n (reverse x ++ map (* 3) x ++ [x[1]])) x d w
     , holds (\x -> map (\i -> f64.sum (flatten (unflatten (sized (2 * 4) x))) * x[i]) (iota n)) x d w ]

-- ==
-- entry: loops
-- random input { [6]f64 [6]f64 [6]f64 } output { [true, true, true, true, true, true] }
entry loops [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  [ holds (\x -> loop y = x for i < 5i32 do map (\a -> f64.sin (a + x[i64.i32 i])) y) x d w
  , holds (\x -> loop y = copy x for i < n do y with [i] = y[i] * y[(i + 1) % n] + w[i]) x d w
  , holds (\x -> map (\y -> loop y while f64.abs y < 1 do y * 1.5 + 0.1 * f64.sgn y) x) x d w
  , holds (\x -> loop y = x for i < n do
                   if w[i] > 0 then loop y for _j < i do map2 (*) y x else map (+ x[i]) y) x d w
  , holds (\x -> (loop (a, b) = (x, map (* 2) x) for _i < 4i64 do (b, map2 (\p q -> p * q + 1) a b)).0) x d w
  , holds (\x -> (loop (y, i) = (x, 0) while i < 2 * n && f64.sum y < 1e3 do (map (\a -> a * a + w[i % n]) y, i + 1)).0) x d w ]

-- Derivatives of derivatives: the second directional derivative on four ways.
-- ==
-- entry: second
-- random input { [5]f64 [5]f64 [5]f64 } output { [true, true, true] }
entry second [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let fs (k: i32) (x: [n]f64) : f64 =
    if k == 0 then f64.sum (map (\i -> f64.sin (x[i] * x[(i + 1) % n])) (iota n))
    else if k == 1 then f64.product (scan (*) 1 x) + f64.maximum x ** 2
    else f64.sum (loop y = x for i < n do map (\a -> f64.sin (a + w[i]) * x[i]) y)
  let agree k =
    let f = fs k
    let a = jvp (\x -> jvp f x d) x d
    let b = dot d (jvp (\x -> vjp f x 1) x d)
    let c = dot d (vjp (\x -> jvp f x d) x 1)
    let e = dot d (vjp (\x -> dot d (vjp f x 1)) x 1)
    let near b = f64.abs (a - b) <= 1e-8 * (1 + f64.abs a)
    in a != 0 && near b && near c && near e
  in [agree 0, agree 1, agree 2]

-- A gradient that must not be zero, nor not a number: products with zeros, equal extremes, places written twice, no elements.
-- ==
-- entry: corners
-- input { [2.0, 0.0, 4.0] } output { [0.0, 8.0, 0.0] [0.0, 0.0, 1.0] [0.0, 0.0, 5.0] 0i64 }
-- input { [0.0, 0.0, 4.0] } output { [0.0, 0.0, 0.0] [0.0, 0.0, 1.0] [0.0, 0.0, 5.0] 0i64 }
-- input { [4.0, 4.0, 4.0] } output { [16.0, 16.0, 16.0] [1.0, 0.0, 0.0] [0.0, 0.0, 5.0] 0i64 }
entry corners (xs: [3]f64) =
  ( vjp f64.product xs 1
  , vjp f64.maximum xs 1
  , vjp (\xs -> scatter [1, 1] [1, 1, 1] xs) xs [3, 5]
  , length (vjp (\xs -> f64.product xs + f64.sum (scan (*) 1 xs)) (take 0 xs) 1) )

-- Operators on rows that are no maps, on many components, and on components of several types.
-- ==
-- entry: large_operators
-- random input { [4]f64 [4]f64 [4]f64 } output { [true, true, true, true, true] }
entry large_operators [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let mul [k] (a: [k][k]f64) (b: [k][k]f64) : [k][k]f64 = map (\r -> map (dot r) (transpose b)) a
  let matrices x = map (\a -> [[a, 1], [w[0], a * a]]) x
  let eye = [[1, 0], [0, 1f64]]
  let three (a: (f64, f64, f64, f64, f64)) (b: (f64, f64, f64, f64, f64)) =
    (a.0 * b.0, a.1 * b.0 + b.1, a.2 * b.0 + b.2 * a.0, a.3 + b.3, f64.max a.4 b.4)
  let mixed (a: (f64, f32)) (b: (f64, f32)) = (a.0 + b.0, a.1 * b.1)
  in [ holds (\x -> flatten (reduce mul eye (matrices x))) x d (sized 4 w)
     , holds (\x -> map (\m -> m[0, 1] * m[1, 1]) (scan mul eye (matrices x))) x d w
     , holds (\x -> let r = reduce three (1, 0, 0, 0, f64.lowest) (map (\a -> (a, a * a, f64.sin a, w[1], a)) x)
                    in [r.0 * r.1, r.2, r.3 * x[0], r.4]) x d (sized 4 w)
     , holds (\x -> map (\r -> r.0 * r.1 + r.2 * r.3 + r.4)
                        (scan three (1, 0, 0, 0, f64.lowest) (map (\a -> (a, a * a, f64.sin a, w[1], a)) x))) x d w
     , holds (\x -> map (\r -> r.0) (scan mixed (0, 1) (map (\a -> (f64.cos a, f32.f64 w[0])) x))) x d w ]
