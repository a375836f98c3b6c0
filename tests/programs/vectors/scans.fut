-- Scans of integers, in vectors where there are registers of 512 bits.

-- ==
-- entry: sum_i32
-- random input { [0]i32 } auto output
-- random input { [1]i32 } auto output
-- random input { [15]i32 } auto output
-- random input { [16]i32 } auto output
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
-- random input { [40000]i32 } auto output
entry sum_i32 [n] (xs: [n]i32) = scan (+) 0 xs

-- ==
-- entry: most_i32
-- random input { [16]i32 } auto output
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [1000]i32 } auto output
entry most_i32 [n] (xs: [n]i32) = scan i32.max i32.lowest xs

-- ==
-- entry: least_i32
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
entry least_i32 [n] (xs: [n]i32) = scan i32.min i32.highest xs

-- ==
-- entry: or_i32
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
entry or_i32 [n] (xs: [n]i32) = scan (|) 0 (map (\x -> x & (x >> 3) & (x >> 5) & (x >> 7) & (x >> 9)) xs)

-- ==
-- entry: and_i32
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
entry and_i32 [n] (xs: [n]i32) = scan (&) (i32.i64 (-1)) (map (\x -> x | (x >> 3) | (x >> 5) | (x >> 7) | (x >> 9)) xs)

-- ==
-- entry: xor_i32
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
entry xor_i32 [n] (xs: [n]i32) = scan (^) 0 xs

-- ==
-- entry: product_i32
-- random input { [17]i32 } auto output
-- random input { [64]i32 } auto output
-- random input { [100]i32 } auto output
-- random input { [1000]i32 } auto output
entry product_i32 [n] (xs: [n]i32) = scan (*) 1 (map (| 1) xs)

-- ==
-- entry: sum_i64
-- random input { [0]i64 } auto output
-- random input { [1]i64 } auto output
-- random input { [15]i64 } auto output
-- random input { [16]i64 } auto output
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
-- random input { [40000]i64 } auto output
entry sum_i64 [n] (xs: [n]i64) = scan (+) 0 xs

-- ==
-- entry: most_i64
-- random input { [16]i64 } auto output
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [1000]i64 } auto output
entry most_i64 [n] (xs: [n]i64) = scan i64.max i64.lowest xs

-- ==
-- entry: least_i64
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
entry least_i64 [n] (xs: [n]i64) = scan i64.min i64.highest xs

-- ==
-- entry: or_i64
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
entry or_i64 [n] (xs: [n]i64) = scan (|) 0 (map (\x -> x & (x >> 3) & (x >> 5) & (x >> 7) & (x >> 9)) xs)

-- ==
-- entry: and_i64
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
entry and_i64 [n] (xs: [n]i64) = scan (&) (i64.i64 (-1)) (map (\x -> x | (x >> 3) | (x >> 5) | (x >> 7) | (x >> 9)) xs)

-- ==
-- entry: xor_i64
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
entry xor_i64 [n] (xs: [n]i64) = scan (^) 0 xs

-- ==
-- entry: product_i64
-- random input { [17]i64 } auto output
-- random input { [64]i64 } auto output
-- random input { [100]i64 } auto output
-- random input { [1000]i64 } auto output
entry product_i64 [n] (xs: [n]i64) = scan (*) 1 (map (| 1) xs)

-- ==
-- entry: sum_u32
-- random input { [0]u32 } auto output
-- random input { [1]u32 } auto output
-- random input { [15]u32 } auto output
-- random input { [16]u32 } auto output
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
-- random input { [40000]u32 } auto output
entry sum_u32 [n] (xs: [n]u32) = scan (+) 0 xs

-- ==
-- entry: most_u32
-- random input { [16]u32 } auto output
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [1000]u32 } auto output
entry most_u32 [n] (xs: [n]u32) = scan u32.max u32.lowest xs

-- ==
-- entry: least_u32
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
entry least_u32 [n] (xs: [n]u32) = scan u32.min u32.highest xs

-- ==
-- entry: or_u32
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
entry or_u32 [n] (xs: [n]u32) = scan (|) 0 (map (\x -> x & (x >> 3) & (x >> 5) & (x >> 7) & (x >> 9)) xs)

-- ==
-- entry: and_u32
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
entry and_u32 [n] (xs: [n]u32) = scan (&) (u32.i64 (-1)) (map (\x -> x | (x >> 3) | (x >> 5) | (x >> 7) | (x >> 9)) xs)

