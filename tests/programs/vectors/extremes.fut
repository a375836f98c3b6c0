-- The least and the greatest of numbers that were computed, of zeros with both signs and of NaNs.

-- ==
-- entry: singles
-- input { [0f32, -0f32, 1f32, -1f32, f32.nan, f32.inf, -f32.inf, 2f32, 0.5f32, 3e38f32, 1e-45f32, f32.nan, -3f32, 7f32, -0f32, 0f32, 5f32] 1f32 } auto output
-- input { [0f32, -0f32, 1f32, -1f32, f32.nan, f32.inf, -f32.inf, 2f32, 0.5f32, 3e38f32, 1e-45f32, f32.nan, -3f32, 7f32, -0f32, 0f32, 5f32] f32.nan } auto output
-- input { [0f32, -0f32, 1f32, -1f32, f32.nan, f32.inf, -f32.inf, 2f32, 0.5f32, 3e38f32, 1e-45f32, f32.nan, -3f32, 7f32, -0f32, 0f32, 5f32] -0f32 } auto output
-- random input { [1000]f32 0.5f32 } auto output
entry singles [n] (xs: [n]f32) (k: f32) : ([n]u32, [n]u32, [n]u32, [n]f32) =
  let bits = f32.to_bits
  in unzip4 (tabulate n (\i -> let (x, y) = (xs[i] * 1, xs[n - 1 - i] + 0 * xs[i] - (-0))
                               in (bits (f32.min x y), bits (f32.max x y), bits (f32.max 0 (f32.min k x)), f32.min xs[i] (f32.max k y))))

-- ==
-- entry: doubles
-- input { [0f64, -0f64, 1f64, -1f64, f64.nan, f64.inf, -f64.inf, 2f64, 0.5f64, 3e38f64, 1e-45f64, f64.nan, -3f64, 7f64, -0f64, 0f64, 5f64] 1f64 } auto output
-- input { [0f64, -0f64, 1f64, -1f64, f64.nan, f64.inf, -f64.inf, 2f64, 0.5f64, 3e38f64, 1e-45f64, f64.nan, -3f64, 7f64, -0f64, 0f64, 5f64] f64.nan } auto output
-- random input { [1000]f64 0.5f64 } auto output
entry doubles [n] (xs: [n]f64) (k: f64) : ([n]u64, [n]u64, [n]u64, [n]f64) =
  let bits = f64.to_bits
  in unzip4 (tabulate n (\i -> let (x, y) = (xs[i] * 1, f64.sqrt xs[n - 1 - i] * xs[i])
                               in (bits (f64.min x y), bits (f64.max x y), bits (f64.max (-0) (f64.min x k)), f64.max (f64.min x k) xs[i])))

-- Of integers, and what floats become that are too large, or none.
-- ==
-- entry: integers
-- random input { [1000]i64 [1000]i64 } auto output
-- input { [-9223372036854775808i64, 9223372036854775807i64, 0i64, -1i64, 3i64, 9i64, 7i64, 5i64, 1i64] [1i64, -1i64, -9223372036854775808i64, 9223372036854775807i64, 3i64, 8i64, 4611686018427387904i64, 9007199254740993i64, 16777217i64] } auto output
entry integers [n] (xs: [n]i64) (ys: [n]i64) : ([n]i64, [n]i64, [n]i64, [n]f32, [n]f64) =
  unzip5 (map2 (\x y -> (i64.min x y, i64.max x y, x * y + (x ^ y) * 7, f32.i64 y, f64.i64 x)) xs ys)

-- ==
-- entry: whole
-- input { [0f32, -0f32, 1.5f32, -1.5f32, f32.nan, f32.inf, -f32.inf, 9.223372e18f32, -9.223372e18f32, 3e38f32, -3e38f32, 9.2233715e18f32, -9.2233715e18f32, 4e9f32, -4e9f32, 1e-45f32, 16777216f32] } auto output
-- random input { [1000]f32 } auto output
entry whole [n] (xs: [n]f32) : ([n]i64, [n]i64, [n]i64) =
  unzip3 (map (\x -> (i64.f32 x, i64.f32 (x * 3) + 1, i64.f64 (f64.f32 x * 1.5))) xs)
