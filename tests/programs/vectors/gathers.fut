-- Elements that are found by numbers of the lanes' own, and computed with in vectors.

-- ==
-- entry: gather
-- input { [1f32, 2f32, 3f32] [2i32, 0i32, 1i32, 2i32, 2i32, 0i32, 1i32, 0i32, 1i32] }
-- output { [7f32, 3f32, 5f32, 7f32, 7f32, 3f32, 5f32, 3f32, 5f32] }
-- input { [1f32] empty([0]i32) } output { empty([0]f32) }
-- input { [1f32, 2f32] [0i32, 1i32, 0i32, 1i32, 0i32, 1i32, 0i32, 2i32, 0i32] } error: Index \[2\] out of bounds for array of shape \[2\]
-- input { [1f32, 2f32] [0i32, -1i32, 0i32, 1i32, 0i32, 1i32, 0i32, 1i32, 0i32] } error: Index \[-1\] out of bounds for array of shape \[2\]
-- input { [1f32, 2f32] [0i32, 1i32, 0i32, 1i32, 0i32, 1i32, 0i32, 1i32, 7i32] } error: Index \[7\] out of bounds for array of shape \[2\]
entry gather [n][m] (xs: [n]f32) (is: [m]i32) : [m]f32 = map (\i -> xs[i64.i32 i] * 2 + 1) is

-- A table, of every type.
-- ==
-- entry: tables
-- random input { [256]u8 [256]i16 [256]u32 [256]f64 [70]u8 } auto output
-- random input { [256]u8 [256]i16 [256]u32 [256]f64 [16]u8 } auto output
entry tables [m] (a: [256]u8) (b: [256]i16) (c: [256]u32) (d: [256]f64) (is: [m]u8) : ([m]u8, [m]i16, [m]u32, [m]f64) =
  (map (\i -> a[i64.u8 i] ^ i) is,
   map (\i -> b[i64.u8 i] + 1) is,
   map (\i -> c[i64.u8 i] >> 3) is,
   map (\i -> d[i64.u8 i] / 2) is)

-- Indices that are computed, some of floats, and are values as well.
-- ==
-- entry: computed
-- random input { [97]f32 [61]f32 } auto output
-- random input { [1]f32 [61]f32 } auto output
entry computed [n][m] (xs: [n]f32) (ws: [m]f32) : ([m]f32, [m]i64) =
  unzip (map (\w -> let i = (i64.f32 (w * 1000)) % n in (xs[i] * w, i)) ws)

-- Columns of a matrix, and its diagonal.
-- ==
-- entry: columns
-- random input { [19][33]f32 } auto output
-- random input { [33][19]f32 } auto output
entry columns [n][m] (xss: [n][m]f32) : ([m][n]f32, []f32) =
  let k = i64.min n m
  in (map (map (\x -> x * x)) (transpose xss), tabulate k (\i -> xss[i, i] + xss[k - 1 - i, i]))

-- Numbers over whose memory what they find is written.
-- ==
-- entry: over
-- random input { [75]i64 [10]i64 } auto output
entry over [n][m] (is: [n]i64) (xs: [m]i64) : [n]i64 =
  let is = map (\i -> i % m) is
  in map (\i -> xs[i] + i) (map (\i -> xs[i] % m) is)

-- Through two arrays.
-- ==
-- entry: twice
-- random input { [40]f32 [50]u8 [45]u8 } auto output
entry twice [n][m][k] (xs: [n]f32) (is: [m]u8) (js: [k]u8) : [k]f32 =
  map (\j -> xs[i64.u8 is[i64.u8 j % m] % n] + 1) js
