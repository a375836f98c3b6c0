-- Operations on integers that vectors have by others: remainders and quotients by powers of two, and on numbers of 64 bits products, shifts
-- that keep the sign, and what is least.
-- ==
-- entry: rests
-- input { [7i64, -7i64, 8i64, -8i64, 0i64, 9223372036854775807i64, -9223372036854775808i64, 5i64, -1i64] }
-- output { [7i64, 1i64, 0i64, 0i64, 0i64, 7i64, 0i64, 5i64, 7i64]
--          [1i64, -2i64, 2i64, -2i64, 0i64, 2305843009213693951i64, -2305843009213693952i64, 1i64, -1i64] }
-- input { empty([0]i64) } output { empty([0]i64) empty([0]i64) }
entry rests [n] (xs: [n]i64) : ([n]i64, [n]i64) = (map (% 8) xs, map (/ 4) xs)

-- ==
-- entry: words
-- compiled random input { [1003]i32 } auto output
-- random input { [37]i32 } auto output
entry words [n] (xs: [n]i32) : ([n]i32, [n]i32, [n]i32, [n]i32) =
  (map (% 16) xs, map (/ 1024) xs, map (% 1) xs, map (\x -> if x % 2 == 0 then x / 2 else 3 * x + 1) xs)

-- ==
-- entry: unsigned
-- random input { [1003]u64 [1003]u16 } auto output
entry unsigned [n] (xs: [n]u64) (ys: [n]u16) : ([n]u64, [n]u64, [n]u64, [n]u16, [n]u16) =
  (map (\x -> (x // 32) ^ (x %% 32)) xs, map (\x -> x * 0x8000000000000001) xs, map2 (\x y -> u64.min x (u64.u16 y << 48)) xs ys,
   map (/ 8) ys, map (% 8) ys)

-- ==
-- entry: products
-- random input { [1003]i64 [1003]i64 } auto output
entry products [n] (xs: [n]i64) (ys: [n]i64) : ([n]i64, [n]i64, [n]i64, [n]i64, [n]i64, i64) =
  (map2 (*) xs ys, map (* 7) xs, map (* 4611686018427387904) xs, map (* -3) xs, map (* 1) xs, i64.sum (map2 (\x y -> x * 3 - y * 40) xs ys))

-- ==
-- entry: extremes
-- random input { [1003]i64 [1003]i64 } auto output
entry extremes [n] (xs: [n]i64) (ys: [n]i64) : ([n]i64, [n]i64, [n]i64, i64, i64) =
  (map2 i64.min xs ys, map2 i64.max xs (map (>> 5) ys), map (\y -> (y >> 63) - (y >> 1)) ys, i64.minimum (map2 (*) xs ys), i64.maximum xs)

-- Products of numbers that were made wider.
-- ==
-- entry: wider
-- random input { [1003]i32 [1003]i32 } auto output
entry wider [n] (xs: [n]i32) (ys: [n]i32) : ([n]i64, i64, [n]i64, [n]u64, [n]i32) =
  (map2 (\x y -> i64.i32 x * i64.i32 y) xs ys, i64.sum (map2 (\x y -> i64.i32 x * i64.i32 y) xs ys), map2 (\x y -> i64.u32 (u32.i32 x) * i64.i32 y) xs ys,
   map2 (\x y -> u64.u32 (u32.i32 x) * u64.u32 (u32.i32 y)) xs ys, map2 (\x y -> i32.i16 (i16.i32 x) * i32.i16 (i16.i32 y)) xs ys)
