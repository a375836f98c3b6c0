-- Dense kernels after the thesis' examples: how many parallel operations they are.

-- A dot product is one reduction (redomap, thesis 7.3).
-- ==
-- entry: dot
-- input { [1f32, 2f32, 3f32] [4f32, 5f32, 6f32] } output { 32f32 }
-- count: reduce 1
entry dot [n] (xs: [n]f32) (ys: [n]f32) : f32 = f32.sum (map2 (*) xs ys)

-- The same of a matrix and a vector, and of two matrices: the transposition is an index function.
-- ==
-- entry: matvec
-- input { [[1f32, 2f32], [3f32, 4f32]] [5f32, 6f32] } output { [17f32, 39f32] }
-- count *=0: map 1
-- count *=inf: reduce 1
entry matvec [n] [m] (xss: [n][m]f32) (ys: [m]f32) : [n]f32 =
  map (\xs -> f32.sum (map2 (*) xs ys)) xss

-- ==
-- entry: matmul
-- input { [[1f32, 2f32], [3f32, 4f32]] [[5f32, 6f32], [7f32, 8f32]] } output { [[19f32, 22f32], [43f32, 50f32]] }
-- count *=0: map 1
-- count *=inf: reduce 1
entry matmul [n] [m] [p] (xss: [n][m]f32) (yss: [m][p]f32) : [n][p]f32 =
  map (\xs -> map (\ys -> f32.sum (map2 (*) xs ys)) (transpose yss)) xss

-- Mean and variance: sums of different functions of the same elements are one traversal (horizontal fusion, 7.3.1).
-- ==
-- entry: moments
-- input { [1.0, 2.0, 3.0] } output { 2.0 4.666666666666667 }
-- count: reduce 1
entry moments [n] (xs: [n]f64) : (f64, f64) =
  let mean = f64.sum xs / f64.i64 n
  let square = f64.sum (map (\x -> x * x) xs) / f64.i64 n
  in (mean, square)

-- What a scan scans is made in the scan, and what is made of it, too (scanomap).
-- ==
-- entry: prefix
-- input { [1i32, 2i32, 3i32] } output { [1i32, 5i32, 14i32] }
-- count: scan 1
entry prefix [n] (xs: [n]i32) : [n]i32 = scan (+) 0 (map (\x -> x * x) xs)

-- The even numbers' squares, summed: what is not kept is not added (filter as producer).
-- ==
-- entry: even_squares
-- input { [1i32, 2i32, 3i32, 4i32] } output { 20i32 }
-- input { empty([0]i32) } output { 0i32 }
-- count: reduce 1
entry even_squares [n] (xs: [n]i32) : i32 =
  i32.sum (map (\x -> x * x) (filter (\x -> x % 2 == 0) xs))
