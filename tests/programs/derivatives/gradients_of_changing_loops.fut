-- Loops whose arrays change size: longer, shorter, in two dimensions, several at once, inside of parallel code, in a `while` loop.

def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def holds [n] (f: [n]f64 -> f64) (x: [n]f64) (x': [n]f64) : bool =
  let a = jvp f x x'
  let b = dot (vjp f x 1) x'
  in a != 0 && f64.abs (a - b) <= 1e-9 * (1 + f64.abs a)

def weighted [n] (xs: [n]f64) : f64 = f64.sum (map2 (\x i -> x * x * f64.i64 (i + 1)) xs (iota n))

def longer [n] (xs: [n]f64) : f64 =
  weighted (loop (ys: []f64) = xs for i < 4 do ys ++ map (\y -> y * xs[i % n]) (take 2 ys))

def shorter [n] (xs: [n]f64) : f64 =
  let ys =
    loop (ys: []f64) = map (+ 1) xs while length ys > 1 do
      let m = length ys / 2
      in map2 (\a b -> a * b + f64.sin a) (take m ys) (take m (drop m ys))
  in ys[0]

def kept [n] (xs: [n]f64) : f64 =
  weighted (loop (ys: []f64) = xs for _i < 3 do
              let mean = f64.sum ys / f64.i64 (length ys)
              in map (\y -> y * mean) (filter (>= mean * 0.5) ys))

def square [n] (xs: [n]f64) : f64 =
  let m =
    loop (m: [][]f64) = [[xs[0], xs[1]]] for i < 2 do
      let rows = length m
      in tabulate_2d (rows + 1) (rows + 2) (\r c -> m[r % rows, c % length m[0]] * xs[(r + c + i) % n])
  in f64.sum (map f64.sum m)

def several [n] (xs: [n]f64) : f64 =
  let (ys, is, z) =
    loop (ys: []f64, is: []i64, z) = (xs, iota n, 0) for _i < 3 do
      let z = z + f64.sum (map (\i -> ys[i] * 2) is)
      in (ys ++ [z * 0.1], is ++ [length ys], z * ys[0])
  in weighted ys + z + f64.i64 (length is)

def inside [n] (xs: [n]f64) : f64 =
  f64.sum (map (\x -> weighted (loop (ys: []f64) = [x, x * x] for i < 3 do ys ++ map (* xs[i]) ys)) xs)

def consumed [n] (xs: [n]f64) : f64 =
  weighted (loop (ys: *[]f64) = copy xs for i < 3 do
              let ys = ys with [i] = ys[i] * ys[i + 1]
              in copy (ys ++ [ys[i] * 3]))

def unequal [n] (xs: [n]f64) : f64 =
  f64.sum (map (\i -> weighted (loop (ys: []f64) = take (i + 1) xs for _j < i do ys ++ map f64.sin (take 1 ys))) (iota n))

-- ==
-- random input { [6]f64 [6]f64 } output { [true, true, true, true, true, true, true, true] }
entry main [n] (x: [n]f64) (d: [n]f64) =
  [ holds longer x d
  , holds shorter x d
  , holds kept x d
  , holds square x d
  , holds several x d
  , holds inside x d
  , holds consumed x d
  , holds unequal x d ]

-- The product of what is left, from a loop of which sizes come from outside.
-- ==
-- entry: halves
-- input { [1.0, 2.0, 3.0, 4.0] }
-- output { [24.0, 12.0, 8.0, 6.0] }
entry halves [n] (xs: [n]f64) =
  vjp (\xs -> let ys = loop (ys: []f64) = xs for _i < 2 do
                         let m = length ys / 2
                         in map2 (*) (take m ys) (take m (drop m ys))
              in ys[0]) xs 1

-- Twice: the gradient of a gradient.
-- ==
-- entry: twice
-- input { [1.0, 2.0] }
-- output { [12.0, 2.0] }
entry twice [n] (xs: [n]f64) =
  let f xs = f64.product (loop (ys: []f64) = xs for _i < 1 do ys ++ take 1 ys)
  in vjp (\xs -> let g = vjp f xs 1 in g[0] * g[1]) xs 1
