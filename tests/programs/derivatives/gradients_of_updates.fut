-- What is consumed in branches, calls and loops is there again when they are undone.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] [m] (f: [n]f64 -> [m]f64) (x: [n]f64) (x': [n]f64) (y': [m]f64) : bool =
  let a = dot y' (jvp f x x')
  let b = dot (vjp f x y') x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

#[noinline]
def swapped [n] (i: i64) (xs: *[n]f64) : *[n]f64 =
  let a = xs[i] * xs[(i + 1) % n]
  in xs with [i] = a

def updated [n] (i: i64) (xs: *[n]f64) : *[n]f64 =
  if i % 2 == 0 then swapped i xs else xs with [i] = f64.sin xs[i]

-- ==
-- random input { [6]f64 [6]f64 [6]f64 } output { [true, true, true, true, true, true] }
entry main [n] (x: [n]f64) (d: [n]f64) (w: [n]f64) =
  [ holds (\x -> let y = map (* 2) x in if w[0] > 0.5 then y with [0] = y[1] * y[1] else y with [1] = 3 * y[0]) x d w
  , holds (\x -> updated 3 (updated 2 (copy x))) x d w
  , holds (\x -> loop y = copy x for i < n do updated i y) x d w
  , holds (\x -> map (\a -> let y = updated 2 (copy x) in y[2] * a) x) x d w
  , holds (\x -> flatten (map (\a -> loop y = map (* a) x for i < 3 do updated i y) x)) x d (flatten (replicate n w))
  , holds (\x -> loop y = copy x while y[0] < 2 do updated 1 (map (\a -> a * 1.5 + 0.1) y)) x d w ]

-- The adjoint of a conditional is that of one of two arrays, of which one is updated in place on the way back and the other read afterwards.
-- ==
-- entry: chosen
-- input { true 1i64 [1.0, 2.0, 3.0] [4.0, 5.0, 6.0] 7.0 [1.0, 10.0, 100.0] }
-- output { [1.0, 0.0, 100.0] [0.0, 0.0, 0.0] 10.0 }
-- input { false 1i64 [1.0, 2.0, 3.0] [4.0, 5.0, 6.0] 7.0 [1.0, 10.0, 100.0] }
-- output { [0.0, 0.0, 0.0] [8.0, 100.0, 1200.0] 0.0 }
entry chosen [n] (c: bool) (k: i64) (xs: [n]f64) (ys: [n]f64) (z: f64) (seed: [n]f64) =
  let f (xs: [n]f64, ys: [n]f64, z: f64) =
    let squares = map (\y -> y * y) ys
    let updated = copy xs with [k] = z
    in if c then updated else squares
  in vjp f (xs, ys, z) seed
