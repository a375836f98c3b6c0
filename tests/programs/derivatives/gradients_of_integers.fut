-- Integers have the derivatives of their ring: of sums, products, powers, extremes. A float made of one is constant.

-- ==
-- entry: scalars
-- input { 3i32 5i32 } output { [5, 1, -1, 2, 27, 0, 8, -3] }
entry scalars (x: i32) (y: i32) =
  [ vjp (* y) x 1
  , jvp (+ y) x 1
  , vjp (y -) x 1
  , jvp (\x -> x + (if x < y then x else 0)) x 1
  , vjp (** 3) x 1
  , vjp (\x -> i32.max x y) x 1
  , vjp (<< 3) x 1
  , jvp (\x -> i32.abs (x - y)) x 3 ]

-- ==
-- entry: wraps
-- input { 2000000000i32 2000000000i32 } output { -294967296i32 }
entry wraps (x: i32) (y: i32) = vjp (* x) y 2

-- Through other integers, not through floats.
-- ==
-- entry: converted
-- input { 3i16 } output { 9i16 0i16 0f64 2i64 }
entry converted (x: i16) =
  ( vjp (\x -> i64.i16 x * 9) x 1
  , vjp (\x -> f64.i16 x * 9) x 1
  , vjp (\x -> f64.i64 (i64.f64 x)) 2.5 1
  , jvp i64.f64 3.5 2 )

-- ==
-- entry: arrays
-- input { [1i64, 2i64, 3i64, 4i64] [0i64, 2i64, 0i64, 7i64] }
-- output { [24i64, 12i64, 8i64, 6i64] [1i64, 3i64, 6i64, 10i64] [4i64, 3i64, 2i64, 1i64] [3i64, 1i64, 1i64, 0i64] [1i64, 2i64, 1i64, 1i64] }
entry arrays [n] (x: [n]i64) (is: [n]i64) =
  ( vjp i64.product x 1
  , jvp (scan (+) 0) x x
  , vjp (scan (+) 0) x (replicate n 1)
  , vjp (\x -> reduce_by_index (replicate 3 1) (*) 1 is x) x (replicate 3 1)
  , vjp (\x -> let y = copy x in y with [0] = y[1]) x (replicate n 1) |> map2 (\i a -> if i == 0 then a + 1 else a) (iota n) )

-- A loop that counts in what is differentiated.
-- ==
-- entry: loops
-- input { 2i32 4i32 } output { 32i32 32i32 }
entry loops (x: i32) (n: i32) =
  let f x = loop y = 1 for _i < n do x * y
  in (vjp f x 1, jvp f x 1)

-- What a function finds the size of, where integers have derivatives as well.
#[noinline] def positive (xs: []f64) : []f64 = filter (> 0) xs

-- ==
-- entry: sizes
-- input { [1.0, -2.0, 3.0] } output { [2.0, 0.0, 2.0] [1i64, 0i64] }
entry sizes [n] (xs: [n]f64) =
  ( (vjp (\(xs, _) -> let ys = positive xs in (2 * f64.sum ys, length ys)) (xs, 1i64) (1, 1)).0
  , vjp (\(ks: [2]i64) -> let ys = positive (map f64.i64 ks) in (length ys + ks[0])) [3, -1] 1 )