-- ==
-- entry: xor_u32
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
entry xor_u32 [n] (xs: [n]u32) = scan (^) 0 xs

-- ==
-- entry: product_u32
-- random input { [17]u32 } auto output
-- random input { [64]u32 } auto output
-- random input { [100]u32 } auto output
-- random input { [1000]u32 } auto output
entry product_u32 [n] (xs: [n]u32) = scan (*) 1 (map (| 1) xs)

-- ==
-- entry: sum_u64
-- random input { [0]u64 } auto output
-- random input { [1]u64 } auto output
-- random input { [15]u64 } auto output
-- random input { [16]u64 } auto output
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
-- random input { [40000]u64 } auto output
entry sum_u64 [n] (xs: [n]u64) = scan (+) 0 xs

-- ==
-- entry: most_u64
-- random input { [16]u64 } auto output
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [1000]u64 } auto output
entry most_u64 [n] (xs: [n]u64) = scan u64.max u64.lowest xs

-- ==
-- entry: least_u64
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
entry least_u64 [n] (xs: [n]u64) = scan u64.min u64.highest xs

-- ==
-- entry: or_u64
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
entry or_u64 [n] (xs: [n]u64) = scan (|) 0 (map (\x -> x & (x >> 3) & (x >> 5) & (x >> 7) & (x >> 9)) xs)

-- ==
-- entry: and_u64
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
entry and_u64 [n] (xs: [n]u64) = scan (&) (u64.i64 (-1)) (map (\x -> x | (x >> 3) | (x >> 5) | (x >> 7) | (x >> 9)) xs)

-- ==
-- entry: xor_u64
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
entry xor_u64 [n] (xs: [n]u64) = scan (^) 0 xs

-- ==
-- entry: product_u64
-- random input { [17]u64 } auto output
-- random input { [64]u64 } auto output
-- random input { [100]u64 } auto output
-- random input { [1000]u64 } auto output
entry product_u64 [n] (xs: [n]u64) = scan (*) 1 (map (| 1) xs)

-- Behind something, with what is computed of two arrays, the other way round, and of rows.
-- ==
-- entry: from_five
-- random input { [1000]i32 [1000]i32 } auto output
-- random input { [37]i32 [37]i32 } auto output
entry from_five [n] (xs: [n]i32) (ys: [n]i32) = scan (+) 5 (map2 (\x y -> x * 2 - y) xs ys)

-- ==
-- entry: turned
-- random input { [1000]i32 } auto output
entry turned [n] (xs: [n]i32) = scan (+) 0 (map (\i -> xs[n - 1 - i]) (iota n))

-- ==
-- entry: at_least
-- random input { [1000]i32 } auto output
entry at_least [n] (xs: [n]i32) = scan i32.max 100 xs

-- ==
-- entry: rows
-- random input { [7][100]i32 } auto output
-- random input { [100][7]i32 } auto output
-- random input { [3][1000]i32 } auto output
-- random input { [0][3]i32 } auto output
-- random input { [1][70000]i32 } auto output
entry rows [n][m] (xss: [n][m]i32) = map (scan (+) 0) xss

-- ==
-- entry: least_of_rows
-- random input { [3][1000]i64 } auto output
-- random input { [40][33]i64 } auto output
entry least_of_rows [n][m] (xss: [n][m]i64) = map (scan i64.min 7) xss

-- What is rounded, of other sizes, or has several parts, is as it was.
-- ==
-- entry: others
-- random input { [1000]f32 [1000]i32 } auto output
entry others [n] (xs: [n]f32) (ys: [n]i32) =
  (scan f32.max f32.lowest xs, scan (\(a, b) (c, d) -> (a + c, i32.max b d)) (0, i32.lowest) (zip ys ys), scan (+) 0 (map i8.i32 ys), scan (&&) true (map (> -2000000000) ys))

-- ==
-- entry: kept_singles
-- random input { [100000]f32 } auto output
-- random input { [1000000]f32 } auto output
entry kept_singles [n] (xs: [n]f32) = filter (> 0.5) xs

-- ==
-- entry: kept_ints
-- random input { [100000]i32 } auto output
entry kept_ints [n] (xs: [n]i32) = filter (> 2000000000) xs
