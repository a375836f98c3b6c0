-- Loops that only move towards their limit, of which many steps are taken without a look where no lane leaves.

-- ==
-- entry: numbers
-- input { 100i64 } auto output
entry numbers (n: i64): [n]f64 =
  tabulate n (\i -> if i % 37 == 3 then f64.nan else if i % 41 == 5 then -f64.inf else if i % 23 == 7 then -0.0
                    else f64.i64 (i * i * 31 % 7919) / 3 - 100)

-- ==
-- entry: fives
-- input { [3f64, 17.5f64, 5f64, 24f64, f64.nan, -f64.inf, -0f64, 9000f64] } auto output
-- script input { numbers 1000i64 } auto output
-- script input { numbers 64i64 } auto output
-- script input { numbers 7i64 } auto output
-- script input { numbers 0i64 } auto output
entry fives [n] (xs: [n]f64) : [n]f64 = map (\x -> loop x while x >= 5 do x - 5) xs

-- ==
-- entry: counted
-- script input { numbers 300i64 } auto output
entry counted [n] (xs: [n]f64) : ([n]f64, [n]i32) =
  unzip (map (\x -> loop (x, k) = (x, 0i32) while x > 7.5 do (x + (-0.75), k + 3)) xs)

-- ==
-- entry: only_counts
-- script input { numbers 300i64 } auto output
entry only_counts [n] (xs: [n]f64) : [n]i64 =
  map (\x -> (loop (x, k) = (x, 0i64) while x > 1 do (x - 1.25, k + 1)).1) xs

-- ==
-- entry: up
-- script input { numbers 500i64 } auto output
entry up [n] (xs: [n]f64) : [n]f64 =
  map (\x -> loop x = if x == -f64.inf then 0 else x while 2000 > x do 3.5 + x) xs

-- ==
-- entry: halves
-- script input { numbers 500i64 } auto output
entry halves [n] (xs: [n]f64) : ([n]f64, [n]f64, [n]f64) =
  unzip3 (map (\x -> (loop x = x * 1e200 while x > 0.001 do x / 1.5, loop x = x * 1e100 while x >= 2 do 0.875 * x, loop x while x > 0 do x * 0.5)) xs)

-- What does not only move towards it: with numbers that are negative, to and fro, by what differs, and a limit that moves.
-- ==
-- entry: others
-- script input { numbers 200i64 } auto output
entry others [n] (xs: [n]f64) =
  (map (\x -> loop x while x > -3 && x < 1000 do x * 1.5 - 1.25) xs,
   map (\x -> loop x = f64.abs x while x < 1000 do 1000.5 - x * 1.5) xs,
   map (\x -> (loop (x, d) = (x, 1) while x >= 5 do (x - d, d + 0.5)).0) xs,
   map (\x -> (loop (x, l) = (x, 5) while x >= l do (x - 2, l - 1)).0) (map (f64.min 300) xs))

-- ==
-- entry: singles
-- random input { [1000]f32 } auto output
-- input { [f32.nan, f32.inf, -f32.inf, -0f32, 16777216f32, 12f32, 1e30f32] } auto output
entry singles [n] (xs: [n]f32) : [n]f32 =
  map (\x -> loop x = if x > 1e10 then x / f32.inf else x * 100 while x >= 0.25 do x - 0.25) (map (f32.min 60) xs)

-- Integers near the ends of their types, where steps in vain would come round.
-- ==
-- entry: bytes
-- input { [0i8, 127i8, -128i8, 100i8, 5i8, 6i8] } auto output
-- random input { [300]i8 } auto output
entry bytes [n] (xs: [n]i8) =
  (map (\x -> loop x while x > -100 do x - 7) xs, map (\x -> loop x while x < 100 do x + 3) xs,
   map (\x -> loop x while x > 5 do x - 5) xs, map (\x -> loop x while x <= -9 do 8 + x) xs)

-- ==
-- entry: ints
-- input { [0i32, 2147483647i32, -2147483648i32, 100i32, 5000i32, 6i32] } auto output
-- random input { [300]i32 } auto output
entry ints [n] (xs: [n]i32) =
  let some = map (\x -> x % 5000) xs
  in (map (\x -> loop x while x >= 5 do x - 5) some,
      map (\x -> loop x = 2147483600 + (x & 31) while x > 2147483000 do x - 9) xs,
      map (\x -> loop x = x | 0x7fff0000 while x < 2147483640 && x > 0 do x + 100) xs,
      map (\x -> loop x = -2147483648 + (x & 1023) while x >= -2147483640 do x - 3) xs)

-- ==
-- entry: longs
-- input { [0i64, 9223372036854775807i64, -9223372036854775808i64, 100i64, 5000i64, 6i64] } auto output
-- random input { [300]i64 } auto output
entry longs [n] (xs: [n]i64) =
  let some = map (\x -> x % 5000) xs
  in (map (\x -> loop x while x >= 5 do x - 5) some, map (\x -> loop x while x < 4999 do x + 11) some,
      map (\x -> loop x = -9223372036854775808 + (x & 1023) while x >= -9223372036854775800 do x - 3) xs,
      map (\x -> loop x = u64.i64 x % 1000 while x > 5 do x - 6) xs)

-- Each by itself, so that nothing else decides whether there are vectors.
-- ==
-- entry: down
-- random input { [300]i32 } auto output
entry down [n] (xs: [n]i32) : [n]i32 = map (\x -> loop x = -2147483648 + (x & 1023) while x >= -2147483640 do x - 3) xs

-- ==
-- entry: down_long
-- random input { [300]i64 } auto output
entry down_long [n] (xs: [n]i64) : [n]i64 =
  map (\x -> loop x = -9223372036854775808 + (x & 1023) while x >= -9223372036854775800 do x - 3) xs

-- ==
-- entry: to_and_fro
-- script input { numbers 300i64 } auto output
entry to_and_fro [n] (xs: [n]f64) : [n]f64 = map (\x -> loop x = f64.abs x while x < 1000 do 1000.5 - x * 1.5) xs

-- ==
-- entry: moving
-- script input { numbers 300i64 } auto output
entry moving [n] (xs: [n]f64) : [n]f64 =
  map (\x -> (loop (x, l) = (x, 5) while x >= l do (x - 2, l - 1)).0) (map (f64.min 300) xs)

-- ==
-- entry: negative
-- script input { numbers 300i64 } auto output
entry negative [n] (xs: [n]f64) : [n]f64 =
  map (\x -> loop x = if f64.isnan x || f64.isinf x then 1 else x while x > -200 do x * 0.5 - 150) xs
