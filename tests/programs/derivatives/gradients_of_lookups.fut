-- Elements that loops read whose numbers of iterations differ by point, also in branches and in loops.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] (f: [n]f64 -> f64) (x: [n]f64) (x': [n]f64) : bool =
  let a = jvp f x x'
  let b = dot (vjp f x 1) x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

def looped [n] (xs: [n]f64) : f64 =
  f64.sum (map (\k -> loop a = 0 for i < k do a * 0.5 + xs[i] * xs[(i * k) % n]) (iota n))

def chosen [n] (xs: [n]f64) : f64 =
  f64.sum (map (\k -> if k % 3 == 0 then xs[k] else (loop a = 1 for i < k do a * (xs[i] + 0.5)) * xs[n - 1 - k]) (iota n))

def nested [n] (xs: [n]f64) : f64 =
  f64.sum (map (\k -> loop a = 0.1 for i < k do
                        let b = loop b = 1 for j < i % 3 do b * xs[(i + j) % n]
                        in if i % 2 == 0 then a + b * (loop c = a for j < i do c * 0.5 + xs[j]) else a * xs[i]) (iota n))

def searched [n] (xs: [n]f64) : f64 =
  f64.sum (map (\k -> loop a = xs[k] while a < 3 do a * 1.5 + xs[i64.f64 a % n] + 0.1) (iota n))

def rows [n] (xs: [n]f64) : f64 =
  let xss = map (\x -> map (* x) xs) xs
  in f64.sum (map (\k -> loop a = 0 for i < k do a + xss[i, k] * f64.sum xss[k]) (iota n))

def maps [n] (xs: [n]f64) : f64 =
  f64.sum (flatten (map (\i -> map (\k -> loop a = 0 for j < i + k do a * 0.3 + xs[j % n] * xs[k]) (iota n)) (iota n)))

-- ==
-- random input { [9]f64 [9]f64 } output { [true, true, true, true, true, true] }
entry main [n] (x: [n]f64) (d: [n]f64) =
  [holds looped x d, holds chosen x d, holds nested x d, holds searched x d, holds rows x d, holds maps x d]

-- ==
-- entry: values
-- input { [1i64, 0i64, 3i64, 2i64] [1.0, 2.0, 3.0, 4.0] }
-- output { [6.0, 8.0, 6.0, 0.0] }
entry values [k] [n] (ks: [k]i64) (xs: [n]f64) =
  vjp (\xs -> f64.sum (map (\k -> loop a = 0 for i < k do a + xs[i] * xs[i]) ks)) xs 1
