-- Gradients through sequences: chunks are undone one after another.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] (f: [n]f64 -> f64) (x: [n]f64) (x': [n]f64) : bool =
  let a = jvp f x x'
  let b = dot (vjp f x 1) x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

def squares [n] (xs: [n]f64) = seq.reduce (+) 0 (seq.map (\x -> x * x) (seq.from_array xs))

def folded [n] (xs: [n]f64) = seq.fold (\a x -> a * 0.5 + f64.sin (a * x)) 0.1 (seq.from_array xs)

def produced [n] (xs: [n]f64) =
  seq.fold (\a row -> a + f64.sum row * 0.1) 0 (seq.produce 50 (\i -> map (\x -> x * f64.i64 (i % n)) xs))

def paired [n] (xs: [n]f64) =
  let ys = seq.to_array (seq.zip_with (\x i -> x * x * f64.i64 i) (seq.from_array xs) (seq.produce n (\i -> i + 1)))
  in f64.sum (map (\y -> y * y) ys)

def chunks [n] (xs: [n]f64) =
  seq.fold_chunks (\a k (xs: [k]f64) -> a + f64.sum (map (\x -> x * x * x) xs)) 0 (seq.from_array xs)

-- ==
-- random input { [10]f64 [10]f64 } output { [true, true, true, true, true] }
entry main [n] (x: [n]f64) (d: [n]f64) =
  [holds squares x d, holds folded x d, holds produced x d, holds paired x d, holds chunks x d]

-- More elements than a chunk has.
-- ==
-- entry: long
-- input { 40000i64 [2.0, 3.0] }
-- output { [160000.0, 240000.0] }
entry long (k: i64) (xs: [2]f64) : [2]f64 =
  vjp (\xs -> seq.reduce (+) 0 (seq.produce k (\_ -> f64.sum (map (\x -> x * x) xs)))) xs 1
