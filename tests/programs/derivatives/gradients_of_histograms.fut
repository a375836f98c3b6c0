-- Both modes compute products with one matrix, for histograms of any operator: indices that repeat, that are absent, and out of range.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] [m] (f: [n]f64 -> [m]f64) (x: [n]f64) (x': [n]f64) (y': [m]f64) : bool =
  let a = dot y' (jvp f x x')
  let b = dot (vjp f x y') x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

-- ==
-- entry: operators
-- random input { [9]f64 [9]f64 [9]f64 } output { [true, true, true, true, true, true] }
entry operators [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let is = map (\i -> (i * 4) % 5 - 1) (iota n)
  let linear (a, b) (c, e) = (a * c, b * c + e : f64)
  in [ holds (\x -> reduce_by_index (map (* 0.5) x) f64.max f64.lowest is (map f64.sin x)) x d w
     , holds (\x -> reduce_by_index (map (* 0.5) x) f64.min f64.highest is (map f64.sin x)) x d w
     , holds (\x -> reduce_by_index (map (+ 1) x) (*) 1 is x) x d w
     , holds (\x -> map (.1) (reduce_by_index (map (\a -> (a, a * a)) x) linear (1, 0) is (zip x (map f64.cos x)))) x d w
     , holds (\x -> hist (*) 1 n is (map (+ 1) x)) x d w
     , holds (\x -> map (\a -> (reduce_by_index [a, a * x[1]] (*) 1 (map (% 2) is) x)[0]) x) x d w ]

-- Rows, and two indices.
-- ==
-- entry: rows
-- random input { [6]f64 [6]f64 [6]f64 } output { [true, true, true, true] }
entry rows [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  let is = map (\i -> i % 4 - 1) (iota n)
  let pairs = map (\i -> (i % 3, (i * 5) % 4 - 1)) (iota n)
  let square = map (\a -> map (* a) x) x
  let weights = map (\a -> map (+ a) w) w
  let all f x = flatten (f (map (\a -> map (* a) x) w))
  in [ holds (all (\v -> reduce_by_index (copy square) (map2 (*)) (replicate n 1) is v)) x d (flatten weights)
     , holds (all (\v -> reduce_by_index (copy square) (map2 f64.max) (replicate n f64.lowest) is v)) x d (flatten weights)
     , holds (\x -> flatten (reduce_by_index_2d (map (\a -> map (+ a) x) x) (*) 1 pairs x)) x d (flatten weights)
     , holds (\x -> flatten (reduce_by_index_2d (map (\a -> map (+ a) x) x) f64.max f64.lowest pairs x)) x d (flatten weights) ]

-- The first of equal values has the derivative; what was there before comes first.
-- ==
-- entry: equal
-- input { } output { [0.0, 7.0, 0.0, 0.0] [5.0, 0.0] }
entry equal =
  let f (ds: [2]f64, vs: [4]f64) = reduce_by_index (copy ds) f64.max f64.lowest [0, 1, 1, 0] vs
  let (ds, vs) = vjp f ([3, 1], [3, 2, 2, 1]) [5, 7]
  in (vs, ds)

-- ==
-- entry: nothing
-- input { } output { [1.0, 2.0] }
entry nothing = vjp (\ds -> reduce_by_index (copy ds) (*) 1 [] []) [3f64, 4] [1, 2]
