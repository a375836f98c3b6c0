-- Gradients of array code.

-- ==
-- entry: dot
-- input { [1.0, 2.0] [3.0, 4.0] } output { 11.0 [3.0, 4.0] [1.0, 2.0] }
entry dot [n] (xs: [n]f64) (ys: [n]f64) =
  let (v, (a, b)) = vjp2 (\(xs, ys) -> f64.sum (map2 (*) xs ys)) (xs, ys) 1
  in (v, a, b)

-- ==
-- entry: products
-- input { [2.0, 0.0, 4.0] } output { [0.0, 8.0, 0.0] }
-- input { [2.0, 3.0, 4.0] } output { [12.0, 8.0, 6.0] }
entry products (xs: []f64) = vjp f64.product xs 1

-- ==
-- entry: extremes
-- input { [1.0, 5.0, -3.0, 5.0] } output { [0.0, 1.0, 0.0, 0.0] [0.0, 0.0, 1.0, 0.0] }
entry extremes (xs: []f64) = (vjp f64.maximum xs 1, vjp f64.minimum xs 1)

-- ==
-- entry: scans
-- input { [1.0, 2.0, 3.0] } output { [3.0, 2.0, 1.0] [9.0, 4.0, 2.0] }
entry scans [n] (xs: [n]f64) =
  (vjp (scan (+) 0) xs (replicate n 1), vjp (scan (*) 1) xs (replicate n 1))

-- Reads and writes of elements; a read of one element twice.
-- ==
-- entry: elements
-- input { [1.0, 2.0, 3.0] [2i64, 2, 0] } output { [3.0, 0.0, 12.0] [1.0, 0.0, 1.0] 1.0 }
entry elements [n] (xs: [n]f64) (is: [n]i64) =
  let (a, b) = vjp (\(xs, x) -> f64.sum (copy xs with [1] = x)) (xs, 5) 1
  in (vjp (\xs -> f64.sum (map (\i -> xs[i] * 2) is) + xs[0] + 8 * xs[2]) xs 1, a, b)

-- ==
-- entry: written
-- input { [1.0, 2.0, 3.0] [2i64, -1, 0] } output { [3.0, 0.0, 1.0] [0.0, 2.0, 0.0, 4.0] [10.0, 0.0, 30.0] }
entry written [n] (xs: [n]f64) (is: [n]i64) =
  let (a, b) = vjp (\(xs, d) -> scatter (copy d) is xs) (xs, replicate 4 9) [1, 2, 3, 4]
  in (a, b, vjp (reduce_by_index (replicate 3 0) (+) 0 is) xs [30, 20, 10])

-- ==
-- entry: filtered
-- input { [1.0, -2.0, 3.0] } output { [2.0, 0.0, 6.0] }
entry filtered (xs: []f64) = map (+ 0) (vjp (\xs -> f64.sum (map (\x -> x * x) (filter (> 0) xs))) xs 1)

-- ==
-- entry: rows
-- input { [1.0, 2.0, 3.0] } output { [1.0, 2.0, 3.0] }
entry rows (xs: []f64) =
  vjp (\xs -> f64.sum (map f64.sum (map (\i -> map (* xs[i]) (replicate (i + 1) 1)) (indices xs)))) xs 1

-- A loop that ends when it is done.
-- ==
-- entry: loops
-- input { 3.0 } output { 32.0 }
entry loops (x: f64) = vjp (\x -> loop y = x while y < 50 do 2 * y) x 1

def power (x: f64) (n: i64) : f64 = if n == 0 then 1 else x * power x (n - 1)

-- ==
-- entry: recursive
-- input { 2.0 5i64 } output { 80.0 }
entry recursive (x: f64) (n: i64) = vjp (\x -> power x n) x 1

-- A matrix of second derivatives.
-- ==
-- entry: hessian
-- input { [1.0, 2.0, 3.0] } output { [[0.0, 6.0, 0.0], [6.0, 2.0, 0.0], [0.0, 0.0, 12.0]] }
entry hessian [n] (xs: [n]f64) =
  let f (xs: [n]f64) = 6 * xs[0] * xs[1] + xs[1] ** 2 + xs[2] ** 2 * 6
  let gradient = \xs -> vjp f xs 1
  in jmp gradient xs (tabulate_2d n n (\i j -> f64.bool (i == j)))

-- ==
-- entry: jacobian
-- input { [1.0, 2.0] } output { [[2.0, 0.0], [0.0, 4.0]] [1.0, 4.0] }
entry jacobian (xs: [2]f64) =
  let (v, m) = mjp2 (map (\x -> x * x)) xs [[1, 0], [0, 1]] in (m, v)
