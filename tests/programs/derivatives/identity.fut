-- Both modes compute products with one matrix: for any direction x' and weights y', <y', J x'> = <J^T y', x'>.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] [m] (f: [n]f64 -> [m]f64) (x: [n]f64) (x': [n]f64) (y': [m]f64) : bool =
  let a = dot y' (jvp f x x')
  let b = dot (vjp f x y') x'
  in a != 0 && f64.abs (a - b) <= 1e-10 * (1 + f64.abs a)

def layer [n] (w: [n]f64) (x: [n]f64) : [n]f64 =
  map (\i -> f64.tanh (f64.sum (map2 (\a j -> w[(i + j) % n] * a) x (iota n)))) (iota n)

-- ==
-- random input { [7]f64 [7]f64 [7]f64 } output { [true, true, true, true, true, true, true, true] }
entry main [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  [ holds (layer w) x d w
  , holds (\x -> layer x (layer w x)) x d w
  , holds (scan (\a b -> a * b + f64.sin b) 0) x d w
  , holds (\x -> loop x = copy x for i < n do x with [i] = x[i] * x[(i + 1) % n] + w[i]) x d w
  , holds (\x -> reduce_by_index (replicate n 0) (+) 0 (map (% 3) (iota n)) (map f64.exp x)) x d w
  , holds (\x -> scatter (copy x) (map (* 2) (iota n)) (reverse x)) x d w
  , holds (\x -> map (\i -> reduce f64.max f64.lowest (map (* w[i]) x)) (iota n)) x d w
  , holds (\x -> map (\y -> loop y while f64.abs y < 1 do y * 1.5 + 0.1 * f64.sgn y) x) x d w ]
