-- Operators on one integer that are no single operation: sums that stop at a bound, sums of parts of a word, the larger of absolute values.
-- With few buckets and many, and points outside.
-- ==
-- entry: saturating
-- input { 0i64 5i64 } auto output
-- input { 3i64 1i64 } auto output
-- input { 5000i64 7i64 } auto output
-- input { 3000i64 40000i64 } auto output
entry saturating (n: i64) (m: i64) : ([m]u8, [m]i32, [m]i64) =
  let at k i = (i * i * k + i) % (m + 2) - 1
  let less 't (add: t -> t -> t) (below: t -> t -> bool) (most: t) (a: t) (b: t) = let c = add a b in if below most c then most else c
  in (hist (\a b -> if a > 255 - b then 255 else a + b) 0 m (map (at 7) (iota n)) (map (\i -> u8.i64 (i % 5)) (iota n)),
      hist (less (+) (<) 9) 0 m (map (at 3) (iota n)) (map (\i -> i32.i64 (i % 4)) (iota n)),
      hist (less (+) (<) (1 << 40)) 0 m (map (at 1) (iota n)) (map (\i -> (i % 9) << 36) (iota n)))

-- ==
-- entry: parts
-- input { 300i64 4i64 } auto output
-- input { 2000i64 3000i64 } auto output
entry parts (n: i64) (m: i64) : ([m]u16, [m]u64, [m]i16, [m]bool) =
  let at k i = (i * k + i / 3) % m
  let fields (a: u64) (b: u64) = ((a & 0xffffffff) + (b & 0xffffffff)) & 0xffffffff | u64.max (a >> 32) (b >> 32) << 32
  let larger (a: i16) (b: i16) = if i16.abs a > i16.abs b then a else if i16.abs a < i16.abs b then b else i16.max a b
  in (hist (\a b -> (a + b) % 1000) 0 m (map (at 5) (iota n)) (map (\i -> u16.i64 (i % 1000)) (iota n)),
      hist fields 0 m (map (at 11) (iota n)) (map (\i -> u64.i64 (i * 7919 % 65537) << 32 | u64.i64 i) (iota n)),
      hist larger 0 m (map (at 1) (iota n)) (map (\i -> i16.i64 (i * 37 % 201 - 100)) (iota n)),
      hist (\a b -> !(!a && !b)) false m (map (at 2) (iota n)) (map (\i -> i % 7 == 0) (iota n)))

-- Beside others, and in rows.
-- ==
-- entry: rows
-- input { 5i64 70i64 9i64 } auto output
-- input { 2i64 900i64 5000i64 } auto output
entry rows (k: i64) (n: i64) (m: i64) : ([k][m]i32, [k][m]i32) =
  let xss = #[opaque] (tabulate_2d k n (\i j -> i32.i64 ((i * 31 + j * 17) % 101)))
  in unzip (map (\xs ->
       let at = map (\x -> i64.i32 x * 7 % (m + 1)) xs
       in (hist (\a b -> i32.min 50 (a + b)) 0 m at xs, hist (+) 0 m at xs)) xss)
